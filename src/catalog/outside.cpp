#include "catalog/outside.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <unordered_set>

#include "base/json/json_scan.h"
#include "base/json/json_write.h"
#include "base/system/byte_budget.h"
#include "base/try.h"
#include "catalog/database/answers.h"
#include "catalog/intake.h"
#include "catalog/outside_session.h"
#include "catalog/schema.h"

namespace bough::catalog {
namespace {

constexpr char kBetween = '\t';
constexpr const char* kUnreadable = "unreadable";  // in the table meta: files that are not sessions

// As a row's stamp has them.
std::string linesOf(const std::vector<OutsideFile>& files) {
  std::string lines;
  for (const OutsideFile& file : files) lines += file.stamp + kBetween + json::quoted(file.path) + "\n";
  return lines;
}

std::vector<OutsideFile> filesIn(std::string_view lines) {
  std::vector<OutsideFile> files;
  for (std::size_t end = lines.find('\n'); end != std::string_view::npos; end = lines.find('\n')) {
    const std::string_view line = lines.substr(0, end);
    lines.remove_prefix(end + 1);
    const std::size_t between = line.find(kBetween);
    if (between == std::string_view::npos) continue;
    auto path = json::decodeString(line.substr(between + 1));
    if (path) files.push_back({.path = std::move(*path), .stamp = std::string(line.substr(0, between))});
  }
  return files;
}

bool isGone(const std::string& path) {
  struct stat info{};
  // A session in a database is named FILE#ID.
  const std::string file = path.substr(0, path.rfind(".sqlite#") == std::string::npos ? path.size() : path.rfind('#'));
  return ::stat(file.c_str(), &info) != 0 && errno == ENOENT;
}

// Reads files with several threads, and gives what they tell one after the other.
class Reading {
 public:
  explicit Reading(const std::vector<OutsideFile>& files) : files_(files) {
    constexpr unsigned kMostThreads = 8;
    const unsigned count = std::clamp(std::thread::hardware_concurrency(), 1U, kMostThreads);
    for (unsigned i = 0; i < count; ++i) threads_.emplace_back([this] { work(); });
  }
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;
  ~Reading() {
    next_ = files_.size();
    {
      const std::scoped_lock lock(mutex_);
      stopped_ = true;
    }
    changed_.notify_all();
  }

  std::optional<Told> next() {
    std::unique_lock lock(mutex_);
    if (given_ == files_.size()) return std::nullopt;
    changed_.wait(lock, [&] { return !told_.empty(); });
    Told told = std::move(told_.front());
    told_.pop_front();
    ++given_;
    lock.unlock();
    changed_.notify_all();
    return told;
  }

 private:
  static constexpr std::size_t kMostWaiting = 256;

  void work() {
    for (std::size_t i = next_++; i < files_.size(); i = next_++) {
      Told told;
      {
        const ByteBudget::Share share(budget_, files_[i].sizeBytes);
        told = tellOutside({files_[i]});
      }
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stopped_ || told_.size() < kMostWaiting; });
      told_.push_back(std::move(told));
      lock.unlock();
      changed_.notify_all();
    }
  }

  const std::vector<OutsideFile>& files_;
  std::atomic<std::size_t> next_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Told> told_;
  ByteBudget budget_{std::uint64_t{32} << 20};  // a file may be one line
  std::size_t given_ = 0;
  bool stopped_ = false;
  std::vector<std::jthread> threads_;
};

class OutsideIntake {
 public:
  explicit OutsideIntake(Database& database) : database_(database) {}

  Result<OutsideReport> run(const std::vector<OutsideFile>& files,
                            const std::function<void(std::uint64_t, std::uint64_t)>& progress) {
    loadKnown();
    const auto changed = plan(files);
    BOUGH_TRY(database_.take());
    if (changed.empty() && stale_.empty() && !unreadableChanged_) return report_;
    BOUGH_TRY(forgetStale());
    Reading reading(changed);
    constexpr std::uint64_t kAtOnce = 1'000;  // sessions in a transaction
    std::optional<Told> told = reading.next();
    while (told) {
      Transaction transaction(database_);
      for (std::uint64_t count = 0; told && count < kAtOnce; ++count, told = reading.next()) {
        take(std::move(*told));
        progress(++report_.read, changed.size());
      }
      BOUGH_TRY(transaction.commit());
    }
    Transaction transaction(database_);
    for (auto& [sessionId, several] : together_) {
      std::ranges::sort(several, {}, &OutsideFile::path);
      save(tellOutside(std::move(several)));
    }
    saveUnreadable();
    BOUGH_TRY(transaction.commit());
    return report_;
  }

 private:
  struct Known {
    std::int64_t row = 0;
    std::vector<OutsideFile> files;
  };

  void loadKnown() {
    Query rows(database_, "SELECT id, sessionId, stamp FROM session");
    while (rows.next()) known_[rows.text(1)] = {rows.integer(0), filesIn(rows.view(2))};
    Query query(database_, "SELECT value FROM meta WHERE name = ?", kUnreadable);
    if (query.next()) {
      for (OutsideFile& file : filesIn(query.view(0))) unreadable_[file.path] = file.stamp;
    }
  }

