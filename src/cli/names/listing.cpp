#include "cli/names/listing.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "base/system/environment.h"
#include "base/system/file_io.h"
#include "base/text/counted.h"
#include "base/try.h"

namespace bough::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostListed = 1'000;
constexpr auto kForgotten = std::chrono::hours(24 * 7);

// The lists of stores in memory; lost when this process ends.
std::map<std::string, std::vector<std::string>>& listsInMemory() {
  static std::map<std::string, std::vector<std::string>> lists;
  return lists;
}

// Identifies the terminal together with its session of processes, because a terminal opened later may get the same
// device.
std::string terminalKey() {
  std::ifstream file("/proc/self/stat");
  std::string text;
  std::getline(file, text);
  // The second field is the program's name in parentheses, which may contain anything.
  std::istringstream rest(text.substr(std::min(text.rfind(')') + 1, text.size())));
  std::string state;
  long parent = 0;
  long group = 0;
  long session = 0;
  long terminal = 0;
  rest >> state >> parent >> group >> session >> terminal;
  return fmt::format("{}-{}", terminal, session);
}

std::unexpected<Error> cannotKeep(const std::string& path) {
  return fail(ErrorCode::Io, fmt::format("{} cannot be written: {}", path, std::strerror(errno)));
}

Result<void> write(const std::string& path, const std::string& text) {
  const std::string temporary = temporaryName(path, systemEnvironment().random.next());
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return cannotKeep(temporary);
  const bool whole = ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  ::close(file);
  if (whole && ::rename(temporary.c_str(), path.c_str()) == 0) return {};
  auto failed = cannotKeep(path);
  ::unlink(temporary.c_str());
  return failed;
}

// Returns true when the file holds this text and is too recent to expire soon. Replacing a file costs the disk more
// than everything else that a list does.
bool isKept(const std::string& path, const std::string& text) {
  constexpr std::time_t kYoungSeconds = 24 * 3600;
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode) || info.st_size != static_cast<off_t>(text.size()))
    return false;
  if (std::time(nullptr) - info.st_mtime > kYoungSeconds) return false;
  std::ifstream file(path, std::ios::binary);
  std::string kept(text.size(), '\0');
  return file.read(kept.data(), static_cast<std::streamsize>(kept.size())) && kept == text;
}

// Removes lists of terminals that are long gone.
void forgetOld(const fs::path& folder) {
  std::error_code error;
  const auto now = fs::file_time_type::clock::now();
  for (fs::directory_iterator each(folder, error), end; !error && each != end; each.increment(error)) {
    std::error_code ignored;
    const auto written = each->last_write_time(ignored);
    if (!ignored && now - written > kForgotten) fs::remove(each->path(), ignored);
  }
}

}  // namespace

Result<void> rememberListing(SessionStore& store, const std::vector<std::string>& sessionIds) {
  const std::vector<std::string> ids(
      sessionIds.begin(), sessionIds.begin() + static_cast<std::ptrdiff_t>(std::min(kMostListed, sessionIds.size())));
  if (store.folder().empty()) {
    listsInMemory()[terminalKey()] = ids;
    return {};
  }
  const std::string folder = store.folder() + "/listings";
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return cannotKeep(folder);
  std::string lines;
  for (const std::string& id : ids) lines += id + "\n";
  forgetOld(folder);
  const std::string path = folder + "/" + terminalKey();
  return isKept(path, lines) ? Result<void>() : write(path, lines);
}

std::optional<std::size_t> listingNumber(std::string_view name) {
  std::size_t number = 0;
  if (!name.starts_with('@')) return std::nullopt;
  const auto [end, error] = std::from_chars(name.data() + 1, name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return number;
}

Result<std::string> listedSession(SessionStore& store, std::size_t number) {
  if (number == 0) return fail(ErrorCode::InvalidArgument, "@0 names no session", "numbers begin with @1");
  std::vector<std::string> ids;
  if (store.folder().empty()) {
    ids = listsInMemory()[terminalKey()];
  } else {
    std::ifstream file(store.folder() + "/listings/" + terminalKey());
    for (std::string line; ids.size() < kMostListed && std::getline(file, line);) ids.push_back(line);
  }
  if (ids.empty()) {
    return fail(ErrorCode::NotFound, fmt::format("@{} names no session: no list was shown on this terminal", number),
                "`bough ls` lists the sessions and numbers them");
  }
  if (number >= 1 && number <= ids.size()) return ids[number - 1];
  return fail(ErrorCode::NotFound,
              fmt::format("the last list has no @{}: it has {}", number, counted(ids.size(), "session")),
              "`bough ls` lists the sessions and numbers them");
}

}  // namespace bough::cli
