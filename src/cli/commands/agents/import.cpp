#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <unordered_map>
#include <utility>

#include "base/json/json_write.h"
#include "base/text/counted.h"
#include "base/text/text.h"
#include "base/try.h"
#include "bough/transcript.h"
#include "cli/commands/agents/import_files.h"
#include "cli/commands/agents/watch_import.h"
#include "cli/commands/commands.h"
#include "cli/names/foreign.h"
#include "cli/terminal/fitted.h"
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

bool isAgent(const std::string& name) {
  const auto known = transcriptAgents();
  std::error_code error;
  return std::ranges::find(known, name) != known.end() && !fs::exists(name, error);
}

bool isInDatabase(const std::string& name) {
  return name.find(".sqlite#") != std::string::npos;
}

Result<void> checkSource(const std::string& name) {
  std::error_code error;
  if (isAgent(name) || isInDatabase(name) || fs::exists(name, error)) return {};
  return fail(ErrorCode::NotFound, fmt::format("there is no file, folder or agent {}", name),
              "`bough help import` lists the agents");
}

Result<void> openInto(const Context& context, std::unique_ptr<SessionStore>& store) {
  BOUGH_TRY(store, context.openStore(/*create=*/true));
  return {};
}

using UseSource = std::function<bool(Source&&)>;

// Of a name of an agent, a file, or a folder with files: each file, until `use` returns false. Returns whether every
// folder could be read.
Result<bool> eachSource(const std::string& name, const UseSource& use) {
  const auto useFound = [&](FoundTranscript&& file) { return use({.path = std::move(file.path)}); };
  if (isAgent(name)) {
    BOUGH_TRY(const auto walk, eachTranscript(transcriptHome(), {name}, useFound));
    tellOfFolders(walk);
    return walk.folders == 0;
  }
  if (isInDatabase(name)) {
    use({.path = name, .asked = true});
    return true;
  }
  std::error_code error;
  if (fs::is_directory(name, error)) {
    const TranscriptWalk walk = eachFileBelow(name, useFound);
    tellOfFolders(walk);
    return walk.folders == 0;
  }
  BOUGH_TRY(const auto sessions, transcriptsInDatabase(name));
  for (const FoundTranscript& session : sessions) use({.path = session.path, .asked = true});
  if (sessions.empty()) use({.path = name, .asked = true});
  return true;
}

void print(const ImportResult& done, const std::string& path, bool json, bool withDamage) {
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
  printFitted(
      fmt::format("{}  {}  {}  {}", done.sessionId, report.facts.agent, what, text::excerpt(report.facts.title, 60)));
  const std::string text = withDamage ? damageText(report, path) : std::string();
  if (!text.empty()) printMessage("note: " + text);
}

// The damage that was told of each file: a file that is watched grows often, and its damage is told when it grows too.
using ToldDamage = std::unordered_map<std::string, std::uint64_t>;

class Importing {
 public:
  // `watched`: says nothing of sessions without anything new, and the same damage once.
  Importing(const Context& context, std::unique_ptr<SessionStore>& store, ToldDamage* watched = nullptr)
      : context_(context), store_(store), watched_(watched) {}

  // Imports it with others, soon. False when there is no use in going on.
  bool add(Source&& source) {
    group_.push_back(std::move(source));
    return group_.size() < kGroup || importGroup();
  }

  // The rest; then, one after the other, those that continue another session, which must be there before, and further
  // files of a session.
  void finish() {
    if (!group_.empty() && !importGroup()) return;
    while (!waiting_.empty() && !outputClosed()) {
      const std::vector<Source> sources = std::exchange(waiting_, {});
      isLater_ = true;
      for (const Source& source : sources) {
        if (!add(Source(source))) return;
      }
      if (!group_.empty() && !importGroup()) return;
      if (waiting_.size() == sources.size()) return giveUp();
    }
    tellOfUnknown();
  }

  [[nodiscard]] std::size_t failed() const { return failed_; }

 private:
  // A store keeps what it wrote last of each session in memory; many sessions would take much of it.
  static constexpr std::size_t kGroup = 16;

