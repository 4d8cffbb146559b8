#include "catalog/source_intake.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/try.h"
#include "catalog/database/usage_columns.h"
#include "catalog/intake.h"
#include "catalog/schema.h"
#include "catalog/search/tokenizer.h"

namespace bough {

Result<CatalogSource::Outdated> CatalogSource::outdated(bool, const std::string&, std::size_t) {
  return Outdated{};
}

Result<void> CatalogSource::keep(const std::vector<CatalogChange>&) {
  return {};
}

Result<void> CatalogSource::forgetAll() {
  return fail(ErrorCode::Unsupported,
              "this store answers lists and searches itself, so there is no catalog to rebuild");
}

namespace catalog {
namespace {

// The limits of a round: how many sessions are read, and how many of their bytes, before they are handed over.
constexpr std::size_t kSessionsAtOnce = 200;
constexpr std::uint64_t kBytesAtOnce = std::uint64_t{32} << 20;

// Writes CatalogedSession::rest: texts, each preceded by its length.
class RestWriter {
 public:
  void text(std::string_view value) { out += fmt::format("{}:{}", value.size(), value); }
  void number(std::uint64_t value) { text(fmt::format("{}", value)); }
  std::string out;
};

class RestReader {
 public:
  explicit RestReader(std::string_view rest) : rest_(rest) {}
  std::string text() {
    std::size_t size = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), size);
    const auto digits = static_cast<std::size_t>(end - rest_.data());
    if (error != std::errc() || digits >= rest_.size() || size > rest_.size() - digits - 1) {
      rest_ = {};
      return {};
    }
    std::string value(rest_.substr(digits + 1, size));
    rest_.remove_prefix(digits + 1 + size);
    return value;
  }
  std::uint64_t number() {
    const std::string digits = text();
    std::uint64_t value = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return value;
  }
  [[nodiscard]] bool atEnd() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

// Puts what the source has stored about a session where Intake looks for it.
void restoreRow(Database& database, const CatalogedSession& kept) {
  RestReader rest(kept.rest);
  SessionRow row;
  row.facts = kept.summary;
  row.stamp.clear();  // no stamp, so that the session is read: the source named it as out of date
  row.catalogedEntries = kept.taken;
  row.indexedEntries = kept.indexed;
  for (std::string* text : {&row.headerId, &row.lastId, &row.titleEntryId, &row.lastMessageId, &row.lastModel}) {
    *text = rest.text();
  }
  row.firstMs = rest.number();
  saveRow(database, row, 0);
  std::uint32_t number = 0;
  for (const std::string& tip : kept.tips) {
    Query(database, "INSERT INTO branch(session, number, tipId, openCalls) VALUES(?, ?, ?, ?)", row.id, ++number, tip,
          rest.text())
        .run();
  }
  while (!rest.atEnd()) {
    Query(database, "INSERT OR IGNORE INTO redacted(session, entryId) VALUES(?, ?)", row.id, rest.text()).run();
  }
}

// Collects what Intake has stored there.
void collectChange(Database& database, const SessionRow& row, CatalogChange& change) {
  CatalogedSession& after = change.after;
  after.summary = row.facts;
  after.stamp = row.stamp;
  after.taken = row.catalogedEntries;
  after.indexed = row.indexedEntries;
  RestWriter rest;
  for (const std::string* text : {&row.headerId, &row.lastId, &row.titleEntryId, &row.lastMessageId, &row.lastModel}) {
    rest.text(*text);
  }
  rest.number(row.firstMs);
  Query branches(database, "SELECT tipId, openCalls FROM branch WHERE session = ? ORDER BY number", row.id);
  while (branches.next()) {
    after.tips.push_back(branches.text(0));
    rest.text(branches.view(1));
  }
  Query redacted(database, "SELECT entryId FROM redacted WHERE session = ?", row.id);
  while (redacted.next()) {
    change.redacted.push_back(redacted.text(0));
    rest.text(change.redacted.back());
  }
  after.rest = std::move(rest.out);
  Query answers(database,
                "SELECT answer.id, first, branch, quarter, model.name, certain, " BOUGH_USAGE_COLUMNS
                " FROM answer JOIN model ON model.id = answer.model WHERE session = ?",
                row.id);
  while (answers.next()) {
    change.answers.push_back({.id = answers.integer(0),
                              .first = answers.number(1),
                              .branch = static_cast<std::uint32_t>(answers.integer(2)),
                              .quarter = answers.number(3),
                              .model = answers.text(4),
                              .certain = answers.integer(5) != 0,
                              .tokens = usageIn(answers, 6)});
  }
  for (SearchText& text : change.texts) {
    eachWord(text.text, [&](std::string_view word) { text.words.emplace_back(word); });
  }
}

// One round: reads some sessions that are out of date and hands the results over.
class Round {
 public:
  Round(SessionStore& store, CatalogSource& source, bool search, CatchUpReport& report)
      : store_(store), source_(source), search_(search), report_(report) {}

