// What a fork shares: the branch of another session that it continues, which may lie in several sessions when that one
// is a fork itself.
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

/// Whether an error says that a session is not in the store, or that nothing of its file can be read.
bool isLostSession(const Error& error);

/// The entries of one branch across forks, root first, by session and sequence. Headers are not part of it.
class ForkHistory final : public SharedEntries {
 public:
  /// Follows the branch that ends in `leafId` of `session`: its last `limit` entries. NotFound when there is no such
  /// entry.
  static Result<ForkHistory> ofBranch(SharingSession& session, const std::string& leafId, std::size_t limit);
  /// What to do about a session on the way that is not in the store, or of whose file nothing can be read.
  enum class Lost : std::uint8_t { Refuse, EndThere };
  /// What a session with this origin shares, as far as it can be read; empty when it is not a fork. NotFound or
  /// Damaged, or less than all of it, when a session on the way is lost.
  static Result<ForkHistory> ofFork(SharingSessions& sessions, const std::string& sessionId,
                                    const std::optional<ForkOrigin>& origin, Lost lost = Lost::Refuse);

  /// Whether it is what it would be if it were made now: none of its sessions was rewritten.
  [[nodiscard]] bool isCurrent() const;

  /// Makes it one that `owner` may keep: it no longer keeps that session, which would never be closed. False when it
  /// leads through another object for the same session.
  [[nodiscard]] bool keepFor(SharingSession& owner);

  [[nodiscard]] std::size_t size() const { return size_; }
  /// About how much memory it takes.
  [[nodiscard]] std::size_t bytes() const;
  /// The parent at which it ends too early, because no session on the way has it (verify says more); empty when it is
  /// whole.
  [[nodiscard]] const std::string& missing() const { return missing_; }
  /// The session that should have that parent; it may be lost as a whole.
  [[nodiscard]] const std::string& missingFrom() const { return missingFrom_; }
  /// Forgets the entries that are of none of these types.
  Result<void> keepTypes(const std::vector<std::string>& types);
  /// The entries from place `from` on, at most `limit`.
  [[nodiscard]] Result<std::vector<Entry>> read(std::size_t from, std::size_t limit) const;
  /// The entries at these places, in this order.
  [[nodiscard]] Result<std::vector<Entry>> readAt(std::span<const std::size_t> places) const;
  /// What each session on the way has of it, root first: for each place the sequence there.
  struct Part {
    std::shared_ptr<SharingSession> session;
    std::uint64_t generation = 0;
    std::vector<std::uint64_t> sequences;  ///< Ascending.
  };
  [[nodiscard]] const std::vector<Part>& parts() const { return parts_; }
  /// The place of an entry; none when it is not part of this history.
  [[nodiscard]] Result<std::optional<std::size_t>> find(std::string_view entryId) const;
  [[nodiscard]] Result<std::optional<Entry>> entryOf(std::string_view entryId) const override;
  [[nodiscard]] Result<bool> contains(std::string_view entryId) const override;
  /// The sessions it leads through, the oldest first.
  [[nodiscard]] std::vector<std::string> sessions() const;

 private:
  /// `isOwnLeaf`: the session itself names the leaf.
  static Result<ForkHistory> walk(SharingSessions& sessions, std::string session, std::string leaf, std::size_t limit,
                                  bool isOwnLeaf);

  // On a walk, where the parts are the newest first: what is known to come before them.
  void goOn(const ForkHistory& rest);
  void endAt(const std::string& leaf, const std::string& session, std::optional<Error> why);

  std::vector<Part> parts_;
  std::string missing_;
  std::string missingFrom_;
  std::optional<Error> lost_;  // why that session cannot be read at all
  std::size_t size_ = 0;
};

}  // namespace bough
