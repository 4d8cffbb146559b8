// Which sessions share whose history, found by reading the headers of a store's sessions.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "store/sharing/sharing_backend.h"

namespace bough {

/// The sessions that share the history of a session, and the sessions for which that is unknown.
struct Sharers {
  std::vector<std::string> forks;
  std::vector<std::string> unknown;
};

class ForkCensus {
 public:
  explicit ForkCensus(SharingBackend& backend) : backend_(backend) {}

  /// Reads the headers of sessions that are not known yet. Costs little when no session was created or removed since
  /// the last call.
  Result<void> readSessions();
  Result<void> readTrash();
  /// Removes a session, or one in the trash, from the census because it is gone or will be.
  void exclude(const std::string& name);
  /// Records that the owner of this census has removed one session itself, so that the next look need not be repeated
  /// for it.
  void noteOwnRemoval();

  [[nodiscard]] Sharers sharersOf(const std::string& sessionId) const;
  /// Returns the sessions that a session continues, directly or not, as far as their headers are readable.
  [[nodiscard]] std::unordered_set<std::string> historyOf(const std::string& sessionId) const;
  /// Returns null when the session was not seen.
  [[nodiscard]] const SeenOrigin* find(const std::string& name) const;
  [[nodiscard]] const std::unordered_map<std::string, SeenOrigin>& all() const { return seen_; }

 private:
  void note(const SeenOrigins& origins);

  SharingBackend& backend_;
  std::unordered_map<std::string, SeenOrigin> seen_;
  std::unordered_map<std::string, std::vector<std::string>> byOrigin_;
  std::vector<std::string> uncertain_;
  std::optional<std::uint64_t> nameChanges_;  // at the last look
};

/// Returns HasForks or Damaged, with their names, when sessions share, or may share, the history of a session.
Result<void> refuseSharers(const std::string& sessionId, const Sharers& sharers);
Result<void> refuseUnknown(const std::string& sessionId, const std::vector<std::string>& unknown);

}  // namespace bough
