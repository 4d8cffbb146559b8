#include "catalog/outside.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <set>
#include <unordered_map>

#include "base/try.h"
#include "catalog/database/answers.h"
#include "catalog/intake.h"
#include "catalog/outside/outside_reading.h"
#include "catalog/outside/outside_session.h"
#include "catalog/schema.h"

namespace bough::catalog {
namespace {

// `session` is empty for a file that is not one; `reason` says why.
constexpr const char* kTable = R"sql(
CREATE TABLE IF NOT EXISTS outside(path TEXT PRIMARY KEY, stamp TEXT NOT NULL, session TEXT NOT NULL,
  reason TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS outsideBySession ON outside(session);
)sql";

bool hasTable(Database& database) {
  return Query(database, "SELECT 1 FROM sqlite_schema WHERE name = 'outside'").next();
}

bool isGone(const std::string& path) {
  struct stat info{};
  // A session in a database is named FILE#ID.
  const std::string file = path.substr(0, path.rfind(".sqlite#") == std::string::npos ? path.size() : path.rfind('#'));
  return ::stat(file.c_str(), &info) != 0 && errno == ENOENT;
}

std::uint64_t hashOf(std::string_view text) {
  return std::hash<std::string_view>{}(text);
}

// The files that were read before, by hashes of their paths and stamps.
class KnownFiles {
 public:
  explicit KnownFiles(Database& database) {
    Query rows(database, "SELECT path, stamp, session FROM outside");
    while (rows.next()) {
      files_.push_back(
          {.path = hashOf(rows.view(0)), .stamp = hashOf(rows.view(1)), .isSession = !rows.view(2).empty()});
    }
    std::ranges::sort(files_, {}, &File::path);
  }

  struct File {
    std::uint64_t path = 0;
    std::uint64_t stamp = 0;
    bool isSession = false;
    bool seen = false;  // named this time
  };

  File* find(std::string_view path) {
    const std::uint64_t hash = hashOf(path);
    const auto found = std::ranges::lower_bound(files_, hash, {}, &File::path);
    return found == files_.end() || found->path != hash ? nullptr : &*found;
  }

  [[nodiscard]] bool allSeen() const { return std::ranges::all_of(files_, &File::seen); }

 private:
  std::vector<File> files_;
};

class OutsideIntake {
 public:
  explicit OutsideIntake(Database& database) : database_(database) {}

  Result<OutsideReport> run(const OutsideWalk& walk, const std::function<void(std::uint64_t)>& progress) {
    BOUGH_TRY(prepare());
    KnownFiles known(database_);
    BOUGH_TRY(database_.take());
    OutsideReading reading([&](const auto& use) {
      return walk([&](OutsideFile&& file) {
        KnownFiles::File* before = known.find(file.path);
        if (before != nullptr) before->seen = true;
        file.isNew = before == nullptr;
        if (before == nullptr || before->stamp != hashOf(file.stamp)) return use(std::move(file));
        if (before->isSession) return true;
        ++knownUnreadable_;
        if (unreadablePath_.empty()) unreadablePath_ = file.path;
        return true;
      });
    });
    constexpr std::uint64_t kAtOnce = 5'000;  // sessions in a transaction
    std::optional<Told> told = reading.next();
    while (told) {
      Transaction transaction(database_);
      for (std::uint64_t count = 0; told && count < kAtOnce; ++count, told = reading.next()) {
        take(std::move(*told));
        progress(++report_.read);
      }
      BOUGH_TRY(transaction.commit());
    }
    BOUGH_TRY(reading.walked());
    if (!known.allSeen()) {
      BOUGH_TRY(forgetGone(known));
    }
    BOUGH_TRY(tellAgain());
    addUnreadable();
    BOUGH_TRY(database_.take());
    return std::move(report_);
  }

 private:
  // Rows that were made before there was this table are made again.
  Result<void> prepare() {
    if (hasTable(database_)) return database_.take();
    Transaction transaction(database_);
    resetSchema(database_);
    database_.execute(kTable);
    return transaction.commit();
  }

  void take(Told&& told) {
    const OutsideFile& file = told.files.front();
    const std::string sessionId = told.error ? std::string() : told.row.facts.sessionId;
    const std::string reason = told.error ? told.error->message : std::string();
    const std::string before = file.isNew ? std::string() : sessionOf(file.path);
    Query(database_, "INSERT OR REPLACE INTO outside(path, stamp, session, reason) VALUES(?, ?, ?, ?)", file.path,
          file.stamp, sessionId, reason)
        .run();
    if (!before.empty() && before != sessionId) again_.insert(before);
    if (told.error) {
      ++report_.unreadable;
      if (report_.example.empty()) report_.example = reason;
    } else if (const std::int64_t row = rowOf(sessionId); row == 0 || isOnlyFile(sessionId)) {
      if (row != 0) forgetSession(database_, row);
      save(std::move(told));
    } else {
      again_.insert(sessionId);
    }
  }

  std::string sessionOf(const std::string& path) {
    Query query(database_, "SELECT session FROM outside WHERE path = ?", path);
    return query.next() ? query.text(0) : std::string();
  }

  bool isOnlyFile(const std::string& sessionId) {
    Query query(database_, "SELECT 1 FROM outside WHERE session = ? LIMIT 2", sessionId);
    return query.next() && !query.next();
  }

