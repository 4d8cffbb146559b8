#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/json/json_write.h"
#include "base/text/counted.h"
#include "base/try.h"
#include "base/user_folders.h"
#include "cli/commands/commands.h"
#include "cli/names/entry_name.h"
#include "cli/names/foreign.h"
#include "cli/names/session_name.h"
#include "cli/terminal/output.h"
#include "cli/views/compatibility_text.h"
#include "cli/views/transcript_file.h"

namespace bough::cli::export_command {
namespace {

struct Options {
  std::string session;
  std::string agent;
  std::string at;
  std::string output;
  std::vector<std::string> cwdMap;
  bool branchOnly = false;
  bool bare = false;
  bool all = false;
};

// Returns how many bytes of a piece of UTF-8 form whole characters.
std::size_t wholeCharacters(std::string_view text) {
  constexpr std::size_t kLongest = 4;
  for (std::size_t back = 1; back < kLongest && back <= text.size(); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if (byte >= 0x80 && byte < 0xC0) continue;
    const std::size_t size = byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : kLongest;
    return size > back ? text.size() - back : text.size();
  }
  return text.size();
}

// The target of an export: a new file, or standard output.
class Output {
 public:
  static Result<Output> open(const std::string& path) {
    Output output;
    if (!path.empty()) {
      BOUGH_TRY(output.file_, NewFile::make(path));
    }
    return output;
  }

  [[nodiscard]] TranscriptSink sink() const {
    return [file = file_.get(), cut = cut_](std::string_view piece) -> Result<void> {
      if (file != nullptr) return file->add(piece);
      *cut += piece;
      const std::string rest = cut->substr(wholeCharacters(*cut));
      cut->resize(cut->size() - rest.size());
      printJsonPart(*cut);
      *cut = rest;
      return {};
    };
  }

  Result<void> save() {
    printJsonPart(*cut_);
    return file_ ? file_->save() : Result<void>();
  }

