#include <fmt/format.h>

#include <filesystem>

#include "base/system/named_file.h"
#include "base/text/counted.h"
#include "base/text/text.h"
#include "base/try.h"
#include "base/user_folders.h"
#include "bough/convert.h"
#include "cli/commands/commands.h"
#include "cli/terminal/input.h"
#include "cli/terminal/output.h"
#include "cli/terminal/output_file.h"
#include "cli/views/compatibility_text.h"

namespace bough::cli::convert_command {
namespace {

struct Options {
  std::string input;
  std::string output;
  std::string from;
  std::string to;
  bool force = false;
};

constexpr std::uint64_t kMaxBytes = std::uint64_t{2} << 30;

Result<std::string> readDocument(const std::string& path) {
  const bool isInput = path == "-";
  auto text = isInput ? Input(kMaxBytes).rest() : readNamedFile(path, kMaxBytes);
  if (!text && !isInput) text.error().hint = "name a file of at most 2 GiB, or - for standard input";
  if (text && isBlank(*text)) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("{} is empty: there is nothing to convert", isInput ? "standard input" : path),
                "give a list of messages, or the body of a request, as JSON");
  }
  return text;
}

// Reads the side data that an earlier conversion wrote next to the input.
Result<std::string> readWayBack(const std::string& path) {
  auto text = readNamedFile(path, kMaxBytes);
  if (text && isBlank(*text)) text = fail(ErrorCode::InvalidArgument, fmt::format("{} is empty", path));
  if (!text) text.error().hint = "put it back as it was written, or remove it: then the input is converted as it is";
  return text;
}

// Returns the settings that only the way back restores: "model, metadata".
std::string settingsLeft(const CompatibilityReport& report) {
  std::string names;
  for (const Finding& finding : report.findings) {
    if (finding.change != Change::Carried || finding.field != "settings") continue;
    names += (names.empty() ? "" : ", ") + text::printable(finding.path);
  }
  return names;
}

// Prints a summary for people: how much was restored, what the target cannot hold, what was wrong.
void printReport(const CompatibilityReport& report, const Options& options, bool keptWayBack) {
  printMessage(fmt::format(
      "{}, {} to {}: {}{}", counted(report.messages, "message"), options.from, options.to, lossText(report, options.to),
      report.restored > 0 ? fmt::format("; {} original bytes", counted(report.restored, "has its", "have their"))
                          : ""));
  printLosses(report);
  const std::string settings = settingsLeft(report);
  if (!settings.empty()) printMessage(fmt::format("  settings that the target does not have: {}", settings));
  if (!report.lossyFields.empty() || !settings.empty()) {
    printMessage(
        keptWayBack
            ? fmt::format("  → {}.origin keeps all of it; keep that file beside the output for the exact way back",
                          options.output)
            : "  → -o OUT also writes OUT.origin, which keeps the rest for the exact way back");
  }
}

Result<ExitCode> run(const Context& context, Options options) {
  if (options.output == "-") options.output.clear();  // standard output, as without the option
  BOUGH_TRY(options.output, withHome(options.output));
  if (options.force && options.output.empty()) {
    return fail(ErrorCode::InvalidArgument, "--force needs a file to replace", "name it with -o OUT");
  }
  BOUGH_TRY(auto from, parseDialect(options.from));
  BOUGH_TRY(auto to, parseDialect(options.to));
  Existing existing = Existing::Refused;
  Existing existingWayBack = Existing::Refused;
  if (!options.output.empty()) {
    BOUGH_TRY(existing, checkOutputFile(options.output, options.force));
    BOUGH_TRY(existingWayBack, checkOutputFile(options.output + ".origin", options.force));
  }
  auto document = readDocument(options.input);
  if (!document) return refuseData(document.error(), context.json);
  WayBack wayBack;
  std::error_code status;
  const bool hasWayBack = options.input != "-" && std::filesystem::exists(options.input + ".origin", status);
  if (hasWayBack) {
    auto text = readWayBack(options.input + ".origin");
    if (!text) return refuseData(text.error(), context.json);
    wayBack.json = std::move(*text);
  }
  auto converted = convertHistory(*document, from, to, {.strict = context.strict}, hasWayBack ? &wayBack : nullptr);
  if (!converted) return refuseData(converted.error(), context.json);
  if (options.output.empty()) {
    printJsonLine(converted->document);
  } else {
    // Write the side data first: a document without it would look like one that needs none.
    BOUGH_TRY(writeOutputFile(options.output + ".origin", converted->wayBack.json, existingWayBack));
    if (const auto written = writeOutputFile(options.output, converted->document, existing); !written) {
      // Without its document, the side data could be mistaken for that of another document.
      if (existingWayBack == Existing::Refused) std::filesystem::remove(options.output + ".origin", status);
      return std::unexpected(written.error());
    }
    if (context.json) printJsonLine(converted->report.toJson());
  }
  if (!context.json) printReport(converted->report, options, !options.output.empty());
  for (const Finding& finding : converted->report.findings) {
    if (finding.change == Change::Invalid) return kProblem;
  }
  return kDone;
}

}  // namespace

Command define() {
  auto options = std::make_shared<Options>();
  const std::vector<std::string> dialects = {"anthropic", "openai-chat", "openai-responses", "gemini", "bough"};
  std::vector<std::string> sources = dialects;
  sources.emplace_back("plain");
  return {
      .name = "convert",
      .summary = "Convert a history or a request between providers; the way back is exact",
      .details =
          "Reads a list of messages, or a request body with system prompt, tools and settings. What the target "
          "cannot hold is written to OUT.origin. If a file IN.origin exists, it is used, and every message that "
          "was not edited comes back byte for byte.",
      .examples =
          "  bough convert history.json --from anthropic --to gemini -o for-gemini.json\n"
          "  bough convert for-gemini.json --from gemini --to anthropic -o back.json",
      .options =
          {{.name = "IN", .help = "A JSON file, or - for standard input", .target = &options->input, .required = true},
           {.name = "--from",
            .help = "The dialect of the input",
            .target = &options->from,
            .required = true,
            .choices = sources},
           {.name = "--to",
            .help = "The dialect to write",
            .target = &options->to,
            .required = true,
            .choices = dialects},
           {.name = "-o,--out,--output",
            .help = "Where to write; default: standard output",
            .target = &options->output},
           {.name = "--force", .help = "Replace OUT and OUT.origin if they exist", .target = &options->force}},
      .run = [options](const Context& context) { return run(context, *options); },
  };
}

}  // namespace bough::cli::convert_command
