// Words that Codex only displayed. Its files hold what people saw (event_msg) next to what the model gets
// (response_item), usually the same words twice, in either order. When a turn is interrupted between the two, some
// words are only in an event.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "transcript/source/json_line.h"

namespace bough::transcript::codex {

struct DisplayedText {
  std::uint64_t offset = 0;  ///< Offset of the event.
  std::string timestamp;
  std::string role;
  std::string text;
  std::string plain{};  ///< The text without white space, which differs between items and events.
};

/// Finds the words of the current turn that are in no item. Memory is bounded: when there are too many words, the
/// oldest are treated as known.
class DisplayedWords {
 public:
  /// Takes an event: its words wait for an item with the same words, unless that item came before.
  void addEvent(std::uint64_t offset, const std::string& timestamp, const Members& event);
  /// Returns whether an event says that a person said exactly this.
  [[nodiscard]] static bool isSaid(const Members& event, std::string_view text);
  /// Returns whether such an event came, and no item for it yet.
  [[nodiscard]] bool awaitsItem(std::string_view text) const;
  /// Takes the words of a message item or a reasoning item.
  void addItem(std::string_view text);
  /// Ends a turn. Returns the words that no item has, oldest first. Later events that repeat them are not new words.
  [[nodiscard]] std::vector<DisplayedText> endTurn();
  /// Returns whether Codex wrote no items in the current turn, because the user's item would be the first. If this is
  /// false, items of an answer may still come.
  [[nodiscard]] bool lacksItems() const { return !waiting_.empty() && waiting_.front().role == "user"; }
  /// Begins a turn: the words of earlier turns are forgotten.
  void beginTurn() {
    known_.clear();
    knownBytes_ = 0;
  }

  /// Offset of the last record. At the end of the file, words are passed on with the offset after it.
  std::uint64_t lastOffset = 0;

 private:
  void remember(std::string plain);

  std::deque<DisplayedText> waiting_;
  std::size_t waitingBytes_ = 0;
  std::deque<std::string> known_;  // without white space
  std::size_t knownBytes_ = 0;
};

}  // namespace bough::transcript::codex
