// Who shares whose history: one look at the headers of a store's sessions.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "store/sharing/sharing_backend.h"

namespace bough {

/// Those that share the history of a session, and those of which that cannot be known.
struct Sharers {
  std::vector<std::string> forks;
  std::vector<std::string> unknown;
};

class ForkCensus {
 public:
  explicit ForkCensus(SharingBackend& backend) : backend_(backend) {}

  /// Looks at the sessions that are not known yet. Costs little when none was made or removed since the last time.
  Result<void> lookAtSessions();
  Result<void> lookAtTrash();
  /// A session, or one in the trash, is gone, or will be.
  void leaveOut(const std::string& name);
  /// The census itself is why one session more is gone than at the last look.
  void countOwnRemoval();

  [[nodiscard]] Sharers sharersOf(const std::string& sessionId) const;
  /// The sessions that it continues, as far as headers say so that can be read.
  [[nodiscard]] std::unordered_set<std::string> historyOf(const std::string& sessionId) const;
  /// None when it was not seen.
  [[nodiscard]] const SeenOrigin* find(const std::string& name) const;
  [[nodiscard]] const std::unordered_map<std::string, SeenOrigin>& all() const { return seen_; }

 private:
  void note(const SeenOrigins& origins);

  SharingBackend& backend_;
  std::unordered_map<std::string, SeenOrigin> seen_;
  std::unordered_map<std::string, std::vector<std::string>> byOrigin_;
  std::vector<std::string> unsure_;
  std::optional<std::uint64_t> nameChanges_;  // at the last look
};

/// HasForks or Damaged, with their names, when somebody shares, or may share, the history of a session.
Result<void> refuseSharers(const std::string& sessionId, const Sharers& sharers);
Result<void> refuseUnknown(const std::string& sessionId, const std::vector<std::string>& unknown);

}  // namespace bough
