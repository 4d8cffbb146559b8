#include "catalog/external.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "base/bytes/flat_map.h"
#include "base/try.h"
#include "catalog/database/answers.h"
#include "catalog/database/conditions.h"
#include "catalog/database/first_fill.h"
#include "catalog/database/list_order.h"
#include "catalog/external/external_reading.h"
#include "catalog/external/external_session.h"
#include "catalog/external/waiting_files.h"
#include "catalog/intake.h"
#include "catalog/schema.h"

namespace bough::catalog {
namespace {

// `session` is empty for a file that is not a session; `reason` then has the cause. `stamp` is empty for a file that
// could not be read, so that every run tries it again.
constexpr const char* kTable = R"sql(
CREATE TABLE IF NOT EXISTS outside(path TEXT PRIMARY KEY, stamp TEXT NOT NULL, session TEXT NOT NULL,
  reason TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS outsideBySession ON outside(session);
)sql";

// Returns true when the error means that the file is not a session, which cannot change until the file changes. Other
// errors may disappear without a change of the file.
bool isPermanentFailure(const Error& error) {
  return error.code == ErrorCode::Unsupported || error.code == ErrorCode::Damaged ||
         error.code == ErrorCode::InvalidArgument;
}

bool hasTable(Database& database) {
  return Query(database, "SELECT 1 FROM sqlite_schema WHERE name = 'outside'").next();
}

bool hasWaiting(Database& database) {
  return Query(database, "SELECT 1 FROM sqlite_schema WHERE name = 'waiting'").next();
}

// The files found before, as hashes of their paths and stamps.
class KnownFiles {
 public:
  explicit KnownFiles(Database& database) {
    Query rows(database, "SELECT path, stamp, session FROM outside");
    while (rows.next()) {
      files_.push_back(
          {.path = hashOf(rows.view(0)), .stamp = hashOf(rows.view(1)), .isSession = !rows.view(2).empty()});
    }
    if (hasWaiting(database)) {
      Query waiting(database, "SELECT path, stamp FROM waiting");
      while (waiting.next()) {
        files_.push_back({.path = hashOf(waiting.view(0)), .stamp = hashOf(waiting.view(1)), .isWaiting = true});
      }
    }
    std::ranges::sort(files_, {}, &File::path);
  }

  struct File {
    std::uint64_t path = 0;
    std::uint64_t stamp = 0;
    bool isSession = false;
    bool isWaiting = false;  // not read yet
    bool isListed = false;   // named by the current walk
  };

  // The state of a file, compared with what is known about it.
  enum class FileStatus : std::uint8_t { New, Waiting, Changed, Unchanged };
  static FileStatus compare(const File* before, const ExternalFile& file) {
    const bool isSame = before != nullptr && before->stamp == hashOf(file.stamp);
    if (before == nullptr || before->isWaiting) return isSame ? FileStatus::Waiting : FileStatus::New;
    return isSame ? FileStatus::Unchanged : FileStatus::Changed;
  }

  File* find(std::string_view path) {
    const std::uint64_t hash = hashOf(path);
    const auto found = std::ranges::lower_bound(files_, hash, {}, &File::path);
    return found == files_.end() || found->path != hash ? nullptr : &*found;
  }

  [[nodiscard]] bool areAllListed() const {
    return std::ranges::all_of(files_, [](const File& file) { return file.isListed || file.isWaiting; });
  }
  [[nodiscard]] bool haveWaiting() const { return std::ranges::any_of(files_, &File::isWaiting); }

 private:
  std::vector<File> files_;
};

class ExternalIntake {
 public:
  ExternalIntake(Database& database, const std::function<void(std::uint64_t)>& progress)
      : database_(database), waiting_(database), progress_(progress) {}

  Result<ExternalReport> run(const ExternalWalk& walk, const NewestRows* newest) {
    BOUGH_TRY(prepare());
    KnownFiles known(database_);
    BOUGH_TRY(database_.takeFailure());
    BOUGH_TRY(newest == nullptr ? readAll(walk, known) : readNewest(walk, known, *newest));
    if (!known.areAllListed()) {
      BOUGH_TRY(removeGone(known));
    }
    BOUGH_TRY(rereadSessions());
    addUnreadable();
    BOUGH_TRY(database_.takeFailure());
    return std::move(report_);
  }

 private:
  // Rows that were made before these tables existed are made again.
  Result<void> prepare() {
    if (hasTable(database_) && hasWaiting(database_)) return database_.takeFailure();
    Transaction transaction(database_);
    if (!hasTable(database_)) {
      resetSchema(database_);
      database_.execute(kTable);
    }
    waiting_.prepare();
    return transaction.commit();
  }

