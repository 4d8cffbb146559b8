#include "transcript/agents/claude_code/line.h"

#include "base/json/json_checked.h"
#include "base/json/json_write.h"

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

void take(Line& line, std::string_view name, std::string_view value) {
  for (const TextMember& text : kTexts) {
    if (name != text.name) continue;
    line.*text.field = decoded(value);
    return;
  }
  for (const RawMember& raw : kRaw) {
    if (name != raw.name) continue;
    line.*raw.field = value;
    return;
  }
  if (name == "parentUuid") {
    if (value == "null") line.parentUuid = "";
    if (isKind(value, json::Kind::String)) line.parentUuid = decoded(value);
  } else if (name == "isSidechain") {
    line.isSidechain = value == "true";
  } else if (name == "isCompactSummary") {
    line.isCompactSummary = value == "true";
  }
}

}  // namespace

Line parseLine(std::string_view object) {
  Line line;
  json::CheckedObject members(object);
  std::string decodedName;
  while (auto name = members.nextKey()) {
    const std::string_view value = members.takeValue();
    if (members.isBroken()) break;
    if (name->contains('\\')) {
      decodedName.clear();
      json::appendDecoded(decodedName, *name);
      name = decodedName;
    }
    take(line, *name, value);
  }
  return line;
}

const MessageParts& partsOf(const Line& line) {
  if (!line.parts) line.parts = parseMessage(line.message);
  return *line.parts;
}

void rebaseSlices(Line& line, std::string_view before, std::string_view now) {
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
  while (members.nextKey()) {
    const std::string_view value = members.takeValue();
    if (members.isBroken()) break;
    if (members.keyIs("id")) parts.id = decoded(value);
    if (members.keyIs("model")) parts.model = decoded(value);
    if (members.keyIs("content")) parts.content = value;
    if (members.keyIs("usage")) parts.usage = value;
  }
  return parts;
}

std::string toMainSessionLine(std::string_view object) {
  if (json::findMember(object, "isSidechain") != "true" || !json::findMember(object, "agentId")) return {};
  json::Writer writer;
  writer.beginObject();
  json::ObjectReader members(object);
  while (const auto member = members.next()) {
    if (member->keyIs("agentId")) continue;
    writer.key(json::decodeString('"' + std::string(member->key) + '"').value_or(""));
    writer.raw(member->keyIs("isSidechain") ? "false" : member->value);
  }
  return writer.endObject().take();
}

bool isAllResults(std::string_view content) {
  if (!isKind(content, json::Kind::Array)) return false;
  // In most lists the type of the first block is different, so its text need not be read.
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
