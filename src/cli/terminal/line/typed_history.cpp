#include "cli/terminal/line/typed_history.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <histedit.h>
#include <langinfo.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <clocale>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "base/try.h"
#include "cli/terminal/output_file.h"

namespace bough::cli {
namespace {

constexpr int kMostLines = 2'000;
constexpr std::size_t kMoreInFile = 200;  // when the file exceeds the limit by more than this, it is rewritten
constexpr std::string_view kFirstLine = "_HiStOrY_V2_\n";

History* newHistory(int mostLines) {
  History* const lines = history_init();
  if (lines == nullptr) throw std::bad_alloc();
  HistEvent event{};
  ::history(lines, &event, H_SETSIZE, mostLines);
  return lines;
}

using Lines = std::unique_ptr<History, decltype(&history_end)>;

Lines newLines() {
  return {newHistory(INT_MAX), &history_end};
}

// libedit writes only to files with a descriptor.
Result<std::string> textOf(History* lines) {
  const int memory = ::memfd_create("typed", MFD_CLOEXEC);
  std::FILE* const file = memory < 0 ? nullptr : ::fdopen(memory, "w+");
  if (file == nullptr) {
    const int problem = errno;
    if (memory >= 0) ::close(memory);
    return fail(ErrorCode::Io, fmt::format("the typed lines cannot be written: {}", std::strerror(problem)));
  }
  HistEvent event{};
  const bool saved = ::history(lines, &event, H_SAVE_FP, file) >= 0 && std::fflush(file) == 0;
  std::string text;
  std::rewind(file);
  char piece[4096];
  for (std::size_t got = 0; saved && (got = std::fread(piece, 1, sizeof piece, file)) > 0;) text.append(piece, got);
  const bool isWhole = saved && std::ferror(file) == 0;
  (void)std::fclose(file);
  if (!isWhole) return fail(ErrorCode::Io, "the typed lines cannot be written");
  return text;
}

// Locks the file for adding to it or replacing it. Makes sure that the lock belongs to the file that has the name at
// that moment.
class LockedFile {
 public:
  LockedFile(const std::string& path, int flags) {
    for (;;) {
      file_ = ::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, 0600);
      if (file_ < 0 || !lock()) return;
      struct stat named{};
      struct stat opened{};
      if (::lstat(path.c_str(), &named) == 0 && ::fstat(file_, &opened) == 0 && named.st_ino == opened.st_ino &&
          named.st_dev == opened.st_dev) {
        return;
      }
      close();
    }
  }
  ~LockedFile() { close(); }
  LockedFile(const LockedFile&) = delete;
  LockedFile& operator=(const LockedFile&) = delete;

  /// Returns -1, with errno set, when the file could not be opened.
  [[nodiscard]] int descriptor() const { return file_; }

 private:
  bool lock() {
    while (::flock(file_, LOCK_EX) != 0) {
      if (errno == EINTR) continue;
      const int problem = errno;
      close();
      errno = problem;
      return false;
    }
    return true;
  }
  void close() {
    if (file_ < 0) return;
    (void)::flock(file_, LOCK_UN);  // a program that was just started may have it open, too
    ::close(std::exchange(file_, -1));
  }