  KnownFiles::FileStatus statusOf(KnownFiles& known, ExternalFile& file) {
    KnownFiles::File* before = known.find(file.path);
    if (before != nullptr) before->isListed = true;
    const auto status = KnownFiles::compare(before, file);
    file.isNew = status == KnownFiles::FileStatus::New || status == KnownFiles::FileStatus::Waiting;
    if (status == KnownFiles::FileStatus::Unchanged && !before->isSession) {
      ++knownUnreadable_;
      if (unreadablePath_.empty()) unreadablePath_ = file.path;
    }
    return status;
  }

  Result<void> readAll(const ExternalWalk& walk, KnownFiles& known) {
    const ExternalWalk changed = [&](const auto& use) {
      return walk([&](ExternalFile&& file) {
        return statusOf(known, file) == KnownFiles::FileStatus::Unchanged || use(std::move(file));
      });
    };
    BOUGH_TRY(takeIn(changed, /*areMany=*/true));
    if (known.haveWaiting()) waiting_.removeGone();
    return database_.takeFailure();
  }

  Result<void> takeIn(const ExternalWalk& files, bool areMany = false) {
    constexpr std::uint64_t kSessionsPerTransaction = 5'000;  // sessions per transaction
    ExternalReading reading(files);
    std::optional<ExternalSession> session = reading.next();
    while (session) {
      Transaction transaction(database_);
      // Another process may have stored rows in the meantime.
      const bool isFirst = std::exchange(areMany, false) && !Query(database_, "SELECT 1 FROM session").next();
      if (isFirst) fill_.emplace(database_);
      const auto isFull = [&](std::uint64_t count) {
        return fill_ ? fill_->isFull(count) : count >= kSessionsPerTransaction;
      };
      for (std::uint64_t count = 0; session && !isFull(count); ++count, session = reading.next()) {
        take(std::move(*session));
        progress_(++report_.read);
      }
      if (fill_) fill_->end();
      fill_.reset();
      BOUGH_TRY(transaction.commit());
    }
    return reading.walked();
  }

  Result<void> takeIn(std::vector<ExternalFile>&& files) {
    BOUGH_TRY(takeIn([&](const auto& use) -> Result<void> {
      for (ExternalFile& file : files) {
        if (!use(std::move(file))) break;
      }
      return {};
    }));
    files.clear();
    return {};
  }

  // New files wait until they are needed. Files that have rows are always updated.
  Result<void> readNewest(const ExternalWalk& walk, KnownFiles& known, const NewestRows& newest) {
    std::vector<ExternalFile> found;
    std::vector<ExternalFile> changed;
    Result<void> done;
    BOUGH_TRY(walk([&](ExternalFile&& file) {
      const auto status = statusOf(known, file);
      if (status == KnownFiles::FileStatus::New) found.push_back(std::move(file));
      if (status == KnownFiles::FileStatus::Changed) changed.push_back(std::move(file));
      if (found.size() >= kMaxInMemory) done = addWaiting(found);
      if (done && changed.size() >= kMaxInMemory) done = takeIn(std::move(changed));
      return done.has_value();
    }));
    BOUGH_TRY(done);
    BOUGH_TRY(addWaiting(found));
    BOUGH_TRY(takeIn(std::move(changed)));
    for (std::size_t limit = newest.limit;; limit *= 2) {
      limit = std::min(limit, kMaxInMemory);
      auto files = waiting_.since(oldestNeededMs(newest), limit);
      BOUGH_TRY(database_.takeFailure());
      if (files.empty()) return {};
      BOUGH_TRY(takeIn(std::move(files)));
    }
  }

  Result<void> addWaiting(std::vector<ExternalFile>& files) {
    if (files.empty()) return {};
    Transaction transaction(database_);
    for (const ExternalFile& file : files) waiting_.add(file);
    files.clear();
    return transaction.commit();
  }

  // Returns the time of the last row that the list shows. A session that was last active earlier cannot be in the list.
  std::uint64_t oldestNeededMs(const NewestRows& newest) {
    const Conditions conditions = listConditions(newest.filter);
    const std::string order = orderOf(ListOrder::Active, false);
    // A fork without a title shows the title of its origin, which may be in any file.
    Query untitled(database_, fmt::format("SELECT 1 FROM (SELECT title, originSession FROM session{} ORDER BY {} LIMIT "
                                          "{}) WHERE title = '' AND originSession <> '' AND originSession NOT IN "
                                          "(SELECT sessionId FROM session)",
                                          conditions.where(), order, newest.limit));
    conditions.bindTo(untitled);
    if (untitled.next()) return 0;
    Query last(database_, fmt::format("SELECT activeMs FROM session{} ORDER BY {} LIMIT 1 OFFSET {}",
                                      conditions.where(), order, newest.limit - 1));
    conditions.bindTo(last);
    return std::max(last.next() ? last.number(0) : 0, newest.filter.sinceMs.value_or(0));
  }

