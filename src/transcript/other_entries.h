// Entries of a file that was written again, beside those that the session has of it.
//
// The file may have become shorter or longer in the middle, and its lines may have got ids: a clean copy, a file that
// its agent brought to a newer version. Ids may say where a line is. So an entry is told by its id, and when the
// session has none of that id, or one that says something else, by what it says, when, and after what.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/bytes/flat_map.h"
#include "bough/store.h"
#include "bough/transcript.h"
#include "transcript/model/origin.h"

namespace bough::transcript {

class OtherEntries {
 public:
  using IsKnown = std::function<bool(const std::string&)>;

  OtherEntries(SessionStore& store, const std::string& sessionId) : store_(store), sessionId_(sessionId) {}

  /// Gives an entry the id under which the session has it; an id of its own where the session has another one of its
  /// id; and the ids of entries that were renamed where it names them.
  Result<void> tellApart(Entry& entry, const IsKnown& isKnown);

  /// Whether the session has the entry under another id.
  Result<bool> hasMoved(const Entry& entry);

  void addTo(TranscriptReport& report);

 private:
  void nameApart(Entry& entry, const Entry& stored) const;
  std::string besideId(const Entry& entry, const Origin& origin, bool isBesideTalk, const IsKnown& isKnown);
  void rename(Entry& entry, std::string id, const std::vector<std::string_view>& ofItself);
  void followRenamed(Entry& entry) const;
  Result<bool> hasLinesOf(const Entry& entry);
  Result<std::string> findMoved(const Entry& entry);
  Result<std::string> findAnywhere(const Entry& entry);
  Result<void> collect();
  Result<void> collectShared();
  void note(const Entry& entry, std::uint64_t sequence, FlatMap<std::uint64_t>& said);
  std::uint32_t nextPlace(std::uint64_t said);
  void notePlace(const Entry& entry, std::uint64_t sequence);

  SessionStore& store_;
  const std::string& sessionId_;
  bool collected_ = false;
  NumberSet lines_;                // hashes of those that the session had before
  FlatMap<std::uint64_t> said_;    // sequences of its own entries, by what they say
  FlatMap<std::uint64_t> shared_;  // of a fork: sequences in its order, of those that it shares as well
  // Own entries that are named by their place, by what they say, wherever that is.
  static constexpr std::uint32_t kNone = UINT32_MAX;
  struct Place {
    std::uint64_t sequence = 0;
    std::uint64_t idHash = 0;
    std::uint32_t next = kNone;  // that says the same
    std::uint32_t last = kNone;  // of the first: the last one that says the same
  };
  FlatMap<std::uint32_t> anywhere_;  // the first ones
  std::vector<Place> places_;
  NumberSet matched_;       // hashes of the ids that entries of the file have
  bool hasRecord_ = false;  // it had all lines of the record that entries are made of
  std::vector<TranscriptDamage> told_;
  std::uint64_t count_ = 0;
  std::unordered_map<std::string, std::string> renamed_;  // from the id of an entry to the one it got
};

}  // namespace bough::transcript
