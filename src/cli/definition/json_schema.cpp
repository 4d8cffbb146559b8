// Converts the shapes to JSON Schema, and to a page of documentation.

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "base/json/json_write.h"
#include "cli/definition/json_shapes.h"

namespace bough::cli {
namespace {

// Reads a shape and writes its schema. The shapes are our own text, and a test reads all of them.
class ShapeReader {
 public:
  ShapeReader(std::string_view shape, json::Writer& writer, std::set<std::string, std::less<>>& named)
      : rest_(shape), writer_(writer), named_(named) {}

  void type() {
    const std::size_t choices = choicesAhead();
    if (choices > 1) writer_.beginObject().key("anyOf").beginArray();
    for (std::size_t i = 0; i < choices; ++i) {
      if (i > 0) take("|");
      list();
    }
    if (choices > 1) writer_.endArray().endObject();
  }

 private:
  // Returns how many types, separated by |, come before the end of this place.
  [[nodiscard]] std::size_t choicesAhead() const {
    std::size_t count = 1;
    int depth = 0;
    for (const char c : rest_) {
      if (c == '{') ++depth;
      if (c == '}' && --depth < 0) break;
      if (c == ',' && depth == 0) break;
      if (c == '|' && depth == 0) ++count;
    }
    return count;
  }

  void list() {
    // The brackets of a list follow the type of its elements.
    std::size_t at = 0;
    skip();
    if (rest_.starts_with('{')) {
      int depth = 0;
      do {
        if (rest_[at] == '{') ++depth;
        if (rest_[at] == '}') --depth;
        ++at;
      } while (depth > 0);
    } else {
      at = std::min(rest_.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"),
                    rest_.size());
    }
    const bool isList = rest_.substr(at).starts_with("[]");
    if (isList) writer_.beginObject().member("type", "array").key("items");
    rest_.starts_with('{') ? object() : name();
    if (!isList) return;
    take("[]");
    writer_.endObject();
  }

  void name() {
    const std::size_t size = std::min(rest_.find_first_of(" ,}|[?"), rest_.size());
    const std::string_view word = rest_.substr(0, size);
    rest_.remove_prefix(size);
    writer_.beginObject();
    if (word == "text") writer_.member("type", "string");
    if (word == "count") writer_.member("type", "integer").member("minimum", 0);
    if (word == "number") writer_.member("type", "number");
    if (word == "bool") writer_.member("type", "boolean");
    if (word == "null") writer_.member("type", "null");
    if (word.front() >= '0' && word.front() <= '9') writer_.key("const").raw(word);
    if (word.front() >= 'A' && word.front() <= 'Z') {
      writer_.member("$ref", fmt::format("#/$defs/{}", word));
      named_.emplace(word);
    }
    writer_.endObject();
  }

  void object() {
    std::vector<std::string_view> required;
    writer_.beginObject().member("type", "object").key("properties").beginObject();
    take("{");
    while (!rest_.starts_with('}')) {
      const std::size_t end = rest_.find_first_of("?:");
      const std::string_view member = rest_.substr(0, end);
      if (rest_[end] == ':') required.push_back(member);
      rest_.remove_prefix(rest_.find(':') + 1);
      writer_.key(member);
      type();
      skip();
      if (rest_.starts_with(',')) take(",");
      skip();
    }
    take("}");
    writer_.endObject().list("required", required).endObject();
  }

  void skip() {
    while (rest_.starts_with(' ')) rest_.remove_prefix(1);
  }

  void take(std::string_view text) {
    skip();
    if (rest_.starts_with(text)) rest_.remove_prefix(text.size());
    skip();
  }

  std::string_view rest_;
  json::Writer& writer_;
  std::set<std::string, std::less<>>& named_;
};

}  // namespace

Result<std::string> jsonSchema(std::string_view command) {
  const auto shape = std::ranges::find(commandShapes(), command, &JsonShape::name);
  if (shape == commandShapes().end()) {
    return fail(ErrorCode::NotFound, fmt::format("{} has no JSON output", command),
                "without a name, the commands that have one are listed");
  }
  json::Writer writer;
  std::set<std::string, std::less<>> named;
  writer.beginObject().member("$schema", "https://json-schema.org/draft/2020-12/schema");
  writer.member("title",
                command == "bough" || command == "error" ? std::string(command) : fmt::format("bough {}", command));
  if (!shape->about.empty()) writer.member("description", shape->about);
  writer.key("allOf").beginArray();
  ShapeReader(shape->shape, writer, named).type();
  writer.endArray().key("$defs").beginObject();
  // A part may name other parts, earlier or later in the list: repeat until no new names appear.
  std::set<std::string, std::less<>> written;
  while (written.size() < named.size()) {
    for (const JsonShape& part : partShapes()) {
      if (!named.contains(part.name) || !written.emplace(part.name).second) continue;
      writer.key(part.name);
      ShapeReader(part.shape, writer, named).type();
    }
  }
  return writer.endObject().endObject().take();
}

std::string shapesAsMarkdown() {
  std::string out =
      "# JSON for programs\n\n"
      "This page lists what each command prints with `--json`. Made by `bough schema --format markdown` from the "
      "shapes that `bough schema COMMAND` prints as JSON Schema.\n\n"
      "Every command takes `--json`. Answers go to stdout, one JSON object on each line; an error goes to stderr. "
      "`schema` is the version of the answer. It grows when a member changes its meaning or is removed. New members "
      "may be added at any time: ignore members that you do not know.\n\n"
      "A name has the same meaning everywhere: `sessionId`, `entryId`, `timestamp` (RFC 3339, UTC), `role`, `text`, "
      "`inputTokens`, `outputTokens`, `cacheReadTokens`, `cacheWriteTokens`, `reasoningTokens`, `totalTokens`, "
      "`costUsd`, `bytes`. Names that end in `Ms` are milliseconds, names that end in `Count` are numbers. A missing "
      "value is `null`.\n\n"
      "In the shapes below, `text` is a string, `count` a whole number from 0, `a | null` either of the two, `a[]` a "
      "list, and `name?` a member that may be absent.\n\n"
      "## Commands\n";
  const auto add = [&](const JsonShape& each, std::string_view title) {
    out += fmt::format("\n### {}\n\n", title);
    if (!each.about.empty()) out += fmt::format("{}\n\n", each.about);
    out += fmt::format("```\n{}\n```\n", each.shape);
  };
  for (const JsonShape& each : commandShapes()) {
    add(each, each.name == "error"   ? "An error"
              : each.name == "bough" ? "`bough`"
                                     : fmt::format("`bough {}`", each.name));
  }
  out += "\n## Parts\n";
  for (const JsonShape& each : partShapes()) add(each, each.name);
  return out;
}

}  // namespace bough::cli
