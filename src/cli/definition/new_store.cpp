#include "cli/definition/new_store.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/system/folder_lock.h"
#include "bough/store.h"

namespace bough::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFirstFolder = "sessions";

// Removes a file or an empty folder. Returns true when it no longer exists.
bool removeFile(const fs::path& path) {
  std::error_code error;
  fs::remove(path, error);
  return !error;
}

// Returns true when nothing is stored in a folder, or when it does not exist; false when it cannot be read.
bool isEmptyFolder(const fs::path& folder) {
  std::error_code error;
  fs::directory_iterator each(folder, error);
  if (error) return error == std::errc::no_such_file_or_directory;
  for (; each != fs::directory_iterator(); each.increment(error)) {
    if (error || each->path().filename() != "lock") return false;
  }
  return !error;
}

// Removes the store's own files if the store is empty. Checks everything first: a session may be in the archive alone.
bool removeStoreFiles(const fs::path& store) {
  constexpr std::array<std::string_view, 4> kHolding = {kFirstFolder, "archive", "trash", "attachments"};
  if (!std::ranges::all_of(kHolding, [&](std::string_view part) { return isEmptyFolder(store / part); })) return false;
  constexpr std::array<std::string_view, 11> kStoreParts = {
      kFirstFolder,     "archive",        "trash",      "attachments/lock",   "attachments", "changes",
      "catalog.db-wal", "catalog.db-shm", "catalog.db", "catalog.db-journal", "turns.lock"};
  return std::ranges::all_of(kStoreParts, [&](std::string_view part) { return removeFile(store / part); });
}

}  // namespace

void NewStore::watch(const std::string& location) {
  if (location.empty() || isPostgresLocation(location)) return;
  std::error_code error;
  Place place{.folder = fs::absolute(location, error).lexically_normal(), .missing = {}};
  if (!place.folder.has_filename()) place.folder = place.folder.parent_path();
  if (error || fs::exists(place.folder / kFirstFolder, error) || error) return;
  for (fs::path each = place.folder; !fs::exists(each, error) && !error && each.has_relative_path();
       each = each.parent_path()) {
    place.missing.push_back(each);
  }
  places_.push_back(std::move(place));
}

void NewStore::removeEmpty() {
  for (const Place& place : std::exchange(places_, {})) {
    // Another process that has the store open may be about to store something.
    const auto lock = FolderLock::tryExclusive(place.folder.string());
    if (lock && removeStoreFiles(place.folder)) (void)std::ranges::all_of(place.missing, removeFile);
  }
}

}  // namespace bough::cli
