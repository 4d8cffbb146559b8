#include "store/file/parts/counted_places.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/system/file_io.h"
#include "log/format/line.h"
#include "log/source/scan.h"
#include "store/file/parts/catalog_row.h"
#include "store/rules/header.h"

namespace bough {
namespace {

constexpr std::pair<std::string_view, LogForm> kForms[] = {
    {".jsonl", LogForm::Plain}, {".jsonl.zst", LogForm::Zstd}, {".jsonl.gz", LogForm::Gzip}};

class NullSink final : public ScanSink {
 public:
  void onLine(const ScannedLine& /*line*/) override {}
  void onProblem(ProblemKind /*kind*/, std::uint64_t /*offset*/, std::uint64_t /*bytes*/,
                 std::string_view /*message*/) override {}
};

// Null when it cannot be opened.
std::unique_ptr<ByteSource> openSource(const std::shared_ptr<Directory>& folder, const std::string& name,
                                       LogForm form) {
  if (form == LogForm::Plain) {
    auto file = folder->open(name, OpenMode::Read);
    return file ? plainSource(std::move(*file)) : nullptr;
  }
  auto packed = openPacked(folder, name, form);
  return packed ? std::move(packed->source) : nullptr;
}

// Without its end; empty when it is longer than a header.
std::string firstLineOf(ByteSource& source) {
  constexpr std::size_t kMostBytes = std::size_t{64} << 10;
  std::string text;
  for (std::size_t want = 1024; want <= kMostBytes; want *= 8) {
    text.resize(want);
    const auto got = readFully(source, 0, text);
    if (!got) return {};
    text.resize(*got);
    if (const std::size_t end = text.find('\n'); end != std::string::npos) return text.substr(0, end);
    if (*got < want) return text;
  }
  return {};
}

// Everything in an archive was complete when it was packed.
std::uint64_t bytesInArchive(const CountingPlaces& places, const std::string& sessionId, std::string_view firstLine) {
  std::uint64_t most = 0;
  for (const auto& folder : {places.folders.archive, places.folders.sessions}) {
    for (const auto& [ending, form] : kForms) {
      if (!folder || form == LogForm::Plain) continue;
      const auto source = openSource(folder, sessionId + std::string(ending), form);
      if (!source || firstLineOf(*source) != firstLine) continue;
      ScanState state;
      NullSink sink;
      if (scanLog(*source, places.serializer, state, sink) && !source->damagedAt()) most = std::max(most, state.offset);
    }
  }
  return most;
}

// The entry of the session that the log of a file continues; none when it continues another one, or nothing.
std::optional<std::string> continuedBy(const std::shared_ptr<Directory>& folder, const std::string& name,
                                       const std::string& sessionId, const EntrySerializer& serializer) {
  for (const auto& [ending, form] : kForms) {
    if (!name.ends_with(ending)) continue;
    const auto source = openSource(folder, name, form);
    const std::string line = source ? firstLineOf(*source) : "";
    if (!line.contains(sessionId)) return std::nullopt;
    const auto first = serializer.decode(bareLine(line));
    const auto origin = first ? readHeader(*first).origin : std::nullopt;
    if (origin && origin->sessionId == sessionId) return origin->entryId;
    return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

CountedElsewhere countedElsewhere(const CountingPlaces& places, const std::string& sessionId,
                                  std::string_view firstLine) {
  CountedElsewhere counted;
  const auto header = places.serializer.decode(bareLine(firstLine));
  if (!header) return counted;
  const auto row = readCatalogRow(places.root, sessionId);
  if (row && row->headerId == header->id) counted.bytes = row->bytes;
  counted.bytes = std::max(counted.bytes, bytesInArchive(places, sessionId, firstLine));
  for (const auto& folder : {places.folders.sessions, places.folders.archive, places.trash}) {
    const auto names = folder ? folder->list() : std::vector<std::string>();
    for (const std::string& name : names ? *names : std::vector<std::string>()) {
      if (auto entry = continuedBy(folder, name, sessionId, places.serializer)) {
        counted.entryIds.push_back(std::move(*entry));
      }
    }
  }
  return counted;
}

}  // namespace bough
