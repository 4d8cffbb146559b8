#include "cli/repl.h"
namespace bough::cli {
Result<ExitCode> runRepl(const Context&, const agent::ChatOptions&, const std::string&, bool) {
  return kDone;
}
}  // namespace bough::cli
