// Determines which lines of a Claude Code file are parts of one answer.
//
// A response is written as one line per block; all its lines have the id of the message. The results of parallel calls
// continue from the line of their own call, so an answer and its results form a tree in the file although the model saw
// a list. This class turns them back into a sequence: each line continues from the line before it in the file, and a
// line that names any of them as its parent continues from the last one.
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
  /// Returns the line to continue from when a line names `parent`: the last line of the answer that `parent` belongs
  /// to.
  [[nodiscard]] std::string lastLineOf(std::string_view parent) const;
  /// The same for a block of the answer `key`, which may be a different answer to the same question.
  [[nodiscard]] std::string parentOfBlock(std::string_view key, std::string_view parent) const;
  /// The same for a line of results. When one of its calls is already answered, the line begins another branch.
  [[nodiscard]] std::string parentOfResults(std::string_view content, std::string_view parent) const;

  /// Remembers a line that was passed on.
  void addBlock(const std::string& key, const std::string& uuid);
  void addResults(std::string_view content, std::string_view parent, const std::string& uuid);

 private:
  struct Answer {
    std::vector<std::string> lines;
    std::unordered_set<std::string> answered;  // ids of calls
  };
  void add(const std::string& key, const std::string& uuid);
  [[nodiscard]] const Answer* answerOf(std::string_view uuid) const;

  // An answer is complete soon after it begins, but several agents may write at the same time.
  static constexpr std::size_t kMaxAnswers = 256;
  static constexpr std::size_t kMaxLines = std::size_t{1} << 17;  // limit for all answers together

  std::unordered_map<std::string, Answer> answers_;     // by key
  std::unordered_map<std::string, std::string> keyOf_;  // by uuid
  std::deque<std::string> order_;                       // keys, oldest first
  std::size_t lineCount_ = 0;
};

}  // namespace bough::transcript::claude_code
