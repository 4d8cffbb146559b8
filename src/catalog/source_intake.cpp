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

// How many sessions are looked at, and how many bytes of them, before they are handed over.
constexpr std::size_t kSessionsAtOnce = 200;
constexpr std::uint64_t kBytesAtOnce = std::uint64_t{32} << 20;

// CatalogedSession::rest: texts, each after its length.
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

// Puts what the source has kept of a session where Intake looks for it.
void restore(Database& database, const CatalogedSession& kept) {
  RestReader rest(kept.rest);
  SessionRow row;
  row.facts = kept.summary;
  row.stamp.clear();  // it is looked at in any case: the source would not have named it otherwise
  row.taken = kept.taken;
  row.indexed = kept.indexed;
  for (std::string* text : {&row.headerId, &row.lastId, &row.titleEntry, &row.lastMessageId, &row.lastModel}) {
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

// What Intake has left there.
void collect(Database& database, const SessionRow& row, CatalogChange& change) {
  CatalogedSession& after = change.after;
  after.summary = row.facts;
  after.stamp = row.stamp;
  after.taken = row.taken;
  after.indexed = row.indexed;
  RestWriter rest;
  for (const std::string* text : {&row.headerId, &row.lastId, &row.titleEntry, &row.lastMessageId, &row.lastModel}) {
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

// One round: some outdated sessions are read, and what was found is handed over.
class Round {
 public:
  Round(SessionStore& store, CatalogSource& source, bool search, CatchUpReport& report)
      : store_(store), source_(source), search_(search), report_(report) {}

  /// Adds the session to the round. False when only a part of its texts was taken in.
  Result<bool> add(CatalogedSession& outdated) {
    if (!database_) {
      BOUGH_TRY(auto opened, openCatalog({}, {}, false));
      database_ = std::move(opened.database);
    }
    CatalogChange change{.before = std::move(outdated)};
    const std::string sessionId = change.before.summary.sessionId;
    const std::string stamp = change.before.stamp;
    // What others can find in a session that has to be read again must not go for it.
    const bool search = search_ || (change.before.taken == 0 && change.before.indexed > 0);
    if (change.before.taken > 0) {
      restore(*database_, change.before);
    } else {
      change.before.indexed = 0;
    }
    Intake intake(store_, *database_, search, &change.texts);
    auto growth = std::move(change.before.growth);
    auto outcome = intake.run(sessionId, stamp, growth ? &*growth : nullptr);
    BOUGH_TRY(database_->take());
    if (!outcome) {
      report_.notes.push_back(fmt::format("session {} was left out: {}", sessionId, outcome.error().message));
      return true;
    }
    if (*outcome != Intake::Outcome::Taken) return true;
    ++report_.sessions;
    report_.entries += intake.taken().entries;
    bytes_ += intake.taken().payloadBytes;
    bool isWhole = true;
    if (const auto row = findRow(*database_, sessionId)) {
      isWhole = !search || row->indexed == row->taken;
      collect(*database_, *row, change);
      changes_.push_back(std::move(change));
    }
    BOUGH_TRY(database_->take());
    return isWhole;
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

// Nothing that may be a session's id is between the two.
std::string justBefore(std::string sessionId) {
  --sessionId.back();
  return sessionId + '~';
}

// One catch-up: rounds until nothing is outdated.
class SourceCatchUp {
 public:
  SourceCatchUp(SessionStore& store, CatalogSource& source, const CatchUpOptions& options)
      : store_(store), source_(source), options_(options) {}

  /// Again after a Conflict, which leaves what was reported and the session of which texts are to come.
  Result<void> run() {
    progress_ = {};
    partlyIndexed_.reset();
    std::string after;
    for (;;) {
      BOUGH_TRY(const bool goesOn, takeRest());
      if (!goesOn) return {};
      BOUGH_TRY(const auto more, takePage(after));
      if (!more) return {};
    }
  }
  CatchUpReport report;

 private:
  // False when nothing is left or the caller does not want more.
  Result<bool> takePage(std::string& after) {
    BOUGH_TRY(auto outdated, source_.outdated(options_.search, after, kSessionsAtOnce));
    if (outdated.sessions.empty()) return false;
    progress_.totalSessions = progress_.doneSessions + outdated.total;
    Round round(store_, source_, options_.search, report);
    for (CatalogedSession& session : outdated.sessions) {
      after = session.summary.sessionId;
      BOUGH_TRY(const bool isWhole, take(round, session));
      if (!isWhole || round.isFull()) {
        BOUGH_TRY(round.handOver());
      }
      if (!tell()) {
        BOUGH_TRY(round.handOver());
        return false;
      }
      if (!isWhole) return true;
    }
    BOUGH_TRY(round.handOver());
    return outdated.total > outdated.sessions.size();
  }

  // The rest of the texts of the session of which a part was taken in. A list asks for it, too, when the session has to
  // be read again: no other list would be told of it, and the texts of the rest are still those of before. False when
  // the caller does not want more.
  Result<bool> takeRest() {
    while (!partly_.empty()) {
      BOUGH_TRY(auto outdated, source_.outdated(true, justBefore(partly_), 1));
      if (outdated.sessions.empty() || outdated.sessions.front().summary.sessionId != partly_) {
        partly_.clear();
        return true;
      }
      CatalogedSession& session = outdated.sessions.front();
      // Without progress another process is at work on the session: it is left to that one. Nobody is when it has to be
      // read from the start once more, because somebody has erased again.
      if (session.taken == 0 ? ++restarts_ > kMostTries : partlyIndexed_ && session.indexed <= *partlyIndexed_) {
        partly_.clear();
        return true;
      }
      progress_.totalSessions = std::max(progress_.totalSessions, progress_.doneSessions + 1);
      Round round(store_, source_, true, report);
      BOUGH_TRY(const bool isWhole, take(round, session));
      BOUGH_TRY(round.handOver());
      if (isWhole) partly_.clear();
      if (!tell()) return false;
    }
    return true;
  }

  // False when only a part of its texts was taken in.
  Result<bool> take(Round& round, CatalogedSession& session) {
    const std::uint64_t before = round.bytes();
    const std::string sessionId = session.summary.sessionId;
    const std::uint64_t indexed = session.taken == 0 ? 0 : session.indexed;
    BOUGH_TRY(const bool isWhole, round.add(session));
    progress_.doneBytes += round.bytes() - before;
    if (isWhole) {
      ++progress_.doneSessions;
    } else {
      partly_ = sessionId;
      partlyIndexed_ = indexed;
    }
    return isWhole;
  }

  // False when the caller does not want more.
  bool tell() { return !options_.progress || options_.progress(progress_); }

  SessionStore& store_;
  CatalogSource& source_;
  const CatchUpOptions& options_;
  CatchUpProgress progress_;
  std::string partly_;                          // the session of which more texts are to come
  std::optional<std::uint64_t> partlyIndexed_;  // how many of its entries were in the index before the last part
  int restarts_ = 0;
};

}  // namespace

Result<CatchUpReport> takeIntoSource(SessionStore& store, CatalogSource& source, const CatchUpOptions& options) {
  SourceCatchUp catchUp(store, source, options);
  auto taken = catchUp.run();
  // Each of the others that had seen less can be first once.
  for (int tries = 1; !taken && taken.error().code == ErrorCode::Conflict && tries < kMostTries; ++tries) {
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
