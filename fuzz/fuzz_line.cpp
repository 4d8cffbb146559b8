// Reads one line of arbitrary bytes: its seal, its keys in both ways, its entry, and the entry written again as the
// same bytes.

#include "base/check.h"
#include "base/model/ids.h"
#include "bough/entry.h"
#include "fuzz/input.h"
#include "log/format/line.h"

namespace bough {
namespace {

bool same(const Entry& a, const Entry& b) {
  return a.id == b.id && a.parentId == b.parentId && a.type == b.type && a.timestamp == b.timestamp &&
         a.runId == b.runId && a.payload == b.payload && a.meta == b.meta && a.extra == b.extra;
}

void checkSeal(std::string_view line) {
  const auto seal = findSeal(line);
  if (!seal) return;
  BOUGH_CHECK(seal->place >= 1 && seal->place <= seal->count && seal->count <= kMaxBatchEntries);
  std::string again(line.substr(0, seal->bodyLength));
  again.append(",\"seal\":\"").append(seal->placeText).append(" ").append(seal->digits.data(), 8).append("\"}");
  BOUGH_CHECK(again == line);
}

void checkKeys(std::string_view line) {
  const auto canonical = readCanonicalKeys(line);
  std::string storage;
  std::string_view reason;
  const auto any = readAnyKeys(line, storage, reason);
  BOUGH_CHECK(any.has_value() == reason.empty());
  if (canonical && any) {
    BOUGH_CHECK(canonical->id == any->id && canonical->parentId == any->parentId && canonical->type == any->type);
  }
  const auto entry = jsonEntrySerializer().decode(line);
  if (any && entry) {
    BOUGH_CHECK(any->id == entry->id && any->type == entry->type && any->parentId.value_or("") == entry->parentId);
  }
}

// An entry that was read can be written, and reading it again gives the same entry.
void checkRoundTrip(std::string_view line) {
  const EntrySerializer& serializer = jsonEntrySerializer();
  const auto entry = serializer.decode(line);
  std::string text;
  if (!entry || !serializer.encode(*entry, text)) return;
  const auto again = serializer.decode(text);
  BOUGH_CHECK(again && text.find('\n') == std::string::npos);
  std::string twice;
  BOUGH_CHECK(serializer.encode(*again, twice) && twice == text);
  if (line.find_first_of("\r\n") == std::string_view::npos) BOUGH_CHECK(same(*entry, *again));

  std::string sealed;
  const auto digits = appendSealedLine(sealed, text, std::nullopt, 2, 3);
  sealed.pop_back();
  const auto seal = findSeal(sealed);
  BOUGH_CHECK(seal && seal->digits == digits && seal->place == 2 && seal->count == 3);
  // Types of other writers may be long or need escapes; their keys are read by the slow path.
  const auto keys = readCanonicalKeys(sealed);
  constexpr std::size_t kMaxTypeBytes = 64;
  const bool usual = entry->type.size() <= kMaxTypeBytes && isEntryId(entry->type);
  BOUGH_CHECK(keys ? keys->id == entry->id && keys->type == entry->type : !usual);
  const auto unsealed = serializer.decode(sealed);
  BOUGH_CHECK(unsealed && same(*unsealed, *again));
}

}  // namespace
}  // namespace bough

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  bough::checkSeal(line);
  bough::checkKeys(line);
  bough::checkRoundTrip(line);
  return 0;
}
