#include "agent/tools/path_walk.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <climits>
#include <deque>

#include "agent/tools/builtin.h"
#include "base/system/file_io.h"
#include "base/try.h"

namespace bough::agent {
namespace {

constexpr int kMaxLinks = 40;  // the limit of Linux

void putFirst(std::deque<std::string>& parts, std::string_view path) {
  std::deque<std::string> front;
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    if (const std::string_view part = path.substr(0, slash); !part.empty() && part != ".") front.emplace_back(part);
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
  }
  parts.insert(parts.begin(), front.begin(), front.end());
}

bool isSameFile(const struct stat& left, const struct stat& right) {
  return left.st_dev == right.st_dev && left.st_ino == right.st_ino;
}

class Walk {
 public:
  Walk(std::string_view path, int mark) : given_(path) {
    hasMark_ = ::fstat(mark, &mark_) == 0;
    putFirst(todo_, path);
  }

  Result<WalkedPath> run() {
    BOUGH_TRY(backToRoot());
    while (!todo_.empty()) {
      const std::string part = std::move(todo_.front());
      todo_.pop_front();
      BOUGH_TRY(const bool goesOn, step(part));
      if (!goesOn) break;
    }
    return end();
  }

 private:
  struct Level {
    std::string name;
    std::shared_ptr<const Descriptor> folder;
    bool isMark = false;
  };

  [[nodiscard]] std::unexpected<Error> failed(int number) const {
    return std::unexpected(fileError(number, "find", given_));
  }

  Result<void> enter(std::string name, Descriptor folder) {
    struct stat info{};
    if (::fstat(folder.get(), &info) != 0) return failed(errno);
    levels_.push_back({.name = std::move(name),
                       .folder = std::make_shared<const Descriptor>(std::move(folder)),
                       .isMark = hasMark_ && isSameFile(info, mark_)});
    return {};
  }

  Result<void> backToRoot() {
    levels_.clear();
    Descriptor root(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!root.isOpen()) return failed(errno);
    return enter("", std::move(root));
  }

  // Processes one part of the path. Returns false when the part does not exist or is not a folder.
  Result<bool> step(const std::string& part) {
    if (part == "..") {
      if (levels_.size() > 1) levels_.pop_back();
      return true;
    }
    const int here = levels_.back().folder->get();
    Descriptor next(::openat(here, part.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (!next.isOpen()) {
      if (errno != ENOENT) return failed(errno);
      return stopAt(part, /*exists=*/false);
    }
    struct stat info{};
    if (::fstat(next.get(), &info) != 0) return failed(errno);
    if (S_ISLNK(info.st_mode)) return follow(next.get());
    if (!S_ISDIR(info.st_mode)) return stopAt(part, /*exists=*/true);
    BOUGH_TRY(enter(part, std::move(next)));
    return true;
  }

  // Reads the link that is open here, because the name may belong to a different link a moment later.
  Result<bool> follow(int link) {
    if (++links_ > kMaxLinks) return failed(ELOOP);
    char target[PATH_MAX];
    const ssize_t length = ::readlinkat(link, "", target, sizeof target);
    if (length < 0) return failed(errno);
    if (length == 0 || length == static_cast<ssize_t>(sizeof target)) return failed(ENAMETOOLONG);
    const std::string_view text(target, static_cast<std::size_t>(length));
    if (text.front() == '/') {
      BOUGH_TRY(backToRoot());
    }
    putFirst(todo_, text);
    return true;
  }

  Result<bool> stopAt(const std::string& part, bool exists) {
    if (exists && !todo_.empty()) return failed(ENOTDIR);
    names_.push_back(part);
    for (std::string& each : todo_) {
      // A folder that does not exist has no parent.
      if (each == "..") return failed(ENOENT);
      names_.push_back(std::move(each));
    }
    return false;
  }

  Result<WalkedPath> end() {
    WalkedPath out;
    for (const Level& level : levels_) {
      if (!level.name.empty()) out.path += "/" + level.name;
      out.passedMark = out.passedMark || level.isMark;
    }
    for (const std::string& name : names_) out.path += "/" + name;
    if (out.path.empty()) out.path = "/";
    out.folder = levels_.back().folder;
    out.names = std::move(names_);
    return out;
  }

  std::string given_;
  struct stat mark_{};
  bool hasMark_ = false;
  std::deque<std::string> todo_;
  std::vector<Level> levels_;
  std::vector<std::string> names_;
  int links_ = 0;
};

}  // namespace

Result<WalkedPath> walkPath(std::string_view absolutePath, int mark) {
  return Walk(absolutePath, mark).run();
}

}  // namespace bough::agent
