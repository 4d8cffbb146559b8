// The history that a fork shares: the branch of another session that it continues. The branch may span several sessions
// when that session is a fork itself.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bough/entry.h"
#include "bough/error.h"
#include "store/rules/append_rules.h"

namespace bough {

class SharingSession;
class SharingSessions;

/// Returns true when an error means that a session is missing in the store, or that nothing of its file can be read.
bool isLostSession(const Error& error);

/// The entries of one branch across forks, root first, each given by its session and its sequence there. Headers are
/// not included.
class ForkHistory final : public SharedEntries {
 public:
  /// Follows the branch that ends in `leafId` of `session`, and returns its last `limit` entries. NotFound when there
  /// is no such entry.
  static Result<ForkHistory> ofBranch(SharingSession& session, const std::string& leafId, std::size_t limit);
  /// What to do when a session on the way is missing, or nothing of its file can be read.
  enum class Lost : std::uint8_t { Refuse, EndThere };
  /// Returns what a session with this origin shares, as far as it can be read. Empty when the session is not a fork.
  /// When a session on the way is lost, fails with NotFound or Damaged, or returns the part that is left, as `lost`
  /// says.
  static Result<ForkHistory> ofFork(SharingSessions& sessions, const std::string& sessionId,
                                    const std::optional<ForkOrigin>& origin, Lost lost = Lost::Refuse);

  /// Returns true while this history is complete and none of its sessions has been rewritten since it was made.
  [[nodiscard]] bool isCurrent() const;

  /// Prepares this history to be kept by `owner`: drops its reference to that session, which otherwise would never be
  /// closed. Returns false when the history leads through another object of the same session.
  [[nodiscard]] bool prepareForCacheOf(SharingSession& owner);

  [[nodiscard]] std::size_t size() const { return size_; }
  /// Returns about how much memory this history uses.
  [[nodiscard]] std::size_t bytes() const;
  /// The parent at which the history ends too early because no session on the way has it (verify reports more). Empty
  /// when the history is complete.
  [[nodiscard]] const std::string& missing() const { return missing_; }
  /// The session that should contain that parent. The whole session may be lost.
  [[nodiscard]] const std::string& missingFrom() const { return missingFrom_; }
  /// Removes the entries that are of none of these types.
  Result<void> keepTypes(const std::vector<std::string>& types);
  /// Returns at most `limit` entries, starting at place `from`.
  [[nodiscard]] Result<std::vector<Entry>> read(std::size_t from, std::size_t limit) const;
  /// Returns the entries at these places, in this order.
  [[nodiscard]] Result<std::vector<Entry>> readAt(std::span<const std::size_t> places) const;
  /// The part of the history in one session. The parts are ordered root first and contain a sequence for each place.
  struct Part {
    std::shared_ptr<SharingSession> session;
    std::uint64_t generation = 0;
    std::vector<std::uint64_t> sequences;  ///< Ascending.
  };
  [[nodiscard]] const std::vector<Part>& parts() const { return parts_; }
  /// Returns the place of an entry; std::nullopt when it is not part of this history.
  [[nodiscard]] Result<std::optional<std::size_t>> find(std::string_view entryId) const;
  [[nodiscard]] Result<std::optional<Entry>> entryOf(std::string_view entryId) const override;
  [[nodiscard]] Result<bool> contains(std::string_view entryId) const override;
  /// Returns the sessions that the history leads through, the oldest first.
  [[nodiscard]] std::vector<std::string> sessions() const;

 private:
  /// `isOwnLeaf`: the leaf is named by the session itself.
  static Result<ForkHistory> walk(SharingSessions& sessions, std::string session, std::string leaf, std::size_t limit,
                                  bool isOwnLeaf);

  // During a walk, when the parts are ordered newest first: appends an already known history that comes before them.
  void appendKnown(const ForkHistory& rest);
  void endAt(const std::string& leaf, const std::string& session, std::optional<Error> why);

  std::vector<Part> parts_;
  std::string missing_;
  std::string missingFrom_;
  std::optional<Error> lostError_;  // why that session cannot be read at all
  std::size_t size_ = 0;
};

}  // namespace bough
