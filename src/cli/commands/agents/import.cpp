#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <span>

#include "base/json/json_write.h"
#include "base/text/counted.h"
#include "base/text/text.h"
#include "base/try.h"
#include "bough/transcript.h"
#include "cli/commands/agents/import_files.h"
#include "cli/commands/agents/watch_import.h"
#include "cli/commands/commands.h"
#include "cli/names/foreign.h"
#include "cli/terminal/output.h"

namespace bough::cli::import_command {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::vector<std::string> sources;
  bool watch = false;
};

struct Source {
  std::string path;
  bool asked = false;  ///< Named itself, not found in a folder: then a file of nobody is an error.
};

// A name of an agent, a file, or a folder with files.
Result<void> addSource(const std::string& name, std::vector<Source>& out) {
  const auto known = transcriptAgents();
  std::error_code error;
  if (std::ranges::find(known, name) != known.end() && !fs::exists(name, error)) {
    BOUGH_TRY(const auto found, findTranscripts(transcriptHome(), {name}));
    for (const FoundTranscript& file : found) out.push_back({.path = file.path});
    return {};
  }
  if (name.find(".sqlite#") != std::string::npos) {
    out.push_back({.path = name, .asked = true});
    return {};
  }
  if (!fs::exists(name, error)) {
    return fail(ErrorCode::NotFound, fmt::format("there is no file, folder or agent {}", name),
                "`bough help import` lists the agents");
  }
  if (!fs::is_directory(name, error)) {
    BOUGH_TRY(const auto sessions, transcriptsInDatabase(name));
    for (const FoundTranscript& session : sessions) out.push_back({.path = session.path, .asked = true});
    if (sessions.empty()) out.push_back({.path = name, .asked = true});
    return {};
  }
  std::vector<Source> below;
  for (fs::recursive_directory_iterator walk(name, fs::directory_options::skip_permission_denied, error), end;
       !error && walk != end; walk.increment(error)) {
    std::error_code gone;
    if (!walk->is_symlink(gone) && walk->is_regular_file(gone)) below.push_back({.path = walk->path().string()});
  }
  std::ranges::sort(below, {}, &Source::path);
  std::ranges::move(below, std::back_inserter(out));
  return {};
}

void print(const ImportResult& done, const std::string& path, bool json) {
  const TranscriptReport& report = done.report;
  if (json) {
    std::string out;
    json::Writer writer(out);
    writer.beginObject().member("schema", std::uint64_t{1}).member("sessionId", done.sessionId);
    writer.member("agent", report.facts.agent).member("file", path).member("created", done.created);
    writer.member("appended", done.appended).member("messages", report.messages);
    writer.member("recovered", report.recovered).member("unreadable", report.unreadable);
    writer.member("rewritten", done.rewritten).key("damage").beginArray();
    for (const TranscriptDamage& damage : report.damage) {
      writer.beginObject().member("offset", damage.offset).member("bytes", damage.sizeBytes);
      writer.member("reason", damage.reason).member("recovered", damage.recovered).endObject();
    }
    writer.endArray().endObject();
    return printLine(out);
  }
  const std::string what = done.created         ? counted(done.appended, "new entry", "new entries")
                           : done.appended == 0 ? std::string("nothing new")
                                                : counted(done.appended, "more entry", "more entries");
  printLine(
      fmt::format("{}  {}  {}  {}", done.sessionId, report.facts.agent, what, text::excerpt(report.facts.title, 60)));
  if (const std::string text = damageText(report, path); !text.empty()) printMessage("note: " + text);
}

class Importing {
 public:
  Importing(const Context& context, std::unique_ptr<SessionStore>& store, bool quiet = false)
      : context_(context), store_(store), quiet_(quiet) {}

  // Files at once first. Then, one after the other, those that continue another session, which must be there before,
  // and further files of a session.
  void run(std::vector<Source> sources) {
    for (bool atOnce = sources.size() > 1; !sources.empty() && !outputClosed(); atOnce = false) {
      std::vector<Source> waiting;
      for (std::size_t from = 0; from < sources.size(); from += kGroup) {
        const std::size_t count = std::min(kGroup, sources.size() - from);
        if (!importGroup(std::span(sources).subspan(from, count), atOnce, waiting)) return;
      }
      if (!atOnce && waiting.size() == sources.size()) return giveUp(waiting);
      sources = std::move(waiting);
    }
  }

