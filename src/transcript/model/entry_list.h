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

#include "base/json/said_texts.h"
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
  /// Redacted, and nothing is in its place. A message that answered calls is a message that says of each that its
  /// result was redacted.
  [[nodiscard]] bool isHidden(std::size_t place) const { return isRedacted(place) && !outlines_[place].answersCalls; }
  /// What is known of an entry of the conversation that is redacted, or damaged and held results, besides its place.
  struct Hidden {
    bool isErased = false;     ///< For good: nobody knows what it said, or who.
    bool isDamaged = false;    ///< The same, and nobody meant it.
    std::optional<Role> role;  ///< Who said it, when it is a message.
  };
  /// Null of any other entry, and where the session is not at hand.
  [[nodiscard]] const Hidden* hidden(std::size_t place) const;
  /// Whether an entry of the conversation is redacted, or cannot be read.
  [[nodiscard]] bool lacksSome() const { return lacking_ != nullptr; }
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
  [[nodiscard]] Result<void> check() const {
    return cache_.error ? Result<void>(std::unexpected(*cache_.error)) : Result<void>();
  }

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
    bool answersCalls = false;  // hidden, and results that say so are in its place
  };
  // What is redacted, erased or damaged (lacking_entries.cpp).
  class Lacking {
   public:
    explicit Lacking(EntryList& list) : list_(list) {}
    /// The next entry of the session.
    Result<void> note(const Entry& entry, std::size_t place);
    /// After the last one: lines that say what is hidden go, and results say what became of those that nobody can read.
    void end();
    [[nodiscard]] const Hidden* find(std::size_t place) const;
    /// What stands in an entry's place; null: the entry itself.
    [[nodiscard]] const EntryPin* replacement(std::size_t place) const;

   private:
    void dropLine(std::size_t place, const Entry& entry);
    void dropLines();
    void inferResults(std::size_t place);
    [[nodiscard]] bool mayHoldResults(std::size_t place) const;
    void replace(std::size_t place, const Entry& entry, std::string payload);

    EntryList& list_;
    json::SaidTexts said_;  // by redacted entries
    std::unordered_map<std::size_t, Hidden> hidden_;
    // Messages of results in the place of hidden ones, and entries without the line of which a part is hidden.
    std::unordered_map<std::size_t, EntryPin> replaced_;
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
  [[nodiscard]] std::string_view keepId(std::string_view id);
  [[nodiscard]] std::shared_ptr<const Block> blockOf(std::size_t place) const;
  [[nodiscard]] Result<Block> readBlock(std::size_t place) const;

  std::vector<Outline> outlines_;
  IdPlaces places_;                              // of entries of the conversation
  std::deque<std::string> ids_;                  // of a session: many in each text, which never grows beyond its room
  const std::vector<Entry>* entries_ = nullptr;  // all of them, when they are in memory
  std::vector<Entry> kept_;                      // likewise, when they are its own
  std::optional<Session> session_;
  struct Cache {
    std::deque<std::shared_ptr<const Block>> blocks;  // the one used last first
    std::size_t bytes = 0;
    std::optional<Error> error;
  };
  mutable Cache cache_;
  std::shared_ptr<Lacking> lacking_;
};

}  // namespace bough::transcript
