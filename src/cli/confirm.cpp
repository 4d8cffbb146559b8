#include "cli/confirm.h"

#include <fmt/format.h>

#include <iostream>

#include "base/text.h"
#include "cli/output.h"
#include "cli/terminal.h"

namespace bough::cli {

Result<bool> confirm(const std::string& question) {
  if (!stdinIsTerminal()) {
    return fail(ErrorCode::InvalidArgument, fmt::format("{} There is no terminal to ask on", question),
                "--yes says so beforehand");
  }
  printMessage(text::printable(question) + " [y/N]");
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

}  // namespace bough::cli
