// What reaches the terminal: data on stdout, messages on stderr, nothing that could take the terminal over.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "bough/error.h"
#include "cli/terminal/exit_code.h"

namespace bough::cli {

/// Writes to stdout. After the reader has gone away further text is dropped; see outputClosed().
void printText(std::string_view text);
void printLine(std::string_view line);
/// A message for people, on stderr.
void printMessage(std::string_view line);
/// `bough: message` and the hint, or with `json` one object.
void printError(const Error& error, bool json);
/// The same for what is wrong with what a command was given to read: not wrong use, but a problem in the data.
ExitCode refuseData(const Error& error, bool json);
/// Whether the reader of stdout has gone away, as in `bough cat … | head`: no error.
bool outputClosed();
/// Why stdout could not be written to, when that was another reason, as a full disk.
std::optional<Error> outputFailure();
/// Forgets both: for a process that runs several commands.
void reopenOutput();

/// 1234567 as "1.2 MB".
std::string formatBytes(std::uint64_t bytes);

}  // namespace bough::cli
