#include <fmt/format.h>

#include "base/json/json_write.h"
#include "base/try.h"
#include "cli/commands/commands.h"
#include "cli/names/entry_name.h"
#include "cli/names/session_name.h"
#include "cli/terminal/output.h"
#include "cli/views/transcript_file.h"

namespace bough::cli {
namespace {

struct Options {
  std::string session;
  std::string agent;
  std::string at;
  std::string output;
  std::vector<std::string> cwdMap;
  bool branchOnly = false;
};

Result<ExitCode> run(const Context& context, const Options& options) {
  BOUGH_TRY(auto session, openForReading(context, options.session));
  TranscriptWish wish{.agent = options.agent, .at = {}, .cwdMap = options.cwdMap, .branchOnly = options.branchOnly};
  if (!options.at.empty()) {
    BOUGH_TRY(wish.at, resolveEntry(*session.store, session.sessionId, options.at));
  }
  BOUGH_TRY(const auto made, makeTranscript(*session.store, session.sessionId, wish));
  if (options.output.empty()) {
    printText(made.bytes);
  } else {
    BOUGH_TRY(writeNewFile(options.output, made.bytes));
  }
  if (context.json && !options.output.empty()) {
    std::string out;
    json::Writer writer(out);
    writer.beginObject().member("schema", std::uint64_t{1}).member("sessionId", session.sessionId);
    writer.member("agent", made.facts.agent).member("agentSessionId", made.facts.sessionId);
    writer.member("file", options.output).member("entries", made.written.entries);
    writer.member("verbatim", made.written.verbatim).member("sameBytes", made.written.sameBytes);
    writer.key("report").raw(made.written.report.toJson()).endObject();
    printLine(out);
  } else if (!context.json) {
    printWritten(made);
  }
  return kDone;
}

}  // namespace

Command exportCommand() {
  auto options = std::make_shared<Options>();
  return {
      .name = "export",
      .summary = "Write a session as the file of another agent",
      .details =
          "What the same agent wrote comes out as the same bytes. Between agents every text, tool call, result and\n"
          "error arrives in order; what the agent's format cannot hold is named. Where the format holds a tree, all\n"
          "branches are written, else the branch of the head.",
      .examples =
          "  bough export SESSION --to pi --out session.jsonl\n"
          "  bough export SESSION --to claw0 --at ENTRY",
      .options = {{.name = "SESSION", .help = kSessionHelp, .target = &options->session, .required = true},
                  {.name = "--to",
                   .help = "The agent",
                   .target = &options->agent,
                   .required = true,
                   .choices = agentChoices(),
                   .value = "AGENT"},
                  {.name = "-o,--out",
                   .help = "A new file; default: standard output",
                   .target = &options->output,
                   .value = "FILE"},
                  {.name = "--at",
                   .help = "The entry the agent continues from; default: the head",
                   .target = &options->at,
                   .value = "ENTRY"},
                  {.name = "--branch-only",
                   .help = "Only the branch of that entry, also where the format holds a tree",
                   .target = &options->branchOnly},
                  cwdMapOption(options->cwdMap)},
      .values = options,
      .run = [options](const Context& context) { return run(context, *options); },
  };
}

}  // namespace bough::cli
