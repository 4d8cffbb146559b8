// The catalog of a store in PostgreSQL: lists, search, usage and retention are SQL over the tables catalog_sessions,
// catalog_answers and catalog_texts. What is in them is read from the sessions by the catalog itself (source_intake)
// and handed over with keep(). An append only notes that its session is not cataloged.
//
// A list after a session has grown is two round trips: outdated() brings along what is new when it is little, and what
// keep() was given goes with the next question.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/system/process_state.h"
#include "bough/catalog.h"
#include "store/postgres/schema/database.h"

namespace bough::postgres {

class PostgresCatalog final : public CatalogSource {
 public:
  explicit PostgresCatalog(Database& database) : database_(database) {}
  /// What waits is sent, unless this is the child of a fork. A failure costs nothing: the sessions are still outdated.
  ~PostgresCatalog() override;

  [[nodiscard]] Result<std::vector<SessionSummary>> list(const ListOptions& options) override;
  [[nodiscard]] Result<std::uint64_t> count(const SessionFilter& filter) override;
  [[nodiscard]] Result<SessionSummary> session(const std::string& sessionId) override;
  [[nodiscard]] Result<std::optional<std::string>> currentSession(std::string_view key, std::string_view cwd) override;
  [[nodiscard]] Result<NameMatch> findByName(std::string_view name, std::size_t limit) override;
  [[nodiscard]] Result<std::vector<SearchHit>> search(const SearchWords& words, const SearchOptions& options) override;
  [[nodiscard]] Result<std::vector<UsageSum>> usage(const UsageOptions& options) override;
  [[nodiscard]] Result<std::vector<ExpiredSession>> expired(std::uint64_t nowMs,
                                                            std::optional<std::uint64_t> defaultTimeToLiveMs) override;
  [[nodiscard]] Result<Outdated> outdated(bool search, const std::string& after, std::size_t limit) override;
  [[nodiscard]] Result<void> keep(const std::vector<CatalogChange>& changes) override;
  [[nodiscard]] Result<void> forgetAll() override;

 private:
  /// What waits and the question, in one round trip and one transaction. Conflict when others have kept less of a
  /// session than this process has seen: it has to be read again first, or the answer would not have all of it.
  Result<std::vector<Rows>> ask(std::vector<Call> calls);
  Result<Rows> ask(Call call);
  // The connections are the parent's, and a thread of it may have held the mutex.
  [[nodiscard]] Result<void> notInChild() const;
  // With the mutex held.
  Result<std::vector<Rows>> runAfterWaiting(std::vector<Call> calls);
  Result<void> allKept();
  // The sessions after an id, up to another one, are to be read again.
  Result<void> forgetPage(const std::string& after, const std::string& last);

  Database& database_;
  std::mutex mutex_;                     // held while what waited is on its way: a question must not be faster
  std::vector<Call> waiting_;            // of keep()
  std::vector<std::string> waitingFor_;  // the session of each
  std::map<std::string, int> unkept_;    // sessions to be read again, and how many questions were refused for each
  const unsigned forks_ = forkCount();
  bool mayKeep_ = false;  // whether this role has the right and the server takes writes, as outdated() saw last
};

/// Forgets what the catalog keeps of a session: part of the transaction that takes the session away.
std::vector<Call> forgetCataloged(Database& database, const std::string& sessionId);
/// Forgets what it keeps of these entries, and has the session read again: part of the transaction that erases them.
std::vector<Call> forgetErased(Database& database, const std::string& sessionId, const std::vector<std::string>& ids);

/// A statement that is put together from pieces, with the values that they need.
class Composed {
 public:
  std::string sql;
  Parameters parameters;

  /// The place of a value in the statement: `$1`, `$2` …
  std::string text(std::string_view value);
  std::string number(std::uint64_t value);

  /// Adds ` WHERE …` or ` AND …`.
  void require(std::string_view condition);
  /// What a filter asks of catalog_sessions as `c`, except its times.
  void require(const SessionFilter& filter);

  [[nodiscard]] Call call(const Database& database);

 private:
  bool hasWhere_ = false;
};

/// The statement that list() sends, without the one for models. `models` are those that there are; they are only needed
/// to sort by cost.
Composed selectSorted(std::string_view columns, const ListOptions& options,
                      const std::vector<std::string>& models = {});

/// The columns of a SessionSummary, of catalog_sessions as `c`.
std::string_view summaryColumns();
inline constexpr int kSummaryColumns = 33;
/// Reads them, from a column on.
SessionSummary summaryFrom(const Rows& rows, int row, int column = 0);
/// The numbers (without tokens) and texts of a summary, in the order of the function catalog_keep.
std::vector<std::string> summaryTexts(const SessionSummary& summary);
std::vector<std::int64_t> summaryNumbers(const CatalogedSession& session);

/// What fits a bigint.
std::int64_t fitting(std::uint64_t number);

}  // namespace bough::postgres