  int file_ = -1;
};

bool writeAll(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

std::size_t countLines(const std::string& path) {
  std::FILE* const file = std::fopen(path.c_str(), "re");
  if (file == nullptr) return 0;
  std::size_t count = 0;
  char piece[4096];
  for (std::size_t got = 0; (got = std::fread(piece, 1, sizeof piece, file)) > 0;) {
    count += static_cast<std::size_t>(std::count(piece, piece + got, '\n'));
  }
  (void)std::fclose(file);
  return count;
}

bool endsInLineEnd(int file, off_t size) {
  char last = 0;
  return ::pread(file, &last, 1, size - 1) == 1 && last == '\n';
}

}  // namespace

void useUtf8() {
  if (std::setlocale(LC_CTYPE, "") != nullptr && std::strcmp(::nl_langinfo(CODESET), "UTF-8") == 0) return;
  (void)std::setlocale(LC_CTYPE, "C.UTF-8");
}

bool TypedHistory::FileVersion::isSame(const FileVersion& other) const {
  if (!exists || !other.exists) return exists == other.exists;
  return info.st_dev == other.info.st_dev && info.st_ino == other.info.st_ino && info.st_size == other.info.st_size &&
         info.st_mtim.tv_sec == other.info.st_mtim.tv_sec && info.st_mtim.tv_nsec == other.info.st_mtim.tv_nsec;
}

TypedHistory::TypedHistory(std::string path) : path_(std::move(path)), lines_(newHistory(kMostLines)) {
  useUtf8();
  HistEvent event{};
  ::history(lines_, &event, H_SETUNIQUE, 1);
  refresh();
}

TypedHistory::~TypedHistory() {
  history_end(lines_);
}

TypedHistory::FileVersion TypedHistory::versionNow() const {
  FileVersion now;
  now.exists = ::stat(path_.c_str(), &now.info) == 0;
  return now;
}

void TypedHistory::refresh() {
  if (!path_.empty()) refreshTo(versionNow());
}

void TypedHistory::refreshTo(const FileVersion& now) {
  if (now.isSame(seen_)) return;
  seen_ = now;
  HistEvent event{};
  ::history(lines_, &event, H_CLEAR);
  isHistory_ = now.exists && ::history(lines_, &event, H_LOAD, path_.c_str()) >= 0;
  linesInFile_ = countLines(path_);
}

std::optional<std::string> TypedHistory::at(std::size_t number) const {
  HistEvent event{};
  int found = number == 0 ? -1 : ::history(lines_, &event, H_FIRST);
  for (; found >= 0 && number > 1; --number) found = ::history(lines_, &event, H_NEXT);
  return found < 0 ? std::nullopt : std::optional<std::string>(event.str);
}

std::optional<std::size_t> TypedHistory::numberOf(const std::string& line) const {
  HistEvent event{};
  std::size_t number = 1;
  for (int found = ::history(lines_, &event, H_FIRST); found >= 0; found = ::history(lines_, &event, H_NEXT)) {
    if (line == event.str) return number;
    ++number;
  }
  return std::nullopt;
}

// Returns false when the line is already the newest one.
bool TypedHistory::enter(const std::string& line) const {
  HistEvent event{};
  if (::history(lines_, &event, H_FIRST) >= 0 && line == event.str) return false;
  return ::history(lines_, &event, H_ENTER, line.c_str()) >= 0;
}

void TypedHistory::add(const std::string& line) {
  if (path_.empty()) return (void)enter(line);
  const LockedFile file(path_, O_CREAT | O_RDWR | O_APPEND);
  if (file.descriptor() < 0) return (void)enter(line);
  refresh();
  if (!enter(line)) return;
  append(file.descriptor(), line);
  seen_ = versionNow();
}

void TypedHistory::append(int file, const std::string& line) {
  HistEvent event{};
  const bool isWhole = isHistory_ && endsInLineEnd(file, seen_.info.st_size);
  if (!isWhole || linesInFile_ > kMostLines + kMoreInFile) {
    const auto all = textOf(lines_);
    if (!all || !writeOutputFile(path_, *all, Existing::Replaced)) return;
    isHistory_ = true;
    linesInFile_ = countLines(path_);
    return;
  }
  const Lines one = newLines();
  ::history(one.get(), &event, H_ENTER, line.c_str());
  const auto text = textOf(one.get());
  if (text && writeAll(file, std::string_view(*text).substr(kFirstLine.size()))) ++linesInFile_;
}

Result<std::size_t> forgetTypedLines(const std::string& path, const std::function<bool(std::string_view)>& isGone) {
  const LockedFile file(path, O_RDONLY);
  if (file.descriptor() < 0) {
    if (errno == ENOENT) return 0;
    return fail(ErrorCode::Io, fmt::format("cannot open {}: {}", path, std::strerror(errno)),
                "remove it if it holds what is to be erased");
  }
  useUtf8();
  const Lines all = newLines();
  const Lines kept = newLines();
  HistEvent event{};
  if (::history(all.get(), &event, H_LOAD, path.c_str()) < 0) {
    return fail(ErrorCode::Io, fmt::format("cannot read {}", path), "remove it if it holds what is to be erased");
  }
  std::size_t gone = 0;
  for (int at = ::history(all.get(), &event, H_LAST); at >= 0; at = ::history(all.get(), &event, H_PREV)) {
    HistEvent entered{};
    if (isGone(event.str)) {
      ++gone;
    } else {
      ::history(kept.get(), &entered, H_ENTER, event.str);
    }
  }
  if (gone == 0) return 0;
  BOUGH_TRY(const auto text, textOf(kept.get()));
  BOUGH_TRY(writeOutputFile(path, text, Existing::Replaced));
  return gone;
}

}  // namespace bough::cli
