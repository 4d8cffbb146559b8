// The messages of a chat while its file is read: all messages that ever existed, as a tree, and the path through the
// tree that the program has now.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace bough::transcript::gemini_cli {

inline constexpr std::size_t kRoot = SIZE_MAX;

/// A call with its result.
struct AnsweredCall {
  std::string callId;
  std::uint64_t contentHash = 0;  ///< Of the result.
};

struct Node {
  std::string id;  ///< The program's id of the message.
  std::uint64_t contentHash = 0;
  std::size_t parent = kRoot;
  std::size_t depth = 0;                       ///< Its index in every path that contains it.
  std::string first;                           ///< Id of its first entry.
  std::string last;                            ///< Id of its last entry.
  std::vector<AnsweredCall> answers;           ///< For a message of the model: its calls that were answered in it.
  std::vector<AnsweredCall> answersEarlier{};  ///< For a message of the user with only results: those results.
  std::size_t keptOf = kRoot;                  ///< For a message that a summary keeps: the original message.
  bool isSummary = false;
  std::string summary{};  ///< The text of the summary.
};

class ChatTree {
 public:
  [[nodiscard]] const Node& node(std::size_t number) const { return nodes_[number]; }
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  /// Returns the messages that the program has now.
  [[nodiscard]] const std::vector<std::size_t>& path() const { return path_; }
  [[nodiscard]] const Node& lastOnPath() const { return nodes_[path_.back()]; }
  /// Drops the messages of the path after the first `size`.
  void truncatePath(std::size_t size) { path_.resize(size); }

  /// Returns the message that continues the path and has this id and contentHash; kRoot when there is none.
  [[nodiscard]] std::size_t findChild(const std::string& id, std::uint64_t contentHash) const;
  /// Returns the index of this message on the path; the path's size when it is not there.
  [[nodiscard]] std::size_t placeOf(const std::string& id) const;
  /// Returns whether a message with this id was ever on the path.
  [[nodiscard]] bool contains(const std::string& id) const { return byId_.contains(id); }
  /// Returns the original of a message that summaries kept.
  [[nodiscard]] std::size_t originalOf(std::size_t number) const;

  /// Adds a message. It is put on the path, unless it is another version of a message that others follow.
  void add(Node node);
  /// Adds results that came later to a message; `last` is the id of their entry.
  void addAnswers(std::size_t number, std::vector<AnsweredCall> answers, std::string last);
  /// Appends an existing message to the path.
  void appendToPath(std::size_t number);

 private:
  std::vector<Node> nodes_;
  std::unordered_map<std::uint64_t, std::size_t> byKey_;  // a hash of what distinguishes a message from its siblings
  std::unordered_map<std::string, std::size_t> byId_;     // the message of this id that was put on the path last
  std::vector<std::size_t> path_;
};

}  // namespace bough::transcript::gemini_cli
