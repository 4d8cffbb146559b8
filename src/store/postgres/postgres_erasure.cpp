// Erases payloads for good. Rewrites the rows of the entries in place, in sessions and in the trash, and appends the
// receipts, all in one transaction. So nothing has to be finished later.

#include <algorithm>
#include <set>

#include "base/bytes/sha256.h"
#include "base/try.h"
#include "store/postgres/postgres_backend.h"
#include "store/sharing/erasure_plan.h"

namespace bough::postgres {
namespace {

constexpr int kLivesAtOnce = 100;

constexpr Statement kLives{"erase_lives", R"sql(
SELECT session_id, life FROM @.sessions WHERE (session_id, life) > ($1, $2) ORDER BY session_id, life LIMIT $3)sql"};
constexpr Statement kHolding{"erase_holding", R"sql(
SELECT e.entry_id, e.parent_id, e.body, e.session_id FROM unnest($1::text[], $2::bigint[]) AS p(session_id, life)
  JOIN @.entries e ON e.session_id = p.session_id AND e.life = p.life WHERE position($3::bytea IN e.body) > 0
  ORDER BY e.session_id, e.life, e.seq)sql"};
// Always in the same order, so that two erasures do not wait for each other.
constexpr Statement kEraseLock{"erase_lock", R"sql(
SELECT s.session_id, s.life, s.head_id, coalesce(s.trash_id, s.session_id) FROM @.sessions s
  WHERE EXISTS (SELECT 1 FROM @.entries e WHERE e.session_id = s.session_id AND e.life = s.life AND e.entry_id = ANY ($1))
  ORDER BY s.session_id, s.life FOR UPDATE OF s)sql"};
constexpr Statement kEraseEntries{"erase_entries", R"sql(
SELECT entry_id, parent_id, body FROM @.entries WHERE session_id = $1 AND life = $2 AND entry_id = ANY ($3))sql"};
constexpr Statement kErase{"erase", R"sql(
UPDATE @.entries SET body = $4, attachment = NULL WHERE session_id = $1 AND life = $2 AND entry_id = $3)sql"};
// Like a control entry that the function `append` stores: it belongs to no run, and the head stays.
constexpr Statement kReceipt{"erase_receipt", R"sql(
INSERT INTO @.entries (session_id, life, seq, parent_seq, segment, depth, kind, entry_id, parent_id, target_id, body)
  SELECT s.session_id, s.life, s.entry_count, s.head_seq, s.entry_count, s.head_depth + 1, $3, $4, nullif(s.head_id, ''),
         $5, $6 FROM @.sessions s WHERE s.session_id = $1 AND s.life = $2)sql"};
constexpr Statement kGrow{"erase_grow", R"sql(
UPDATE @.sessions SET entry_count = entry_count + 1, bytes = bytes + $3, tail_id = $4, version = version + 1,
    changed_at = now(), cataloged = false WHERE session_id = $1 AND life = $2)sql"};
constexpr Statement kRemoveParts{"erase_parts", "DELETE FROM @.attachments WHERE sha256 = ANY ($1)"};
constexpr Statement kPresent{"erase_present", "SELECT DISTINCT sha256 FROM @.attachments WHERE sha256 = ANY ($1)"};

using UseLine = std::function<Result<void>(const std::string& sessionId, const Entry& entry, std::string_view line)>;

// Calls `use` for every entry whose line contains these words, in the trash as well.
Result<void> forEachEntryContaining(Database& database, std::string_view words, const UseLine& use) {
  std::string session;
  std::int64_t life = 0;
  for (;;) {
    Parameters page;
    page.text(session).number(life).number(kLivesAtOnce);
    BOUGH_TRY(const Rows lives, database.run(kLives, std::move(page)));
    if (lives.empty()) return {};
    std::vector<std::string> sessions;
    std::vector<std::int64_t> numbers;
    for (int row = 0; row < lives.size(); ++row) {
      sessions.push_back(lives.string(row, 0));
      numbers.push_back(lives.number(row, 1));
    }
    session = sessions.back();
    life = numbers.back();
    Parameters wanted;
    wanted.texts(sessions).numbers(numbers).bytes(words);
    BOUGH_TRY(const Rows rows, database.run(kHolding, std::move(wanted)));
    std::string line;
    for (int row = 0; row < rows.size(); ++row) {
      BOUGH_TRY(const Entry entry, entryFrom(database.serializer, rows, row, line));
      BOUGH_TRY(use(rows.string(row, 3), entry, line));
    }
  }
}

// Adds entries that were converted from an entry of the plan, because they contain the same text, and entries that were
// converted from those in turn.
Result<void> addConverted(Database& database, ErasurePlan& plan) {
  for (bool grown = true; grown;) {
    grown = false;
    for (const std::string_view words : kDerivedMarkers) {
      BOUGH_TRY(forEachEntryContaining(
          database, words, [&](const std::string& sessionId, const Entry& entry, std::string_view) -> Result<void> {
            if (plan.find(entry.id) != nullptr || !isDerivedFrom(plan, entry)) return {};
            if (isErasedPayload(entry.payload)) return {};
            BOUGH_TRY(addTarget(plan, sessionId, entry, database.ids));
            grown = true;
            return {};
          }));
    }
  }
  return {};
}

Result<void> addWayBacks(Database& database, AttachmentStore& attachments, ErasurePlan& plan) {
  return forEachEntryContaining(database, "provider_migration",
                                [&](const std::string&, const Entry&, std::string_view line) -> Result<void> {
                                  for (std::string& sha256 : wayBackAttachmentsIn(line)) {
                                    const auto bytes = attachments.get(sha256);
                                    const bool gone = !bytes && bytes.error().code == ErrorCode::NotFound;
                                    const bool damaged = !bytes && bytes.error().code == ErrorCode::Damaged;
                                    if (!bytes && !gone && !damaged) return std::unexpected(bytes.error());
                                    // Nobody can use a damaged way back, and it cannot be determined what it contains
                                    // of the plan.
                                    if (damaged || (bytes && wayBackNamesTarget(plan, *bytes)))
                                      plan.wayBackAttachments.push_back(std::move(sha256));
                                  }
                                  return {};
                                });
}

std::vector<std::string> idsOf(const ErasurePlan& plan) {
  std::vector<std::string> ids;
  for (const auto& [id, target] : plan.targets) ids.push_back(id);
  return ids;
}

// Returns the statements that erase in one life of a session; none when it contains nothing of the plan any more.
Result<std::vector<Call>> changesOf(Database& database, const ErasurePlan& plan, const Rows& lives, int row,
                                    const Rows& entries) {
  const std::string sessionId = lives.string(row, 0);
  const std::string headId = lives.string(row, 2);
  const auto ofLife = [&] {
    Parameters parameters;
    parameters.text(sessionId).number(lives.number(row, 1));
    return parameters;
  };
  std::vector<Call> calls;
  std::string line;
  for (int each = 0; each < entries.size(); ++each) {
    const ErasureTarget* const target = plan.find(entries.text(each, 0));
    BOUGH_TRY(const Entry entry, entryFrom(database.serializer, entries, each, line));
    const bool own = sessionId == target->sessionId;
    if (isErasedPayload(entry.payload) || (!own && Sha256::of(entry.payload) != target->storedSha256)) continue;
    BatchLines lines;
    BOUGH_TRY(lines.add(erasedEntry(entry, *target), database.serializer));
    BOUGH_TRY(lines.add(receiptOf(plan, *target, headId), database.serializer));
    const std::string_view left = bodyOf(lines[0]);
    const std::string_view receipt = bodyOf(lines[1]);
    Parameters erased = ofLife();
    erased.text(entry.id).bytes(left);
    calls.push_back(database.call(kErase, std::move(erased)));
    Parameters added = ofLife();
    added.number(static_cast<std::int64_t>(EntryKind::Redaction)).text(target->receiptId).text(entry.id).bytes(receipt);
    calls.push_back(database.call(kReceipt, std::move(added)));
    Parameters grown = ofLife();
    grown.number(static_cast<std::int64_t>(left.size() + receipt.size()) -
                 static_cast<std::int64_t>(entries.text(each, 2).size()));
    grown.text(target->receiptId);
    calls.push_back(database.call(kGrow, std::move(grown)));
  }
  if (calls.empty()) return calls;
  // The catalog may contain words of the entries; it reads the session again.
  for (Call& call : forgetErased(database, sessionId, idsOf(plan))) calls.push_back(std::move(call));
  return calls;
}

struct Done {
  std::vector<std::string> sessions;   // sessions to announce as changed
  std::vector<std::string> rewritten;  // sessions and trash ids
};

// Erases in every session that contains an entry of the plan, in one transaction.
Result<Done> eraseAll(Database& database, const ErasurePlan& plan) {
  Done done;  // includes the changes of an attempt whose answer was lost, which the next attempt does not find
  const auto add = [](std::vector<std::string>& names, std::string name) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  };
  auto ended = database.transaction([&](Connection& connection) -> Exchange<void> {
    const Deadline deadline = database.pool.deadline();
    const bool prepare = database.pool.prepares();
    Parameters wanted;
    wanted.texts(idsOf(plan));
    const std::vector<Call> locks{{.sql = "BEGIN"}, database.call(kEraseLock, std::move(wanted))};
    auto locked = connection.run(locks, prepare, deadline);
    if (!locked) return std::unexpected(locked.error());
    const Rows& lives = (*locked)[1];
    std::vector<Call> looks;
    for (int row = 0; row < lives.size(); ++row) {
      Parameters parameters;
      parameters.text(lives.text(row, 0)).number(lives.number(row, 1)).texts(idsOf(plan));
      looks.push_back(database.call(kEraseEntries, std::move(parameters)));
    }
    std::vector<Call> changes;
    if (!looks.empty()) {
      auto looked = connection.run(looks, prepare, deadline);
      if (!looked) return std::unexpected(looked.error());
      for (int row = 0; row < lives.size(); ++row) {
        auto calls = changesOf(database, plan, lives, row, (*looked)[static_cast<std::size_t>(row)]);
        if (!calls) return std::unexpected(Failure{.trouble = Trouble::Refused, .error = calls.error()});
        if (calls->empty()) continue;
        add(done.sessions, lives.string(row, 0));
        add(done.rewritten, lives.string(row, 3));
        for (Call& call : *calls) changes.push_back(std::move(call));
      }
    }
    Parameters wayBackAttachments;
    wayBackAttachments.texts(plan.wayBackAttachments);
    changes.push_back(database.call(kRemoveParts, std::move(wayBackAttachments)));
    changes.push_back({.sql = "COMMIT"});
    auto changed = connection.run(changes, prepare, deadline);
    if (!changed) return std::unexpected(changed.error());
    return {};
  });
  if (!ended) return std::unexpected(std::move(ended.error().error));
  return done;
}

// Returns the attachments of the plan that exist. Removed attachments are counted by comparing two such results,
// because the answer of the statement that removes them can be lost.
Result<std::set<std::string>> presentOf(Database& database, const ErasurePlan& plan) {
  std::vector<std::string> named = plan.attachments;
  named.insert(named.end(), plan.wayBackAttachments.begin(), plan.wayBackAttachments.end());
  std::set<std::string> present;
  if (named.empty()) return present;
  Parameters parameters;
  parameters.texts(named);
  BOUGH_TRY(const Rows rows, database.run(kPresent, std::move(parameters)));
  for (int row = 0; row < rows.size(); ++row) present.insert(rows.string(row, 0));
  return present;
}

}  // namespace

