// Matches the entries of a file that was rewritten with the entries that the session already has of it.
//
// The file may have lost or gained lines in the middle, and its lines may have got ids: it is a clean copy, or its
// agent upgraded it to a newer version. Ids may depend on where a line is in the file. So an entry is matched by its
// id; when the session has no entry of that id, or one with different content, it is matched by its content, time and
// parent.
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

class RewrittenFileMatcher {
 public:
  using IsKnown = std::function<bool(const std::string&)>;

  RewrittenFileMatcher(SessionStore& store, const std::string& sessionId) : store_(store), sessionId_(sessionId) {}

  /// Gives an entry the id that the session uses for it, or a new id when the session has a different entry of that id.
  /// Where the entry names entries that were renamed, it gets their new ids.
  Result<void> resolveId(Entry& entry, const IsKnown& isKnown);

  /// Returns whether the session has the entry under another id.
  Result<bool> hasMoved(const Entry& entry);

  void addTo(TranscriptReport& report);

 private:
  void makeIdUnique(Entry& entry, const Entry& stored) const;
  std::string idBesideStored(const Entry& entry, const Origin& origin, bool isBesideConversation,
                             const IsKnown& isKnown);
  void rename(Entry& entry, std::string id, const std::vector<std::string_view>& membersNamingItself);
  void followRenamed(Entry& entry) const;
  Result<bool> hasLinesOf(const Entry& entry);
  Result<std::string> findMoved(const Entry& entry);
  Result<std::string> findAnyParent(const Entry& entry);
  Result<void> readStored();
  Result<void> readShared();
  void addStored(const Entry& entry, std::uint64_t sequence, FlatMap<std::uint64_t>& byContent);
  std::uint32_t nextPlace(std::uint64_t hash);
  void addPlace(const Entry& entry, std::uint64_t sequence);

  SessionStore& store_;
  const std::string& sessionId_;
  bool isRead_ = false;
  NumberSet lines_;                   // hashes of the lines that the session had before
  FlatMap<std::uint64_t> byContent_;  // hash of the content → sequence of one of the session's own entries
  FlatMap<std::uint64_t> shared_;     // for a fork: the same for the shared entries, with sequences in the fork's order
  // Own entries whose ids name a place in the file, by their content, regardless of their parent.
  static constexpr std::uint32_t kNone = UINT32_MAX;
  struct Place {
    std::uint64_t sequence = 0;
    std::uint64_t idHash = 0;
    std::uint32_t next = kNone;  // the next entry with the same content
    std::uint32_t last = kNone;  // in the first such entry: the last one
  };
  FlatMap<std::uint32_t> byContentAnyParent_;  // hash of the content → first such entry in places_
  std::vector<Place> places_;
  NumberSet matched_;       // hashes of the ids of entries that were found in the file
  bool hasRecord_ = false;  // the session had all lines of the record that the current entries come from
  std::vector<TranscriptDamage> damage_;
  std::uint64_t conflictCount_ = 0;
  std::unordered_map<std::string, std::string> renamed_;  // old id of an entry → its new id
};

}  // namespace bough::transcript
