#include "message/request/stored.h"

#include "message/dialect/entry_message.h"
#include "message/dialect/read_original.h"
#include "message/dialect/reader.h"
#include "message/dialect/tools.h"

namespace bough::message {
namespace {

Original makeOriginal(const StoredValue& value, Section section, const json::Tree& tree, json::Tree::Index node) {
  Original original;
  original.dialect = value.dialect;
  original.section = section;
  original.isRequestMember = section == Section::System;
  original.tree = &tree;
  original.node = node;
  original.raw = tree.raw(node);
  original.entryId = value.entryId;
  return original;
}

json::Tree* parse(const StoredValue& value, Section section, History& history) {
  const auto error = history.scratch.parse(value.raw, kMaxMessageValues);
  if (!error) return &history.trees.emplace_back(history.scratch);  // The copy is only as large as needed.
  Original& original = history.originals.emplace_back();
  original.dialect = value.dialect;
  original.section = section;
  original.raw = value.raw;
  original.entryId = value.entryId;
  original.problem = error->reason;
  return nullptr;
}

// A request accepts {role, content}, but not Anthropic's whole response.
void reduceAnthropic(Original& original, History& history) {
  const json::Tree& tree = *original.tree;
  std::size_t members = 0;
  for ([[maybe_unused]] const auto member : tree.members(original.node)) ++members;
  if (members <= 2 || original.message.role != Role::Assistant) return;
  original.raw = history.texts.emplace_back(R"({"role":"assistant","content":)" +
                                            std::string(tree.raw(tree.find(original.node, "content"))) + "}");
}

json::Tree::Index firstOf(const json::Tree& tree, json::Tree::Index list) {
  for (const json::Tree::Index each : tree.elements(list)) return each;
  return json::Tree::kNone;
}

// Reduces a provider's whole response to the message inside it.
void reduceToMessage(Original& original, History& history) {
  const json::Tree& tree = *original.tree;
  json::Tree::Index inner = json::Tree::kNone;
  switch (original.dialect) {
    case Dialect::Anthropic: reduceAnthropic(original, history); return;
    case Dialect::OpenaiChat:
      if (tree.find(original.node, "role") == json::Tree::kNone) {
        inner = tree.find(firstOf(tree, tree.find(original.node, "choices")), "message");
      }
      break;
    case Dialect::Gemini: inner = tree.find(firstOf(tree, tree.find(original.node, "candidates")), "content"); break;
    default: break;
  }
  if (inner != json::Tree::kNone) original.raw = tree.raw(inner);
}

void addInvalid(std::string_view entryId, std::string_view raw, std::string_view problem, History& history) {
  Original& original = history.originals.emplace_back();
  original.raw = raw;
  original.entryId = entryId;
  original.problem = problem;
}

enum class MessageForm : std::uint8_t { AsStored, ForRequest };

void addParsed(const StoredValue& message, const json::Tree& tree, json::Tree::Index node, MessageForm form,
               History& history) {
  Original whole = makeOriginal(message, Section::Messages, tree, node);
  readOriginal(whole, history);
  if (form == MessageForm::AsStored) {
    history.originals.push_back(std::move(whole));
    return;
  }
  const json::Tree::Index output = tree.find(node, "output");
  const bool response = message.dialect == Dialect::OpenaiResponses && tree.find(node, "type") == json::Tree::kNone &&
                        tree.isArray(output) && whole.problem.empty();
  if (!response) {
    if (whole.problem.empty()) reduceToMessage(whole, history);
    history.originals.push_back(std::move(whole));
    return;
  }
  const std::size_t before = history.originals.size();
  for (const json::Tree::Index item : tree.elements(output)) {
    Original original = makeOriginal(message, Section::Messages, tree, item);
    readOriginal(original, history);
    history.originals.push_back(std::move(original));
  }
  if (history.originals.size() > before) history.originals.back().message.usage = whole.message.usage;
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

}  // namespace

void addSystem(const StoredValue& system, History& history) {
  const json::Tree* tree = parse(system, Section::System, history);
  if (tree == nullptr) return;
  Original original = makeOriginal(system, Section::System, *tree, 0);
  readOriginal(original, history);
  history.originals.push_back(std::move(original));
}

void addTools(const StoredValue& tools, History& history) {
  const json::Tree* tree = parse(tools, Section::Tools, history);
  if (tree == nullptr) return;
  const std::size_t before = history.originals.size();
  readTools(tools.dialect == Dialect::Plain ? dialectOfTools(*tree) : tools.dialect, *tree, 0, history);
  for (std::size_t i = before; i < history.originals.size(); ++i) history.originals[i].entryId = tools.entryId;
}

void addMessage(const StoredValue& message, History& history) {
  const json::Tree* tree = parse(message, Section::Messages, history);
  if (tree != nullptr) addParsed(message, *tree, 0, MessageForm::ForRequest, history);
}

namespace {

void addEntry(std::string_view entryId, std::string_view type, std::string_view payload, MessageForm form,
              History& history) {
  StoredValue value{.entryId = entryId, .dialect = Dialect::Plain, .raw = payload};
  if (type != "message") {
    // The type of the entry is the type of the message.
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
      addInvalid(entryId, payload, history.texts.emplace_back(known.error().message), history);
      return;
    }
    value.dialect = *known;
  }
  addParsed(value, *tree, message, form, history);
}

}  // namespace

void addEntryMessage(std::string_view entryId, std::string_view type, std::string_view payload, History& history) {
  addEntry(entryId, type, payload, MessageForm::ForRequest, history);
}

void addRedacted(std::string_view entryId, std::string_view type, std::string_view stored, History& history) {
  History read;
  if (!stored.empty()) addEntry(entryId, type, stored, MessageForm::AsStored, read);
  Original& original = history.originals.emplace_back();
  original.entryId = entryId;
  original.erased = stored.starts_with(R"({"erased":{)");
  original.isContentLost = read.originals.empty() || !read.originals.front().problem.empty();
  if (!read.originals.empty()) original.message.blocks = std::move(read.originals.front().message.blocks);
  hideContent(original);
  for (Block& block : original.hiddenResults) {
    for (TextView* text : {&block.id, &block.name}) text->escaped = history.texts.emplace_back(text->escaped);
  }
}

void addUnreadable(std::string_view entryId, History& history) {
  Original& original = history.originals.emplace_back();
  original.entryId = entryId;
  original.redacted = true;
  original.isContentLost = true;
  original.unreadable = true;
}

void addStoredMessage(std::string_view entryId, std::string_view type, std::string_view payload, History& history) {
  addEntry(entryId, type, payload, MessageForm::AsStored, history);
}

}  // namespace bough::message
