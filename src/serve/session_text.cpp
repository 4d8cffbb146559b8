#include "serve/session_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json/json_scan.h"
#include "base/model/unreadable.h"
#include "base/text/counted.h"
#include "base/try.h"
#include "bough/message.h"
#include "bough/torn.h"
#include "bough/tree.h"

namespace bough::serve {
namespace {

// The most entries in memory at a time, and the total size of their payloads.
constexpr std::uint64_t kMaxEntries = 200;
constexpr std::size_t kMaxLoadedBytes = std::size_t{16} << 20;

void addPart(std::string& text, const EntryPart& part) {
  if (!text.empty()) text += "\n\n";
  switch (part.kind) {
    case BlockKind::Thinking: text += "(thinking) " + part.text; break;
    case BlockKind::ToolCall: text += fmt::format("→ {}({})", part.name, part.text); break;
    case BlockKind::ToolResult:
      text += fmt::format("← {}{}: {}", part.name, part.isError ? " failed" : "", part.text);
      break;
    default: text += part.text;
  }
}

bool continuesCharacter(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

// Returns the part of a text that takes about `maxBytes` bytes as JSON, where a quote takes two bytes and a control
// character six.
std::string_view jsonPart(std::string_view text, std::size_t from, std::size_t maxBytes) {
  std::string_view part = textPart(text, from, maxBytes);
  constexpr std::size_t kQuotes = 2;
  for (std::size_t size = 0; (size = json::quoted(part).size() - kQuotes) > maxBytes;) {
    part = textPart(text, from, part.size() * maxBytes / size);
  }
  return part;
}

// Returns where a section starts: a place counted from the root, or the place of one of the last messages. Entries that
// are not messages are not counted.
Result<std::uint64_t> sectionStart(SessionStore& store, const std::string& sessionId, const std::string& leaf,
                                   const BranchSection& section) {
  if (section.last == 0) return section.from;
  BOUGH_TRY(const auto tree, store.loadTree(sessionId));
  BOUGH_TRY(const auto node, store.sequenceOf(sessionId, leaf));
  if (!tree.isNode(node)) return 0;
  std::vector<Sequence> upwards;
  for (Sequence each = node; each != kNoSequence; each = tree.parent(each)) upwards.push_back(each);
  BOUGH_TRY(const Session session, store.session(sessionId));
  std::uint64_t place = upwards.size();
  std::uint64_t left = section.last;
  BOUGH_TRY(forEachEntryAt(session, upwards, [&](const Entry& entry) {
    --place;
    if (entry.type == entry_type::kMessage) --left;
    return left > 0;
  }));
  return place;
}

// Describes what cannot be read of a session or of the history that it shares; empty when nothing is known to be
// unreadable.
std::string problemOf(SessionStore& store, const std::string& sessionId) {
  const auto state = store.sessionState(sessionId);
  if (!state) return {};
  const std::uint64_t places = state->problemCount + state->lostPayloads;
  if (places > 0) return counted(places, "place") + " cannot be read";
  if (!state->lostSession.empty())
    return fmt::format("its beginning is lost with part of session {}", state->lostSession);
  const auto missing = missingFromLog(store, sessionId);
  if (!missing) return "it is unknown whether entries are missing at its end: " + missing.error().message;
  if (!missing->empty()) return *missing;
  if (state->trailingBytes > 0) return counted(state->trailingBytes, "byte") + " at the end are not a complete batch";
  if (!state->origin) return {};
  const auto lost = store.loadSessionEntries(sessionId, {.type = std::string(kUnreadableType)});
  return lost && !lost->empty() ? counted(lost->size(), "place") + " of the history that it shares cannot be read" : "";
}

}  // namespace

std::string addUnreadableNotes(SessionStore& store, std::string result, std::vector<std::string> sessionIds) {
  std::ranges::sort(sessionIds);
  const auto repeated = std::ranges::unique(sessionIds);
  sessionIds.erase(repeated.begin(), repeated.end());
  const bool isObject = result.starts_with('{');
  json::Writer writer;
  writer.beginArray();
  std::string lines;
  for (const std::string& id : sessionIds) {
    const std::string problem = problemOf(store, id);
    if (problem.empty()) continue;
    writer.beginObject().member("sessionId", id).member("problem", problem).endObject();
    lines += fmt::format("note: session {}: {}\n", id, problem);
  }
  if (lines.empty()) return result;
  if (!isObject) return result + (result.ends_with('\n') ? "" : "\n") + lines;
  if (json::findMember(result, "notRead")) return result;
  result.pop_back();
  return result + R"(,"notRead":)" + writer.endArray().take() + "}";
}

std::string entryText(const Entry& entry) {
  std::string text;
  for (const EntryPart& part : viewEntry(entry).parts) addPart(text, part);
  return text;
}

std::string_view textPart(std::string_view text, std::size_t from, std::size_t maxBytes) {
  from = std::min(from, text.size());
  while (from < text.size() && continuesCharacter(text[from])) ++from;
  std::size_t end = from + std::min(maxBytes, text.size() - from);
  while (end > from && end < text.size() && continuesCharacter(text[end])) --end;
  return text.substr(from, end - from);
}

void writeEntry(json::Writer& writer, const Entry& entry, std::size_t from, std::size_t maxBytes) {
  const std::string text = entryText(entry);
  const std::string_view part = jsonPart(text, from, maxBytes);
  writer.beginObject().member("entryId", entry.id).member("role", viewEntry(entry).speaker);
  writer.member("timestamp", entry.timestamp).member("text", part);
  const std::size_t end = static_cast<std::size_t>(part.data() - text.data()) + part.size();
  if (end < text.size()) {
    writer.member("nextOffset", end).member("textBytes", text.size());
  }
  writer.endObject();
}

Result<std::string> findSession(Catalog& catalog, const std::string& name) {
  constexpr std::size_t kMaxShown = 5;
  BOUGH_TRY(const auto match, catalog.findByName(name, kMaxShown));
  if (match.sessions.size() == 1) return match.sessions.front().sessionId;
  if (match.sessions.empty()) {
    return fail(ErrorCode::NotFound, fmt::format("no session is named \"{}\"", textPart(name, 0, 80)),
                "list_sessions and search_sessions give session ids");
  }
  std::string candidates;
  for (const SessionSummary& row : match.sessions) {
    candidates += fmt::format("{}{} ({})", candidates.empty() ? " " : ", ", row.sessionId, textPart(row.title, 0, 80));
  }
  return fail(ErrorCode::InvalidArgument,
              fmt::format("\"{}\" matches several sessions:{}", textPart(name, 0, 80), candidates),
              "give the id of one of them");
}

Result<std::string> readSection(SessionStore& store, const std::string& sessionId, const BranchSection& section) {
  std::string leaf = section.branch;
  if (leaf.empty()) {
    BOUGH_TRY(auto state, store.sessionState(sessionId));
    leaf = std::move(state.headId);
  }
  json::Writer writer;
  writer.beginObject().member("sessionId", sessionId).member("branch", leaf).key("entries").beginArray();
  std::optional<std::uint64_t> next;
  if (!leaf.empty()) {
    BOUGH_TRY(std::uint64_t place, sectionStart(store, sessionId, leaf, section));
    const std::uint64_t wanted = section.last > 0 ? kMaxEntries : std::min(section.limit, kMaxEntries);
    LoadOptions load;
    load.branch = leaf;
    load.fromSequence = place;
    load.limit = wanted + 1;  // one extra entry tells whether there is more
    load.limitBytes = kMaxLoadedBytes;
    BOUGH_TRY(const auto entries, store.loadSessionEntries(sessionId, load));
    std::size_t written = 0;
    for (; written < entries.size() && written < wanted && writer.text().size() < kMaxResultBytes; ++written, ++place) {
      writeEntry(writer, entries[written], 0, kMaxListedBytes);
    }
    if (written > 0 && entries[written - 1].id != leaf) next = place;
  }
  writer.endArray().key("next");
  next ? writer.number(*next) : writer.null();
  return writer.endObject().take();
}

}  // namespace bough::serve
