#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "base/json/json_write.h"
#include "base/text/counted.h"
#include "base/try.h"
#include "base/user_folders.h"
#include "bough/transcript.h"
#include "cli/commands/commands.h"
#include "cli/names/agents_view.h"
#include "cli/names/foreign.h"
#include "cli/names/session_file.h"
#include "cli/names/session_name.h"
#include "cli/names/session_titles.h"
#include "cli/terminal/output.h"
#include "cli/terminal/wrapped_text.h"
#include "cli/views/transcript_file.h"

namespace bough::cli::repair_command {
namespace {

struct Options {
  std::string session;
  bool removeUnused = false;
  bool detach = false;
  std::string output;
};

void print(SessionStore& store, const RepairReport& report, bool json) {
  if (json) {
    json::Writer writer;
    writer.beginObject().member("schema", 1).member("sessionId", report.sessionId);
    writer.member("tornBytes", report.tornBytes).member("damagedLines", report.damagedLines);
    writer.member("indexRebuilt", report.indexRebuilt).list("removedFiles", report.removedFiles);
    writer.list("otherCopies", report.otherCopies).member("appendable", !report.refusal).endObject();
    return printJsonLine(writer.text());
  }
  if (report.tornBytes > 0) {
    printWrapped(fmt::format("moved {} to {}.torn", counted(report.tornBytes, "torn byte"), report.sessionId));
  }
  if (!report.removedFiles.empty()) printWrapped(fmt::format("removed {}", fmt::join(report.removedFiles, ", ")));
  for (const std::string& path : report.otherCopies) {
    printWrapped(
        fmt::format("{} stays: it is not read, and its content differs from {}; decide which file is right and move "
                    "the other one out of the store",
                    path, report.path));
  }
  if (report.damagedLines > 0) {
    const bool isOne = report.damagedLines == 1;
    printWrapped(fmt::format("{} in the log and {} skipped; `bough verify {}` lists {}",
                             counted(report.damagedLines, "damaged part stays", "damaged parts stay"),
                             isOne ? "is" : "are", exactName(report.sessionId), isOne ? "it" : "them"));
  }
  if (!report.refusal) printWrapped(fmt::format("{} is ready to read and append", idAndTitle(store, report.sessionId)));
}

Result<ExitCode> removeUnused(const Context& context, SessionStore& store) {
  BOUGH_TRY(auto unused, store.findUnusedAttachments());
  auto removed = store.removeUnusedAttachments(unused);
  if (!removed) return std::unexpected(removed.error());
  if (context.json) {
    printJsonLine(fmt::format(R"({{"schema":1,"removedAttachments":{}}})", *removed));
  } else {
    printWrapped(fmt::format("removed {} that no entry names", counted(*removed, "attachment")));
  }
  return kDone;
}

// The content of a transcript, for writing it; a large one is read into a temporary folder.
struct ReadTranscript {
  std::vector<Entry> entries;
  NamedSession copy;
  TranscriptReport report;

  [[nodiscard]] Result<TranscriptSource> source() const {
    if (!copy.store) return TranscriptSource(entries);
    return TranscriptSource::open(*copy.store, copy.sessionId);
  }
};

Result<ReadTranscript> readTranscriptContent(const std::string& path) {
  ReadTranscript read;
  if (isLargeTranscript(path)) {
    auto copy = openTranscript(path, read.report);
    // A file that continues another file cannot be imported alone.
    if (!copy && copy.error().code != ErrorCode::NotFound) return std::unexpected(std::move(copy.error()));
    if (copy) {
      read.copy = std::move(*copy);
      return read;
    }
  }
  BOUGH_TRY(read.report, readTranscript(path, {}, [&](Entry&& entry) {
              read.entries.push_back(std::move(entry));
              return Result<void>();
            }));
  return read;
}

// Writes a clean copy of another agent's file; the original stays as it is.
Result<ExitCode> repairTranscript(const Context& context, const Options& options, const std::string& agent) {
  if (options.output.empty()) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("{} is a transcript of {}, which is only read", options.session, agent),
                "--out FILE writes a clean copy");
  }
  if (options.output == "-") {
    return fail(ErrorCode::InvalidArgument, "a clean copy is not written to standard output", "name a file with --out");
  }
  BOUGH_TRY(const auto read, readTranscriptContent(options.session));
  BOUGH_TRY(const auto source, read.source());
  const TranscriptReport& report = read.report;
  BOUGH_TRY(const std::string output, withHome(options.output));
  BOUGH_TRY(const auto file, NewFile::make(output));
  BOUGH_TRY(const auto written,
            writeTranscript(source, {.agent = agent, .facts = report.facts, .headId = report.headId, .clean = true},
                            [&](std::string_view piece) { return file->add(piece); }));
  BOUGH_TRY(file->save());
  if (context.json) {
    json::Writer writer;
    writer.beginObject().member("schema", 1).member("agent", agent).member("file", options.output);
    writer.member("messages", report.messages).member("entries", written.entries);
    writer.member("recovered", report.recovered).member("unreadable", report.unreadable);
    printJsonLine(writer.member("leftOut", written.leftOut).endObject().text());
    return kDone;
  }
  printWrapped(fmt::format("{}: {}; {} read, {} could not be", options.output, counted(report.messages, "message"),
                           counted(report.recovered, "damaged place was", "damaged places were"), report.unreadable));
  if (written.leftOut > 0) {
    printMessage(fmt::format("{} not in the copy: the format of {} has no place for what is left of it",
                             counted(written.leftOut, "message is", "messages are"), agent));
  }
  return kDone;
}

