// What reaches the terminal: data on stdout, messages on stderr, nothing that could take the terminal over.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "bough/error.h"
#include "cli/terminal/exit_code.h"

namespace bough::cli {

/// Writes to stdout. After the reader has gone away further text is dropped; see outputClosed(). On a terminal DEL, C1
/// controls and marks that turn the direction of writing are replaced by visible signs, wherever they came from.
void printText(std::string_view text);
void printLine(std::string_view line);
/// JSON, and the end of its line. On a terminal what a terminal could act on (DEL, C1 controls, marks that turn the
/// direction of writing) is written as \uXXXX; elsewhere nothing changes.
void printJsonLine(std::string_view json);
/// The same for a part of a line.
void printJsonPart(std::string_view json);
/// A message for people, on stderr, made safe for a terminal.
void printMessage(std::string_view line);
/// A question of our own that may hold colors, on stderr.
void printQuestion(std::string_view text);
/// `bough: message` and the hint, or with `json` one object.
void printError(const Error& error, bool json);
/// The same for what is wrong with what a command was given to read: not wrong use, but a problem in the data.
ExitCode refuseData(const Error& error, bool json);
/// Whether the reader of stdout has gone away, as in `bough cat … | head`: no error.
bool outputClosed();
/// Why stdout could not be written to, when that was another reason, as a full disk.
std::optional<Error> outputFailure();
/// Copies what goes to stdout into `copy` until it is full, and asks `recover` when the reader has gone away: true
/// means that stdout can be written to again. For a pager that cannot start.
void watchOutput(std::string* copy, std::size_t most, std::function<bool()> recover);
void unwatchOutput();
/// Forgets both: for a process that runs several commands.
void reopenOutput();

/// Shows a line below what is printed, and keeps it there while more is printed, in any thread. For what the user types
/// while a model answers. It must fit in a row of the terminal.
void showFooter(std::string_view line);
/// What is printed next goes on where it was.
void hideFooter();
/// Codes that show nothing and move nothing.
void printCodes(std::string_view codes);

/// While it lives, what would go to stdout is kept instead. One at a time.
class OutputCapture {
 public:
  OutputCapture();
  ~OutputCapture();
  OutputCapture(const OutputCapture&) = delete;
  OutputCapture& operator=(const OutputCapture&) = delete;
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// 1234567 as "1.2 MB".
std::string formatBytes(std::uint64_t bytes);

}  // namespace bough::cli