  [[nodiscard]] std::size_t failed() const { return failed_; }

 private:
  // A store keeps what it wrote last of each session in memory; many sessions would take much of it.
  static constexpr std::size_t kGroup = 16;

  bool importGroup(std::span<const Source> group, bool atOnce, std::vector<Source>& waiting) {
    std::vector<std::string> paths;
    for (const Source& source : group) paths.push_back(source.path);
    const auto results = atOnce ? importAtOnce(*store_, paths) : importInTurn(*store_, paths);
    for (std::size_t i = 0; i < group.size(); ++i) {
      const auto& done = results[i];
      if (done) {
        if (!quiet_ || done->created || done->appended > 0) print(*done, paths[i], context_.json);
      } else if (atOnce ? done.error().code != ErrorCode::Unsupported : done.error().code == ErrorCode::NotFound) {
        waiting.push_back(group[i]);
      } else if (group[i].asked || done.error().code != ErrorCode::Unsupported) {
        noteFailure(done.error());
      }
    }
    return refresh();
  }

  void giveUp(const std::vector<Source>& sources) {
    for (const Source& source : sources) {
      if (const auto done = importTranscript(*store_, source.path); !done) noteFailure(done.error());
    }
  }

  bool refresh() {
    auto closed = store_->close();
    auto opened = closed ? context_.openStore(/*create=*/true)
                         : Result<std::unique_ptr<SessionStore>>(std::unexpected(closed.error()));
    if (opened) {
      store_ = std::move(*opened);
      return true;
    }
    noteFailure(opened.error());
    return false;
  }

  void noteFailure(const Error& error) {
    printError(error, context_.json);
    ++failed_;
  }

  const Context& context_;
  std::unique_ptr<SessionStore>& store_;
  bool quiet_;  // says nothing of sessions without anything new
  std::size_t failed_ = 0;
};

// Until it is ended. A file that cannot be read now is tried again when it changes.
Result<ExitCode> watch(const Context& context, const Options& options) {
  BOUGH_TRY(auto store, context.openStore(/*create=*/true));
  BOUGH_TRY(const ExitCode code, watchAndImport(options.sources, [&](const std::vector<std::string>& paths) {
              std::vector<Source> sources;
              for (const std::string& path : paths) sources.push_back({.path = path});
              Importing(context, store, /*quiet=*/true).run(std::move(sources));
            }));
  BOUGH_TRY(store->close());
  return code;
}

Result<ExitCode> run(const Context& context, const Options& options) {
  if (options.watch) return watch(context, options);
  if (options.sources.empty()) {
    return fail(ErrorCode::InvalidArgument, "import needs a file, a folder or an agent",
                "bough import claude-code; `bough help import` lists the agents");
  }
  std::vector<Source> sources;
  for (const std::string& name : options.sources) BOUGH_TRY(addSource(name, sources));
  if (sources.empty()) {
    printMessage("no sessions found");
    return kDone;
  }
  BOUGH_TRY(auto store, context.openStore(/*create=*/true));
  Importing importing(context, store);
  importing.run(std::move(sources));
  BOUGH_TRY(store->close());
  return importing.failed() > 0 ? kProblem : kDone;
}

}  // namespace

Command define() {
  auto options = std::make_shared<Options>();
  std::string agents;
  for (const std::string_view name : transcriptAgents())
    agents += fmt::format("{}{}", agents.empty() ? "" : ", ", name);
  return {
      .name = "import",
      .summary = "Bring sessions of other agents into the store",
      .details =
          "Takes files, folders, and names of agents, whose own folders are then searched. The format is\n"
          "recognized from the content. Importing again adds only what is new, and a session that grew\n"
          "continues. The files are never changed.\nWith --watch, whatever changes later is imported too, until "
          "Ctrl-C, "
          "and without a SOURCE the sessions\nof all agents; `bough keep` makes a service of it.\nAgents: " +
          agents + ".",
      .examples =
          "  bough import ~/.pi/agent/sessions\n"
          "  bough import pi openclaw\n"
          "  bough import session.jsonl --json\n"
          "  bough import --watch claude-code codex",
      .options = {{.name = "SOURCE", .help = "A file, a folder, or an agent", .target = &options->sources},
                  {.name = "--watch", .help = "Go on importing what changes", .target = &options->watch}},
      .values = options,
      .run = [options](const Context& context) { return run(context, *options); },
  };
}

}  // namespace bough::cli::import_command