// Replaces the session's name by the path of the agent's file that it means.
Result<Options> withFile(const Context& context, const Options& options, const Error& why) {
  BOUGH_TRY(const auto files, filesOfName(context, options.session));
  std::error_code error;
  if (files.empty() && isSessionPath(options.session) && !std::filesystem::exists(options.session, error)) {
    return fail(ErrorCode::NotFound, fmt::format("there is no file {}", options.session),
                "`bough ls --agents` lists the sessions of other agents");
  }
  if (files.empty() && (options.session.empty() || !std::filesystem::exists(options.session, error))) {
    return fail(ErrorCode::InvalidArgument, "--out writes a clean copy of another agent's file, and none was named",
                "bough repair FILE --out COPY; a session in the store is repaired in place, without --out");
  }
  // It is a file, but of no known agent.
  if (files.empty()) return std::unexpected(why);
  if (files.size() > 1) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("{} is in several files:\n  {}", options.session, fmt::join(files, "\n  ")),
                "name one of them");
  }
  Options named = options;
  named.session = files.front();
  return named;
}

Result<ExitCode> run(const Context& context, const Options& options) {
  const auto agent = agentOfFile(options.session);
  if (agent) return repairTranscript(context, options, *agent);
  if (!options.output.empty()) {
    BOUGH_TRY(const Options named, withFile(context, options, agent.error()));
    return run(context, named);
  }
  BOUGH_TRY(auto store, openStoreWith(context, {options.session}));
  if (options.removeUnused) return removeUnused(context, *store);
  if (options.session.empty()) {
    return fail(ErrorCode::InvalidArgument, "no session was named", "`bough verify` finds the ones that need it");
  }
  BOUGH_TRY(auto session, resolveSessionToChange(*store, options.session, !context.json));
  if (options.detach) {
    BOUGH_TRY(store->maintenance().detachRest(session));
  }
  BOUGH_TRY(auto report, store->repairSession(session));
  print(*store, report, context.json);
  if (report.refusal) return std::unexpected(*report.refusal);
  return report.damagedLines > 0 || !report.otherCopies.empty() ? kProblem : kDone;
}

}  // namespace

Command define() {
  auto options = std::make_shared<Options>();
  return {
      .name = "repair",
      .summary = "Repair a session after a crash; loses nothing",
      .details =
          "Moves torn bytes at the end of the log to <session>.torn, removes what interrupted work left, and "
          "rebuilds the index. Damaged lines in the middle are never removed: they stay and are skipped.\n"
          "The file of another agent is only read: --out writes a clean copy of it.",
      .examples =
          "  bough repair SESSION\n"
          "  bough repair --unused-attachments\n"
          "  bough repair ~/.pi/agent/sessions/demo/ID.jsonl --out clean.jsonl",
      .options = {{.name = "SESSION", .help = kExactSessionHelp, .target = &options->session},
                  {.name = "--detach",
                   .help =
                       "Turn a fork whose parent is lost into an independent session with the entries that are left",
                   .target = &options->detach},
                  {.name = "--out",
                   .help = "Where to write the clean copy of another agent's file",
                   .target = &options->output,
                   .value = "FILE"},
                  {.name = "--unused-attachments",
                   .help = "Repair nothing; remove attachments that no entry uses",
                   .target = &options->removeUnused,
                   .conflictsWith = {"SESSION", "--detach", "--out"}}},
      .run = [options](const Context& context) { return run(context, *options); },
  };
}

}  // namespace bough::cli::repair_command
