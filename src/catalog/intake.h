// Brings one session's row up to date with its log: reads what follows the last entry taken, or, when the log is no
// longer the one that was read, everything again.
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

/// Forgets a session: its row and all that hangs on it. Without `textOf` its words are abandoned.
void forgetSession(Database& database, std::int64_t session, const TextOf& textOf = {});

/// Takes a session out whose log is gone. Of one that is missing, because nobody removed it with bough, a row stays
/// that says so.
void takeOut(SessionStore& store, Database& database, const std::string& sessionId, bool isMissing);

struct TakenIn {
  std::uint64_t entries = 0;
  std::uint64_t payloadBytes = 0;
  std::uint64_t textBytes = 0;   ///< Handed over instead of indexed.
  bool mustResetSearch = false;  ///< Words must go that could not be taken out of the index: it has to be emptied.
};

/// One session, within the caller's transaction.
class Intake {
 public:
  enum class Outcome : std::uint8_t { Unchanged, Taken, Gone };

  /// `texts`: where the texts go instead of the search index; a part of them when they are many. Then the row has
  /// `indexed` less than `taken`.
  Intake(SessionStore& store, Database& database, bool search, std::vector<SearchText>* texts = nullptr)
      : store_(store), database_(database), search_(search), texts_(texts) {}
  Intake(const Intake&) = delete;
  Intake& operator=(const Intake&) = delete;

  /// Failures of the database stick to it. Fails when the session cannot be looked at now; one that is damaged gets a
  /// row that says so.
  /// `grown`: the session's stamp, when that is known and that the log has only grown. `growth`: what there is to read.
  Result<Outcome> run(const std::string& sessionId, std::optional<std::string> grown = {},
                      SessionGrowth* growth = nullptr);
  /// What was taken so far.
  [[nodiscard]] const TakenIn& taken() const { return taken_; }

 private:
  Result<void> readLog(const SessionState& state);
  Result<bool> isSameLog(const SessionState& state);
  void startAnew();
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
  TakenIn taken_;

  SessionTally tally_{[this]() -> const std::string& { return family(); }};
  SessionRow& row_ = tally_.row;
  SessionRow before_;   // what to go back to when the log cannot be read to its end
  std::string family_;  // see family()
  bool isGrown_ = false;
  SessionGrowth* growth_ = nullptr;
  bool anyRedacted_ = false;
  std::optional<Error> failed_;  // what could not be asked while an entry was taken in
};

}  // namespace bough::catalog
