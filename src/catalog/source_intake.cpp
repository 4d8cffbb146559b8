#include "catalog/source_intake.h"

#include <fmt/format.h>

#include <charconv>

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
  Round(SessionStore& store, CatalogSource& source, const CatchUpOptions& options, CatchUpReport& report)
      : store_(store), source_(source), options_(options), report_(report) {}

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
    const bool search = options_.search || (change.before.taken == 0 && change.before.indexed > 0);
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
  const CatchUpOptions& options_;
  CatchUpReport& report_;
  std::unique_ptr<Database> database_;
  std::vector<CatalogChange> changes_;
  std::uint64_t bytes_ = 0;
};

Result<void> takeOnce(SessionStore& store, CatalogSource& source, const CatchUpOptions& options,
                      CatchUpReport& report) {
  CatchUpProgress progress;
  std::string after;
  std::string partly;  // the session of which more texts are to come, and how many entries it had in the index before
  std::uint64_t partlyIndexed = 0;
  for (;;) {
    BOUGH_TRY(auto outdated, source.outdated(options.search, after, kSessionsAtOnce));
    if (outdated.sessions.empty()) return {};
    progress.totalSessions = progress.doneSessions + outdated.total;
    Round round(store, source, options, report);
    bool isWhole = true;
    for (CatalogedSession& session : outdated.sessions) {
      const std::uint64_t before = round.bytes();
      const std::string sessionId = session.summary.sessionId;
      const std::uint64_t indexed = session.taken == 0 ? 0 : session.indexed;
      BOUGH_TRY(isWhole, round.add(session));
      // Without progress another process is at work on the session: it is left to that one.
      isWhole = isWhole || (sessionId == partly && indexed <= partlyIndexed);
      progress.doneBytes += round.bytes() - before;
      if (isWhole) {
        after = sessionId;
        ++progress.doneSessions;
      } else {
        partly = sessionId;
        partlyIndexed = indexed;
      }
      if (round.isFull() || !isWhole) {
        BOUGH_TRY(round.handOver());
      }
      if (options.progress && !options.progress(progress)) {
        BOUGH_TRY(round.handOver());
        return {};
      }
      if (!isWhole) break;
    }
    BOUGH_TRY(round.handOver());
    if (isWhole && outdated.total <= outdated.sessions.size()) return {};
  }
}

}  // namespace

Result<CatchUpReport> takeIntoSource(SessionStore& store, CatalogSource& source, const CatchUpOptions& options) {
  CatchUpReport report;
  auto taken = takeOnce(store, source, options, report);
  // Each of the others that had seen less can be first once.
  for (int tries = 1; !taken && taken.error().code == ErrorCode::Conflict && tries < kMostTries; ++tries) {
    taken = takeOnce(store, source, options, report);
  }
  if (!taken) return std::unexpected(asBusy(std::move(taken.error())));
  return report;
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
