// Brings one session's row up to date with its log: reads what follows the last entry taken, or, when the log is no
// longer the one that was read, everything again.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "bough/store.h"
#include "catalog/database/database.h"
#include "catalog/database/entry_facts.h"
#include "catalog/database/session_row.h"

namespace bough::catalog {

/// Forgets a session: its row and all that hangs on it.
void forgetSession(Database& database, std::int64_t session);

/// One session, within the caller's transaction.
class Intake {
 public:
  enum class Outcome : std::uint8_t { Unchanged, Taken, Gone };

  Intake(SessionStore& store, Database& database, bool search) : store_(store), database_(database), search_(search) {}

  /// Failures of the database stick to it. Fails when the session cannot be looked at now; one that is damaged gets a
  /// row that says so.
  /// `grown`: the session's stamp, when that is known and that the log has only grown.
  Result<Outcome> run(const std::string& sessionId, std::optional<std::string> grown = {});
  [[nodiscard]] std::uint64_t entryCount() const { return entryCount_; }
  /// Of the payloads that were read.
  [[nodiscard]] std::uint64_t byteCount() const { return byteCount_; }

 private:
  struct Branch {
    std::uint32_t number = 0;
    std::string tipId;
    std::vector<std::string> openCalls;
  };
  Result<void> readLog(const SessionState& state);
  Result<bool> isSameLog(const SessionState& state);
  void startAnew();
  void loadBranches();
  void saveBranches();
  Result<Outcome> saveDamaged(const Error& error);
  void apply(std::uint64_t sequence, Entry& entry);
  void applyHeader(const Entry& entry);
  void applyInfo(const Entry& entry, std::uint64_t timeMs);
  void applyRedaction(const Entry& entry);
  void applyConversation(const Entry& entry, const EntryFacts& facts, std::uint64_t timeMs);
  const std::string& family();
  void applyUsage(const Entry& entry, const EntryFacts& facts, std::uint32_t branch, std::uint64_t timeMs);
  Branch& branchFor(const Entry& entry);
  void index(std::uint64_t sequence, const Entry& entry, const EntryFacts& facts, std::uint64_t timeMs);
  bool isRedacted(std::string_view entryId);
  Result<void> chooseTitle();
  void finish(const SessionState& state);

  SessionStore& store_;
  Database& database_;
  bool search_;
  std::uint64_t entryCount_ = 0;
  std::uint64_t byteCount_ = 0;

  SessionRow row_;
  SessionRow before_;  // what to go back to when the log cannot be read to its end
  std::vector<Branch> branches_;
  std::unordered_map<std::string, std::size_t> tips_;  // of branches_, by the tip's id
  std::string family_;                                 // see family()
  bool isGrown_ = false;
  bool titleLost_ = false;
  bool anyRedacted_ = false;
};

}  // namespace bough::catalog