  /// Adds the session to the round. Returns false when only a part of its texts was taken in.
  Result<bool> add(CatalogedSession& outdated) {
    if (!database_) {
      BOUGH_TRY(auto opened, openCatalog({}, {}, false));
      database_ = std::move(opened.database);
    }
    CatalogChange change{.before = std::move(outdated)};
    const std::string sessionId = change.before.summary.sessionId;
    const std::string stamp = change.before.stamp;
    // A session that must be read again must not lose the texts that others can find.
    const bool search = search_ || (change.before.taken == 0 && change.before.indexed > 0);
    if (change.before.taken > 0) {
      restoreRow(*database_, change.before);
    } else {
      change.before.indexed = 0;
    }
    Intake intake(store_, *database_, search, &change.texts);
    auto growth = std::move(change.before.growth);
    auto outcome = intake.run(sessionId, stamp, growth ? &*growth : nullptr);
    BOUGH_TRY(database_->takeFailure());
    if (!outcome) {
      report_.notes.push_back(fmt::format("session {} was left out: {}", sessionId, outcome.error().message));
      return true;
    }
    if (*outcome != Intake::Outcome::Updated) return true;
    ++report_.sessions;
    report_.entries += intake.result().entries;
    bytes_ += intake.result().payloadBytes;
    bool isComplete = true;
    if (const auto row = findRow(*database_, sessionId)) {
      isComplete = !search || row->indexedEntries == row->catalogedEntries;
      collectChange(*database_, *row, change);
      changes_.push_back(std::move(change));
    }
    BOUGH_TRY(database_->takeFailure());
    return isComplete;
  }
  [[nodiscard]] bool isFull() const { return changes_.size() >= kSessionsAtOnce || bytes_ >= kBytesAtOnce; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  Result<void> handOver() {
    if (!changes_.empty()) {
      BOUGH_TRY(source_.keep(changes_));
    }
    changes_.clear();
    bytes_ = 0;
    database_.reset();
    return {};
  }

 private:
  SessionStore& store_;
  CatalogSource& source_;
  bool search_;
  CatchUpReport& report_;
  std::unique_ptr<Database> database_;
  std::vector<CatalogChange> changes_;
  std::uint64_t bytes_ = 0;
};

// Returns a text after which this session id is the next possible one.
std::string cursorBefore(std::string sessionId) {
  --sessionId.back();
  return sessionId + '~';
}

// One catch-up: runs rounds until no session is out of date.
class SourceCatchUp {
 public:
  SourceCatchUp(SessionStore& store, CatalogSource& source, const CatchUpOptions& options)
      : store_(store), source_(source), options_(options) {}

  /// May be called again after a Conflict, which keeps the report and the session with pending texts.
  Result<void> run() {
    progress_ = {};
    indexedBefore_.reset();
    std::string after;
    for (;;) {
      BOUGH_TRY(const bool continues, updatePartialSession());
      if (!continues) return {};
      BOUGH_TRY(const auto more, updatePage(after));
      if (!more) return {};
    }
  }
  CatchUpReport report;

