#include "cli/views/compatibility_text.h"

#include <fmt/format.h>

#include <set>
#include <string>
#include <string_view>

#include "base/text/counted.h"
#include "base/text/text.h"
#include "cli/terminal/output.h"

namespace bough::cli {

namespace {

// Prints each renamed tool once, however often it was called.
void printRenamedTools(const CompatibilityReport& report) {
  std::set<std::string_view> told;
  for (const Finding& finding : report.findings) {
    const bool isTool = finding.change == Change::Renamed && finding.field.ends_with(".name");
    if (isTool && told.insert(finding.reason).second)
      printMessage(fmt::format("  {}", text::printable(finding.reason)));
  }
}

}  // namespace

std::string lossText(const CompatibilityReport& report, const std::string& target) {
  if (report.lossyFields.empty()) return report.compatible ? "nothing is lost" : "not all could be read";
  return fmt::format("{} something that {} cannot hold",
                     report.lossyMessages == 0 ? "the request holds" : counted(report.lossyMessages, "holds", "hold"),
                     target);
}

void printLosses(const CompatibilityReport& report) {
  for (std::size_t i = 0; i < report.lossyFields.size(); ++i) {
    printMessage(fmt::format("  {:>6} × {}", report.lossyCounts[i], text::printable(report.lossyFields[i])));
  }
  for (const std::string& beta : report.betas) {
    printMessage(fmt::format("  needs the header anthropic-beta: {}", text::printable(beta)));
  }
  printRenamedTools(report);
  for (const std::string& warning : report.warnings) printMessage(fmt::format("  {}", text::printable(warning)));
}

void printEntries(const CompatibilityReport& report) {
  for (const Finding& finding : report.findings) {
    printLine(fmt::format("{} {} {}: {}", text::printable(finding.entryId.empty() ? finding.path : finding.entryId),
                          toString(finding.change), text::printable(finding.field), text::printable(finding.reason)));
  }
  for (const SignatureStatus& status : report.signatures) {
    printLine(fmt::format("{} signature {} ({}): {}",
                          text::printable(status.entryId.empty() ? status.path : status.entryId),
                          toString(status.state), toString(status.provider),
                          status.reason.empty() ? "nothing before it changed" : status.reason));
  }
  if (report.findingsDropped > 0) printLine(fmt::format("… and {} more", report.findingsDropped));
}

}  // namespace bough::cli
