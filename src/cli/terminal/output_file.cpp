#include "cli/terminal/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/system/atomic_file.h"
#include "base/try.h"
#include "cli/terminal/confirm.h"
#include "cli/terminal/terminal.h"

namespace bough::cli {
namespace {

Result<void> cannotWrite(const std::string& path, int problem) {
  return fail(ErrorCode::Io, fmt::format("cannot write {}: {}", path, std::strerror(problem)),
              "check the folder and the free space");
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
  const std::filesystem::path named(path);
  const std::string folder = named.has_parent_path() ? named.parent_path().string() : ".";
  const int opened = ::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) return cannotWrite(path, errno);
  SysResult<void> done;
  {
    auto file = AtomicFile::create(opened, named.filename().string(), 0600);
    done = file ? file->write(text) : std::unexpected(file.error());
    if (done) done = file->sync();
    if (done) done = file->publish(existing == Existing::Replaced ? IfPresent::Replace : IfPresent::Refuse);
    if (done) file->removeLeftovers();
  }
  ::close(opened);
  if (!done && done.error() == EEXIST) {
    return fail(ErrorCode::InvalidArgument, fmt::format("{} was made by somebody else meanwhile", path),
                "name another file");
  }
  return done ? Result<void>() : cannotWrite(path, done.error());
}

}  // namespace bough::cli
