// The terminal, when there is one: its width, colours, a pager, a progress bar. Without one, none of them shows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace bough::cli {

/// Whether stdout is a terminal. Stays true after a Pager, which shows what it is given on one.
bool stdoutIsTerminal();
bool stdinIsTerminal();
/// Columns: $COLUMNS, else what the terminal says, else 80.
std::size_t terminalWidth();

enum class Style : std::uint8_t { Bold, Dim, Red, Green, Yellow, Magenta, Cyan, Italic, Underline, Strike };

/// `always` or `never` use colors, whatever else holds; `auto`: on a terminal, unless NO_COLOR is set or CLICOLOR is
/// 0, and elsewhere when CLICOLOR_FORCE is set and not 0.
void useColors(std::string_view when);

bool colorsAreUsed();

/// `text` in a style when colors are used; else `text` itself.
std::string styled(Style style, std::string_view text);

/// While it lives, and stdout is a terminal, what is printed goes through $PAGER (default `less -FRX`, which leaves
/// short texts on the screen; another less is told so by $LESS, unless that is set). An empty PAGER or `cat` means
/// none. If the pager cannot start, the text goes to the terminal itself.
class Pager {
 public:
  explicit Pager(bool wanted = true);
  ~Pager();
  Pager(const Pager&) = delete;
  Pager& operator=(const Pager&) = delete;

 private:
  bool recover();
  int wait();

  int process_ = -1;
  int savedStdout_ = -1;
  int status_ = -1;   ///< How the pager ended; -1 while it runs.
  std::string copy_;  ///< What it was given first, in case it cannot start.
};

/// A bar on stderr, drawn when stderr is a terminal, at most some ten times a second; gone when the work is done.
class Progress {
 public:
  /// `total` of 0: unknown, only the count is shown.
  Progress(std::string label, std::uint64_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(std::uint64_t done);
  void setTotal(std::uint64_t total) { total_ = total; }

 private:
  void draw() const;

  std::string label_;
  std::uint64_t total_;
  std::uint64_t done_ = 0;
  std::int64_t drawnMs_ = 0;
  bool shown_ = false;
};

}  // namespace bough::cli
