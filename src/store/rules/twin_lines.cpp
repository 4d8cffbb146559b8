#include "store/rules/twin_lines.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <string_view>

#include "base/json/json_scan.h"
#include "base/try.h"
#include "store/rules/entry_rules.h"
#include "store/rules/erasure.h"

namespace bough {
namespace {

constexpr std::size_t kShortest = 3;
constexpr std::size_t kBeginning = 8;  // of a text that a list cut short
constexpr std::size_t kTelling = 24;   // a shorter one is in many texts by chance
constexpr std::size_t kMostLong = 512;

// Names whose texts are the same in many lines.
bool mayBeSaid(std::string_view name) {
  constexpr std::string_view kSame[] = {
      "agent",     "agentId",    "call_id",      "callId",         "cli_version", "created",
      "cwd",       "cwdPath",    "dialect",      "entrypoint",     "gitBranch",   "id",
      "kind",      "leafUuid",   "lastUpdated",  "media_type",     "messageId",   "mimeType",
      "mode",      "model",      "modelVersion", "name",           "operation",   "originator",
      "parentId",  "parentUuid", "path",         "permissionMode", "phase",       "projectHash",
      "provider",  "requestId",  "responseId",   "role",           "sessionId",   "session_id",
      "signature", "source",     "startTime",    "status",         "stop_reason", "subtype",
      "thread_id", "timestamp",  "toolCallId",   "toolName",       "tool_use_id", "turn_id",
      "type",      "userType",   "uuid",         "version",        "workdir",     "encrypted_content"};
  return std::ranges::find(kSame, name) == std::end(kSame);
}

using UseText = std::function<void(std::string_view name, std::string_view quoted)>;

// Gives each text in a JSON value, or in pieces of one, with the name that comes before it.
void eachText(std::string_view json, const UseText& use) {
  std::string_view name;
  for (std::size_t at = json.find('"'); at != std::string_view::npos; at = json.find('"', at)) {
    const std::size_t begin = at++;
    while (at < json.size() && json[at] != '"') at += json[at] == '\\' ? 2U : 1U;
    if (at >= json.size()) return;
    const std::string_view quoted = json.substr(begin, ++at - begin);
    const std::size_t next = json.find_first_not_of(" \t\r\n", at);
    const bool isName = next != std::string_view::npos && json[next] == ':';
    if (isName) {
      name = quoted.substr(1, quoted.size() - 2);
    } else if (mayBeSaid(name)) {
      use(name, quoted);
    }
  }
}

std::string wordsOf(std::string_view quoted) {
  std::string text;
  json::appendDecoded(text, quoted.substr(1, quoted.size() - 2));
  std::erase_if(text, [](char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; });
  return text;
}

std::string_view withoutEllipsis(std::string_view text) {
  constexpr std::string_view kEllipsis = "\u2026";
  if (text.ends_with(kEllipsis)) text.remove_suffix(kEllipsis.size());
  while (text.ends_with('.')) text.remove_suffix(1);
  return text;
}

bool isOfMessage(std::string_view type) {
  constexpr std::string_view kTypes[] = {entry_type::kMessage, "user",     "assistant",
                                         "tool_call",          "tool_use", "tool_result"};
  return std::ranges::find(kTypes, type) != std::end(kTypes);
}

}  // namespace

void TwinLines::add(const Entry& entry) {
  ids_.insert(entry.id);
  const auto line = agentLineOf(entry.payload);
  if (!line) return;
  agents_.insert(line->agent);
  json::ObjectReader members(entry.payload);
  while (const auto member = members.next()) {
    if (member->key == "transcript" || member->key == "dialect") continue;
    std::string all;
    const std::string value = "\"" + std::string(member->key) + "\":" + std::string(member->value);
    eachText(value, [&](std::string_view name, std::string_view quoted) {
      std::string text = wordsOf(quoted);
      if (name == "text") all += text;  // a line may have them joined
      addText(std::move(text));
    });
    addText(std::move(all));
  }
}

void TwinLines::addText(std::string text) {
  if (text.size() < kShortest || !texts_.insert(text).second) return;
  if (text.size() >= kBeginning && long_.size() < kMostLong) long_.push_back(std::move(text));
}

bool TwinLines::carriesOne(const Entry& entry) const {
  const auto transcript = json::findMember(entry.payload, "transcript");
  const auto carries = transcript ? json::findMember(*transcript, "carries") : std::nullopt;
  if (!carries || json::kindOf(*carries) != json::Kind::Array) return false;
  json::ArrayReader list(*carries);
  while (const auto id = list.next()) {
    if (ids_.contains(json::decodeString(*id).value_or(""))) return true;
  }
  return false;
}

bool TwinLines::repeats(const std::string& text) const {
  if (text.size() < kShortest) return false;
  if (texts_.contains(text)) return true;
  const std::string_view beginning = withoutEllipsis(text);
  return std::ranges::any_of(long_, [&](const std::string& each) {
    if (beginning.size() >= kBeginning && each.starts_with(beginning)) return true;
    const bool isPart = text.size() >= kTelling && each.contains(text);
    return isPart || (each.size() >= kTelling && text.contains(each));
  });
}

bool TwinLines::isTwin(const Entry& entry) const {
  if (isOfMessage(entry.type) || !canBeRedacted(entryKind(entry.type)) || ids_.contains(entry.id)) return false;
  const auto line = agentLineOf(entry.payload);
  if (!line) return false;
  if (carriesOne(entry)) return true;
  if (!agents_.contains(line->agent)) return false;
  bool found = false;
  eachText(entry.payload, [&](std::string_view name, std::string_view quoted) {
    if (found) return;
    if (name != "line") {
      found = repeats(wordsOf(quoted));
      return;
    }
    std::string piece;
    json::appendDecoded(piece, quoted.substr(1, quoted.size() - 2));
    eachText(piece, [&](std::string_view, std::string_view each) { found = found || repeats(wordsOf(each)); });
  });
  return found;
}

Result<std::vector<std::string>> twinsOf(StoredSession& session, const std::vector<std::string>& entryIds,
                                         bool alsoHidden) {
  constexpr std::size_t kPart = 256;
  constexpr std::size_t kPartBytes = std::size_t{16} << 20;
  BOUGH_TRY(const auto named, session.load({.options = {.showRedacted = true}, .ids = entryIds}));
  TwinLines said;
  for (const Entry& entry : named.entries) said.add(entry);
  std::vector<std::string> twins;
  if (!said.wereImported()) return twins;  // else all of the session is read
  for (std::uint64_t from = 0;;) {
    BOUGH_TRY(
        const auto part,
        session.load(
            {.options = {.fromSequence = from, .limit = kPart, .limitBytes = kPartBytes, .showRedacted = alsoHidden}}));
    if (part.entries.empty()) return twins;
    from += part.entries.size();
    for (const Entry& entry : part.entries) {
      if (said.isTwin(entry)) twins.push_back(entry.id);
    }
  }
}

}  // namespace bough
