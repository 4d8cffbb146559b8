// The properties of the terminal (width, colors), a pager and a progress bar. Without a terminal, none of these is
// shown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace bough::cli {

/// Returns true when stdout is a terminal, also while a Pager shows the output on one.
bool stdoutIsTerminal();
bool stdinIsTerminal();
/// Returns the number of columns: $COLUMNS, otherwise the terminal's width, otherwise 80.
std::size_t terminalWidth();

enum class Style : std::uint8_t { Bold, Dim, Red, Green, Yellow, Magenta, Cyan, Italic, Underline, Strike };

/// Chooses when to use colors. `always` and `never` override everything. `auto` uses colors on a terminal unless
/// NO_COLOR is set or CLICOLOR is 0, and elsewhere when CLICOLOR_FORCE is set and not 0.
void useColors(std::string_view when);

bool colorsAreUsed();

/// Returns `text` in a style when colors are used, otherwise `text` itself.
std::string styled(Style style, std::string_view text);

/// While this object lives and stdout is a terminal, output goes through $PAGER. The default is `less -FRX`, which
/// leaves short texts on the screen; another less gets these flags by $LESS unless that is set. An empty PAGER or `cat`
/// means no pager. If the pager cannot start, the text goes directly to the terminal.
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
  int status_ = -1;   ///< The pager's exit status; -1 while it runs.
  std::string copy_;  ///< The first output, in case the pager cannot start.
};

/// A progress bar on stderr, if that is a terminal. Redrawn about ten times a second; erased when the work is done.
class Progress {
 public:
  /// With a `total` of 0, the total is unknown and only the count is shown.
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
