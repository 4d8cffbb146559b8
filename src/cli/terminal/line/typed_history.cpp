#include "cli/terminal/line/typed_history.h"

#include <fmt/format.h>
#include <histedit.h>
#include <langinfo.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <clocale>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "base/try.h"
#include "cli/terminal/output_file.h"

namespace bough::cli {
namespace {

using Lines = std::unique_ptr<History, decltype(&history_end)>;

Lines newLines() {
  Lines lines(history_init(), &history_end);
  if (!lines) throw std::bad_alloc();
  HistEvent event{};
  ::history(lines.get(), &event, H_SETSIZE, INT_MAX);
  return lines;
}

// libedit writes to files with a descriptor only.
Result<std::string> textOf(const Lines& lines) {
  const int memory = ::memfd_create("typed", MFD_CLOEXEC);
  std::FILE* const file = memory < 0 ? nullptr : ::fdopen(memory, "w+");
  if (file == nullptr) {
    const int problem = errno;
    if (memory >= 0) ::close(memory);
    return fail(ErrorCode::Io, fmt::format("the typed lines cannot be written: {}", std::strerror(problem)));
  }
  HistEvent event{};
  const bool saved = ::history(lines.get(), &event, H_SAVE_FP, file) >= 0 && std::fflush(file) == 0;
  std::string text;
  std::rewind(file);
  char piece[4096];
  for (std::size_t got = 0; saved && (got = std::fread(piece, 1, sizeof piece, file)) > 0;) text.append(piece, got);
  const bool isWhole = saved && std::ferror(file) == 0;
  (void)std::fclose(file);
  if (!isWhole) return fail(ErrorCode::Io, "the typed lines cannot be written");
  return text;
}

}  // namespace

void useUtf8() {
  if (std::setlocale(LC_CTYPE, "") != nullptr && std::strcmp(::nl_langinfo(CODESET), "UTF-8") == 0) return;
  (void)std::setlocale(LC_CTYPE, "C.UTF-8");
}

Result<std::size_t> forgetTypedLines(const std::string& path, const std::function<bool(std::string_view)>& isGone) {
  if (::access(path.c_str(), F_OK) != 0 && errno == ENOENT) return 0;
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
  BOUGH_TRY(const auto text, textOf(kept));
  BOUGH_TRY(writeOutputFile(path, text, Existing::Replaced));
  return gone;
}

}  // namespace bough::cli
