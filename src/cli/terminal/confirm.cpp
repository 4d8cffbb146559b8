#include "cli/terminal/confirm.h"

#include <fmt/format.h>

#include "base/text/text.h"
#include "base/try.h"
#include "cli/terminal/input.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"

namespace bough::cli {

Result<bool> confirm(const std::string& question) {
  if (!stdinIsTerminal()) {
    return fail(ErrorCode::InvalidArgument, fmt::format("{} Cannot ask for confirmation without a terminal", question),
                "pass --yes");
  }
  printMessage(text::printable(question) + " [y/N]");
  Input input;
  BOUGH_TRY(auto answer, input.nextLine());
  const std::string_view text = answer ? answer->text : "";
  return text == "y" || text == "Y" || text == "yes";
}

}  // namespace bough::cli
