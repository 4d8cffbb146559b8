// Writes data to stdout and messages to stderr, and lets through nothing that could take control of the terminal.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "bough/error.h"
#include "cli/terminal/exit_code.h"

namespace bough::cli {

/// Writes to stdout. Drops further text once the reader has closed the pipe; see outputClosed(). On a terminal,
/// replaces DEL, C1 controls and marks that change the writing direction by visible signs, whatever their source.
void printText(std::string_view text);
void printLine(std::string_view line);
/// Writes JSON and a line end. On a terminal, writes characters that the terminal could act on (DEL, C1 controls, marks
/// that change the writing direction) as \uXXXX; elsewhere the JSON stays as it is.
void printJsonLine(std::string_view json);
/// The same for part of a line.
void printJsonPart(std::string_view json);
/// Writes a message for people to stderr, made safe for a terminal.
void printMessage(std::string_view line);
/// Writes our own question, which may contain colors, to stderr.
void printQuestion(std::string_view text);
/// Writes `bough: message` and the hint to stderr, or one JSON object if `json`.
void printError(const Error& error, bool json);
/// The same for an error in data that a command had to read: the exit code says problem, not wrong use.
ExitCode refuseData(const Error& error, bool json);
/// Returns true once the reader of stdout has closed the pipe, as in `bough cat … | head`. This is not an error.
bool outputClosed();
/// Returns why stdout could not be written, if there was another reason, such as a full disk.
std::optional<Error> outputFailure();
/// Copies what goes to stdout into `copy` until that is full. Calls `recover` when the reader has closed the pipe;
/// `recover` returns true when stdout is writable again. Used for a pager that cannot start.
void watchOutput(std::string* copy, std::size_t most, std::function<bool()> recover);
void unwatchOutput();
/// Forgets a closed pipe and a failed write, for a process that runs several commands.
void reopenOutput();

/// Shows a line below the output and keeps it there while any thread prints more. For text that the user types while a
/// model answers. The line must fit into one row of the terminal.
void showFooter(std::string_view line);
/// Hides the footer; the next output continues where printing was.
void hideFooter();
/// Prints codes that neither show anything nor move the cursor.
void printCodes(std::string_view codes);

/// Collects what would go to stdout while this object lives. Only one may exist at a time.
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

/// Formats 1234567 as "1.2 MB".
std::string formatBytes(std::uint64_t bytes);

}  // namespace bough::cli
