// Which lines of a Claude Code file are parts of one answer.
//
// A response is written as one line a block, all with the id of the message. Results of parallel calls hang off the
// line of their own call, so the lines of an answer and its results are a tree in the file although the model saw a
// list. They are put in a row here: each continues from the one before it in the file, and what names any of them as
// its parent continues from the last.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace bough::transcript::claude_code {

class Answers {
 public:
  /// The line to continue from when a line names `parent`: the last one of the answer that `parent` is a part of.
  [[nodiscard]] std::string lastLineOf(std::string_view parent) const;
  /// The same for a block of the answer `key`, which may be another answer to the same question.
  [[nodiscard]] std::string parentOfBlock(std::string_view key, std::string_view parent) const;
  /// The same for a line of results. When a call of it is answered already, it is another branch.
  [[nodiscard]] std::string parentOfResults(std::string_view content, std::string_view parent) const;

  /// Remembers a line that was given.
  void addBlock(const std::string& key, const std::string& uuid);
  void addResults(std::string_view content, std::string_view parent, const std::string& uuid);

 private:
  struct Answer {
    std::vector<std::string> lines;
    std::unordered_set<std::string> answered;  // ids of calls
  };
  void add(const std::string& key, const std::string& uuid);
  [[nodiscard]] const Answer* answerOf(std::string_view uuid) const;

  // Answers are finished soon, but several agents may write at once.
  static constexpr std::size_t kMaxAnswers = 256;
  static constexpr std::size_t kMaxLines = std::size_t{1} << 17;  // of all answers together

  std::unordered_map<std::string, Answer> answers_;     // by key
  std::unordered_map<std::string, std::string> keyOf_;  // by uuid
  std::deque<std::string> order_;                       // of the keys
  std::size_t lineCount_ = 0;
};

}  // namespace bough::transcript::claude_code