Result<ErasureReport> PostgresBackend::erase(const Erasure& erasure) {
  BOUGH_TRY(auto plan, planErasure(*this, erasure, database_->ids, database_->environment.clock, [](const Entry&) {}));
  BOUGH_TRY(addConverted(*database_, plan));
  BOUGH_TRY(addWayBacks(*database_, attachments_, plan));
  BOUGH_TRY(const auto before, presentOf(*database_, plan));
  ErasureReport report = reportOf(plan);
  // Repeat until nothing is found: a fork may get its own copy meanwhile.
  for (;;) {
    BOUGH_TRY(const Done done, eraseAll(*database_, plan));
    if (done.rewritten.empty()) break;
    for (const std::string& id : done.sessions) hub_.note(id);
    report.rewritten.insert(report.rewritten.end(), done.rewritten.begin(), done.rewritten.end());
  }
  if (!plan.attachments.empty()) {
    BOUGH_TRY(attachments_.removeUnused(plan.attachments));
  }
  BOUGH_TRY(const auto after, presentOf(*database_, plan));
  report.removedAttachments = static_cast<std::uint64_t>(
      std::ranges::count_if(before, [&](const std::string& sha256) { return !after.contains(sha256); }));
  for (const std::string& sha256 : plan.attachments) {
    if (after.contains(sha256)) report.keptAttachments.push_back(sha256);
  }
  return report;
}

}  // namespace bough::postgres