  // The files that have to be read. Sessions that one of them, or one that is gone, was a part of become stale_: all
  // their other files are read again as well.
  std::vector<OutsideFile> plan(const std::vector<OutsideFile>& files) {
    std::unordered_map<std::string_view, const OutsideFile*> now;
    for (const OutsideFile& file : files) now[file.path] = &file;
    std::unordered_set<std::string> current;
    for (auto& [sessionId, known] : known_) {
      const bool isSame = std::ranges::all_of(known.files, [&](const OutsideFile& file) {
        const auto found = now.find(file.path);
        return found == now.end() ? !isGone(file.path) : found->second->stamp == file.stamp;
      });
      if (!isSame) {
        stale_.push_back(sessionId);
        continue;
      }
      for (const OutsideFile& file : known.files) current.insert(file.path);
    }
    std::erase_if(unreadable_, [&](const auto& each) {
      const auto found = now.find(each.first);
      const bool isSame = found == now.end() ? !isGone(each.first) : found->second->stamp == each.second;
      unreadableChanged_ = unreadableChanged_ || !isSame;
      return !isSame;
    });
    std::vector<OutsideFile> changed;
    for (const OutsideFile& file : files) {
      if (!current.contains(file.path) && !unreadable_.contains(file.path)) changed.push_back(file);
    }
    // Not named this time, but of a session that is read again.
    for (const std::string& sessionId : stale_) {
      for (const OutsideFile& file : known_[sessionId].files) {
        if (!now.contains(file.path) && !isGone(file.path)) changed.push_back(file);
      }
    }
    return changed;
  }

  Result<void> forgetStale() {
    if (stale_.empty()) return {};
    Transaction transaction(database_);
    for (const std::string& sessionId : stale_) {
      forgetSession(database_, known_[sessionId].row);
      known_.erase(sessionId);
    }
    return transaction.commit();
  }

  void take(Told&& told) {
    if (told.error) {
      ++report_.unreadable;
      if (report_.example.empty()) report_.example = told.error->message;
      unreadable_[told.files.front().path] = told.files.front().stamp;
      unreadableChanged_ = true;
      return;
    }
    const std::string& sessionId = told.row.facts.sessionId;
    const auto found = known_.find(sessionId);
    if (found == known_.end()) {
      known_[sessionId] = {0, told.files};
      return save(std::move(told));
    }
    // Several files of one session.
    auto& several = together_[sessionId];
    if (several.empty()) several = found->second.files;
    several.push_back(std::move(told.files.front()));
  }

  void save(Told&& told) {
    SessionRow& row = told.row;
    row.stamp = linesOf(told.files);
    // Another process may have stored it meanwhile.
    if (const auto before = findRow(database_, row.facts.sessionId)) forgetSession(database_, before->id);
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

  void saveUnreadable() {
    if (!unreadableChanged_) return;
    std::vector<OutsideFile> files;
    for (const auto& [path, stamp] : unreadable_) files.push_back({.path = path, .stamp = stamp});
    const std::string lines = linesOf(files);
    Query(database_, "INSERT OR REPLACE INTO meta(name, value) VALUES(?, ?)", kUnreadable, Blob{lines}).run();
  }

  Database& database_;
  OutsideReport report_;
  std::unordered_map<std::string, Known> known_;  // by session
  std::unordered_map<std::string, std::string> unreadable_;
  bool unreadableChanged_ = false;
  std::vector<std::string> stale_;
  std::map<std::string, std::vector<OutsideFile>> together_;
  std::unordered_map<std::string, std::int64_t> models_;
};

}  // namespace

Result<OutsideReport> takeInOutside(const std::string& folder, const std::vector<OutsideFile>& files,
                                    const std::function<void(std::uint64_t, std::uint64_t)>& progress) {
  BOUGH_TRY(auto opened, openCatalog(folder, {}, false));
  if (opened.memory || opened.readOnly) {
    return fail(ErrorCode::ReadOnly, fmt::format("{}/catalog.db cannot be written to", folder),
                "make the folder writable, or set XDG_CACHE_HOME to one that is");
  }
  return OutsideIntake(*opened.database).run(files, progress);
}

Result<std::vector<std::size_t>> outsideChanges(const std::string& folder, const std::vector<OutsideFile>& files) {
  BOUGH_TRY(auto opened, openCatalog(folder, {}, true));
  std::unordered_set<std::string> same;
  {
    Query rows(*opened.database, "SELECT stamp FROM session UNION ALL SELECT value FROM meta WHERE name = ?",
               kUnreadable);
    while (rows.next()) {
      for (const OutsideFile& file : filesIn(rows.view(0))) same.insert(file.stamp + kBetween + file.path);
    }
  }
  BOUGH_TRY(opened.database->take());
  std::vector<std::size_t> changed;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (!same.contains(files[i].stamp + kBetween + files[i].path)) changed.push_back(i);
  }
  return changed;
}

Result<std::vector<std::string>> outsideFilesOf(const std::string& folder, const std::string& sessionId) {
  BOUGH_TRY(auto opened, openCatalog(folder, {}, true));
  std::vector<std::string> paths;
  if (const auto row = findRow(*opened.database, sessionId)) {
    for (OutsideFile& file : filesIn(row->stamp)) paths.push_back(std::move(file.path));
  }
  BOUGH_TRY(opened.database->take());
  return paths;
}

}  // namespace bough::catalog
