// Ids and tool names a target forbids get another one there: one to one, always the same, and never cut short.
//
// What is legal stays as it is. What is not becomes a prefix and 160 bits of the SHA-256 of the original in base32, so
// that two originals never meet; a text that somebody chose to look like such an alias is stepped around. The table
// travels in the WayBack, so that turns written in the target find their originals again.
#pragma once

#include <bough/message.h>

#include <forward_list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace bough::message {

class Aliases {
 public:
  enum class Of : std::uint8_t { CallId, ToolName };

  explicit Aliases(Of what) : what_(what) {}

  /// From a WayBack: what `alias` stands for.
  void learn(std::string alias, std::string original);
  /// What was meant: the original of an alias, or the text itself.
  [[nodiscard]] TextView original(TextView seen) const;
  /// Tells of every original before the first alias is made, so that none can be taken for one.
  void reserve(TextView original) { taken_.insert(original.escaped); }
  /// Whether an API takes it in what was written in its own dialect, by whatever server. Longer ids than others take
  /// are usual there.
  [[nodiscard]] bool sendable(Dialect dialect, const TextView& own) const;
  /// The text to write in the target. `occurrence` counts from 0 the calls that share one id.
  TextView inTarget(Dialect target, TextView original, unsigned occurrence = 0);

  /// All of alias → original, in the order they were learned or made.
  [[nodiscard]] const std::vector<std::pair<std::string_view, std::string_view>>& table() const { return table_; }

 private:
  [[nodiscard]] bool legal(Dialect target, std::string_view escaped) const;
  [[nodiscard]] std::string makeAlias(std::string_view original, unsigned occurrence, unsigned attempt) const;

  Of what_;
  std::unordered_set<std::string_view> taken_;
  std::unordered_map<std::string_view, std::string_view> originals_;
  std::unordered_map<std::string, std::string_view> made_;
  std::vector<std::pair<std::string_view, std::string_view>> table_;
  std::forward_list<std::string> owned_;
};

}  // namespace bough::message
