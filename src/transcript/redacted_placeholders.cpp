#include "transcript/redacted_placeholders.h"

#include <algorithm>
#include <optional>

#include "base/json/json_write.h"

namespace bough::transcript {
namespace {

constexpr std::size_t kNone = EntryTree::kNone;
constexpr std::size_t kNear = 4096;  // how far after an entry to look for one that continues it

bool mayHaveLine(const EntryList& entries, std::size_t place) {
  const EntryKind kind = entries.kind(place);
  const bool isSummary = kind == EntryKind::CompactionSummary || kind == EntryKind::BranchSummary;
  return entries.isInConversation(place) && entries.isRedacted(place) && (isSummary || entries.isMessage(place));
}

bool holdsResults(const EntryList& entries, std::size_t place) {
  if (!entries.isMessage(place) || entries.isHidden(place)) return false;
  const auto message = normalizeEntry(*entries.at(place));
  return message &&
         std::ranges::any_of(message->blocks, [](const Block& block) { return block.kind == BlockKind::ToolResult; });
}

// The author of an erased message is not known. It was a model when results follow; otherwise people and models
// alternate.
Role roleOf(const EntryList& entries, const EntryTree& tree, std::size_t place) {
  const EntryList::Hidden* hidden = entries.hidden(place);
  if (hidden != nullptr && hidden->role) return *hidden->role;
  if (!entries.isMessage(place)) return Role::User;
  const std::size_t end = std::min(entries.size(), place + kNear);
  for (std::size_t next = place + 1; next < end; ++next) {
    if (entries.isInConversation(next) && tree.parent(next) == place) {
      if (holdsResults(entries, next)) return Role::Assistant;
      break;
    }
  }
  std::size_t before = tree.parent(place);
  while (before != kNone && (!entries.isMessage(before) || entries.isHidden(before))) before = tree.parent(before);
  if (before == kNone) return Role::User;
  const auto message = normalizeEntry(*entries.at(before));
  return message && message->role == Role::Assistant ? Role::User : Role::Assistant;
}

}  // namespace

std::vector<bool> placesNeedingPlaceholder(const EntryList& entries, const EntryTree& tree,
                                           const std::vector<bool>& own) {
  std::vector<bool> places(entries.size());
  const auto isOwn = [&](std::size_t place) { return own[place] || places[place]; };
  for (std::size_t i = entries.size(); i-- > 0;) {
    const std::size_t parent = tree.parent(i);
    if (parent != kNone && mayHaveLine(entries, parent) && isOwn(i)) places[parent] = true;
  }
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::size_t parent = tree.parent(i);
    if (parent != kNone && mayHaveLine(entries, i) && isOwn(parent)) places[i] = true;
  }
  return places;
}

std::string placeholderMessage(const EntryList& entries, const EntryTree& tree, std::size_t place, Dialect dialect) {
  const EntryList::Hidden* hidden = entries.hidden(place);
  const std::string_view text = hidden != nullptr && hidden->isErased ? "[erased]" : "[redacted]";
  const bool isAnswer = roleOf(entries, tree, place) == Role::Assistant;
  json::Writer writer;
  writer.beginObject();
  if (dialect == Dialect::OpenaiResponses) writer.member("type", "message");
  const std::string_view model = dialect == Dialect::Gemini ? "model" : "assistant";
  writer.member("role", isAnswer ? model : "user");
  writer.key(dialect == Dialect::Gemini ? "parts" : "content").beginArray().beginObject();
  if (dialect == Dialect::OpenaiResponses) writer.member("type", isAnswer ? "output_text" : "input_text");
  if (dialect != Dialect::OpenaiResponses && dialect != Dialect::Gemini) writer.member("type", "text");
  return writer.member("text", text).endObject().endArray().endObject().take();
}

}  // namespace bough::transcript
