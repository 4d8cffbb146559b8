// One session in PostgreSQL. An append and a load are one round trip each.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "store/postgres/append_queue.h"
#include "store/postgres/batch_plan.h"
#include "store/postgres/change_feed.h"
#include "store/postgres/schema/database.h"
#include "store/sharing/sharing_session.h"

namespace bough::postgres {

class PostgresSession final : public SharingSession {
 public:
  PostgresSession(SharingSessions& sessions, Database& database, AppendQueue& queue, ChangeHub& changes,
                  std::string sessionId)
      : SharingSession(sessions, std::move(sessionId)), database_(database), queue_(queue), changes_(changes) {}

  struct Batch {
    PostgresSession* session = nullptr;
    AppendRequest* request = nullptr;
  };
  /// Appends to several sessions in few transactions. The results are in the order of the batches.
  static std::vector<Result<AppendResult>> appendAll(AppendQueue& queue, const std::vector<Batch>& batches);

  [[nodiscard]] Result<SessionState> state() override;
  [[nodiscard]] Result<Entry> header() override;
  [[nodiscard]] Result<AppendResult> append(AppendRequest& request) override;
  [[nodiscard]] Result<std::uint64_t> beginTurn() override;
  [[nodiscard]] Result<std::uint64_t> leaseTurn(const TurnLease& lease) override;
  [[nodiscard]] Result<LoadResult> load(const LoadQuery& query) override;
  [[nodiscard]] Result<std::vector<Entry>> loadOwn(std::uint64_t fromSequence, std::size_t limit) override;
  [[nodiscard]] Result<SessionShape> shape() override;
  [[nodiscard]] Result<std::vector<SessionLabel>> labels() override;
  [[nodiscard]] Result<std::vector<std::string>> findIds(std::string_view prefix, std::size_t limit) override;
  [[nodiscard]] Result<void> exportLines(const std::function<bool(std::string_view)>& line) override;
  [[nodiscard]] Result<std::unique_ptr<ChangeWatcher>> watch() override;

  Result<std::uint64_t> generation() override;
  Result<std::optional<ForkOrigin>> origin() override;
  Result<std::optional<std::uint64_t>> ownSequenceOf(std::string_view entryId) override;
  Result<std::vector<std::uint64_t>> ownSelect(const Selection& selection) override;
  Result<std::vector<std::uint64_t>> ownControls(std::span<const EntryKind> kinds) override;
  Result<SessionOutline> ownOutline() override;
  Result<std::vector<std::string>> ownIds(std::string_view prefix, std::size_t limit) override;
  Result<BranchPart> ownBranch(std::uint64_t leaf, std::size_t limit) override;
  Result<std::vector<Entry>> ownRead(std::span<const std::uint64_t> sequences) override;

 private:
  class Loading;
  struct Prepared;
  [[nodiscard]] Parameters byId() const;
  std::unique_ptr<Prepared> prepare(AppendRequest& request);
  Result<AppendResult> resultOf(AppendRequest& request, Prepared& prepared);
  Result<AppendResult> appendUnderLock(AppendRequest& request, bool ownIds);

  Database& database_;
  AppendQueue& queue_;
  ChangeHub& changes_;
};

/// The columns of a session's row from which stateFrom makes a state.
inline constexpr std::string_view kStateColumns =
    "s.session_id, s.entry_count, s.tail_id, s.head_id, s.origin_session, s.origin_entry, s.format, s.bytes, s.life";
SessionState stateFrom(const Rows& rows, int row);

/// Returns the entry of a row that begins with the columns entry_id, parent_id, body.
Result<Entry> entryFrom(const EntrySerializer& serializer, const Rows& rows, int row, std::string& line);

/// Appends that entry to `entries`. For loads, which have many entries. `line` is only scratch space.
Result<void> addEntryFrom(const EntrySerializer& serializer, const Rows& rows, int row, std::string& line,
                          std::vector<Entry>& entries);

/// Passes the lines of a session's life to `line`, sealed as in a file, until it returns false.
Result<void> exportLife(Database& database, const std::string& sessionId, std::int64_t life,
                        const std::function<bool(std::string_view)>& line);

}  // namespace bough::postgres
