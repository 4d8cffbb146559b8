// The entries to write. The properties that matter for decisions (id, parent, kind, size) are in memory, about 80 bytes
// per entry; the entry itself is read on demand. So memory does not grow with the size of a session's messages.
//
//   1. Entries of a vector are used in place. A session of up to `keptBytes` is read once and kept in memory.
//   2. A longer session is read in blocks. The last blocks are cached, up to kCachedBytes; an EntryPin keeps its block.
//   3. Places are sequences of the session (SessionTree). Entries that are appended later are not visible.
//   4. A failed read is remembered, and an empty entry is returned. A writer must call `check` before it passes its
//      output on.
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

#include "base/json/text_set.h"
#include "transcript/model/id_places.h"
#include "transcript/model/origin.h"

namespace bough::transcript {

/// Keeps an entry alive.
using EntryPin = std::shared_ptr<const Entry>;

/// Not thread-safe.
class EntryList {
 public:
  static constexpr std::size_t kNone = SIZE_MAX;

  /// Entries in memory, which must outlive the list.
  explicit EntryList(const std::vector<Entry>& entries);
  /// Entries that the list owns.
  explicit EntryList(std::vector<Entry>&& entries);
  static Result<std::shared_ptr<const EntryList>> ofSession(Session session, std::size_t keptBytes);
  EntryList(const EntryList&) = delete;
  EntryList& operator=(const EntryList&) = delete;

  [[nodiscard]] std::size_t size() const { return outlines_.size(); }
  [[nodiscard]] std::string_view id(std::size_t place) const { return outlines_[place].id; }
  [[nodiscard]] EntryKind kind(std::size_t place) const { return outlines_[place].kind; }
  [[nodiscard]] bool isInConversation(std::size_t place) const { return isConversation(kind(place)); }
  [[nodiscard]] bool isMessage(std::size_t place) const { return outlines_[place].isMessage; }
  [[nodiscard]] bool isRedacted(std::size_t place) const { return outlines_[place].isRedacted; }
  /// Returns whether the entry is redacted and nothing replaces it. A redacted message that answered calls is replaced
  /// by a message which says for each call that its result was redacted.
  [[nodiscard]] bool isHidden(std::size_t place) const { return isRedacted(place) && !outlines_[place].answersCalls; }
  /// What is known, besides its place, about an entry of the conversation that is redacted, or that is damaged and held
  /// results.
  struct Hidden {
    bool isErased = false;     ///< Removed forever: neither its content nor its author is known.
    bool isDamaged = false;    ///< Likewise unknown, but because of damage.
    std::optional<Role> role;  ///< Its author, when it is a message.
  };
  /// Returns nullptr for any other entry, and when the list was made without a session.
  [[nodiscard]] const Hidden* hidden(std::size_t place) const;
  /// Returns whether an entry of the conversation is redacted or unreadable.
  [[nodiscard]] bool hasHidden() const { return hiddenEntries_ != nullptr; }
  [[nodiscard]] std::size_t payloadBytes(std::size_t place) const { return outlines_[place].payloadBytes; }
  /// Returns how many bytes the entry takes in a line of another agent's file (carried.h).
  [[nodiscard]] std::size_t carriedBytes(std::size_t place) const { return outlines_[place].carriedBytes; }
  /// Returns the entry that it continues; kNone for a root and for entries outside the conversation.
  [[nodiscard]] std::size_t parent(std::size_t place) const {
    return outlines_[place].parent == kNoSequence ? kNone : outlines_[place].parent;
  }
  /// Finds an entry of the conversation.
  [[nodiscard]] std::size_t find(std::string_view id) const;
  /// Returns the whole entry.
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
    bool answersCalls = false;  // redacted, and replaced by results that say so
  };
  // The entries that are redacted, erased or damaged (hidden_entries.cpp).
  class HiddenEntries {
   public:
    explicit HiddenEntries(EntryList& list) : list_(list) {}
    /// Takes the next entry of the session.
    Result<void> note(const Entry& entry, std::size_t place);
    /// Called after the last entry. Removes lines that repeat what is hidden, and adds results that say what became of
    /// results nobody can read.
    void end();
    [[nodiscard]] const Hidden* find(std::size_t place) const;
    /// Returns what replaces an entry; nullptr for the entry itself.
    [[nodiscard]] const EntryPin* replacement(std::size_t place) const;

   private:
    void dropLine(std::size_t place, const Entry& entry);
    void dropLines();
    void inferResults(std::size_t place);
    [[nodiscard]] bool mayHoldResults(std::size_t place) const;
    void replace(std::size_t place, const Entry& entry, std::string payload);

    EntryList& list_;
    json::TextSet said_;  // what redacted entries say
    std::unordered_map<std::size_t, Hidden> hidden_;
    // Messages of results that replace hidden ones, and entries without their line because a part of that line is
    // hidden.
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
  IdPlaces places_;              // of the entries of the conversation
  std::deque<std::string> ids_;  // for a session: many ids in each string, which never grows beyond its capacity
  const std::vector<Entry>* entries_ = nullptr;  // all entries, when they are in memory
  std::vector<Entry> kept_;                      // the same entries, when the list owns them
  std::optional<Session> session_;
  struct Cache {
    std::deque<std::shared_ptr<const Block>> blocks;  // most recently used first
    std::size_t bytes = 0;
    std::optional<Error> error;
  };
  mutable Cache cache_;
  std::shared_ptr<HiddenEntries> hiddenEntries_;
};

}  // namespace bough::transcript
