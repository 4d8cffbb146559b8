// The texts that a JSON value says, to find them again in other lines: as a whole, cut short, or a long one among
// others. Blanks do not count, and names and ids say nothing.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace bough::json {

class SaidTexts {
 public:
  using Use = std::function<void(std::string_view name, std::string_view quoted)>;

  /// Calls `use` with each text (in its quotes) of a value, or of pieces of one, and with the name before it.
  static void each(std::string_view json, const Use& use);

  /// Takes in the texts of a member, and those of its texts that stand in a list as one.
  void add(std::string_view name, std::string_view value);
  [[nodiscard]] bool empty() const { return texts_.empty(); }
  /// Whether a text (in its quotes) repeats one of them.
  [[nodiscard]] bool repeats(std::string_view quoted) const;

 private:
  void addText(std::string text);

  std::unordered_set<std::string> texts_;  // without blanks, which lines set differently
  std::vector<std::string> long_;          // of them, those that are also looked for in others
};

}  // namespace bough::json