  void take(ExternalSession&& session) {
    const ExternalFile& file = session.files.front();
    if (file.isNew) waiting_.remove(file.path);
    if (file.isNew && session.error && GoneFiles().isGone(file.path)) return;
    const std::string sessionId = session.error ? std::string() : session.row.facts.sessionId;
    const std::string reason = session.error ? session.error->message : std::string();
    const std::string before = file.isNew ? std::string() : sessionOf(file.path);
    const bool isRetried = session.error && !isPermanentFailure(*session.error);
    if (!isRetried || !isRecorded(file.path, reason)) {
      Query(database_, "INSERT OR REPLACE INTO outside(path, stamp, session, reason) VALUES(?, ?, ?, ?)", file.path,
            isRetried ? std::string() : file.stamp, sessionId, reason)
          .run();
    }
    if (!before.empty() && before != sessionId) toReread_.insert(before);
    if (session.error) {
      ++report_.unreadable;
      if (report_.example.empty()) report_.example = reason;
    } else if (const std::int64_t row = rowOf(sessionId); row == 0 || isOnlyFile(sessionId)) {
      if (row != 0) removeSession(database_, row);
      save(std::move(session));
    } else {
      toReread_.insert(sessionId);
    }
  }

  std::string sessionOf(const std::string& path) {
    Query query(database_, "SELECT session FROM outside WHERE path = ?", path);
    return query.next() ? query.text(0) : std::string();
  }

  // Returns true when the same failure is already recorded, so that nothing is written again.
  bool isRecorded(const std::string& path, const std::string& reason) {
    return Query(database_, "SELECT 1 FROM outside WHERE path = ? AND stamp = '' AND reason = ?", path, reason).next();
  }

  bool isOnlyFile(const std::string& sessionId) {
    Query query(database_, "SELECT 1 FROM outside WHERE session = ? LIMIT 2", sessionId);
    return query.next() && !query.next();
  }

  // Page by page, because there may be very many.
  Result<void> removeGone(KnownFiles& known) {
    constexpr std::size_t kPage = 1'000;
    GoneFiles files;
    for (std::string after;;) {
      Transaction transaction(database_);
      std::vector<std::pair<std::string, std::string>> page;
      {
        Query rows(database_, "SELECT path, session FROM outside WHERE path > ? ORDER BY path LIMIT ?", after,
                   std::uint64_t{kPage});
        while (rows.next()) page.emplace_back(rows.text(0), rows.text(1));
      }
      for (const auto& [path, sessionId] : page) {
        const KnownFiles::File* file = known.find(path);
        if (file == nullptr || file->isListed || !files.isGone(path)) continue;
        Query(database_, "DELETE FROM outside WHERE path = ?", path).run();
        if (sessionId.empty()) continue;
        const bool hasOthers = Query(database_, "SELECT 1 FROM outside WHERE session = ?", sessionId).next();
        hasOthers ? static_cast<void>(toReread_.insert(sessionId)) : removeRow(sessionId);
      }
      BOUGH_TRY(transaction.commit());
      if (page.size() < kPage) return {};
      after = page.back().first;
    }
  }

  // Sessions in several files, one of which has changed: all files of such a session are read together.
  Result<void> rereadSessions() {
    if (toReread_.empty()) return {};
    Transaction transaction(database_);
    for (const std::string& sessionId : toReread_) {
      std::vector<ExternalFile> files;
      {
        Query rows(database_, "SELECT path, stamp FROM outside WHERE session = ? ORDER BY path", sessionId);
        while (rows.next()) files.push_back({.path = rows.text(0), .stamp = rows.text(1)});
      }
      removeRow(sessionId);
      if (files.empty()) continue;
      ExternalSession session = readExternalSession(std::move(files));
      // When none of several files can be read any more, the next run finds out which of them fail.
      if (!session.error && rowOf(session.row.facts.sessionId) == 0) save(std::move(session));
    }
    return transaction.commit();
  }

  // Returns 0 when there is no row.
  std::int64_t rowOf(const std::string& sessionId) {
    Query query(database_, "SELECT id FROM session WHERE sessionId = ?", sessionId);
    return query.next() ? query.integer(0) : 0;
  }

  void removeRow(const std::string& sessionId) {
    if (const std::int64_t row = rowOf(sessionId); row != 0) removeSession(database_, row);
  }

