// Updates one session's row from its log: reads the entries after the last one taken in, or everything again when the
// log is no longer the one that was read before.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bough/catalog.h"
#include "bough/store.h"
#include "catalog/database/database.h"
#include "catalog/database/entry_facts.h"
#include "catalog/database/session_row.h"
#include "catalog/read_ahead.h"
#include "catalog/search/search_index.h"
#include "catalog/tally/session_tally.h"

namespace bough::catalog {

/// The stamp of a session whose log is missing.
inline constexpr std::string_view kMissingStamp = "missing";

/// Deletes a session's row and everything that belongs to it. Without `textOf` its words remain in the search index as
/// abandoned words.
void removeSession(Database& database, std::int64_t session, const TextOf& textOf = {});

/// Removes a session whose log is gone. When the log is missing, because it was not removed with bough, a row remains
/// that says so.
void removeGoneSession(SessionStore& store, Database& database, const std::string& sessionId, bool isMissing);

struct IntakeResult {
  std::uint64_t entries = 0;
  std::uint64_t payloadBytes = 0;
  std::uint64_t textBytes = 0;   ///< Handed over to `texts` instead of indexed.
  bool mustResetSearch = false;  ///< Some words could not be removed one by one: empty the index.
};

/// Updates one session, within the caller's transaction.
class Intake {
 public:
  enum class Outcome : std::uint8_t { Unchanged, Updated, Gone };

  /// `texts`, when given, receives the texts instead of the search index. When the texts are too many it receives only
  /// a part of them; `indexedEntries` of the row is then less than `catalogedEntries`.
  Intake(SessionStore& store, Database& database, bool search, std::vector<SearchText>* texts = nullptr)
      : store_(store), database_(database), search_(search), texts_(texts) {}
  Intake(const Intake&) = delete;
  Intake& operator=(const Intake&) = delete;

  /// Updates the row of `sessionId`. Failures of the database are kept in the database. Fails when the session cannot
  /// be read now; a damaged session gets a row that says so. `grownStamp` is the session's stamp, passed when the log
  /// is known to have only grown. `growth` is what there is to read.
  Result<Outcome> run(const std::string& sessionId, std::optional<std::string> grownStamp = {},
                      SessionGrowth* growth = nullptr);
  /// Returns how much was taken in so far.
  [[nodiscard]] const IntakeResult& result() const { return result_; }

 private:
  Result<void> readLog(const SessionState& state);
  Result<bool> isSameLog(const SessionState& state);
  void startOver();
  Result<void> loadBranches();
  Result<Outcome> saveDamaged(const Error& error);
  void apply(ReadEntry& read);
  void applyRedaction(const Entry& entry);
  void redact(const std::string& entryId);
  const std::string& family();
  void index(ReadEntry& read, std::uint64_t timeMs);
  std::optional<std::string> storedText(const std::string& entryId);
  bool isRedacted(std::string_view entryId);
  Result<void> chooseTitle();
  void fillFacts(const SessionState& state);

  SessionStore& store_;
  Database& database_;
  bool search_;
  std::vector<SearchText>* texts_;
  IntakeResult result_;

  SessionTally tally_{[this]() -> const std::string& { return family(); }};
  SessionRow& row_ = tally_.row;
  SessionRow before_;   // restored when the log cannot be read to its end
  std::string family_;  // see family()
  bool isGrown_ = false;
  SessionGrowth* growth_ = nullptr;
  bool hasRedactions_ = false;
  std::optional<Error> failure_;  // a question that failed while an entry was taken in
};

}  // namespace bough::catalog
