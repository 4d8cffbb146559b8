// The messages of a chat while its file is read: all that there ever were, as a tree, and the path through it that the
// program has now.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace bough::transcript::gemini_cli {

inline constexpr std::size_t kRoot = SIZE_MAX;

/// A call whose result is there.
struct Answered {
  std::string callId;
  std::uint64_t meaning = 0;  ///< Of the result.
};

struct Node {
  std::string id;  ///< The program's.
  std::uint64_t meaning = 0;
  std::size_t parent = kRoot;
  std::size_t depth = 0;                   ///< Its place in every path that it is on.
  std::string first;                       ///< The id of its first entry.
  std::string last;                        ///< The id of its last entry.
  std::vector<Answered> answers;           ///< Of the model: its calls that were answered in it.
  std::vector<Answered> answersEarlier{};  ///< Of a message of the user that only holds results.
  std::size_t keptOf = kRoot;              ///< Of a message that a summary keeps: the message where it was before.
  bool isSummary = false;
  std::string summary{};  ///< Its words.
};

class ChatTree {
 public:
  [[nodiscard]] const Node& node(std::size_t number) const { return nodes_[number]; }
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  /// The messages as the program has them now.
  [[nodiscard]] const std::vector<std::size_t>& path() const { return path_; }
  [[nodiscard]] const Node& lastOnPath() const { return nodes_[path_.back()]; }
  /// Drops all but the first messages of the path.
  void cutPath(std::size_t size) { path_.resize(size); }

  /// The message that continues the path and says this; kRoot when there is none.
  [[nodiscard]] std::size_t childLike(const std::string& id, std::uint64_t meaning) const;
  /// Where the message of this id is on the path; the path's size when it is not there.
  [[nodiscard]] std::size_t placeOf(const std::string& id) const;
  /// Whether a message of this id was ever on the path.
  [[nodiscard]] bool knows(const std::string& id) const { return byId_.contains(id); }
  /// The message as it was before any summary kept it.
  [[nodiscard]] std::size_t firstOf(std::size_t number) const;

  /// Adds a message. It comes onto the path, unless it is another version of one that others follow.
  void add(Node node);
  /// Results of a message that is there came later: `last` is their entry.
  void addAnswers(std::size_t number, std::vector<Answered> answers, std::string last);
  /// The path goes on with a message that is there.
  void enter(std::size_t number);

 private:
  std::vector<Node> nodes_;
  std::unordered_map<std::uint64_t, std::size_t> byKey_;  // a hash of what tells a message from its siblings
  std::unordered_map<std::string, std::size_t> byId_;     // the one that came onto the path last
  std::vector<std::size_t> path_;
};

}  // namespace bough::transcript::gemini_cli
