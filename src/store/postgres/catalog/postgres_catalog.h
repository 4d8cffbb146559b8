// The catalog of a store in PostgreSQL: lists, search, usage and retention are SQL over the tables catalog_sessions,
// catalog_answers and catalog_texts. The catalog itself reads the sessions (source_intake) and passes the content of
// these tables to keep(). An append only marks its session as not cataloged.
//
// A list after a session has grown takes two round trips: outdated() also returns the new entries when they are few,
// and the changes from keep() are sent with the next query.
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
  /// Sends the waiting changes, except in the child of a fork. A failure does no harm: the sessions are still marked as
  /// outdated.
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
  /// Sends the waiting changes and the query in one round trip and one transaction. Conflict when others have stored
  /// less of a session than this process has seen: the session has to be read again first, otherwise the answer would
  /// be incomplete.
  Result<std::vector<Rows>> ask(std::vector<Call> calls);
  Result<Rows> ask(Call call);
  // Fails in the child of a fork(2): the connections belong to the parent, and one of its threads may have held the
  // mutex.
  [[nodiscard]] Result<void> notInChild() const;
  // Requires the mutex.
  Result<std::vector<Rows>> runAfterWaiting(std::vector<Call> calls);
  Result<void> checkNoneRejected();
  // Marks the sessions after one id, up to another id, to be read again.
  Result<void> forgetPage(const std::string& after, const std::string& last);

  Database& database_;
  std::mutex mutex_;                     // held while waiting changes are sent, so that no query overtakes them
  std::vector<Call> waiting_;            // from keep()
  std::vector<std::string> waitingFor_;  // the session of each waiting call
  std::map<std::string, int>
      rejectedSessions_;  // sessions to be read again, and how many queries were refused for each
  const unsigned forks_ = forkCount();
  bool canWrite_ = false;  // this role may write and the server accepts writes, as last seen by outdated()
};

/// Returns statements that remove what the catalog stores about a session. Part of the transaction that removes the
/// session.
std::vector<Call> forgetCataloged(Database& database, const std::string& sessionId);
/// Returns statements that remove what the catalog stores about these entries and that make it read the session again.
/// Part of the transaction that erases the entries.
std::vector<Call> forgetErased(Database& database, const std::string& sessionId, const std::vector<std::string>& ids);

/// A statement that is composed of pieces, with its parameters.
class Composed {
 public:
  std::string sql;
  Parameters parameters;

  /// Adds a value and returns its placeholder in the statement: `$1`, `$2` …
  std::string text(std::string_view value);
  std::string number(std::uint64_t value);

  /// Adds ` WHERE …` or ` AND …`.
  void require(std::string_view condition);
  /// Adds the conditions of a filter on catalog_sessions as `c`, except its times.
  void require(const SessionFilter& filter);

  [[nodiscard]] Call call(const Database& database);

 private:
  bool hasWhere_ = false;
};

/// Returns the statement that list() sends, without the one for models. `models` are the existing models, which are
/// only needed to sort by cost.
Composed selectSorted(std::string_view columns, const ListOptions& options,
                      const std::vector<std::string>& models = {});

/// Returns the columns of a SessionSummary, for catalog_sessions as `c`.
std::string_view summaryColumns();
inline constexpr int kSummaryColumns = 33;
/// Reads these columns from a row, starting at `column`.
SessionSummary summaryFrom(const Rows& rows, int row, int column = 0);
/// Return the texts and the numbers (without tokens) of a summary, in the order of the function catalog_keep.
std::vector<std::string> summaryTexts(const SessionSummary& summary);
std::vector<std::int64_t> summaryNumbers(const CatalogedSession& session);

}  // namespace bough::postgres
