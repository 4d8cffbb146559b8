#include "catalog/external/waiting_files.h"

#include <sys/stat.h>

#include <cerrno>

#include "bough/transcript.h"

namespace bough::catalog {
namespace {

// A time read from the end of the file is exact. Otherwise, a message may be slightly later than the file's
// modification time, which is rounded and may come from another machine's clock.
std::uint64_t latestMs(const ExternalFile& file) {
  constexpr std::uint64_t kRoundingMs = 60'000;
  return latestTimeAtEnd(file.path).value_or(file.modifiedMs + kRoundingMs);
}

}  // namespace

void WaitingFiles::prepare() {
  database_.execute(
      "CREATE TABLE IF NOT EXISTS waiting(path TEXT PRIMARY KEY, stamp TEXT NOT NULL, bytes INTEGER NOT NULL, "
      "latestMs INTEGER NOT NULL) WITHOUT ROWID;"
      "CREATE INDEX IF NOT EXISTS waitingByTime ON waiting(latestMs DESC);");
}

void WaitingFiles::add(const ExternalFile& file) {
  Query(database_, "INSERT OR REPLACE INTO waiting(path, stamp, bytes, latestMs) VALUES(?, ?, ?, ?)", file.path,
        file.stamp, file.sizeBytes, latestMs(file))
      .run();
}

void WaitingFiles::remove(const std::string& path) {
  Query(database_, "DELETE FROM waiting WHERE path = ?", path).run();
}

std::vector<ExternalFile> WaitingFiles::since(std::uint64_t timeMs, std::size_t limit) {
  Query rows(database_, "SELECT path, stamp, bytes FROM waiting WHERE latestMs >= ? ORDER BY latestMs DESC LIMIT ?",
             timeMs, std::uint64_t{limit});
  std::vector<ExternalFile> files;
  while (rows.next()) {
    files.push_back({.path = rows.text(0), .stamp = rows.text(1), .sizeBytes = rows.number(2), .isNew = true});
  }
  return files;
}

void WaitingFiles::removeGone() {
  constexpr std::uint64_t kPage = 1'000;
  GoneFiles files;
  for (std::string after;;) {
    std::vector<std::string> page;
    {
      Query rows(database_, "SELECT path FROM waiting WHERE path > ? ORDER BY path LIMIT ?", after, kPage);
      while (rows.next()) page.push_back(rows.text(0));
    }
    for (const std::string& path : page) {
      if (files.isGone(path)) remove(path);
    }
    if (page.size() < kPage) return;
    after = page.back();
  }
}

bool GoneFiles::isGone(const std::string& path) {
  struct stat info{};
  const std::size_t ending = path.rfind(".sqlite#");
  const std::string file = path.substr(0, ending == std::string::npos ? path.size() : path.find('#', ending));
  if (::stat(file.c_str(), &info) != 0) return errno == ENOENT;
  return file.size() != path.size() && isGoneFrom(file, path);
}

bool GoneFiles::isGoneFrom(const std::string& database, const std::string& path) {
  if (database_ != database) {
    database_ = database;
    sessions_.clear();
    auto found = transcriptsInDatabase(database);
    // A database without transcripts has no sessions. For other databases that cannot be read, the answer is unknown.
    isReadable_ = found || found.error().code == ErrorCode::Unsupported;
    if (found) {
      for (FoundTranscript& each : *found) sessions_.insert(std::move(each.path));
    }
  }
  return isReadable_ && !sessions_.contains(path);
}

}  // namespace bough::catalog
