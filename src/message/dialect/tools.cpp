#include "message/dialect/tools.h"

#include "base/check.h"
#include "message/dialect/reader.h"
#include "message/dialect/schema.h"
#include "message/model/dialects.h"

namespace bough::message {
namespace {

constexpr std::string_view kNoParameters = R"({"type":"object","properties":{}})";
constexpr std::string_view kTextParameter =
    R"({"type":"object","properties":{"input":{"type":"string"}},"required":["input"]})";

void readFunction(Original& original, json::Tree::Index object, std::string_view schemaName, History& history) {
  const json::Tree& tree = *original.tree;
  const Reader reader(tree, original.message);
  ToolDefinition& tool = *original.tool;
  for (const auto [key, value] : tree.members(object)) {
    const std::string_view name = tree.body(key);
    if (name == "name") {
      tool.name = reader.text(value);
    } else if (name == "description") {
      tool.description = reader.text(value);
    } else if (name == schemaName && tree.isObject(value)) {
      tool.schema = tree.raw(value);
      if (original.dialect != Dialect::Gemini) continue;
      JsonSchema schema = jsonSchemaOf(tree, value);
      tool.schema = history.texts.emplace_back(std::move(schema.text));
      if (schema.orderLost) tool.extras.emplace_back("parameters.propertyOrdering");
    } else if (name == "parametersJsonSchema" && original.dialect == Dialect::Gemini && tree.isObject(value)) {
      tool.schema = tree.raw(value);
    } else if (name == "strict") {
      tool.strict = tree.raw(value);
    } else if (name != "type") {
      reader.extra(tool.extras, key);
    }
  }
  tool.known = tool.name.present;
  original.problem = tool.known ? std::string_view() : "a tool without a name";
}

// In Chat, the function or freeform tool is inside the tool, next to other members.
void readChatTool(Original& original, History& history) {
  const json::Tree& tree = *original.tree;
  const json::Tree::Index type = tree.find(original.node, "type");
  original.tool->freeform = tree.stringIs(type, "custom");
  if (!original.tool->freeform && !tree.stringIs(type, "function")) return;
  readFunction(original, tree.find(original.node, tree.body(type)), "parameters", history);
  Reader(tree, original.message).extrasOf(original.tool->extras, original.node, {"type", tree.body(type)});
}

// Returns the name of the list of functions in an element of Gemini's tools; empty when it has none.
std::string_view nameOfDeclarations(const json::Tree& tree, json::Tree::Index element) {
  for (const std::string_view name : {"functionDeclarations", "function_declarations"}) {
    const json::Tree::Index functions = tree.find(element, name);
    if (functions != json::Tree::kNone) return tree.isArray(functions) ? name : std::string_view();
  }
  return {};
}

// Returns the other members of an element of Gemini's tools, which are other tools, as an object. Empty when there are
// none.
std::string besideDeclarations(const json::Tree& tree, json::Tree::Index element) {
  std::string out;
  for (const auto [key, value] : tree.members(element)) {
    const std::string_view name = tree.body(key);
    if (name == "functionDeclarations" || name == "function_declarations") continue;
    if (tree.kind(value) == json::Kind::Null) continue;
    out.append(out.empty() ? "{" : ",").append(tree.raw(key)).append(":").append(tree.raw(value));
  }
  return out.empty() ? out : out + "}";
}

void writeDefinition(Dialect target, NodeWriter& writer, const ToolDefinition& tool, const TextView& name) {
  const bool takesText = isOpenai(target);
  const bool freeform = tool.freeform && takesText;
  const std::string_view fallback = tool.freeform ? kTextParameter : kNoParameters;
  std::string schema(tool.schema.empty() ? fallback : tool.schema);
  if (target != Dialect::Bough) schema = asObjectSchema(schema);
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

void reportTool(const Original& original, Dialect target, Reporter& reporter) {
  constexpr std::string_view kComesBack = "the target has no place for it; it comes back";
  for (const std::string_view name : original.tool->extras) {
    reporter.lossy(Change::Carried, original, nullptr, "tool." + std::string(name), kComesBack);
  }
  const bool takesText = isOpenai(target);
  if (original.tool->freeform && !takesText) {
    reporter.lossy(Change::Altered, original, nullptr, "tool.freeform", "takes an object with one text, `input`");
  }
  if (!original.tool->strict.empty() && !takesText) {
    reporter.lossy(Change::Carried, original, nullptr, "tool.strict", kComesBack);
  }
}

bool isGeminiDeclaration(const Original& original) {
  return original.tool != nullptr && original.tool->known;
}

}  // namespace

void readTool(Original& original, History& history) {
  original.tool = std::make_unique<ToolDefinition>();
  const json::Tree& tree = *original.tree;
  const json::Tree::Index node = original.node;
  if (!tree.isObject(node)) {
    original.problem = "a tool is an object";
    return;
  }
  const json::Tree::Index type = tree.find(node, "type");
  switch (original.dialect) {
    case Dialect::Anthropic:
      if (type == json::Tree::kNone || tree.stringIs(type, "custom") || tree.kind(type) == json::Kind::Null) {
        readFunction(original, node, "input_schema", history);
      }
      return;
    case Dialect::OpenaiChat: readChatTool(original, history); return;
    case Dialect::OpenaiResponses:
      original.tool->freeform = tree.stringIs(type, "custom");
      if (original.tool->freeform || tree.stringIs(type, "function"))
        readFunction(original, node, "parameters", history);
      return;
    case Dialect::Gemini:
      if (tree.isString(tree.find(node, "name"))) readFunction(original, node, "parameters", history);
      return;
    case Dialect::Plain:
    case Dialect::Bough: readFunction(original, node, "parameters", history); return;
  }
}

void readTools(Dialect dialect, const json::Tree& tree, json::Tree::Index list, History& history) {
  std::int64_t place = 0;
  std::int64_t element = 0;
  const auto add = [&](const json::Tree& from, json::Tree::Index node) -> ToolDefinition& {
    Original& original = history.originals.emplace_back();
    original.dialect = dialect;
    original.section = Section::Tools;
    original.tree = &from;
    original.node = node;
    original.raw = from.raw(node);
    original.documentPlace = place++;
    readTool(original, history);
    original.tool->element = element;
    return *original.tool;
  };
  for (const json::Tree::Index node : tree.elements(list)) {
    const std::string_view declarations = nameOfDeclarations(tree, node);
    if (dialect == Dialect::Gemini && !declarations.empty()) {
      std::int64_t declaration = 0;
      for (const json::Tree::Index function : tree.elements(tree.find(node, declarations))) {
        ToolDefinition& tool = add(tree, function);
        tool.declarations = declarations;
        tool.declaration = declaration++;
      }
      if (std::string others = besideDeclarations(tree, node); !others.empty()) {
        json::Tree& own = history.trees.emplace_back();
        const auto error = own.parse(history.texts.emplace_back(std::move(others)));
        BOUGH_CHECK(!error);
        add(own, 0);
      }
    } else {
      add(tree, node);
    }
    ++element;
  }
}

std::string writeTools(Dialect target, History& history, Records& records, Reporter& reporter) {
  std::vector<std::int32_t> writable;
  std::int64_t ownPlaces = 0;
  bool whole = true;
  ContentHasher hasher;
  for (std::size_t i = 0; i < history.originals.size(); ++i) {
    const Original& original = history.originals[i];
    if (original.section != Section::Tools) continue;
    if (original.dialect == target) {
      whole = whole && original.documentPlace == ownPlaces++;
    } else if (!original.problem.empty()) {
      reporter.invalid(original, nullptr, original.problem);
      continue;
    } else if (!original.tool->known) {
      reporter.lossy(Change::Carried, original, nullptr, "tool", "a tool of its provider's own; it comes back", true);
      continue;
    } else {
      whole = false;
    }
    writable.push_back(static_cast<std::int32_t>(i));
  }
  const RequestFrame* requestFrame = history.requestFrameOf(target);
  whole = whole && requestFrame != nullptr && requestFrame->toolCount == static_cast<std::uint64_t>(ownPlaces);
  if (writable.empty()) return whole ? requestFrame->toolsText : std::string();
  std::string out = "[";
  std::string others;
  Sink sink(out, records, Section::Tools);
  Sink otherSink(others, records, Section::Tools);
  if (target == Dialect::Gemini) out += R"({"functionDeclarations":[)";
  for (const std::int32_t index : writable) {
    const Original& original = history.originals[static_cast<std::size_t>(index)];
    if (original.dialect == target) {
      const bool grouped = target != Dialect::Gemini || isGeminiDeclaration(original);
      (grouped ? sink : otherSink).splice(index, original.raw, {}, hasher.hashOf(original));
      continue;
    }
    reportTool(original, target, reporter);
    const TextView meant = history.names.original(original.tool->name);
    const TextView name = history.names.inTarget(target, meant);
    if (name.escaped != original.tool->name.escaped) {
      reporter.renamedTool(original, nullptr, "tool.name", original.tool->name.decode(), name.decode());
    }
    writeDefinition(target, sink.begin(), *original.tool, name);
    sink.addBlock(index);
    sink.end();
  }
  if (whole) return requestFrame->toolsText;
  if (target == Dialect::Gemini) {
    if (sink.count() == 0) return "[" + others + "]";
    out += "]}";
    if (otherSink.count() > 0) out += "," + others;
  }
  return out + "]";
}

}  // namespace bough::message
