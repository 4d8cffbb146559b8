// Settings that each provider expresses in its own way: which tools may be used, and the form of an answer.
#include <algorithm>
#include <optional>

#include "base/json/json_scan.h"
#include "base/json/json_write.h"
#include "message/dialect/schema.h"
#include "message/model/dialects.h"
#include "message/request/settings.h"

namespace bough::message {
namespace {

enum class Choice : std::uint8_t { Auto, None, Any, One };

struct ToolChoice {
  Choice choice = Choice::Auto;
  std::string name;                // For Choice::One: the raw string.
  std::vector<std::string> paths;  // Where it was read.
};

std::optional<Choice> choiceNamed(std::string_view word) {
  if (word == "auto" || word == "AUTO") return Choice::Auto;
  if (word == "none" || word == "NONE") return Choice::None;
  if (word == "any" || word == "required" || word == "ANY") return Choice::Any;
  if (word == "tool" || word == "function" || word == "custom") return Choice::One;
  return std::nullopt;
}

// Returns the only element of a list of strings; empty otherwise.
std::string_view onlyElement(std::string_view list) {
  json::ArrayReader reader(list);
  const auto first = reader.next();
  return first && !reader.next() ? *first : std::string_view();
}

std::optional<ToolChoice> readGeminiChoice(const SettingsSource& from) {
  const std::string config = "toolConfig.functionCallingConfig.";
  auto choice = choiceNamed(from.textAt(config + "mode"));
  if (!choice) return std::nullopt;
  ToolChoice out{.choice = *choice, .name = {}, .paths = {config + "mode"}};
  const std::string_view allowed = from.at(config + "allowedFunctionNames");
  if (allowed.empty()) return out;
  const std::string_view only = onlyElement(allowed);
  // some of several tools: no other dialect can express that
  if (only.empty() || *choice != Choice::Any) return std::nullopt;
  out.choice = Choice::One;
  out.name = only;
  out.paths.push_back(config + "allowedFunctionNames");
  return out;
}

std::optional<ToolChoice> readChoice(const SettingsSource& from) {
  if (from.dialect() == Dialect::Gemini) return readGeminiChoice(from);
  if (const auto word = choiceNamed(from.textAt("tool_choice"))) return ToolChoice{*word, {}, {"tool_choice"}};
  const std::string type = from.textAt("tool_choice.type");
  const auto choice = choiceNamed(type);
  if (!choice) return std::nullopt;
  ToolChoice out{.choice = *choice, .name = {}, .paths = {"tool_choice.type"}};
  if (*choice != Choice::One) return out;
  const std::string path =
      from.dialect() == Dialect::OpenaiChat ? "tool_choice." + type + ".name" : std::string("tool_choice.name");
  out.name = from.at(path);
  out.paths.push_back(path);
  return out.name.starts_with('"') ? std::optional(out) : std::nullopt;
}

// A tool's name in the target, and whether the tool takes text. findTool returns std::nullopt when there is no such
// tool.
struct NamedTool {
  std::string raw;
  bool freeform = false;
};

std::optional<NamedTool> findTool(std::string_view rawName, Dialect target, History& history) {
  const TextView seen{.escaped = rawName.substr(1, rawName.size() - 2), .present = true};
  const TextView meant = history.names.original(seen);
  for (const Original& original : history.originals) {
    if (original.section != Section::Tools || original.tool == nullptr || !original.tool->known) continue;
    if (original.tool->name.escaped != meant.escaped && original.tool->name.escaped != seen.escaped) continue;
    const TextView name =
        original.dialect == target ? original.tool->name : history.names.inTarget(target, original.tool->name);
    return NamedTool{.raw = '"' + std::string(name.escaped) + '"', .freeform = original.tool->freeform};
  }
  return std::nullopt;
}

void writeOne(const NamedTool& tool, Dialect target, std::vector<Setting>& out) {
  const std::string kind = tool.freeform ? "custom" : "function";
  switch (target) {
    case Dialect::Anthropic:
      out.push_back({.path = "tool_choice.type", .json = "\"tool\""});
      out.push_back({.path = "tool_choice.name", .json = tool.raw});
      return;
    case Dialect::OpenaiChat:
      out.push_back(
          {.path = "tool_choice", .json = "{\"type\":\"" + kind + "\",\"" + kind + "\":{\"name\":" + tool.raw + "}}"});
      return;
    case Dialect::OpenaiResponses:
      out.push_back({.path = "tool_choice", .json = "{\"type\":\"" + kind + "\",\"name\":" + tool.raw + "}"});
      return;
    default:
      out.push_back({.path = "toolConfig.functionCallingConfig.mode", .json = "\"ANY\""});
      out.push_back({.path = "toolConfig.functionCallingConfig.allowedFunctionNames", .json = "[" + tool.raw + "]"});
      return;
  }
}

void writeChoice(Choice choice, Dialect target, std::vector<Setting>& out) {
  const auto word = [&](std::string_view automatic, std::string_view none, std::string_view any) {
    return json::quoted(choice == Choice::Auto ? automatic : choice == Choice::None ? none : any);
  };
  if (target == Dialect::Anthropic) {
    out.push_back({.path = "tool_choice.type", .json = word("auto", "none", "any")});
  } else if (target == Dialect::Gemini) {
    out.push_back({.path = "toolConfig.functionCallingConfig.mode", .json = word("AUTO", "NONE", "ANY")});
  } else {
    out.push_back({.path = "tool_choice", .json = word("auto", "none", "required")});
  }
}

// Translates whether one answer may have several calls. Anthropic has this setting inside the tool choice, with the
// opposite meaning.
void translateParallel(SettingsSource& from, Dialect target, std::vector<Setting>& out) {
  constexpr std::string_view kOpenai = "parallel_tool_calls";
  constexpr std::string_view kAnthropic = "tool_choice.disable_parallel_tool_use";
  const std::string_view place = from.dialect() == Dialect::Anthropic ? kAnthropic : kOpenai;
  const std::string_view value = from.dialect() == Dialect::Gemini ? std::string_view() : from.at(place);
  if ((value != "true" && value != "false") || target == Dialect::Gemini) return;
  if (isOpenai(target)) {
    const bool inverted = from.dialect() == Dialect::Anthropic;
    out.push_back({.path = std::string(kOpenai), .json = (value == "true") != inverted ? "true" : "false"});
  } else {
    const auto type = std::ranges::find(out, std::string("tool_choice.type"), &Setting::path);
    if (type != out.end() && type->json == "\"none\"") return;  // not allowed with that type
    if (type == out.end()) out.push_back({.path = "tool_choice.type", .json = "\"auto\""});
    out.push_back({.path = std::string(kAnthropic), .json = value == "true" ? "false" : "true"});
  }
  from.markUsed(place);
}

struct Format {
  bool schema = false;  // otherwise any JSON
  std::string prefix;   // path of the members that describe it
  std::string json;     // the schema
  std::vector<std::string> paths;
  std::string left{};  // the part of the schema that has no equivalent elsewhere
};

std::optional<Format> readFormat(const SettingsSource& from) {
  Format out;
  if (from.dialect() == Dialect::Gemini) {
    if (from.textAt("generationConfig.responseMimeType") != "application/json") return std::nullopt;
    out.paths = {"generationConfig.responseMimeType"};
    for (const char* path : {"generationConfig.responseJsonSchema", "generationConfig.responseSchema"}) {
      const std::string_view schema = from.at(path);
      if (!schema.starts_with('{')) continue;
      json::Tree tree;
      if (tree.parse(schema)) continue;
      JsonSchema converted = jsonSchemaOf(tree, 0);
      out.json = std::move(converted.text);
      if (converted.orderLost) out.left = std::string(path) + ".propertyOrdering";
      out.schema = true;
      out.paths.emplace_back(path);
      break;
    }
    return out;
  }
  const std::string place = from.dialect() == Dialect::Anthropic    ? "output_config.format."
                            : from.dialect() == Dialect::OpenaiChat ? "response_format."
                                                                    : "text.format.";
  const std::string type = from.textAt(place + "type");
  if (type != "json_schema" && type != "json_object") return std::nullopt;
  out.paths = {place + "type"};
  if (type == "json_object") return out;
  out.prefix = from.dialect() == Dialect::OpenaiChat ? place + "json_schema." : place;
  out.json = from.at(out.prefix + "schema");
  out.schema = out.json.starts_with('{');
  out.paths.push_back(out.prefix + "schema");
  return out.schema ? std::optional(out) : std::nullopt;
}

void writeOpenaiFormat(SettingsSource& from, const Format& format, Dialect target, std::vector<Setting>& out) {
  const bool chat = target == Dialect::OpenaiChat;
  const std::string place = chat ? "response_format" : "text.format";
  if (!format.schema) {
    out.push_back({.path = place, .json = R"({"type":"json_object"})"});
    return;
  }
  json::Writer writer;
  writer.beginObject();
  if (!chat) writer.member("type", "json_schema");
  const bool described = isOpenai(from.dialect());
  const std::string_view name = described ? from.at(format.prefix + "name") : std::string_view();
  writer.key("name").raw(name.empty() ? "\"answer\"" : name).key("schema").raw(format.json);
  if (!name.empty()) from.markUsed(format.prefix + "name");
  for (const char* key : {"description", "strict"}) {
    const std::string_view value = described ? from.at(format.prefix + key) : std::string_view();
    if (value.empty()) continue;
    writer.key(key).raw(value);
    from.markUsed(format.prefix + key);
  }
  writer.endObject();
  out.push_back(
      {.path = place, .json = chat ? R"({"type":"json_schema","json_schema":)" + writer.text() + "}" : writer.text()});
}

}  // namespace

void translateToolChoice(SettingsSource& from, Dialect target, History& history, std::vector<Setting>& out) {
  if (const auto read = readChoice(from)) {
    const auto tool = read->choice == Choice::One ? findTool(read->name, target, history) : std::optional<NamedTool>();
    if (tool) {
      writeOne(*tool, target, out);
    } else if (read->choice != Choice::One) {
      writeChoice(read->choice, target, out);
    }
    if (tool || read->choice != Choice::One)
      std::ranges::for_each(read->paths, [&](auto& path) { from.markUsed(path); });
  }
  translateParallel(from, target, out);
}

void translateFormat(SettingsSource& from, Dialect target, std::vector<Setting>& out) {
  const auto format = readFormat(from);
  if (!format || (target == Dialect::Anthropic && !format->schema)) return;
  if (target == Dialect::Anthropic) {
    out.push_back({.path = "output_config.format.type", .json = "\"json_schema\""});
    out.push_back({.path = "output_config.format.schema", .json = format->json});
  } else if (target == Dialect::Gemini) {
    out.push_back({.path = "generationConfig.responseMimeType", .json = "\"application/json\""});
    if (format->schema) out.push_back({.path = "generationConfig.responseJsonSchema", .json = format->json});
  } else {
    writeOpenaiFormat(from, *format, target, out);
  }
  for (const std::string& path : format->paths) from.markUsed(path);
  if (!format->left.empty()) from.markPartlyUsed(format->left);
}

}  // namespace bough::message
