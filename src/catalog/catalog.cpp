#include "bough/catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <unordered_map>
#include <unordered_set>

#include "base/system/environment.h"
#include "base/try.h"
#include "catalog/catalog_state.h"
#include "catalog/intake.h"
#include "catalog/search/search_index.h"
#include "catalog/search/session_files.h"
#include "catalog/source_intake.h"

namespace bough {

using catalog::Blob;
using catalog::Intake;
using catalog::Query;
using catalog::Transaction;

namespace {

// Up to this many sessions, each catch-up looks at every session: that takes a millisecond or two and also finds
// changes made without bough. With more sessions, the store reports what has changed, and all sessions are looked at
// only from time to time.
constexpr std::uint64_t kMaxAlwaysChecked = 2000;
constexpr std::uint64_t kFullCheckIntervalMs = 600'000;
// The size of a transaction: smaller ones cost more syncs, larger ones make other processes wait longer. The pause
// between two transactions gives waiting processes (catalog::kLockPollMs) a chance; it is longer where the machine is
// busy.
constexpr std::uint64_t kTransactionBytes = std::uint64_t{16} << 20;
constexpr std::uint64_t kTransactionSessions = 5000;

// Sessions that may have to be taken in, and the token for the next question to the store.
struct Plan {
  std::vector<std::string> sessions;
  bool checksAll = false;
  bool isFullCheckDue = false;  // all sessions are looked at because the last time was long ago
  std::string token;
};

void pauseForOtherWriters(std::chrono::nanoseconds afterWork) {
  constexpr int kShare = 32;
  std::this_thread::sleep_for(
      std::max<std::chrono::nanoseconds>(std::chrono::milliseconds(2 * catalog::kLockPollMs), afterWork / kShare));
}

Error withNote(Error error, std::string_view what) {
  error.message = fmt::format("{}: {}", what, error.message);
  return error;
}

}  // namespace

std::string Catalog::State::meta(const char* name) {
  Query query(*database, "SELECT value FROM meta WHERE name = ?", name);
  return query.next() ? query.text(0) : std::string();
}

void Catalog::State::setMeta(const char* name, Blob value) {
  Query(*database, "INSERT OR REPLACE INTO meta(name, value) VALUES(?, ?)", name, value).run();
}

std::optional<std::string> Catalog::State::generation() {
  std::string found = meta("generation");
  if (!database->takeFailure()) return std::nullopt;
  return found;
}

bool Catalog::State::wasEmptiedSince(const std::optional<std::string>& before) {
  const auto now = generation();
  return now ? now != before : catalog::isEmptied(*database);
}

Result<void> Catalog::State::checkGeneration(const std::string& wanted) {
  const std::string found = meta("generation");
  auto read = database->takeFailure();
  if (read ? found == wanted : !catalog::isEmptied(*database)) return read;
  return fail(ErrorCode::Conflict, fmt::format("{}/{}: others empty the catalog", store.folder(), catalog::kFileName));
}

void Catalog::State::adopt(catalog::OpenedCatalog opened) {
  database = std::move(opened.database);
  memory = opened.memory;
  readOnly = opened.readOnly;
  immutableState = opened.immutableState;
  std::ranges::move(opened.notes, std::back_inserter(notes));
}

Result<void> Catalog::State::enter() {
  if (forks == forkCount()) return {};
  BOUGH_TRY(auto opened, catalog::openCatalog(store.folder(), options, true));
  adopt(std::move(opened));
  forks = forkCount();
  if (memory) {
    BOUGH_TRY(catchUp({.search = wantsSearch}));
  }
  return {};
}

Result<void> Catalog::State::makeWritable() {
  if (!immutableState) return {};
  BOUGH_TRY(auto opened, catalog::openCatalog(store.folder(), options, false));
  adopt(std::move(opened));
  return {};
}

Result<void> Catalog::State::reopen() {
  BOUGH_TRY(auto opened, catalog::openCatalog(store.folder(), options, false));
  adopt(std::move(opened));
  if (!caughtUpGeneration && meta("token").empty()) caughtUpGeneration = "none";
  (void)database->takeFailure();
  return {};
}

Result<void> Catalog::State::replaceDamaged() {
  database.reset();
  BOUGH_TRY(auto note, catalog::setAsideDamaged(store.folder()));
  BOUGH_TRY(auto opened, catalog::openCatalog(store.folder(), options, false));
  adopt(std::move(opened));
  notes.push_back(std::move(note));
  return {};
}

Result<void> Catalog::State::moveToMemory(std::string_view why) {
  BOUGH_TRY(auto opened, catalog::openCatalog({}, options, false));
  adopt(std::move(opened));
  notes.push_back(fmt::format("{}/catalog.db {} and is out of date: it is rebuilt in memory", store.folder(), why));
  return {};
}

namespace {

// Returns the sessions that the store reports as changed, including deleted ones.
Result<Plan> makePlan(SessionStore& store, catalog::Database& database, const CatchUpOptions& options,
                      const std::string& token, std::uint64_t lastFullCheckMs, std::uint64_t nowMs) {
  BOUGH_TRY(auto changes, store.changesSince(token));
  Plan plan{.sessions = {}, .checksAll = false, .isFullCheckDue = false, .token = changes.token};
  bool hasManySessions = false;
  if (Query beyond(database, "SELECT 1 FROM session LIMIT 1 OFFSET ?", kMaxAlwaysChecked); beyond.next())
    hasManySessions = true;
  plan.isFullCheckDue = hasManySessions && (nowMs < lastFullCheckMs || nowMs - lastFullCheckMs > kFullCheckIntervalMs);
  plan.checksAll = changes.all || options.everything || !hasManySessions || (plan.isFullCheckDue && !options.leaveDue);
  std::unordered_set<std::string> chosen(changes.ids.begin(), changes.ids.end());
  if (plan.checksAll || changes.names) {
    BOUGH_TRY(auto listed, store.listSessions());
    std::unordered_set<std::string> present(listed.begin(), listed.end());
    Query rows(database, "SELECT sessionId FROM session");
    while (rows.next()) {
      std::string id = rows.text(0);
      const bool gone = present.erase(id) == 0;
      if (gone || plan.checksAll) {
        chosen.insert(std::move(id));
      }
    }
    chosen.merge(present);
  }
  for (const std::uint32_t group : changes.groups) {
    if (plan.checksAll) break;
    Query rows(database, "SELECT sessionId FROM session WHERE changeGroup = ?", group);
    while (rows.next()) chosen.insert(rows.text(0));
  }
  if (options.search) {
    Query rows(database, "SELECT sessionId FROM session WHERE indexed < taken");
    while (rows.next()) chosen.insert(rows.text(0));
  }
  plan.sessions.assign(chosen.begin(), chosen.end());
  std::ranges::sort(plan.sessions);
  return plan;
}

// Sessions whose log is gone. True when the log is missing: nobody removed it with bough.
using GoneSessions = std::unordered_map<std::string, bool>;

// Keeps only the sessions that have really changed. Only these need the catalog's lock.
Result<GoneSessions> dropUnchanged(SessionStore& store, catalog::Database& database, bool search,
                                   std::vector<std::string>& sessions) {
  std::vector<std::string> changed;
  std::vector<std::string> ids;
  GoneSessions gone;
  for (std::string& id : sessions) {
    Query row(database, "SELECT stamp, taken, indexed FROM session WHERE sessionId = ?", id);
    const bool known = row.next();
    auto stamp = store.sessionStamp(id);
    const bool isGone = !stamp && stamp.error().code == ErrorCode::NotFound;
    if (isGone && (!known || row.view(0) == catalog::kMissingStamp)) continue;
    const bool same = known && stamp && row.view(0) == *stamp && (!search || row.integer(1) == row.integer(2));
    if (isGone) ids.push_back(id);
    if (!same) changed.push_back(std::move(id));
  }
  sessions = std::move(changed);
  BOUGH_TRY(database.takeFailure());
  for (const std::string& id : ids) gone[id] = false;
  if (gone.empty()) return gone;
  BOUGH_TRY(const auto missing, store.maintenance().missing(std::move(ids)));
  for (const std::string& id : missing) gone[id] = true;
  return gone;
}

// Estimated from the sizes of files; for files that have only grown, only the growth counts.
std::uint64_t bytesToRead(const SessionStore& store, catalog::Database& database, bool search,
                          const std::vector<std::string>& sessions) {
  const catalog::SessionFiles files(store.folder());
  std::uint64_t bytes = 0;
  for (const std::string& id : sessions) {
    const auto file = files.info(id);
    if (!file) continue;
    Query row(database, "SELECT bytes, taken, indexed FROM session WHERE sessionId = ?", id);
    const bool known = row.next() && (!search || row.integer(1) == row.integer(2));
    bytes += file->sizeBytes - (known ? std::min(file->sizeBytes, row.number(0)) : 0);
  }
  return bytes;
}

}  // namespace

Result<CatchUpReport> Catalog::State::catchUp(const CatchUpOptions& wanted) {
  CatchUpReport report;
  wantsSearch = wantsSearch || wanted.search;
  const std::string planned = meta("generation");
  BOUGH_TRY(database->takeFailure());
  if (wanted.search && !readOnly && catalog::isMostlyAbandoned(*database)) {
    BOUGH_TRY(makeWritable());
    Transaction transaction(*database);
    BOUGH_TRY(checkGeneration(planned));
    catalog::resetSearch(*database);
    BOUGH_TRY(transaction.commit());
  }
  const std::uint64_t nowMs = systemEnvironment().clock.nowMs();
  const std::string token = meta("token");
  const std::string lastFullCheck = meta("lookedAtAllMs");
  std::uint64_t lastFullCheckMs = 0;
  for (const char c : lastFullCheck) lastFullCheckMs = lastFullCheckMs * 10 + static_cast<std::uint64_t>(c - '0');
  BOUGH_TRY(auto plan, makePlan(store, *database, wanted, token, lastFullCheckMs, nowMs));
  BOUGH_TRY(const auto gone, dropUnchanged(store, *database, wanted.search, plan.sessions));
  CatchUpProgress progress{.totalSessions = plan.sessions.size()};
  if (wanted.progress && !plan.sessions.empty()) {
    progress.totalBytes = bytesToRead(store, *database, wanted.search, plan.sessions);
    BOUGH_TRY(database->takeFailure());
    if (!wanted.progress(progress)) {
      caughtUpGeneration.reset();
      return report;
    }
  }
  const bool tokenMoved = plan.token != token;
  const bool worthKeeping = tokenMoved || (plan.isFullCheckDue && plan.checksAll);
  report.due = plan.isFullCheckDue && !plan.checksAll;
  if (immutableState && (!plan.sessions.empty() || worthKeeping)) {
    BOUGH_TRY(makeWritable());
  }
  if (readOnly && !plan.sessions.empty()) {
    BOUGH_TRY(moveToMemory("cannot be written to"));
    return catchUp(wanted);
  }
  bool isComplete = true;
  bool stopped = false;
  bool emptied = false;
  std::size_t at = 0;
  while (at < plan.sessions.size()) {
    const auto begin = std::chrono::steady_clock::now();
    Transaction transaction(*database);
    BOUGH_TRY(database->takeFailure());
    BOUGH_TRY(checkGeneration(planned));
    std::uint64_t bytes = 0;
    for (std::uint64_t count = 0; at < plan.sessions.size() && count < kTransactionSessions; ++count, ++at) {
      if (bytes > kTransactionBytes) break;
      Intake intake(store, *database, wanted.search);
      auto outcome = intake.run(plan.sessions[at]);
      if (outcome && *outcome == Intake::Outcome::Gone) {
        // A log that disappeared just now is looked at again next time.
        const auto found = gone.find(plan.sessions[at]);
        if (found != gone.end())
          catalog::removeGoneSession(store, *database, found->first, /*isMissing=*/found->second);
        isComplete = isComplete && found != gone.end();
      }
      BOUGH_TRY(database->takeFailure());
      if (intake.result().mustResetSearch) {
        catalog::resetSearch(*database);
        emptied = true;
      }
      if (!outcome) {
        // Continue with the other sessions; this one is tried again next time.
        isComplete = false;
        report.notes.push_back(
            withNote(outcome.error(), fmt::format("session {} was left out", plan.sessions[at])).message);
        continue;
      }
      if (*outcome == Intake::Outcome::Updated) ++report.sessions;
      if (*outcome == Intake::Outcome::Gone) ++report.removed;
      report.entries += intake.result().entries;
      bytes += intake.result().payloadBytes;
      progress.doneBytes += intake.result().payloadBytes;
      progress.doneSessions = at + 1;
      if (wanted.progress && !wanted.progress(progress)) {
        isComplete = false;
        stopped = true;
        plan.sessions.resize(at + 1);
      }
    }
    BOUGH_TRY(transaction.commit());
    if (wanted.search && !memory && at < plan.sessions.size())
      pauseForOtherWriters(std::chrono::steady_clock::now() - begin);
  }
  if (isComplete && worthKeeping && !readOnly) {
    Transaction transaction(*database);
    BOUGH_TRY(database->takeFailure());
    BOUGH_TRY(checkGeneration(planned));
    setMeta("token", Blob{plan.token});
    const std::string now = fmt::format("{}", nowMs);
    if (plan.checksAll) setMeta("lookedAtAllMs", Blob{now});
    BOUGH_TRY(transaction.commit());
  }
  if (auto wiped = wipe(); !wiped && wiped.error().code != ErrorCode::Busy) return std::unexpected(wiped.error());
  if (emptied && wanted.search && isComplete) {
    BOUGH_TRY(catchUp(wanted));
  }
  caughtUpGeneration = stopped ? std::nullopt : std::optional(planned);
  return report;
}

Catalog::Catalog(std::unique_ptr<State> state) : state_(std::move(state)) {}
Catalog::~Catalog() = default;

const std::vector<std::string>& Catalog::notes() const {
  return state_->notes;
}

Result<std::unique_ptr<Catalog>> Catalog::open(SessionStore& store, const CatalogOptions& options) {
  auto state = std::make_unique<State>(store, options, store.catalog());
  if (state->source == nullptr) {
    BOUGH_TRY(auto opened, catalog::openCatalog(store.folder(), options, true));
    state->adopt(std::move(opened));
  }
  return std::unique_ptr<Catalog>(new Catalog(std::move(state)));
}

Result<CatchUpReport> Catalog::catchUp(const CatchUpOptions& options) {
  if (state_->source != nullptr) {
    state_->sourceSearch = options.search;
    return catalog::updateSource(state_->store, *state_->source, options);
  }
  auto taken = state_->withRecovery([&] { return state_->catchUp(options); });
  // All the text might not fit into memory, so a search is answered from what was taken in before.
  if (taken || taken.error().code != ErrorCode::NoSpace || state_->memory || options.search) return taken;
  if (auto moved = state_->moveToMemory("cannot grow, because the disk is full,"); !moved) return taken;
  return state_->catchUp(options);
}

// A rebuild was requested explicitly, so it waits longer: another process that takes in much text holds the lock for a
// while.
class Catalog::State::RebuildWait {
 public:
  explicit RebuildWait(State& state) : state_(state) { set(std::max(usualMs_, kRebuildWaitMs)); }
  RebuildWait(const RebuildWait&) = delete;
  RebuildWait& operator=(const RebuildWait&) = delete;
  ~RebuildWait() { set(usualMs_); }

