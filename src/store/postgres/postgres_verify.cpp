// Checks everything that is stored of a session and reports what is wrong. Changes nothing. Reads one snapshot: a
// session that grows meanwhile is not damaged.

#include <fmt/format.h>

#include <unordered_map>

#include "base/bytes/sha256.h"
#include "base/json/json_scan.h"
#include "base/try.h"
#include "store/postgres/postgres_backend.h"
#include "store/rules/attachment_reference.h"

namespace bough::postgres {
namespace {

constexpr Statement kRow{"verify_row", R"sql(
SELECT s.life, s.entry_count, s.tail_id, s.bytes, s.origin_session, s.shared_count FROM @.sessions s
  WHERE s.session_id = $1 AND s.trash_id IS NULL)sql"};
constexpr Statement kVerifyEntries{"verify_entries", R"sql(
SELECT entry_id, parent_id, body, seq, parent_seq, segment, depth, kind FROM @.entries
  WHERE session_id = $1 AND life = $2 AND seq >= $3 ORDER BY seq LIMIT $4)sql"};
constexpr Statement kVerifyShared{"verify_shared", R"sql(
SELECT e.entry_id, e.depth FROM @.shared_runs($1) r
  JOIN @.entries e ON e.session_id = r.session_id AND e.life = r.life AND e.segment = r.first_seq
    AND e.seq BETWEEN r.first_seq AND r.last_seq)sql"};

class Verification {
 public:
  Verification(Database& database, Connection& connection, AttachmentStore& attachments, const std::string& sessionId)
      : database_(database), connection_(connection), attachments_(attachments) {
    report_.sessionId = sessionId;
  }