  void save(ExternalSession&& session) {
    SessionRow& row = session.row;
    saveRow(database_, row, 0);
    for (const SessionTally::Branch& branch : session.branches) {
      std::string calls;
      for (const std::string& call : branch.openCalls) calls += call + "\n";
      Query(database_, "INSERT INTO branch(session, number, tipId, openCalls) VALUES(?, ?, ?, ?)", row.id,
            branch.number, branch.tipId, calls)
          .run();
    }
    std::vector<std::pair<std::int64_t, Answer>> answers;
    answers.reserve(session.answers.size());
    for (const auto& [id, answer] : session.answers) {
      answers.emplace_back(id, Answer{.session = row.id,
                                      .sequence = answer.sequence,
                                      .branch = answer.branch,
                                      .quarter = answer.quarter,
                                      .model = modelOf(answer.model),
                                      .identity = {},
                                      .certain = answer.certain,
                                      .usage = answer.usage});
    }
    addAnswers(database_, answers, fill_ ? &fill_->answers : nullptr);
  }

  std::int64_t modelOf(const std::string& name) {
    const auto [found, isNew] = models_.try_emplace(name);
    if (isNew) found->second = modelId(database_, name);
    return found->second;
  }

  // Every list reports them, not only the one that read them.
  void addUnreadable() {
    report_.unreadable += knownUnreadable_;
    if (knownUnreadable_ == 0 || !report_.example.empty()) return;
    Query query(database_, "SELECT reason FROM outside WHERE path = ?", unreadablePath_);
    if (query.next()) report_.example = query.text(0);
  }

  static constexpr std::size_t kMaxInMemory = 1'000;  // files

  Database& database_;
  WaitingFiles waiting_;
  const std::function<void(std::uint64_t)>& progress_;
  ExternalReport report_;
  std::uint64_t knownUnreadable_ = 0;  // unchanged files that are unreadable; counted by the thread of the walk
  std::string unreadablePath_;
  std::set<std::string> toReread_;  // sessions to read again
  std::optional<FirstFill> fill_;
  std::unordered_map<std::string, std::int64_t> models_;
};

}  // namespace

Result<ExternalReport> updateExternalRows(const std::string& folder, const ExternalWalk& walk,
                                          const std::function<void(std::uint64_t)>& progress,
                                          const NewestRows* newest) {
  // Another process may be reading the same files and storing many rows at once.
  constexpr int kBusyTimeoutMs = 15'000;
  BOUGH_TRY(auto opened, openCatalog(folder, {.busyTimeoutMs = kBusyTimeoutMs}, false));
  if (opened.memory || opened.readOnly) {
    return fail(ErrorCode::ReadOnly, fmt::format("{}/catalog.db cannot be written to", folder),
                "make the folder writable, or set XDG_CACHE_HOME to one that is");
  }
  // Rows arrive in the order of paths, not of the indexes, so a larger cache helps; and one checkpoint at the end is
  // enough.
  opened.database->execute("PRAGMA cache_size = -16000; PRAGMA wal_autocheckpoint = 8192;");
  return ExternalIntake(*opened.database, progress).run(walk, newest);
}

Result<bool> hasExternalBacklog(const std::string& folder, const ExternalWalk& walk, std::uint64_t bytes) {
  BOUGH_TRY(auto opened, openCatalog(folder, {}, true));
  std::optional<KnownFiles> known;
  if (hasTable(*opened.database)) known.emplace(*opened.database);
  BOUGH_TRY(opened.database->takeFailure());
  std::uint64_t found = 0;
  BOUGH_TRY(walk([&](ExternalFile&& file) {
    const KnownFiles::File* before = known ? known->find(file.path) : nullptr;
    if (before != nullptr && before->stamp == hashOf("")) return true;  // it could not be read
    if (KnownFiles::compare(before, file) != KnownFiles::FileStatus::Unchanged) found += file.sizeBytes;
    return found < bytes;
  }));
  return found >= bytes;
}

Result<std::vector<std::vector<std::string>>> externalFilesOf(const std::string& folder,
                                                              const std::vector<std::string>& sessions) {
  BOUGH_TRY(auto opened, openCatalog(folder, {}, true));
  std::vector<std::vector<std::string>> files(sessions.size());
  const bool isMade = hasTable(*opened.database);
  for (std::size_t i = 0; isMade && i < sessions.size(); ++i) {
    Query rows(*opened.database, "SELECT path FROM outside WHERE session = ? ORDER BY path", sessions[i]);
    while (rows.next()) files[i].push_back(rows.text(0));
  }
  BOUGH_TRY(opened.database->takeFailure());
  return files;
}

}  // namespace bough::catalog