  // Page by page: they may be very many.
  Result<void> forgetGone(KnownFiles& known) {
    constexpr std::size_t kPage = 1'000;
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
        if (file == nullptr || file->seen || !isGone(path)) continue;
        Query(database_, "DELETE FROM outside WHERE path = ?", path).run();
        if (sessionId.empty()) continue;
        const bool hasOthers = Query(database_, "SELECT 1 FROM outside WHERE session = ?", sessionId).next();
        hasOthers ? static_cast<void>(again_.insert(sessionId)) : forget(sessionId);
      }
      BOUGH_TRY(transaction.commit());
      if (page.size() < kPage) return {};
      after = page.back().first;
    }
  }

  // Sessions of several files, one of which has changed: all of them are read together.
  Result<void> tellAgain() {
    if (again_.empty()) return {};
    Transaction transaction(database_);
    for (const std::string& sessionId : again_) {
      std::vector<OutsideFile> files;
      {
        Query rows(database_, "SELECT path, stamp FROM outside WHERE session = ? ORDER BY path", sessionId);
        while (rows.next()) files.push_back({.path = rows.text(0), .stamp = rows.text(1)});
      }
      forget(sessionId);
      if (files.empty()) continue;
      Told told = tellOutside(std::move(files));
      // None of several files can be read any more: the next look finds out which of them.
      if (!told.error && rowOf(told.row.facts.sessionId) == 0) save(std::move(told));
    }
    return transaction.commit();
  }

  // 0: none.
  std::int64_t rowOf(const std::string& sessionId) {
    Query query(database_, "SELECT id FROM session WHERE sessionId = ?", sessionId);
    return query.next() ? query.integer(0) : 0;
  }

  void forget(const std::string& sessionId) {
    if (const std::int64_t row = rowOf(sessionId); row != 0) forgetSession(database_, row);
  }

  void save(Told&& told) {
    SessionRow& row = told.row;
    saveRow(database_, row, 0);
    for (const SessionTally::Branch& branch : told.branches) {
      std::string calls;
      for (const std::string& call : branch.openCalls) calls += call + "\n";
      Query(database_, "INSERT INTO branch(session, number, tipId, openCalls) VALUES(?, ?, ?, ?)", row.id,
            branch.number, branch.tipId, calls)
          .run();
    }
    for (const auto& [id, answer] : told.answers) {
      const Usage& used = answer.usage;
      Query(database_,
            "INSERT INTO answer(session, id, first, branch, quarter, model, certain, input, output, cacheRead, "
            "cacheWrite, reasoning) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            row.id, id, answer.sequence, answer.branch, answer.quarter, modelOf(answer.model), answer.certain,
            used.inputTokens, used.outputTokens, used.cacheReadTokens, used.cacheWriteTokens, used.reasoningTokens)
          .run();
    }
  }

  std::int64_t modelOf(const std::string& name) {
    const auto [found, isNew] = models_.try_emplace(name);
    if (isNew) found->second = modelId(database_, name);
    return found->second;
  }

  // Each list names them, not only the one that read them.
  void addUnreadable() {
    report_.unreadable += knownUnreadable_;
    if (knownUnreadable_ == 0 || !report_.example.empty()) return;
    Query query(database_, "SELECT reason FROM outside WHERE path = ?", unreadablePath_);
    if (query.next()) report_.example = query.text(0);
  }

  Database& database_;
  OutsideReport report_;
  std::uint64_t knownUnreadable_ = 0;  // of files that have not changed; the walk's thread counts them
  std::string unreadablePath_;
  std::set<std::string> again_;  // sessions
  std::unordered_map<std::string, std::int64_t> models_;
};

}  // namespace

Result<OutsideReport> takeInOutside(const std::string& folder, const OutsideWalk& walk,
                                    const std::function<void(std::uint64_t)>& progress) {
  BOUGH_TRY(auto opened, openCatalog(folder, {}, false));
  if (opened.memory || opened.readOnly) {
    return fail(ErrorCode::ReadOnly, fmt::format("{}/catalog.db cannot be written to", folder),
                "make the folder writable, or set XDG_CACHE_HOME to one that is");
  }
  // Rows come in the order of paths, not in that of the indexes; and one checkpoint at the end is enough.
  opened.database->execute("PRAGMA cache_size = -16000; PRAGMA wal_autocheckpoint = 8192;");
  return OutsideIntake(*opened.database).run(walk, progress);
}

Result<bool> hasOutsideBacklog(const std::string& folder, const OutsideWalk& walk, std::uint64_t bytes) {
  BOUGH_TRY(auto opened, openCatalog(folder, {}, true));
  std::optional<KnownFiles> known;
  if (hasTable(*opened.database)) known.emplace(*opened.database);
  BOUGH_TRY(opened.database->take());
  std::uint64_t found = 0;
  BOUGH_TRY(walk([&](OutsideFile&& file) {
    const KnownFiles::File* before = known ? known->find(file.path) : nullptr;
    if (before == nullptr || before->stamp != hashOf(file.stamp)) found += file.sizeBytes;
    return found < bytes;
  }));
  return found >= bytes;
}

Result<std::vector<std::vector<std::string>>> outsideFilesOf(const std::string& folder,
                                                             const std::vector<std::string>& sessions) {
  BOUGH_TRY(auto opened, openCatalog(folder, {}, true));
  std::vector<std::vector<std::string>> files(sessions.size());
  const bool isMade = hasTable(*opened.database);
  for (std::size_t i = 0; isMade && i < sessions.size(); ++i) {
    Query rows(*opened.database, "SELECT path FROM outside WHERE session = ? ORDER BY path", sessions[i]);
    while (rows.next()) files[i].push_back(rows.text(0));
  }
  BOUGH_TRY(opened.database->take());
  return files;
}

}  // namespace bough::catalog
