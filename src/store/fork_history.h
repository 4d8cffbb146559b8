// What a fork shares: the branch of another session that it continues, which may lie in several sessions when that one
// is a fork itself.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bough/entry.h"
#include "bough/error.h"
#include "bough/storage_backend.h"

namespace bough {

/// The entries of one branch across forks, root first, by session and sequence. Headers are not part of it.
class ForkHistory {
 public:
  /// Follows the branch that ends in `leafId` of `sessionId`: its last `limit` entries. NotFound when there is no such
  /// entry.
  static Result<ForkHistory> ofBranch(StorageBackend& backend, const std::string& sessionId, const std::string& leafId,
                                      std::size_t limit);
  /// What a session with this origin shares, as far as it can be read; empty when it is no fork.
  static Result<ForkHistory> ofFork(StorageBackend& backend, const std::string& sessionId,
                                    const std::optional<ForkOrigin>& origin);

  /// Whether it is what it would be if it were made now: none of its sessions was rewritten.
  [[nodiscard]] bool isCurrent(StorageBackend& backend) const;

  [[nodiscard]] std::size_t size() const { return size_; }
  /// The parent at which it ends too early, for no session on the way has it (verify says more); empty when it is
  /// whole.
  [[nodiscard]] const std::string& missing() const { return missing_; }
  /// Forgets the entries that are of none of these types.
  Result<void> keepTypes(StorageBackend& backend, const std::vector<std::string>& types);
  /// The entries from place `from` on, at most `limit`.
  Result<std::vector<Entry>> read(StorageBackend& backend, std::size_t from, std::size_t limit) const;
  /// The entries at these places, in this order.
  Result<std::vector<Entry>> readAt(StorageBackend& backend, std::span<const std::size_t> places) const;
  /// What each session on the way has of it, root first: for each place the sequence there.
  struct Part {
    std::string sessionId;
    std::uint64_t numbering = 0;
    std::vector<std::uint64_t> sequences;  ///< Ascending.
  };
  [[nodiscard]] const std::vector<Part>& parts() const { return parts_; }
  /// The place of an entry; none when it is not part of this history.
  Result<std::optional<std::size_t>> find(StorageBackend& backend, std::string_view entryId) const;
  /// The sessions it leads through, the oldest first.
  [[nodiscard]] std::vector<std::string> sessions() const;

 private:
  static Result<ForkHistory> walk(StorageBackend& backend, std::string session, std::string leaf, std::size_t limit);

  std::vector<Part> parts_;
  std::string missing_;
  std::size_t size_ = 0;
};

}  // namespace bough
