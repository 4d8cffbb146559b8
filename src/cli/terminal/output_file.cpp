#include "cli/terminal/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/system/environment.h"
#include "base/system/file_io.h"
#include "base/try.h"
#include "cli/terminal/confirm.h"
#include "cli/terminal/terminal.h"

namespace bough::cli {
namespace {

bool writeWhole(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = ::write(file, text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(put));
  }
  return ::fsync(file) == 0 || errno == EINVAL;
}

// Gives the file its name. False and errno when it cannot: EEXIST when the name is taken and must not be replaced.
bool moveTo(const std::string& temporary, const std::string& path, Existing existing) {
  if (existing == Existing::Replaced) return std::rename(temporary.c_str(), path.c_str()) == 0;
  if (::renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) == 0) return true;
  if (errno != EINVAL && errno != ENOSYS) return false;
  // The file system does not know that; a second name is refused in the same way.
  return ::link(temporary.c_str(), path.c_str()) == 0 && ::unlink(temporary.c_str()) == 0;
}

}  // namespace

Result<Existing> checkOutputFile(const std::string& path, bool replace, std::string_view hint) {
  struct stat known{};
  if (replace) return Existing::Replaced;
  if (::lstat(path.c_str(), &known) != 0) return Existing::Refused;
  if (stdinIsTerminal()) {
    BOUGH_TRY(const bool sure, confirm(fmt::format("{} exists. Replace it?", path)));
    if (sure) return Existing::Replaced;
    return fail(ErrorCode::InvalidArgument, fmt::format("{} was not replaced", path), "name another file");
  }
  return fail(ErrorCode::InvalidArgument, fmt::format("{} exists already", path), std::string(hint));
}

Result<void> writeOutputFile(const std::string& path, std::string_view text, Existing existing) {
  const std::string temporary = temporaryName(path, systemEnvironment().random.next());
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  const bool written = file >= 0 && writeWhole(file, text);
  int problem = written ? 0 : errno;
  if (file >= 0) ::close(file);
  if (written && moveTo(temporary, path, existing)) return {};
  if (problem == 0) problem = errno;
  if (file >= 0) ::unlink(temporary.c_str());
  if (written && problem == EEXIST) {
    return fail(ErrorCode::InvalidArgument, fmt::format("{} was made by somebody else meanwhile", path),
                "name another file");
  }
  return fail(ErrorCode::Io, fmt::format("cannot write {}: {}", path, std::strerror(problem)),
              "check the folder and the free space");
}

}  // namespace bough::cli
