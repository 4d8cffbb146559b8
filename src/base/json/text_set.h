// Collects the texts that a JSON value contains, to find them again in other lines: as a whole, shortened, or inside
// another text when long. Blanks are ignored, and so are names and ids.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace bough::json {

class TextSet {
 public:
  using Use = std::function<void(std::string_view name, std::string_view quoted)>;

  /// Calls `use` with each text (in its quotes) of a value or of pieces of a value, and with the name before it.
  static void each(std::string_view json, const Use& use);

  /// Adds the texts of a member. The values of all its members named `text` are also added as one joined text.
  void add(std::string_view name, std::string_view value);
  [[nodiscard]] bool empty() const { return texts_.empty(); }
  /// Returns true when a text (in its quotes) repeats one of the added texts.
  [[nodiscard]] bool repeats(std::string_view quoted) const;

 private:
  void addText(std::string text);

  std::unordered_set<std::string> texts_;  // without blanks, because lines place blanks differently
  std::vector<std::string> long_;          // those of `texts_` that are also searched for inside other texts
};

}  // namespace bough::json
