#include "catalog/tally/title.h"

#include <algorithm>
#include <set>

#include "base/json/json_scan.h"
#include "base/model/unreadable.h"
#include "base/text/inline_markdown.h"
#include "base/text/text.h"
#include "base/text/timestamp.h"

namespace bough {
namespace catalog {
namespace {

constexpr std::size_t kTitleGraphemes = 60;
constexpr std::size_t kGivenGraphemes = 200;

}  // namespace

std::optional<std::string> titleIn(const Entry& info) {
  const auto value = json::findMember(info.payload, "title");
  if (!value) return std::nullopt;
  return text::excerpt(json::decodeString(*value).value_or(""), kGivenGraphemes);
}

TitleSource titleSourceOf(const Entry& info) {
  const bool generated = json::findString(info.payload, "titleSource") == "generated";
  return generated ? TitleSource::Generated : TitleSource::Given;
}

std::string titleFrom(const EntryFacts& message) {
  constexpr std::size_t kLookedAtBytes = 4096;
  return text::excerpt(text::plainWords(message.spoken, kLookedAtBytes), kTitleGraphemes);
}

void TitleChoice::add(const Entry& entry, bool redacted) {
  const std::uint64_t timeMs = parseTimestamp(entry.timestamp).value_or(latestMs_);
  latestMs_ = std::max(latestMs_, timeMs);
  if (redacted) return;
  if (entry.type == entry_type::kSessionInfo) {
    if (auto title = titleIn(entry)) put(titleSourceOf(entry), std::move(*title), entry.id);
  } else if (entry.type == entry_type::kMessage) {
    const Title& first = titles_[static_cast<std::size_t>(TitleSource::Message)];
    if (!first.text.empty() && timeMs >= firstMs_) return;
    const EntryFacts facts = readFacts(entry, false);
    std::string title = facts.role == EntryRole::User ? titleFrom(facts) : std::string();
    if (title.empty()) return;
    put(TitleSource::Message, std::move(title), entry.id);
    firstMs_ = timeMs;
  }
}

TitleSource TitleChoice::source() const {
  for (const TitleSource source : {TitleSource::Given, TitleSource::Generated, TitleSource::Message}) {
    if (!titles_[static_cast<std::size_t>(source)].text.empty()) return source;
  }
  return TitleSource::None;
}

}  // namespace catalog

Result<std::string> trashedTitle(SessionStore& store, const std::string& trashId) {
  std::set<std::string> redacted;
  bool hidesPlace = false;
  catalog::TitleChoice choice;
  const auto each = [&](const std::function<void(const Entry&)>& use) {
    return store.exportTrashed(trashId, [&](std::string_view line) {
      // Lines that cannot be decoded are ignored.
      if (auto entry = store.serializer().decode(line)) use(*entry);
      return true;
    });
  };
  auto read = each([&](const Entry& entry) {
    if (entry.type != entry_type::kRedaction) return;
    auto target = json::findString(entry.payload, "entryId").value_or("");
    hidesPlace = hidesPlace || offsetOfUnreadableId(target);
    redacted.insert(std::move(target));
  });
  // A redaction names its target only by its place in the log, so any entry may be the hidden one.
  if (read && hidesPlace) return std::string();
  if (read) read = each([&](const Entry& entry) { choice.add(entry, redacted.contains(entry.id)); });
  if (!read) return std::unexpected(read.error());
  return choice.title();
}

}  // namespace bough