 private:
  // Returns false when nothing is left or the caller wants to stop.
  Result<bool> updatePage(std::string& after) {
    BOUGH_TRY(auto outdated, source_.outdated(options_.search, after, kSessionsAtOnce));
    if (outdated.sessions.empty()) return false;
    progress_.totalSessions = progress_.doneSessions + outdated.total;
    Round round(store_, source_, options_.search, report);
    for (CatalogedSession& session : outdated.sessions) {
      after = session.summary.sessionId;
      BOUGH_TRY(const bool isComplete, update(round, session));
      if (!isComplete || round.isFull()) {
        BOUGH_TRY(round.handOver());
      }
      if (!reportProgress()) {
        BOUGH_TRY(round.handOver());
        return false;
      }
      if (!isComplete) return true;
    }
    BOUGH_TRY(round.handOver());
    return outdated.total > outdated.sessions.size();
  }

  // Takes in the pending texts of a session of which only a part was taken in. A catch-up without search does this too
  // when the session had to be read again: no other such catch-up would hear of the session, and the rest of its texts
  // is out of date. Returns false when the caller wants to stop.
  Result<bool> updatePartialSession() {
    while (!partialSessionId_.empty()) {
      BOUGH_TRY(auto outdated, source_.outdated(true, cursorBefore(partialSessionId_), 1));
      if (outdated.sessions.empty() || outdated.sessions.front().summary.sessionId != partialSessionId_) {
        partialSessionId_.clear();
        return true;
      }
      CatalogedSession& session = outdated.sessions.front();
      // No progress means that another process is working on the session; leave it to that process. But when the
      // session must be read from its start again, because of another erasure, no other process is working on it.
      if (session.taken == 0 ? ++restarts_ > kMaxConflictRetries
                             : indexedBefore_ && session.indexed <= *indexedBefore_) {
        partialSessionId_.clear();
        return true;
      }
      progress_.totalSessions = std::max(progress_.totalSessions, progress_.doneSessions + 1);
      Round round(store_, source_, true, report);
      BOUGH_TRY(const bool isComplete, update(round, session));
      BOUGH_TRY(round.handOver());
      if (isComplete) partialSessionId_.clear();
      if (!reportProgress()) return false;
    }
    return true;
  }

  // Returns false when only a part of its texts was taken in.
  Result<bool> update(Round& round, CatalogedSession& session) {
    const std::uint64_t before = round.bytes();
    const std::string sessionId = session.summary.sessionId;
    const std::uint64_t indexed = session.taken == 0 ? 0 : session.indexed;
    BOUGH_TRY(const bool isComplete, round.add(session));
    progress_.doneBytes += round.bytes() - before;
    if (isComplete) {
      ++progress_.doneSessions;
    } else {
      partialSessionId_ = sessionId;
      indexedBefore_ = indexed;
    }
    return isComplete;
  }

  // Returns false when the caller wants to stop.
  bool reportProgress() { return !options_.progress || options_.progress(progress_); }

  SessionStore& store_;
  CatalogSource& source_;
  const CatchUpOptions& options_;
  CatchUpProgress progress_;
  std::string partialSessionId_;                // the session with pending texts
  std::optional<std::uint64_t> indexedBefore_;  // how many of its entries were indexed before the last part
  int restarts_ = 0;
};

}  // namespace

Result<CatchUpReport> updateSource(SessionStore& store, CatalogSource& source, const CatchUpOptions& options) {
  SourceCatchUp catchUp(store, source, options);
  auto taken = catchUp.run();
  // Each process that had seen less can cause one Conflict.
  for (int tries = 1; !taken && taken.error().code == ErrorCode::Conflict && tries < kMaxConflictRetries; ++tries) {
    taken = catchUp.run();
  }
  if (!taken) return std::unexpected(asBusy(std::move(taken.error())));
  return std::move(catchUp.report);
}

Error asBusy(Error conflict) {
  if (conflict.code != ErrorCode::Conflict) return conflict;
  conflict.code = ErrorCode::Busy;
  conflict.retryable = true;
  conflict.hint = "try again";
  return conflict;
}

}  // namespace catalog
}  // namespace bough
