#include "transcript/agents/claude_code/line.h"

#include "base/json/json_checked.h"

namespace bough::transcript::claude_code {
namespace {

struct TextMember {
  std::string_view name;
  std::string Line::* field;
};

struct RawMember {
  std::string_view name;
  std::string_view Line::* field;
};

constexpr TextMember kTexts[] = {
    {"type", &Line::type},           {"uuid", &Line::uuid},       {"timestamp", &Line::timestamp},
    {"requestId", &Line::requestId}, {"subtype", &Line::subtype}, {"logicalParentUuid", &Line::logicalParentUuid},
};

constexpr RawMember kRaw[] = {
    {"message", &Line::message},       {"content", &Line::content},   {"compactMetadata", &Line::compactMetadata},
    {"leafUuid", &Line::leafUuid},     {"customTitle", &Line::title}, {"aiTitle", &Line::title},
    {"summary", &Line::title},         {"cwd", &Line::cwd},           {"relocatedCwd", &Line::relocatedCwd},
    {"sessionId", &Line::sessionId},   {"agentId", &Line::agentId},   {"version", &Line::version},
    {"forkedFrom", &Line::forkedFrom},
};

void take(Line& line, const json::ObjectReader::Member& member) {
  for (const TextMember& text : kTexts) {
    if (!member.keyIs(text.name)) continue;
    line.*text.field = decoded(member.value);
    return;
  }
  for (const RawMember& raw : kRaw) {
    if (!member.keyIs(raw.name)) continue;
    line.*raw.field = member.value;
    return;
  }
  if (member.keyIs("parentUuid")) {
    if (member.value == "null") line.parentUuid = "";
    if (isKind(member.value, json::Kind::String)) line.parentUuid = decoded(member.value);
  } else if (member.keyIs("isSidechain")) {
    line.isSidechain = member.value == "true";
  } else if (member.keyIs("isCompactSummary")) {
    line.isCompactSummary = member.value == "true";
  }
}

}  // namespace

Line parseLine(std::string_view object) {
  Line line;
  json::CheckedObject members(object);
  while (const auto member = members.next()) take(line, *member);
  return line;
}

const MessageParts& partsOf(const Line& line) {
  if (!line.parts) line.parts = parseMessage(line.message);
  return *line.parts;
}

void moveTo(Line& line, std::string_view before, std::string_view now) {
  const auto move = [&](std::string_view& view) {
    if (!view.empty()) view = now.substr(static_cast<std::size_t>(view.data() - before.data()), view.size());
  };
  for (std::string_view Line::* field :
       {&Line::message, &Line::content, &Line::compactMetadata, &Line::leafUuid, &Line::title, &Line::cwd,
        &Line::relocatedCwd, &Line::sessionId, &Line::agentId, &Line::version, &Line::forkedFrom}) {
    move(line.*field);
  }
  if (!line.parts) return;
  move(line.parts->content);
  move(line.parts->usage);
}

MessageParts parseMessage(std::string_view message) {
  MessageParts parts;
  json::CheckedObject members(message);
  while (const auto member = members.next()) {
    if (member->keyIs("id")) parts.id = decoded(member->value);
    if (member->keyIs("model")) parts.model = decoded(member->value);
    if (member->keyIs("content")) parts.content = member->value;
    if (member->keyIs("usage")) parts.usage = member->value;
  }
  return parts;
}

bool isAllResults(std::string_view content) {
  if (!isKind(content, json::Kind::Array)) return false;
  // Most lists are not: their first block says so, and its text is not passed.
  std::size_t at = content.find_first_not_of(" \t\r\n", 1);
  while (at < content.size() && content[at] == '{') {
    json::CheckedObject block(content.substr(at), json::CheckedObject::Text::Beginning);
    bool isResult = false;
    while (const auto member = block.next()) {
      if (isResult || !member->keyIs("type")) continue;
      if (member->value != "\"tool_result\"") return false;
      isResult = true;
    }
    if (!isResult || block.isBroken()) return false;
    at = content.find_first_not_of(" \t\r\n", at + block.end());
    if (at < content.size() && content[at] == ']') return true;
    if (at < content.size()) at = content.find_first_not_of(" \t\r\n", at + 1);
  }
  return false;
}

std::string textOf(std::string_view content) {
  if (isKind(content, json::Kind::String)) return decoded(content);
  std::string text;
  if (!isKind(content, json::Kind::Array)) return text;
  json::ArrayReader blocks(content);
  while (const auto block = blocks.next()) {
    const auto part = json::findString(*block, "text");
    if (!part) continue;
    if (!text.empty()) text += '\n';
    text += *part;
  }
  return text;
}

std::string decoded(std::string_view value) {
  return isKind(value, json::Kind::String) ? json::decodeString(value).value_or("") : std::string();
}

bool isKind(std::string_view value, json::Kind kind) {
  return !value.empty() && json::kindOf(value) == kind;
}

}  // namespace bough::transcript::claude_code
