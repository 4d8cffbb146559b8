#include "cli/commands/upkeep/doctor_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <thread>

#include "base/model/ids.h"
#include "base/text/text.h"
#include "cli/names/session_name.h"
#include "cli/names/session_titles.h"
#include "cli/names/store_session.h"
#include "cli/terminal/output.h"

namespace bough::cli {
namespace {

void checkSpace(const std::string& location, Diagnoses& findings) {
  constexpr std::uint64_t kLowBytes = std::uint64_t{1} << 30;
  struct statvfs space{};
  if (::statvfs(location.c_str(), &space) != 0) return;
  const std::uint64_t free = std::uint64_t{space.f_bavail} * space.f_frsize;
  findings.push_back(free < kLowBytes
                         ? Diagnosis{.health = Health::Note,
                                     .what = fmt::format("only {} are free on the disk", formatBytes(free)),
                                     .advice = "`bough prune` and `bough archive` free space"}
                         : Diagnosis{.what = fmt::format("{} are free on the disk", formatBytes(free)), .advice = {}});
}

// A read-only store may be intended, but the user should not learn of it from the next append.
void checkReach(const std::string& location, Diagnoses& findings) {
  const std::string shown = shownLocation(location);
  for (const std::string& folder : {location, location + "/sessions"}) {
    const int why = ::access(folder.c_str(), W_OK) == 0 ? 0 : errno;
    if (why != EROFS && why != EACCES && why != EPERM) continue;
    findings.push_back({.health = Health::Note,
                        .what = fmt::format("the store {} can be read, but not written to: {}", shown,
                                            std::generic_category().message(why)),
                        .advice = why == EROFS ? "mount its file system for writing, or copy the store elsewhere"
                                               : "check the rights of its folders; they must belong to you"});
    return;
  }
  findings.push_back({.what = fmt::format("the store {} can be reached", shown), .advice = {}});
}

// Removes the file of a session that was never created, unless a process is just creating it: such a file changes or
// disappears within a second.
bool removeAbandoned(const std::filesystem::path& file) {
  std::error_code error;
  const auto written = std::filesystem::last_write_time(file, error);
  const auto age = std::filesystem::file_time_type::clock::now() - written;
  if (error) return false;
  if (age < std::chrono::seconds(1)) std::this_thread::sleep_for(std::chrono::seconds(1));
  return std::filesystem::last_write_time(file, error) == written && !error && std::filesystem::remove(file, error);
}

// Describes a file that an interrupted write left among the sessions; std::nullopt for any other name.
std::optional<Diagnosis> unfinished(SessionStore& store, const std::filesystem::path& folder, const std::string& name,
                                    bool fix) {
  if (!name.ends_with(".tmp")) return std::nullopt;
  for (const std::string_view kind : {".jsonl.", ".idx."}) {
    const std::size_t at = name.rfind(kind);
    const std::string id = name.substr(0, at == std::string::npos ? 0 : at);
    if (!isSessionId(id)) continue;
    const auto state = store.sessionState(id);
    const bool live = state || state.error().code != ErrorCode::NotFound;
    if (!live && fix && removeAbandoned(folder / name)) {
      return Diagnosis{.what = fmt::format("sessions/{} was removed: session {} was never created", name, id),
                       .advice = {}};
    }
    return Diagnosis{
        .health = Health::Note,
        .what = fmt::format("sessions/{} is unfinished: left by a crash or being written", name),
        .advice = live ? fmt::format("`bough repair {}` removes it", exactName(id))
                       : fmt::format("session {} was never created: `bough doctor --fix` removes the file", id)};
  }
  return std::nullopt;
}

// Returns the contents of a folder, sorted by name. Adds a finding when the folder cannot be listed completely.
std::vector<std::filesystem::directory_entry> filesIn(const std::filesystem::path& folder, Diagnoses& findings) {
  std::vector<std::filesystem::directory_entry> files;
  std::error_code error;
  // Not a range-based loop, because its increment throws.
  for (std::filesystem::directory_iterator each(folder, error), end; !error && each != end; each.increment(error)) {
    files.push_back(*each);
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    findings.push_back({.health = Health::Bad,
                        .what = fmt::format("{} cannot be listed: {}", folder.string(), error.message()),
                        .advice = "check the disk and the permissions of the folder; its contents were not checked"});
  }
  std::ranges::sort(files);
  return files;
}

// Reports files among the sessions that do not belong to bough.
void checkForeign(SessionStore& store, const std::string& location, bool fix, Diagnoses& findings) {
  constexpr std::string_view kOurs[] = {".jsonl", ".idx", ".torn", ".v0", ".jsonl.zst", ".jsonl.gz"};
  const std::filesystem::path sessions = std::filesystem::path(location) / "sessions";
  std::error_code error;
  for (const auto& file : filesIn(sessions, findings)) {
    const std::string name = file.path().filename().string();
    const bool ours = std::ranges::any_of(kOurs, [&](std::string_view ending) {
      return name.ends_with(ending) && isSessionId(std::string_view(name).substr(0, name.size() - ending.size()));
    });
    if (ours && file.is_regular_file(error)) continue;
    // Anything else in place of a log is reported with the sessions.
    if (ours && (name.ends_with(".jsonl") || name.ends_with(".jsonl.gz"))) continue;
    if (auto left = unfinished(store, sessions, name, fix)) {
      findings.push_back(std::move(*left));
      continue;
    }
    findings.push_back({.health = Health::Note,
                        .what = fmt::format("sessions/{} is not a file of bough", name),
                        .advice = "bough ignores it; move it out of the store if it does not belong there"});
  }
}

// Opening the store completes an interrupted erasure. If one still exists, it is either running or cannot be completed.
void checkErasure(const std::string& location, Diagnoses& findings) {
  std::error_code error;
  if (!std::filesystem::exists(std::filesystem::path(location) / "erasure.json", error)) return;
  findings.push_back(
      {.health = Health::Bad,
       .what = "an erasure is not finished: erasure.json names the entries whose payloads may still be there",
       .advice = "wait if another process is erasing; otherwise run `bough erase` on one of these entries to see what "
                 "is wrong"});
}

// Only that catalog can tell whether the bytes that a crash left at the end of a log were a complete batch.
void checkDamagedCatalog(const std::string& location, Diagnoses& findings) {
  std::error_code error;
  if (!std::filesystem::exists(std::filesystem::path(location) / "catalog.db.damaged", error)) return;
  findings.push_back({.health = Health::Note,
                      .what = "catalog.db.damaged is a damaged catalog that was moved aside; bough reads it before it "
                              "sets an incomplete batch aside",
                      .advice = "`bough reindex` removes it"});
}

// Reports sessions that have two files: one is read, and the other may hold something else.
void checkCopies(SessionStore& store, const std::string& location, Diagnoses& findings) {
  constexpr std::string_view kLogs[] = {".jsonl", ".jsonl.zst", ".jsonl.gz"};
  std::map<std::string, std::vector<std::string>> files;
  for (const std::string folder : {"sessions", "archive"}) {
    for (const auto& file : filesIn(std::filesystem::path(location) / folder, findings)) {
      const std::string name = file.path().filename().string();
      const auto* const ending =
          std::ranges::find_if(kLogs, [&](std::string_view each) { return name.ends_with(each); });
      if (ending == std::end(kLogs)) continue;
      files[name.substr(0, name.size() - ending->size())].push_back(fmt::format("{}/{}", folder, name));
    }
  }
  for (auto& [id, names] : files) {
    if (names.size() < 2) continue;
    std::ranges::sort(names);
    findings.push_back(
        {.health = Health::Note,
         .what = fmt::format("{}: the session has two files: {}", idAndTitle(store, id), fmt::join(names, " and ")),
         .advice = fmt::format(
             "`bough repair {}` removes a compressed copy that holds nothing more; otherwise it says what to do",
             exactName(id))});
  }
}

}  // namespace

void checkFiles(SessionStore& store, const std::string& location, bool fix, Diagnoses& findings) {
  checkReach(location, findings);
  checkSpace(location, findings);
  checkForeign(store, location, fix, findings);
  checkCopies(store, location, findings);
  checkErasure(location, findings);
  checkDamagedCatalog(location, findings);
}

}  // namespace bough::cli