 private:
  static constexpr int kRebuildWaitMs = 120'000;
  // Also applies to files that are opened during the rebuild.
  void set(int timeoutMs) {
    state_.options.busyTimeoutMs = timeoutMs;
    if (state_.database) state_.database->setBusyTimeout(timeoutMs);
  }

  State& state_;
  int usualMs_ = state_.options.busyTimeoutMs;
};

Result<CatchUpReport> Catalog::rebuild(const CatchUpOptions& options) {
  State& state = *state_;
  if (state.source != nullptr) {
    BOUGH_TRY(state.source->forgetAll());
    BOUGH_TRY(auto report, catchUp(options));
    BOUGH_TRY(count({}));  // makes the source store what it has not stored yet
    return report;
  }
  BOUGH_TRY(state.enter());
  const State::RebuildWait wait(state);
  if (state.readOnly) {
    return fail(ErrorCode::ReadOnly, fmt::format("the catalog in {} cannot be written to", state.store.folder()),
                "ask its owner, or work on a copy of the store");
  }
  // The catalog is in memory because the file could not be used; only the file is worth rebuilding.
  if (state.memory && !state.options.inMemory && !state.store.folder().empty()) {
    BOUGH_TRY(auto opened, catalog::openCatalog(state.store.folder(), state.options, false, true));
    if (opened.memory || opened.readOnly) {
      return fail(ErrorCode::ReadOnly,
                  opened.notes.empty() ? fmt::format("the catalog in {} cannot be written to", state.store.folder())
                                       : opened.notes.front(),
                  "nothing was rebuilt; lists and searches still work");
    }
    state.notes.clear();
    state.adopt(std::move(opened));
  }
  BOUGH_TRY(state.makeWritable());
  auto emptied = state.withRecovery([&]() -> Result<void> {
    // Overwriting all deleted pages would take as long as building the file. VACUUM removes the free pages anyway.
    state.database->execute("PRAGMA secure_delete = OFF");
    {
      Transaction transaction(*state.database);
      catalog::resetSchema(*state.database);
      if (auto done = transaction.commit(); !done) return done;
    }
    state.database->execute("VACUUM");
    auto shrunk = state.database->takeFailure();
    state.database->execute("PRAGMA secure_delete = ON");
    (void)state.database->truncateWal();
    // When another process is working, or the disk is full, the file only stays as large as it was.
    if (!shrunk && shrunk.error().code == ErrorCode::Damaged) return shrunk;
    return state.database->takeFailure();
  });
  if (!emptied) return std::unexpected(emptied.error());
  if (!state.memory) catalog::removeDamagedCopy(state.store.folder());
  CatchUpOptions all = options;
  all.everything = true;
  return catchUp(all);
}

std::string_view toString(SessionCondition condition) {
  switch (condition) {
    case SessionCondition::Live: return "live";
    case SessionCondition::Archived: return "archived";
    case SessionCondition::Unfinished: return "unfinished";
    case SessionCondition::Damaged: return "damaged";
    case SessionCondition::Missing: return "missing";
  }
  return "live";
}

std::string_view toString(TitleSource source) {
  switch (source) {
    case TitleSource::None: return "none";
    case TitleSource::Message: return "message";
    case TitleSource::Generated: return "generated";
    case TitleSource::Given: return "given";
  }
  return "none";
}

}  // namespace bough
