#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/text/counted.h"
#include "base/text/text.h"
#include "base/try.h"
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

Result<std::string> readFile(const std::string& path) {
  constexpr std::uintmax_t kMaxBytes = std::uintmax_t{2} << 30;
  if (path == "-") return Input(kMaxBytes).rest();
  std::error_code status;
  if (!std::filesystem::is_regular_file(path, status)) {
    return fail(ErrorCode::NotFound, fmt::format("{} is not a file", path), "name a file, or - for standard input");
  }
  const std::uintmax_t size = std::filesystem::file_size(path, status);
  if (size > kMaxBytes) {
    return fail(ErrorCode::InvalidArgument, fmt::format("{} is larger than 2 GiB", path), "convert it in parts");
  }
  std::ifstream file(path, std::ios::binary);
  std::string text(size, '\0');
  if (!file.read(text.data(), static_cast<std::streamsize>(size)) && !file.eof()) {
    return fail(ErrorCode::Io, fmt::format("cannot read {}: {}", path, std::strerror(errno)),
                "check the file and its rights");
  }
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

// "model, metadata": the settings that only come back on the way back.
std::string settingsLeft(const CompatibilityReport& report) {
  std::string names;
  for (const Finding& finding : report.findings) {
    if (finding.change != Change::Carried || finding.field != "settings") continue;
    names += (names.empty() ? "" : ", ") + text::printable(finding.path);
  }
  return names;
}

// What a person wants to know: how much came back, what the target cannot hold, what was wrong.
void printReport(const CompatibilityReport& report, const Options& options, bool keptWayBack) {
  printMessage(fmt::format(
      "{}, {} to {}: {}{}", counted(report.messages, "message"), options.from, options.to,
      report.lossyMessages == 0
          ? std::string(report.compatible ? "nothing is lost" : "not all could be read")
          : fmt::format("{} something that {} cannot hold", counted(report.lossyMessages, "holds", "hold"), options.to),
      report.restored > 0 ? fmt::format("; {} original bytes", counted(report.restored, "has its", "have their"))
                          : ""));
  printLosses(report);
  const std::string settings = settingsLeft(report);
  if (!settings.empty()) printMessage(fmt::format("  settings that the target does not have: {}", settings));
  if (report.lossyMessages > 0 || !settings.empty()) {
    printMessage(
        keptWayBack
            ? fmt::format("  → {}.origin keeps all of it; keep that file beside the output for the exact way back",
                          options.output)
            : "  → -o OUT also writes OUT.origin, which keeps the rest for the exact way back");
  }
}

Result<ExitCode> run(const Context& context, const Options& options) {
  BOUGH_TRY(auto from, parseDialect(options.from));
  BOUGH_TRY(auto to, parseDialect(options.to));
  Existing existing = Existing::Refused;
  Existing existingWayBack = Existing::Refused;
  if (!options.output.empty()) {
    BOUGH_TRY(existing, checkOutputFile(options.output, options.force));
    BOUGH_TRY(existingWayBack, checkOutputFile(options.output + ".origin", options.force));
  }
  auto document = readFile(options.input);
  if (!document) return refuseData(document.error(), context.json);
  WayBack wayBack;
  std::error_code status;
  const bool hasWayBack = options.input != "-" && std::filesystem::exists(options.input + ".origin", status);
  if (hasWayBack) {
    auto text = readFile(options.input + ".origin");
    if (!text) return refuseData(text.error(), context.json);
    wayBack.json = std::move(*text);
  }
  auto converted = convertHistory(*document, from, to, {.strict = context.strict}, hasWayBack ? &wayBack : nullptr);
  if (!converted) return refuseData(converted.error(), context.json);
  if (options.output.empty()) {
    printJsonLine(converted->document);
  } else {
    // The side data first: a document without it would be mistaken for one that needs none.
    BOUGH_TRY(writeOutputFile(options.output + ".origin", converted->wayBack.json, existingWayBack));
    if (const auto written = writeOutputFile(options.output, converted->document, existing); !written) {
      // Without its document it would be taken for the way back of another one.
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
           {.name = "-o,--output", .help = "Where to write; default: standard output", .target = &options->output},
           {.name = "--force", .help = "Replace OUT and OUT.origin if they exist", .target = &options->force}},
      .values = options,
      .run = [options](const Context& context) { return run(context, *options); },
  };
}

}  // namespace bough::cli::convert_command