  void giveUp() {
    for (const Source& source : waiting_) {
      if (const auto done = importTranscript(*store_, source.path); !done) noteFailure(done.error());
    }
    tellOfUnknown();
  }

  void tellOfUnknown() const {
    if (unknown_ == 0) return;
    printMessage(fmt::format("note: {} not of an agent that bough knows: {}", counted(unknown_, "file is", "files are"),
                             text::excerpt(example_, 160)));
  }

  bool importGroup() {
    const std::vector<Source> group = std::exchange(group_, {});
    std::vector<std::string> paths;
    for (const Source& source : group) paths.push_back(source.path);
    const auto results = group.size() > 1 && !isLater_ ? importAtOnce(*store_, paths) : importInTurn(*store_, paths);
    for (std::size_t i = 0; i < group.size(); ++i) take(group[i], results[i]);
    return refresh() && !outputClosed();
  }

  void take(const Source& source, const Result<ImportResult>& done) {
    if (done) return told(*done, source.path);
    const ErrorCode code = done.error().code;
    if (code == ErrorCode::NotFound || (code == ErrorCode::Conflict && !isLater_)) {
      waiting_.push_back(source);
    } else if (code == ErrorCode::Unsupported && !source.asked) {
      if (++unknown_ == 1) example_ = done.error().message;
    } else {
      noteFailure(done.error());
    }
  }

  void told(const ImportResult& done, const std::string& path) {
    bool isNews = true;
    if (watched_ != nullptr) {
      const std::uint64_t places = done.report.recovered + done.report.unreadable;
      isNews = std::exchange((*watched_)[path], places) != places;
      if (places == 0) watched_->erase(path);
      if (!isNews && !done.created && done.appended == 0) return;
    }
    print(done, path, context_.json, isNews);
  }

  bool refresh() {
    auto closed = store_->close();
    const auto opened = closed ? openInto(context_, store_) : closed;
    if (!opened) noteFailure(opened.error());
    return opened.has_value();
  }

  void noteFailure(const Error& error) {
    printError(error, context_.json);
    ++failed_;
  }

  const Context& context_;
  std::unique_ptr<SessionStore>& store_;
  ToldDamage* watched_;
  std::vector<Source> group_;
  std::vector<Source> waiting_;
  bool isLater_ = false;  // those that waited are being imported
  std::uint64_t unknown_ = 0;
  std::string example_;
  std::size_t failed_ = 0;
};

// Until it is ended. A file that cannot be read now is tried again when it changes.
Result<ExitCode> watch(const Context& context, const Options& options) {
  BOUGH_TRY(auto store, context.openStore(/*create=*/true));
  ToldDamage damage;
  BOUGH_TRY(const ExitCode code, watchAndImport(options.sources, [&](const std::vector<std::string>& paths) {
              Importing importing(context, store, &damage);
              for (const std::string& path : paths) {
                if (!importing.add({.path = path})) return;
              }
              importing.finish();
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
  // Names are checked before anything is imported, and a store is made only when there is something for it.
  for (const std::string& name : options.sources) BOUGH_TRY(checkSource(name));
  std::unique_ptr<SessionStore> store;
  Importing importing(context, store);
  Result<void> opened;
  bool goesOn = true;
  const auto use = [&](Source&& source) {
    if (!store) opened = openInto(context, store);
    return goesOn = opened && importing.add(std::move(source));
  };
  bool sawAll = true;
  for (std::size_t i = 0; i < options.sources.size() && goesOn; ++i) {
    BOUGH_TRY(const bool sawFolders, eachSource(options.sources[i], use));
    sawAll = sawAll && sawFolders;
  }
  BOUGH_TRY(opened);
  if (!store) {
    printMessage("no sessions found");
    return sawAll ? kDone : kProblem;
  }
  if (goesOn) importing.finish();
  BOUGH_TRY(store->close());
  store.reset();
  context.newStore->removeEmpty();
  return importing.failed() > 0 || !sawAll ? kProblem : kDone;
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
