// Words that Codex only showed. Its files hold what people saw (event_msg) beside what the model gets (response_item),
// usually the same words twice, in either order. A turn that was ended in between has words in an event alone.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "transcript/source/json_line.h"

namespace bough::transcript::codex {

struct ShownWords {
  std::uint64_t offset = 0;  ///< Of the event.
  std::string timestamp;
  std::string role;
  std::string text;
  std::string plain{};  ///< The text without blanks, which items and events set differently.
};

/// Tells which words of the present turn no item holds. Bounded: of many words, the oldest are taken as known.
class Shown {
 public:
  /// An event: what it says waits for an item with the same words, unless there is one already.
  void event(std::uint64_t offset, const std::string& timestamp, const Members& event);
  /// Whether an event says that a person said exactly this.
  [[nodiscard]] static bool isSaid(const Members& event, std::string_view text);
  /// Whether there was such an event, and no item yet.
  [[nodiscard]] bool awaits(std::string_view text) const;
  /// A message or reasoning item, by its words.
  void item(std::string_view text);
  /// A turn ends: what no item holds, oldest first. Later events that say it again are not words of their own.
  [[nodiscard]] std::vector<ShownWords> take();
  /// Whether Codex wrote no items of the present turn: the user's are the first. Else those of an answer may still
  /// come.
  [[nodiscard]] bool lacksItems() const { return !waiting_.empty() && waiting_.front().role == "user"; }
  /// A turn begins: the words of the one before are not looked at any more.
  void begin() {
    known_.clear();
    knownBytes_ = 0;
  }

  /// Of the last record. At the end of the file, words are given with the byte after it.
  std::uint64_t lastOffset = 0;

 private:
  void know(std::string plain);

  std::deque<ShownWords> waiting_;
  std::size_t waitingBytes_ = 0;
  std::deque<std::string> known_;  // without blanks
  std::size_t knownBytes_ = 0;
};

}  // namespace bough::transcript::codex
