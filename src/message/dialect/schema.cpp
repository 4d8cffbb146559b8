#include "message/dialect/schema.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/json/json_scan.h"

namespace bough::message {
namespace {

using json::Tree;

struct Spelling {
  std::string_view snake;
  std::string_view camel;
};
constexpr Spelling kSpellings[] = {{"min_items", "minItems"},
                                   {"max_items", "maxItems"},
                                   {"min_length", "minLength"},
                                   {"max_length", "maxLength"},
                                   {"min_properties", "minProperties"},
                                   {"max_properties", "maxProperties"},
                                   {"any_of", "anyOf"},
                                   {"property_ordering", "propertyOrdering"},
                                   {"additional_properties", "additionalProperties"}};
constexpr std::string_view kNumbers[] = {"minItems",      "maxItems",      "minLength", "maxLength",
                                         "minProperties", "maxProperties", "minimum",   "maximum"};
constexpr std::string_view kTypes[] = {"STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"};
constexpr std::string_view kUnspecified = "TYPE_UNSPECIFIED";
constexpr std::string_view kNullSchema = R"({"type":"null"})";

template <typename List>
bool isOneOf(std::string_view name, const List& list) {
  return std::ranges::find(list, name) != std::end(list);
}

// What the values inside a container are.
enum class Inside : std::uint8_t { Keywords, NamedSchemas, Schemas };

class SchemaWriter {
 public:
  explicit SchemaWriter(const Tree& tree) : tree_(tree) {}

  JsonSchema run(Tree::Index schema) {
    if (!tree_.isObject(schema)) return {.text = std::string(tree_.raw(schema))};
    open(schema, Inside::Keywords);
    for (Tree::Index at = schema + 1;;) {
      while (at == open_.back().end) {
        close();
        if (open_.empty()) return {.text = std::move(out_), .orderLost = orderLost_};
      }
      at = step(at);
    }
  }

 private:
  struct Open {
    Tree::Index end;
    Inside inside;
    bool object;
    bool nullable = false;  // A schema that allows null, or the list of alternatives of such a schema.
    bool numeric = false;   // A schema of numbers.
    bool empty = true;
  };

  void open(Tree::Index node, Inside inside, bool nullable = false) {
    const bool object = tree_.isObject(node);
    const Tree::Index flag = inside == Inside::Keywords ? tree_.find(node, "nullable") : Tree::kNone;
    if (flag != Tree::kNone) nullable = tree_.kind(flag) == json::Kind::True;
    out_ += object ? '{' : '[';
    const bool numeric = inside == Inside::Keywords && isNumeric(tree_.find(node, "type"));
    open_.push_back(
        {.end = tree_.next(node), .inside = inside, .object = object, .nullable = nullable, .numeric = numeric});
  }

  void close() {
    const Open& done = open_.back();
    if (done.inside == Inside::Schemas && done.nullable) {
      separate();
      out_ += kNullSchema;
    }
    out_ += done.object ? '}' : ']';
    open_.pop_back();
  }

  void separate() {
    if (!open_.back().empty) out_ += ',';
    open_.back().empty = false;
  }

  void key(std::string_view raw) {
    separate();
    out_.append(raw).append(":");
  }

  // Writes the member or element at an index; returns the index to continue from.
  Tree::Index step(Tree::Index at) {
    const Open& parent = open_.back();
    if (parent.inside == Inside::Keywords) return keyword(at);
    Tree::Index value = at;
    if (parent.inside == Inside::NamedSchemas) {
      key(tree_.raw(at));
      value = at + 1;
    } else {
      separate();
    }
    return schemaOrRaw(value);
  }

  Tree::Index schemaOrRaw(Tree::Index value) {
    if (tree_.isObject(value)) {
      open(value, Inside::Keywords);
      return value + 1;
    }
    out_ += tree_.raw(value);
    return tree_.next(value);
  }

