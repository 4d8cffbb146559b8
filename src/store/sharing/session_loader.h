// Reads a session that shares history: all of it, a part, a branch, or entries by id. Hides redacted payloads and loads
// attachments.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "store/sharing/redactions.h"
#include "store/sharing/sharing_session.h"

namespace bough {

/// Lives for one call. A retryable Damaged means that the session has changed meanwhile: create a new loader.
class SessionLoader {
 public:
  explicit SessionLoader(SharingSession& session) : session_(session) {}

  Result<LoadResult> load(const LoadQuery& query);
  /// Returns the entries starting at a sequence, in the session's order, as they are stored.
  Result<std::vector<Entry>> entriesFrom(std::uint64_t from, std::size_t limit);
  /// Returns the redactions of the session and of every session whose history it shares.
  Result<Redactions> redactions();
  /// Returns the sequence of an entry; std::nullopt when the session has no entry with that id.
  Result<std::optional<std::uint64_t>> sequenceOf(const std::string& entryId);

 private:
  Result<std::vector<Entry>> select(const LoadOptions& wanted);
  Result<std::vector<Entry>> selectBranch(const LoadOptions& wanted);
  Result<std::vector<Entry>> branchPart(const LoadOptions& wanted);
  Result<std::vector<Entry>> selectOwn(const LoadOptions& wanted);
  Result<std::vector<Entry>> selectShared(const LoadOptions& wanted);
  Result<std::vector<std::uint64_t>> ownOfTypes(const std::vector<std::string>& types, std::uint64_t fromSequence);
  Result<LoadResult> after(const SessionPosition& position, std::size_t limit);
  Result<LoadResult> byId(const std::vector<std::string>& ids);
  Result<std::vector<Entry>> entriesAt(std::span<const std::uint64_t> sequences);
  Result<std::uint64_t> sequenceAfter(const std::string& position);
  Result<void> showPayloads(std::vector<Entry>& entries, bool showRedacted, std::size_t limitBytes);
  Result<std::shared_ptr<const ForkHistory>> history();

  SharingSession& session_;
  std::shared_ptr<const ForkHistory> history_;
};

/// Returns the sequence of an own entry in the whole session, which shares `shared` entries.
constexpr std::uint64_t sequenceInSession(std::uint64_t ownSequence, std::size_t shared) {
  return ownSequence == 0 ? 0 : ownSequence + shared;
}

}  // namespace bough
