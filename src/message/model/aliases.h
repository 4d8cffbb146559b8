// Replaces call ids and tool names that a target does not accept by aliases: one to one, always the same, and never
// truncated.
//
// A valid text stays unchanged. An invalid text becomes a prefix and 160 bits of the SHA-256 of the original in base32,
// so that two originals never get the same alias. An original that looks like such an alias is avoided. The table of
// aliases is stored in the WayBack, so that messages that were written in the target's dialect find their originals
// again.
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

  /// Adds an alias from a WayBack.
  void learn(std::string alias, std::string original);
  /// Returns the original of an alias, or the text itself when it is not an alias.
  [[nodiscard]] TextView original(TextView seen) const;
  /// Announces an original. Call this for every original before the first alias is made, so that no alias equals an
  /// original.
  void reserve(TextView original) { taken_.insert(original.escaped); }
  /// Returns whether the target's API accepts a text from a message in the API's own dialect, whichever server wrote
  /// it. In such messages longer ids are common than in others.
  [[nodiscard]] bool isSendable(Dialect dialect, const TextView& own) const;
  /// Returns the text to write in the target. `occurrence` is the number of earlier calls with the same id.
  TextView inTarget(Dialect target, TextView original, unsigned occurrence = 0);

  /// Returns all pairs alias → original, in the order in which they were learned or made.
  [[nodiscard]] const std::vector<std::pair<std::string_view, std::string_view>>& table() const { return table_; }

 private:
  [[nodiscard]] bool isLegal(Dialect target, std::string_view escaped) const;
  [[nodiscard]] std::string makeAlias(std::string_view original, unsigned occurrence, unsigned attempt) const;

  Of what_;
  std::unordered_set<std::string_view> taken_;
  std::unordered_map<std::string_view, std::string_view> originals_;
  std::unordered_map<std::string, std::string_view> made_;
  std::vector<std::pair<std::string_view, std::string_view>> table_;
  std::forward_list<std::string> owned_;
};

}  // namespace bough::message