  Tree::Index keyword(Tree::Index at) {
    const Tree::Index value = at + 1;
    std::string_view name = tree_.body(at);
    for (const Spelling& spelling : kSpellings) {
      if (name == spelling.snake) name = spelling.camel;
    }
    const std::string quoted = '"' + std::string(name) + '"';
    orderLost_ |= name == "propertyOrdering";
    if (name == "nullable" || name == "propertyOrdering") return tree_.next(value);
    if (name == "type" && tree_.isString(value)) {
      type(value);
    } else if (isOneOf(name, kNumbers) && tree_.isString(value)) {
      key(quoted);
      out_ += isNumber(tree_.body(value)) ? tree_.body(value) : tree_.raw(value);
    } else if (name == "enum" && tree_.isArray(value) && (open_.back().nullable || open_.back().numeric)) {
      key(quoted);
      enumeration(value);
    } else if (name == "example") {
      key("\"examples\"");
      out_.append("[").append(tree_.raw(value)).append("]");
    } else if (tree_.isArray(value) &&
               (name == "anyOf" || name == "oneOf" || name == "allOf" || name == "prefixItems")) {
      key(quoted);
      open(value, Inside::Schemas, name == "anyOf" && open_.back().nullable);
      return value + 1;
    } else if (tree_.isObject(value) &&
               (name == "properties" || name == "$defs" || name == "defs" || name == "definitions")) {
      key(quoted);
      open(value, Inside::NamedSchemas);
      return value + 1;
    } else if (name == "items" || name == "additionalProperties" || name == "not") {
      key(quoted);
      return schemaOrRaw(value);
    } else {
      key(name == tree_.body(at) ? std::string(tree_.raw(at)) : quoted);
      out_ += tree_.raw(value);
    }
    return tree_.next(value);
  }

  void type(Tree::Index value) {
    std::string name(tree_.body(value));
    if (name == kUnspecified) return;
    if (isOneOf(name, kTypes)) {
      std::ranges::transform(name, name.begin(), [](char c) { return static_cast<char>(c - 'A' + 'a'); });
    }
    key("\"type\"");
    out_ += open_.back().nullable && name != "null" ? "[\"" + name + "\",\"null\"]" : '"' + name + '"';
  }

  // Gemini writes even numbers as strings here.
  void enumeration(Tree::Index list) {
    bool hasNull = false;
    bool empty = true;
    out_ += '[';
    const auto next = [&] { out_ += std::exchange(empty, false) ? "" : ","; };
    for (const Tree::Index each : tree_.elements(list)) {
      hasNull |= tree_.kind(each) == json::Kind::Null;
      const bool number = open_.back().numeric && tree_.isString(each) && isNumber(tree_.body(each));
      next();
      out_ += number ? tree_.body(each) : tree_.raw(each);
    }
    if (open_.back().nullable && !hasNull) {
      next();
      out_ += "null";
    }
    out_ += ']';
  }

  [[nodiscard]] bool isNumeric(Tree::Index type) const {
    static constexpr std::string_view kNumeric[] = {"INTEGER", "NUMBER", "integer", "number"};
    return type != Tree::kNone && tree_.isString(type) && isOneOf(tree_.body(type), kNumeric);
  }

  static bool isNumber(std::string_view text) {
    return json::check(text).has_value() && json::kindOf(text) == json::Kind::Number;
  }

  const Tree& tree_;
  std::string out_;
  std::vector<Open> open_;
  bool orderLost_ = false;
};

}  // namespace

JsonSchema jsonSchemaOf(const Tree& tree, Tree::Index schema) {
  return SchemaWriter(tree).run(schema);
}

std::string asObjectSchema(std::string_view schema) {
  Tree tree;
  if (tree.parse(schema) || !tree.isObject(0)) return std::string(schema);
  const Tree::Index type = tree.find(0, "type");
  std::string out(schema);
  if (type == Tree::kNone) {
    const std::size_t brace = out.find('{') + 1;
    out.insert(brace, tree.size() == 1 ? R"("type":"object")" : R"("type":"object",)");
  } else if (tree.isArray(type) || tree.kind(type) == json::Kind::Null) {
    out.replace(tree.begin(type), tree.end(type) - tree.begin(type), R"("object")");
  }
  return out;
}

}  // namespace bough::message