  Exchange<VerifyReport> run() {
    Parameters parameters;
    parameters.text(report_.sessionId);
    const std::vector<Call> first{{.sql = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"},
                                  database_.call(kRow, parameters),
                                  database_.call(kVerifyShared, std::move(parameters))};
    BOUGH_TRY(const auto begun, ask(first));
    const Rows& row = begun[1];
    const Rows& shared = begun[2];
    if (row.empty()) return std::unexpected(Failure{.error = database_.noSession(report_.sessionId)});
    for (int i = 0; i < shared.size(); ++i)
      known_[shared.string(i, 0)] = {.sequence = -2, .depth = shared.number(i, 1)};
    if (!row.isNull(0, 4) && shared.size() != row.number(0, 5)) {
      damage(
          fmt::format("the history that the session shares has {} entries, not {}", shared.size(), row.number(0, 5)));
    }
    BOUGH_TRY(checkEntries(row.number(0, 0)));
    if (next_ != row.number(0, 1))
      damage(fmt::format("the session's row counts {} entries, there are {}", row.number(0, 1), next_));
    if (tail_ != row.text(0, 2))
      damage(fmt::format("the session's row names {} as the tail, not {}", row.text(0, 2), tail_));
    if (static_cast<std::int64_t>(report_.bytes) != row.number(0, 3)) {
      damage(fmt::format("the session's row counts {} bytes, there are {}", row.number(0, 3), report_.bytes));
    }
    const Call end{.sql = "COMMIT"};
    BOUGH_TRY(ask(std::span(&end, 1)));
    return std::move(report_);
  }

 private:
  Exchange<std::vector<Rows>> ask(std::span<const Call> calls) {
    return connection_.run(calls, database_.pool.prepares(), database_.pool.deadline());
  }

  struct Known {
    std::int64_t sequence = 0;
    std::int64_t depth = 0;
  };

  void damage(std::string message) { problem({.kind = ProblemKind::Damage, .message = std::move(message)}); }

  void problem(Problem found) {
    ++report_.problemCount;
    if (report_.problems.size() >= VerifyReport::kMaxListed) return;
    found.offset = report_.bytes;
    report_.problems.push_back(std::move(found));
  }

  Exchange<void> checkEntries(std::int64_t life) {
    constexpr int kPart = 1000;
    for (;;) {
      Parameters parameters;
      parameters.text(report_.sessionId).number(life).number(next_).number(kPart);
      const Call call = database_.call(kVerifyEntries, std::move(parameters));
      BOUGH_TRY(const auto answers, ask(std::span(&call, 1)));
      const Rows& rows = answers.front();
      for (int row = 0; row < rows.size(); ++row) {
        if (auto looked = checkRow(rows, row); !looked) return std::unexpected(Failure{.error = looked.error()});
      }
      if (rows.size() < kPart) return {};
    }
  }

  Result<void> checkRow(const Rows& rows, int row) {
    const std::int64_t sequence = rows.number(row, 3);
    const std::string id = rows.string(row, 0);
    if (sequence != next_) damage(fmt::format("entries {} to {} are missing", next_, sequence - 1));
    next_ = sequence + 1;
    tail_ = id;
    lineOf(id, rows.text(row, 1), rows.text(row, 2), line_);
    checkParent(rows, row, id);
    auto entry = database_.serializer.decode(line_);
    if (!entry) {
      damage(fmt::format("entry {} at sequence {} cannot be read: {}", id, sequence, entry.error().message));
    } else {
      ++report_.entries;
      if (entryKind(entry->type) != static_cast<EntryKind>(rows.number(row, 7))) {
        damage(fmt::format("entry {} is a {}, which its row does not say", id, entry->type));
      }
      BOUGH_TRY(checkAttachment(*entry));
    }
    report_.bytes += rows.text(row, 2).size();
    known_[id] = {.sequence = sequence, .depth = rows.number(row, 6)};
    return {};
  }

  void checkParent(const Rows& rows, int row, const std::string& id) {
    const std::int64_t sequence = rows.number(row, 3);
    const std::int64_t stored = rows.number(row, 4);
    if (sequence == 0) return;
    const bool root = rows.isNull(row, 1);
    const auto parent = root ? known_.end() : known_.find(rows.string(row, 1));
    if (!root && parent == known_.end()) {
      damage(fmt::format("entry {} names {} as its parent, which is not an earlier entry", id, rows.text(row, 1)));
      return;
    }
    const std::int64_t expected = root ? -1 : parent->second.sequence;
    const std::int64_t depth = root ? 1 : parent->second.depth + 1;
    if (stored != expected || rows.number(row, 6) != depth) {
      damage(fmt::format("entry {} has parent {} and depth {} in its row, not {} and {}", id, stored,
                         rows.number(row, 6), expected, depth));
    }
    if (rows.number(row, 5) > sequence) damage(fmt::format("entry {} is in a run that begins after it", id));
  }

  Result<void> checkAttachment(const Entry& entry) {
    const auto reference = readAttachmentReference(entry.payload);
    if (!reference) return {};
    const auto bytes = attachments_.get(*reference);
    if (bytes) return {};
    const ErrorCode code = bytes.error().code;
    if (code != ErrorCode::NotFound && code != ErrorCode::Damaged) return std::unexpected(bytes.error());
    problem({.kind = ProblemKind::Attachment,
             .bytes = line_.size(),
             .message = fmt::format("entry {}: attachment {} is {}", entry.id, *reference,
                                    code == ErrorCode::Damaged ? "damaged" : "missing")});
    return {};
  }

  Database& database_;
  Connection& connection_;
  AttachmentStore& attachments_;
  VerifyReport report_;
  std::unordered_map<std::string, Known> known_;
  std::int64_t next_ = 0;
  std::string tail_;
  std::string line_;
};

}  // namespace

Result<VerifyReport> PostgresBackend::verify(const std::string& sessionId) {
  VerifyReport report;
  auto done = database_->transaction([&](Connection& connection) -> Exchange<void> {
    BOUGH_TRY(report, Verification(*database_, connection, attachments_, sessionId).run());
    return {};
  });
  if (!done) return std::unexpected(std::move(done.error().error));
  return report;
}

}  // namespace bough::postgres