 private:
  std::unique_ptr<NewFile> file_;
  // The beginning of a character that is not complete yet.
  std::shared_ptr<std::string> cut_ = std::make_shared<std::string>();
};

// Exports for a tool that is not an agent.
Result<ExitCode> exportTrace(const Context& context, const NamedSession& session, const Options& options,
                             const std::string& at) {
  BOUGH_TRY(const auto entries, TranscriptSource::open(*session.store, session.sessionId));
  WriteTraceOptions request{.format = options.agent, .facts = importedFacts(entries), .headId = at, .all = options.all};
  const bool isImported = !request.facts.agent.empty();
  if (!isImported) {
    BOUGH_TRY(request.facts, factsForExport(*session.store, session.sessionId, "", entries));
    request.facts.sessionId = session.sessionId;
  }
  BOUGH_TRY(const auto moves, movesOf(request.facts.cwd, options.cwdMap));
  request.facts.cwd = mapFolder(request.facts.cwd, moves);
  BOUGH_TRY(auto output, Output::open(options.output));
  BOUGH_TRY(const auto report, writeTrace(entries, request, output.sink()));
  BOUGH_TRY(output.save());
  if (context.json && !options.output.empty()) {
    json::Writer writer;
    writer.beginObject().member("schema", 1).member("sessionId", session.sessionId);
    writer.member("format", options.agent).member("file", options.output);
    printJsonLine(writer.key("report").raw(report.toJson()).endObject().text());
  } else if (!context.json && !report.lossyFields.empty()) {
    printMessage(fmt::format("{} has no place for:", options.agent));
    printLosses(report);
  }
  return kDone;
}

// Fails when the path exists. Checked before the first of several files is written.
Result<void> checkNew(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return {};
  return fail(ErrorCode::AlreadyExists, fmt::format("{} exists already", path),
              "nothing is overwritten; name another folder");
}

// Exports all branches into a folder, as files that continue one another.
Result<ExitCode> exportTree(const Context& context, const NamedSession& session, const Options& options,
                            const std::string& at) {
  BOUGH_TRY(const auto entries, TranscriptSource::open(*session.store, session.sessionId));
  BOUGH_TRY(auto facts, factsForExport(*session.store, session.sessionId, options.agent, entries));
  BOUGH_TRY(const auto moves, movesOf(facts.cwd, options.cwdMap));
  facts.cwd = mapFolder(facts.cwd, moves);
  CompatibilityReport report;
  const WriteTranscriptOptions request{
      .agent = options.agent, .facts = std::move(facts), .headId = at, .bare = options.bare};
  std::vector<TranscriptFacts> files;
  std::vector<std::string> paths;
  NewFiles written;
  const auto begin = [&](const std::vector<TranscriptFacts>& all) -> Result<void> {
    if (options.output.empty()) {
      return fail(ErrorCode::InvalidArgument, "--all writes " + counted(all.size(), "file"),
                  "name a folder with --out");
    }
    files = all;
    TranscriptHome anywhere = transcriptHome();
    anywhere.home = "/";  // only the names of the files are needed
    for (const TranscriptFacts& file : files) {
      BOUGH_TRY(const auto place, placeForTranscript(anywhere, file));
      paths.push_back(options.output + place.path.substr(place.path.rfind('/')));
      BOUGH_TRY(checkNew(paths.back()));
    }
    return {};
  };
  const auto add = [&, begun = std::size_t{0}](std::size_t file, std::string_view piece) mutable -> Result<void> {
    while (begun <= file) {
      BOUGH_TRY(written.begin(paths[begun++]));
    }
    return written.add(piece);
  };
  BOUGH_TRY(writeTranscriptTree(entries, request, {.begin = begin, .add = add}, &report));
  BOUGH_TRY(written.save());
  if (!context.json) {
    for (const std::string& path : paths) printLine(path);
    if (!report.lossyFields.empty()) printMessage(fmt::format("the format of {} cannot hold:", options.agent));
    printLosses(report);
    if (!report.lossyFields.empty() && !options.bare) {
      printMessage("all of this is stored in the files, too, and bough reads it back from there");
    }
    return kDone;
  }
  json::Writer writer;
  writer.beginObject().member("schema", 1).member("sessionId", session.sessionId);
  writer.member("agent", options.agent).key("files").beginArray();
  for (std::size_t i = 0; i < files.size(); ++i) {
    writer.beginObject().member("agentSessionId", files[i].sessionId).member("file", paths[i]);
    if (!files[i].parentSession.empty()) writer.member("continues", files[i].parentSession);
    writer.endObject();
  }
  printJsonLine(writer.endArray().key("report").raw(report.toJson()).endObject().text());
  return kDone;
}

Result<ExitCode> run(const Context& context, Options options) {
  if (options.output == "-") options.output.clear();  // standard output, as without the option
  BOUGH_TRY(options.output, withHome(options.output));
  BOUGH_TRY(auto session, openForReading(context, options.session));
  TranscriptRequest request{
      .agent = options.agent, .at = {}, .cwdMap = options.cwdMap, .branchOnly = options.branchOnly};
  request.bare = options.bare;
  if (!options.at.empty()) {
    BOUGH_TRY(request.at, resolveEntry(*session.store, session.sessionId, options.at));
  }
  const auto formats = traceFormats();
  if (std::ranges::find(formats, options.agent) != formats.end()) {
    return exportTrace(context, session, options, request.at);
  }
  if (options.all) {
    auto done = exportTree(context, session, options, request.at);
    if (done || done.error().code != ErrorCode::Unsupported) return done;
    return fail(ErrorCode::InvalidArgument, "--all is for atif, otel, openinference and codex",
                "for agents whose format can hold a tree, all branches are written anyway");
  }
  BOUGH_TRY(auto output, Output::open(options.output));
  BOUGH_TRY(const auto made, writeSessionTranscript(*session.store, session.sessionId, request, output.sink()));
  BOUGH_TRY(output.save());
  if (context.json && !options.output.empty()) {
    json::Writer writer;
    writer.beginObject().member("schema", 1).member("sessionId", session.sessionId);
    writer.member("agent", made.facts.agent).member("agentSessionId", made.facts.sessionId);
    writer.member("file", options.output).member("entries", made.written.entries);
    writer.member("verbatim", made.written.verbatim).member("sameBytes", made.written.sameBytes);
    writer.member("carried", made.written.carried).key("report").raw(made.written.report.toJson()).endObject();
    printJsonLine(writer.text());
  } else if (!context.json) {
    printWritten(made);
  }
  return kDone;
}

}  // namespace

Command define() {
  auto options = std::make_shared<Options>();
  std::vector<std::string> targets = writableAgents();
  for (const std::string_view format : traceFormats()) targets.emplace_back(format);
  return {
      .name = "export",
      .summary = "Write a session as the file of another agent, or for a tool",
      .details =
          "A session that goes back to the agent that wrote it has the same bytes again. For another agent, every "
          "text, tool call, result and error is kept in order. What the agent's format cannot hold is reported; it is "
          "stored in the file all the same, where the agent ignores it, and bough reads it back from there. All "
          "branches are written if the format can hold a tree, otherwise the branch of the head.\nThree formats are "
          "for tools, not agents: atif (ATIF 1.8, one trajectory per line), otel (OpenTelemetry GenAI spans as "
          "OTLP/JSON) and openinference (the same spans with OpenInference's attributes). --all writes all branches: "
          "in one file of these formats; for codex, in a folder of files that continue one another.",
      .examples =
          "  bough export SESSION --to pi --out session.jsonl\n"
          "  bough export SESSION --to claw0 --at ENTRY\n"
          "  bough export SESSION --to otel --all --out trace.json",
      .options = {{.name = "SESSION", .help = kSessionHelp, .target = &options->session, .required = true},
                  {.name = "--to",
                   .help = "The agent, or the format",
                   .target = &options->agent,
                   .required = true,
                   .choices = std::move(targets),
                   .value = "AGENT"},
                  {.name = "-o,--out,--output",
                   .help = "A new file; default: standard output",
                   .target = &options->output,
                   .value = "FILE"},
                  {.name = "--at",
                   .help = "The entry the agent continues from; default: the head",
                   .target = &options->at,
                   .value = "ENTRY"},
                  {.name = "--branch-only",
                   .help = "Only the branch of that entry, even if the format can hold a tree",
                   .target = &options->branchOnly},
                  {.name = "--bare",
                   .help = "Leave out the original entries, which bough otherwise stores in the file to read them back",
                   .target = &options->bare},
                  {.name = "--all",
                   .help = "Write all branches (atif, otel, openinference; for codex as several files)",
                   .target = &options->all},
                  cwdMapOption(options->cwdMap)},
      .run = [options](const Context& context) { return run(context, *options); },
  };
}

}  // namespace bough::cli::export_command
