#include "cli/views/entry_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/model/unreadable.h"
#include "base/text/text.h"
#include "base/try.h"
#include "cli/terminal/terminal.h"

namespace bough::cli {

std::size_t textGraphemes(std::size_t usual) {
  return stdoutIsTerminal() ? std::max(usual, terminalWidth()) : usual;
}

std::string speakerLine(std::string_view speaker, std::string_view text) {
  constexpr std::size_t kNarrow = 60;
  if (speaker.empty() || (stdoutIsTerminal() && terminalWidth() < kNarrow)) return std::string(text);
  return fmt::format("[{}] {}", speaker, text);
}

std::string shownLabel(std::string_view label) {
  if (!stdoutIsTerminal()) return std::string(label);
  return text::excerptToWidth(label, std::max<std::size_t>(terminalWidth() / 4, 8));
}

Result<std::vector<Entry>> loadMessages(SessionStore& store, const std::string& sessionId, LoadOptions wanted) {
  wanted.types = {std::string(entry_type::kMessage)};
  BOUGH_TRY(auto entries, store.loadSessionEntries(sessionId, wanted));
  // The damage may have been found just now. Load again with placeholders; finding the damaged places reads every
  // entry.
  if (const auto state = store.sessionState(sessionId); !state || state->problemCount == 0) return entries;
  wanted.types.emplace_back(kUnreadableType);
  return store.loadSessionEntries(sessionId, wanted);
}

std::string lastMessageLine(SessionStore& store, const std::string& sessionId, const std::string& entryId) {
  constexpr std::size_t kGraphemes = 60;
  if (entryId.empty()) return {};
  const auto entries = store.loadSessionEntries(
      sessionId,
      {.last = 1, .branch = entryId, .types = {std::string(entry_type::kMessage), std::string(kUnreadableType)}});
  if (!entries || entries->empty()) return {};
  const EntrySummary summary = summarizeEntry(entries->front(), kGraphemes);
  return speakerLine(summary.speaker, summary.text);
}

bool lacksName(const EntryPart& part) {
  return part.kind == BlockKind::ToolResult && !part.callId.empty() && part.name == part.callId;
}

std::string entryJson(const Entry& entry, const EntryView& view) {
  json::Writer writer;
  writer.beginObject().member("schema", 2).member("entryId", entry.id);
  writer.memberOrNull("parentId", entry.parentId.value_or(""));
  writer.member("type", entry.type).member("timestamp", entry.timestamp).member("role", view.speaker);
  writer.member("redacted", entry.redacted).key("parts").beginArray();
  for (const EntryPart& part : view.parts) {
    writer.beginObject().member("kind", toString(part.kind));
    writer.memberOrNull("name", lacksName(part) ? "" : part.name).memberOrNull("callId", part.callId);
    writer.member("text", part.text).member("isError", part.isError).endObject();
  }
  return writer.endArray().endObject().take();
}

}  // namespace bough::cli
