#include "message/request.h"

#include <algorithm>

#include "message/plan.h"
#include "message/reader.h"
#include "message/restore.h"
#include "message/tools.h"
#include "message/writers.h"

namespace bough::message {
namespace {

Native makeNative(const StoredValue& value, Section section, const json::Tree& tree, json::Tree::Index node) {
  Native native;
  native.dialect = value.dialect;
  native.section = section;
  native.wholeSlot = section == Section::System;
  native.tree = &tree;
  native.node = node;
  native.raw = tree.raw(node);
  native.entryId = value.entryId;
  return native;
}

json::Tree* parse(const StoredValue& value, Section section, History& history) {
  json::Tree& tree = history.trees.emplace_back();
  const auto error = tree.parse(value.raw);
  if (!error) return &tree;
  Native& native = history.natives.emplace_back();
  native.dialect = value.dialect;
  native.section = section;
  native.raw = value.raw;
  native.entryId = value.entryId;
  native.problem = error->reason;
  return nullptr;
}

// A request takes {role, content} back, not the whole answer that Anthropic gave.
void bareAnthropic(Native& native, History& history) {
  const json::Tree& tree = *native.tree;
  std::size_t members = 0;
  for ([[maybe_unused]] const auto member : tree.members(native.node)) ++members;
  if (members <= 2 || native.message.role != Role::Assistant) return;
  native.raw = history.texts.emplace_back(R"({"role":"assistant","content":)" +
                                          std::string(tree.raw(tree.find(native.node, "content"))) + "}");
}

json::Tree::Index firstOf(const json::Tree& tree, json::Tree::Index list) {
  for (const json::Tree::Index each : tree.elements(list)) return each;
  return json::Tree::kNone;
}

// The message inside a provider's whole response.
void unwrap(Native& native, History& history) {
  const json::Tree& tree = *native.tree;
  json::Tree::Index inner = json::Tree::kNone;
  switch (native.dialect) {
    case Dialect::Anthropic: bareAnthropic(native, history); return;
    case Dialect::OpenaiChat:
      if (tree.find(native.node, "role") == json::Tree::kNone) {
        inner = tree.find(firstOf(tree, tree.find(native.node, "choices")), "message");
      }
      break;
    case Dialect::Gemini: inner = tree.find(firstOf(tree, tree.find(native.node, "candidates")), "content"); break;
    default: break;
  }
  if (inner != json::Tree::kNone) native.raw = tree.raw(inner);
}

constexpr std::string_view kPlainTypes[] = {"user", "assistant", "tool_call", "tool_use", "tool_result"};

void addBad(std::string_view entryId, std::string_view raw, std::string_view problem, History& history) {
  Native& native = history.natives.emplace_back();
  native.raw = raw;
  native.entryId = entryId;
  native.problem = problem;
}

enum class Form : std::uint8_t { AsStored, ForRequest };

void addParsed(const StoredValue& message, const json::Tree& tree, json::Tree::Index node, Form form,
               History& history) {
  Native whole = makeNative(message, Section::Messages, tree, node);
  readNative(whole, history);
  if (form == Form::AsStored) {
    history.natives.push_back(std::move(whole));
    return;
  }
  const json::Tree::Index output = tree.find(node, "output");
  const bool response = message.dialect == Dialect::OpenaiResponses && tree.find(node, "type") == json::Tree::kNone &&
                        tree.isArray(output) && whole.problem.empty();
  if (!response) {
    if (whole.problem.empty()) unwrap(whole, history);
    history.natives.push_back(std::move(whole));
    return;
  }
  const std::size_t before = history.natives.size();
  for (const json::Tree::Index item : tree.elements(output)) {
    Native native = makeNative(message, Section::Messages, tree, item);
    readNative(native, history);
    history.natives.push_back(std::move(native));
  }
  if (history.natives.size() > before) history.natives.back().message.usage = whole.message.usage;
}

Dialect dialectOfTools(const json::Tree& tree) {
  const json::Tree::Index first = firstOf(tree, 0);
  if (tree.find(first, "input_schema") != json::Tree::kNone) return Dialect::Anthropic;
  const bool gemini = tree.find(first, "functionDeclarations") != json::Tree::kNone ||
                      tree.find(first, "function_declarations") != json::Tree::kNone;
  if (gemini) return Dialect::Gemini;
  if (tree.isObject(tree.find(first, "function")) || tree.isObject(tree.find(first, "custom"))) {
    return Dialect::OpenaiChat;
  }
  return tree.find(first, "type") != json::Tree::kNone ? Dialect::OpenaiResponses : Dialect::Bough;
}

void addNatives(const OutMessage& out, Request::Part& part) {
  part.verbatim = out.verbatim;
  if (out.verbatim) part.natives.push_back(out.native);
  for (const Piece& piece : out.pieces) {
    if (piece.native >= 0 && std::ranges::find(part.natives, piece.native) == part.natives.end()) {
      part.natives.push_back(piece.native);
    }
  }
}

}  // namespace

void addSystem(const StoredValue& system, History& history) {
  const json::Tree* tree = parse(system, Section::System, history);
  if (tree == nullptr) return;
  Native native = makeNative(system, Section::System, *tree, 0);
  readNative(native, history);
  history.natives.push_back(std::move(native));
}

void addTools(const StoredValue& tools, History& history) {
  const json::Tree* tree = parse(tools, Section::Tools, history);
  if (tree == nullptr) return;
  const std::size_t before = history.natives.size();
  readTools(tools.dialect == Dialect::Plain ? dialectOfTools(*tree) : tools.dialect, *tree, 0, history);
  for (std::size_t i = before; i < history.natives.size(); ++i) history.natives[i].entryId = tools.entryId;
}

void addMessage(const StoredValue& message, History& history) {
  const json::Tree* tree = parse(message, Section::Messages, history);
  if (tree != nullptr) addParsed(message, *tree, 0, Form::ForRequest, history);
}

bool isMessageType(std::string_view type) {
  return type == "message" || std::ranges::find(kPlainTypes, type) != std::end(kPlainTypes);
}

std::string withType(std::string_view type, std::string_view payload) {
  std::string dressed = "{\"type\":\"" + std::string(type) + '"';
  const std::size_t first = payload.find_first_not_of(" \t\r\n", payload.find('{') + 1);
  if (first != std::string_view::npos && payload[first] != '}') dressed += ',';
  return dressed.append(payload.substr(payload.find('{') + 1));
}

namespace {

void addEntry(std::string_view entryId, std::string_view type, std::string_view payload, Form form, History& history) {
  StoredValue value{.entryId = entryId, .dialect = Dialect::Plain, .raw = payload};
  if (type != "message") {
    // The entry's own type says what it is.
    value.raw = history.texts.emplace_back(withType(type, payload));
  }
  const json::Tree* tree = parse(value, Section::Messages, history);
  if (tree == nullptr) return;
  const json::Tree::Index message = tree->find(0, "message");
  const json::Tree::Index dialect = tree->find(0, "dialect");
  if (message == json::Tree::kNone) {
    addParsed(value, *tree, 0, form, history);
    return;
  }
  if (dialect != json::Tree::kNone) {
    const std::string_view name = tree->isString(dialect) ? tree->body(dialect) : tree->raw(dialect);
    const auto known = parseDialect(name);
    if (!known) {
      addBad(entryId, payload, history.texts.emplace_back(known.error().message), history);
      return;
    }
    value.dialect = *known;
  }
  addParsed(value, *tree, message, form, history);
}

}  // namespace

void addEntryMessage(std::string_view entryId, std::string_view type, std::string_view payload, History& history) {
  addEntry(entryId, type, payload, Form::ForRequest, history);
}

void addStoredMessage(std::string_view entryId, std::string_view type, std::string_view payload, History& history) {
  addEntry(entryId, type, payload, Form::AsStored, history);
}

Request writeRequest(History& history, Dialect target, const ConvertOptions& options, Reporter& reporter) {
  const Plan plan = makePlan(history, target, options, reporter, PlanMode::Request);
  Request request;
  Records records;
  request.tools = writeTools(target, history, records, reporter);
  const auto rawOf = [&](const OutMessage& out) { return history.natives[static_cast<std::size_t>(out.native)].raw; };
  if (plan.hasSystem) {
    Sink sink(request.system, records, Section::System, Hashing::No);
    if (plan.system.verbatim) {
      sink.splice(plan.system.native, rawOf(plan.system), {}, 0);
    } else {
      writeSystem(target, plan.system, sink);
    }
  }
  std::size_t bytes = 64;
  for (const Native& native : history.natives) bytes += native.raw.size() + native.raw.size() / 16 + 64;
  std::string& out = request.messages;
  out.reserve(bytes);
  out += '[';
  Sink sink(out, records, Section::Messages, Hashing::No);
  for (const OutMessage& message : plan.messages) {
    Request::Part& part = request.parts.emplace_back();
    part.begin = out.size() + (sink.count() > 0 ? 1 : 0);
    if (message.verbatim) {
      sink.splice(message.native, rawOf(message), {}, 0);
    } else {
      writeMessage(target, message, sink);
    }
    part.end = out.size();
    addNatives(message, part);
  }
  out += ']';
  return request;
}

}  // namespace bough::message
