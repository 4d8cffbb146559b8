#include "message/tools.h"

#include <algorithm>

#include "message/reader.h"

namespace bough::message {
namespace {

constexpr std::string_view kNoParameters = R"({"type":"object","properties":{}})";
constexpr std::string_view kTextParameter =
    R"({"type":"object","properties":{"input":{"type":"string"}},"required":["input"]})";

// Gemini's own schemas name types in capitals; everybody else's are JSON Schema.
std::string_view lowerTypes(const json::Tree& tree, json::Tree::Index schema, History& history) {
  static constexpr std::string_view kTypes[] = {"STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"};
  std::string* out = nullptr;
  std::size_t copied = tree.begin(schema);
  for (json::Tree::Index i = schema + 1; i + 1 < tree.next(schema); ++i) {
    if (!tree.stringIs(i, "type") || !tree.isString(i + 1) ||
        std::ranges::find(kTypes, tree.body(i + 1)) == std::end(kTypes)) {
      continue;
    }
    if (out == nullptr) out = &history.texts.emplace_back();
    *out += tree.text().substr(copied, tree.begin(i + 1) - copied);
    for (const char c : tree.raw(i + 1)) *out += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    copied = tree.end(i + 1);
  }
  if (out == nullptr) return tree.raw(schema);
  *out += tree.text().substr(copied, tree.end(schema) - copied);
  return *out;
}

void readFunction(Native& native, json::Tree::Index object, std::string_view schemaName, History& history) {
  const json::Tree& tree = *native.tree;
  const Reader reader(tree, native.message);
  ToolDefinition& tool = *native.tool;
  for (const auto [key, value] : tree.members(object)) {
    const std::string_view name = tree.body(key);
    if (name == "name") {
      tool.name = reader.text(value);
    } else if (name == "description") {
      tool.description = reader.text(value);
    } else if (name == schemaName && tree.isObject(value)) {
      tool.schema = native.dialect == Dialect::Gemini ? lowerTypes(tree, value, history) : tree.raw(value);
    } else if (name == "parametersJsonSchema" && native.dialect == Dialect::Gemini && tree.isObject(value)) {
      tool.schema = tree.raw(value);
    } else if (name == "strict") {
      tool.strict = tree.raw(value);
    } else if (name != "type") {
      reader.extra(tool.extras, key);
    }
  }
  tool.known = tool.name.present;
  native.problem = tool.known ? std::string_view() : "a tool without a name";
}

void writeDefinition(Dialect target, NodeWriter& writer, const ToolDefinition& tool, const TextView& name) {
  const bool takesText = target == Dialect::OpenaiChat || target == Dialect::OpenaiResponses;
  const bool freeform = tool.freeform && takesText;
  const std::string_view fallback = tool.freeform ? kTextParameter : kNoParameters;
  const std::string_view schema = tool.schema.empty() ? fallback : tool.schema;
  writer.beginObject();
  if (takesText) writer.member("type", literal(freeform ? "custom" : "function"));
  if (target == Dialect::OpenaiChat) writer.key(freeform ? "custom" : "function").beginObject();
  writer.member("name", name);
  if (tool.description.present) writer.member("description", tool.description);
  if (!freeform) {
    const std::string_view key = target == Dialect::Anthropic ? "input_schema"
                                 : target == Dialect::Gemini  ? "parametersJsonSchema"
                                                              : "parameters";
    writer.key(key).raw(schema);
    if (takesText && !tool.strict.empty()) {
      writer.key("strict").raw(tool.strict);
    } else if (target == Dialect::OpenaiResponses) {
      writer.key("strict").boolean(false);
    }
  }
  if (target == Dialect::OpenaiChat) writer.endObject();
  writer.endObject();
}

void reportTool(const Native& native, Dialect target, Reporter& reporter) {
  constexpr std::string_view kComesBack = "the target has no place for it; it comes back with the origin";
  for (const std::string_view name : native.tool->extras) {
    reporter.lossy(Change::Carried, native, nullptr, "tool." + std::string(name), kComesBack);
  }
  const bool takesText = target == Dialect::OpenaiChat || target == Dialect::OpenaiResponses;
  if (native.tool->freeform && !takesText) {
    reporter.lossy(Change::Altered, native, nullptr, "tool.freeform", "takes an object with one text, `input`");
  }
  if (!native.tool->strict.empty() && !takesText) {
    reporter.lossy(Change::Carried, native, nullptr, "tool.strict", kComesBack);
  }
}

bool isGeminiDeclaration(const Native& native) {
  return native.tool != nullptr && native.tool->known;
}

}  // namespace

void readTool(Native& native, History& history) {
  native.tool = std::make_unique<ToolDefinition>();
  const json::Tree& tree = *native.tree;
  const json::Tree::Index node = native.node;
  if (!tree.isObject(node)) {
    native.problem = "a tool is an object";
    return;
  }
  const json::Tree::Index type = tree.find(node, "type");
  switch (native.dialect) {
    case Dialect::Anthropic:
      if (type == json::Tree::kNone || tree.stringIs(type, "custom") || tree.kind(type) == json::Kind::Null) {
        readFunction(native, node, "input_schema", history);
      }
      return;
    case Dialect::OpenaiChat:
      native.tool->freeform = tree.stringIs(type, "custom");
      if (native.tool->freeform || tree.stringIs(type, "function")) {
        readFunction(native, tree.find(node, tree.body(type)), "parameters", history);
      }
      return;
    case Dialect::OpenaiResponses:
      native.tool->freeform = tree.stringIs(type, "custom");
      if (native.tool->freeform || tree.stringIs(type, "function")) readFunction(native, node, "parameters", history);
      return;
    case Dialect::Gemini:
      if (tree.isString(tree.find(node, "name"))) readFunction(native, node, "parameters", history);
      return;
    case Dialect::Plain:
    case Dialect::Bough: readFunction(native, node, "parameters", history); return;
  }
}

void readTools(Dialect dialect, const json::Tree& tree, json::Tree::Index list, History& history) {
  std::int64_t place = 0;
  auto add = [&](json::Tree::Index node) {
    Native& native = history.natives.emplace_back();
    native.dialect = dialect;
    native.section = Section::Tools;
    native.tree = &tree;
    native.node = node;
    native.raw = tree.raw(node);
    native.place = place++;
    readTool(native, history);
  };
  for (const json::Tree::Index element : tree.elements(list)) {
    json::Tree::Index functions = tree.find(element, "functionDeclarations");
    if (functions == json::Tree::kNone) functions = tree.find(element, "function_declarations");
    if (dialect == Dialect::Gemini && tree.isArray(functions)) {
      for (const json::Tree::Index function : tree.elements(functions)) add(function);
    } else {
      add(element);
    }
  }
}

std::string writeTools(Dialect target, History& history, Records& records, Reporter& reporter) {
  std::vector<std::int32_t> writable;
  std::int64_t nativePlaces = 0;
  bool whole = true;
  ContentHasher hasher;
  for (std::size_t i = 0; i < history.natives.size(); ++i) {
    const Native& native = history.natives[i];
    if (native.section != Section::Tools) continue;
    if (native.dialect == target) {
      whole = whole && native.place == nativePlaces++;
    } else if (!native.problem.empty()) {
      reporter.invalid(native, nullptr, native.problem);
      continue;
    } else if (!native.tool->known) {
      reporter.lossy(Change::Carried, native, nullptr, "tool", "a tool of its provider's own; it comes back", true);
      continue;
    } else {
      whole = false;
    }
    writable.push_back(static_cast<std::int32_t>(i));
  }
  const Frame* frame = history.frameOf(target);
  if (writable.empty()) return {};
  std::string out = "[";
  std::string others;
  Sink sink(out, records, Section::Tools);
  Sink otherSink(others, records, Section::Tools);
  if (target == Dialect::Gemini) out += R"({"functionDeclarations":[)";
  for (const std::int32_t index : writable) {
    const Native& native = history.natives[static_cast<std::size_t>(index)];
    if (native.dialect == target) {
      const bool grouped = target != Dialect::Gemini || isGeminiDeclaration(native);
      (grouped ? sink : otherSink).splice(index, native.raw, {}, hasher.hashOf(native));
      continue;
    }
    reportTool(native, target, reporter);
    const TextView original = history.names.original(native.tool->name);
    const TextView name = history.names.inTarget(target, original);
    if (name.escaped != native.tool->name.escaped) {
      reporter.note(Change::Renamed, native, nullptr, "tool.name", "the target does not take this name");
    }
    writeDefinition(target, sink.begin(), *native.tool, name);
    sink.leaf(index);
    sink.end();
  }
  if (whole && frame != nullptr && frame->toolCount == static_cast<std::uint64_t>(nativePlaces))
    return frame->toolsText;
  if (target == Dialect::Gemini) {
    if (sink.count() == 0) return "[" + others + "]";
    out += "]}";
    if (otherSink.count() > 0) out += "," + others;
  }
  return out + "]";
}

}  // namespace bough::message
