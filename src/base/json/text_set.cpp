#include "base/json/text_set.h"

#include <algorithm>
#include <iterator>

#include "base/json/json_scan.h"

namespace bough::json {
namespace {

constexpr std::size_t kShortest = 3;
constexpr std::size_t kBeginning = 8;  // of a text that a list has shortened
constexpr std::size_t kTelling = 24;   // shorter texts occur in many texts by chance
constexpr std::size_t kMaxLongTexts = 512;

// Returns false for names whose values are the same in many lines.
bool mayBeSaid(std::string_view name) {
  constexpr std::string_view kSame[] = {"agent",
                                        "what",
                                        "holes",
                                        "carries",
                                        "agentId",
                                        "call_id",
                                        "callId",
                                        "cli_version",
                                        "created",
                                        "cwd",
                                        "cwdPath",
                                        "dialect",
                                        "entrypoint",
                                        "gitBranch",
                                        "id",
                                        "kind",
                                        "leafUuid",
                                        "lastUpdated",
                                        "media_type",
                                        "messageId",
                                        "mimeType",
                                        "mode",
                                        "model",
                                        "modelVersion",
                                        "name",
                                        "operation",
                                        "originator",
                                        "parentId",
                                        "parentUuid",
                                        "path",
                                        "permissionMode",
                                        "phase",
                                        "projectHash",
                                        "provider",
                                        "requestId",
                                        "responseId",
                                        "role",
                                        "sessionId",
                                        "session_id",
                                        "signature",
                                        "source",
                                        "startTime",
                                        "status",
                                        "stop_reason",
                                        "subtype",
                                        "thread_id",
                                        "timestamp",
                                        "toolCallId",
                                        "toolName",
                                        "tool_use_id",
                                        "turn_id",
                                        "type",
                                        "userType",
                                        "uuid",
                                        "version",
                                        "workdir",
                                        "encrypted_content"};
  return std::ranges::find(kSame, name) == std::end(kSame);
}

std::string wordsOf(std::string_view quoted) {
  std::string text;
  appendDecoded(text, quoted.substr(1, quoted.size() - 2));
  std::erase_if(text, [](char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; });
  return text;
}

std::string_view withoutEllipsis(std::string_view text) {
  constexpr std::string_view kEllipsis = "\u2026";
  if (text.ends_with(kEllipsis)) text.remove_suffix(kEllipsis.size());
  while (text.ends_with('.')) text.remove_suffix(1);
  return text;
}

}  // namespace

void TextSet::each(std::string_view json, const Use& use) {
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

void TextSet::add(std::string_view name, std::string_view value) {
  std::string all;
  each("\"" + std::string(name) + "\":" + std::string(value), [&](std::string_view of, std::string_view quoted) {
    std::string text = wordsOf(quoted);
    if (of == "text") all += text;
    addText(std::move(text));
  });
  addText(std::move(all));
}

void TextSet::addText(std::string text) {
  if (text.size() < kShortest || !texts_.insert(text).second) return;
  if (text.size() >= kBeginning && long_.size() < kMaxLongTexts) long_.push_back(std::move(text));
}

bool TextSet::repeats(std::string_view quoted) const {
  const std::string text = wordsOf(quoted);
  if (text.size() < kShortest) return false;
  if (texts_.contains(text)) return true;
  const std::string_view beginning = withoutEllipsis(text);
  return std::ranges::any_of(long_, [&](const std::string& each) {
    if (beginning.size() >= kBeginning && each.starts_with(beginning)) return true;
    const bool isPart = text.size() >= kTelling && each.contains(text);
    return isPart || (each.size() >= kTelling && text.contains(each));
  });
}

}  // namespace bough::json
