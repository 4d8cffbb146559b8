// The entries that are written. What decides about an entry (id, parent, kind, size) is in memory, about 80 bytes an
// entry; the entry itself is read when it is asked for. So memory does not grow with what a session's messages hold.
//
//   1. Entries of a vector are used where they are. A session of up to `keptBytes` is read once and kept.
//   2. A longer one is read in blocks. The last blocks stay, up to kCachedBytes; a Pin keeps its block.
//   3. Places are sequences of the session (SessionTree). What is appended later is not seen.
//   4. A read that fails is remembered, and an empty entry is given: who writes calls `check` before a piece is given
//      away.
#pragma once

#include <bough/entry.h>
#include <bough/error.h>
#include <bough/message.h>
#include <bough/session.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "transcript/model/id_places.h"
#include "transcript/model/origin.h"

namespace bough::transcript {

/// An entry that stays as long as this.
using EntryPin = std::shared_ptr<const Entry>;

/// One thread.
class EntryList {
 public:
  static constexpr std::size_t kNone = SIZE_MAX;

  /// Entries in memory, which must outlive the list.
  explicit EntryList(const std::vector<Entry>& entries);
  /// Entries that become its own.
  explicit EntryList(std::vector<Entry>&& entries);
  static Result<std::shared_ptr<const EntryList>> ofSession(Session session, std::size_t keptBytes);
  EntryList(const EntryList&) = delete;
  EntryList& operator=(const EntryList&) = delete;

  [[nodiscard]] std::size_t size() const { return outlines_.size(); }
  [[nodiscard]] std::string_view id(std::size_t place) const { return outlines_[place].id; }
  [[nodiscard]] EntryKind kind(std::size_t place) const { return outlines_[place].kind; }
  [[nodiscard]] bool isTalk(std::size_t place) const { return isConversation(kind(place)); }
  [[nodiscard]] bool isMessage(std::size_t place) const { return outlines_[place].isMessage; }
  [[nodiscard]] bool isRedacted(std::size_t place) const { return outlines_[place].isRedacted; }
  /// Damaged: nobody knows what it is.
  [[nodiscard]] bool isUnreadable(std::size_t place) const { return outlines_[place].isUnreadable; }
  /// Redacted, and nothing is in its place. A message that answered calls is a message that says of each that its
  /// result was redacted.
  [[nodiscard]] bool isHidden(std::size_t place) const { return isRedacted(place) && !replaced_.contains(place); }
  /// What is known of a redacted entry of the conversation besides its place in the tree.
  struct Hidden {
    bool isErased = false;     ///< For good: nobody knows what it said, or who.
    std::optional<Role> role;  ///< Who said it, when it is a message.
  };
  /// Null of any other entry, and where the session is not at hand.
  [[nodiscard]] const Hidden* hidden(std::size_t place) const;
  /// Whether an entry of the conversation is redacted, or cannot be read.
  [[nodiscard]] bool lacksSome() const { return lacksSome_; }
  [[nodiscard]] std::size_t payloadBytes(std::size_t place) const { return outlines_[place].payloadBytes; }
  /// How many bytes the entry takes in a line of another agent's file (carried.h).
  [[nodiscard]] std::size_t carriedBytes(std::size_t place) const { return outlines_[place].carriedBytes; }
  /// The entry it continues; kNone for a root and for entries that are not part of the conversation.
  [[nodiscard]] std::size_t parent(std::size_t place) const {
    return outlines_[place].parent == kNoSequence ? kNone : outlines_[place].parent;
  }
  /// An entry of the conversation.
  [[nodiscard]] std::size_t find(std::string_view id) const;
  /// The whole entry.
  [[nodiscard]] EntryPin at(std::size_t place) const;

  /// Fails when an entry could not be read.
  [[nodiscard]] Result<void> check() const { return error_ ? Result<void>(std::unexpected(*error_)) : Result<void>(); }

 private:
  struct Outline {
    std::string_view id;
    Sequence parent = kNoSequence;
    std::uint32_t payloadBytes = 0;
    std::uint32_t carriedBytes = 0;
    EntryKind kind = EntryKind::Other;
    bool isMessage = false;
    bool isRedacted = false;
    bool isUnreadable = false;
  };
  struct Block {
    std::size_t first = 0;
    std::vector<Entry> entries;
    std::size_t bytes = 0;
  };

  EntryList() = default;
  Result<void> readSession(std::size_t keptBytes);
  void addAll(const std::vector<Entry>& entries);
  void add(const Entry& entry, std::string_view id);
  Result<void> noteHidden(const Entry& entry, std::size_t place);
  void dropLine(std::size_t place, const Origin& origin);
  void inferResults();
  void inferResults(std::size_t place);
  [[nodiscard]] bool mayHoldResults(std::size_t place) const;
  void replace(std::size_t place, const Entry& entry, std::string payload);
  [[nodiscard]] std::string_view keepId(std::string_view id);
  [[nodiscard]] std::shared_ptr<const Block> blockOf(std::size_t place) const;
  [[nodiscard]] Result<Block> readBlock(std::size_t place) const;

  std::vector<Outline> outlines_;
  IdPlaces places_;  // of entries of the conversation
  std::unordered_map<std::size_t, Hidden> hidden_;
  // Messages of results in the place of hidden ones, and entries without the line of which a part is hidden.
  std::unordered_map<std::size_t, EntryPin> replaced_;
  std::deque<std::string> ids_;                  // of a session: many in each text, which never grows beyond its room
  const std::vector<Entry>* entries_ = nullptr;  // all of them, when they are in memory
  std::vector<Entry> kept_;                      // likewise, when they are its own
  std::optional<Session> session_;
  mutable std::deque<std::shared_ptr<const Block>> blocks_;  // the one used last first
  mutable std::size_t blockBytes_ = 0;
  bool lacksSome_ = false;
  mutable std::optional<Error> error_;
};

}  // namespace bough::transcript
