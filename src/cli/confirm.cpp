#include "cli/confirm.h"

#include <fmt/format.h>

#include "base/text.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/terminal.h"

namespace bough::cli {

Result<bool> confirm(const std::string& question) {
  if (!stdinIsTerminal()) {
    return fail(ErrorCode::InvalidArgument, fmt::format("{} There is no terminal to ask on", question),
                "--yes says so beforehand");
  }
  printMessage(text::printable(question) + " [y/N]");
  Input input;
  auto answer = input.nextLine();
  if (!answer) return std::unexpected(answer.error());
  const std::string_view text = *answer ? (*answer)->text : "";
  return text == "y" || text == "Y" || text == "yes";
}

}  // namespace bough::cli
