#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <unordered_map>
#include <unordered_set>
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
#include "cli/terminal/output.h"
#include "cli/terminal/wrapped_text.h"

namespace bough::cli::import_command {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::vector<std::string> sources;
  bool watch = false;
  std::string id;
};

struct Source {
  std::string path;
  bool asked = false;  ///< Named by the user, not found in a folder: then a file of no known agent is an error.
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

Result<void> openStoreInto(const Context& context, std::unique_ptr<SessionStore>& store) {
  BOUGH_TRY(store, context.openStore(/*create=*/true));
  return {};
}

using UseSource = std::function<bool(Source&&)>;

// Passes each file of an agent, a folder, or a single file to `use`, until `use` returns false. Returns true if every
// folder could be read.
Result<bool> eachSource(const std::string& name, const UseSource& use) {
  const auto useFound = [&](FoundTranscript&& file) { return use({.path = std::move(file.path)}); };
  if (isAgent(name)) {
    BOUGH_TRY(const auto walk, eachTranscript(transcriptHome(), {name}, useFound));
    reportUnreadableFolders(walk);
    return walk.folders == 0;
  }
  if (isInDatabase(name)) {
    use({.path = name, .asked = true});
    return true;
  }
  std::error_code error;
  if (fs::is_directory(name, error)) {
    const TranscriptWalk walk = eachFileBelow(name, useFound);
    reportUnreadableFolders(walk);
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
    json::Writer writer;
    writer.beginObject().member("schema", 1).member("sessionId", done.sessionId);
    writer.member("agent", report.facts.agent).member("file", path).member("created", done.created);
    writer.member("appended", done.appended).member("messages", report.messages);
    writer.member("recovered", report.recovered).member("unreadable", report.unreadable);
    writer.member("rewritten", done.rewritten).key("damage").beginArray();
    for (const TranscriptDamage& damage : report.damage) {
      writer.beginObject().member("offset", damage.offset).member("bytes", damage.sizeBytes);
      writer.member("reason", damage.reason).member("recovered", damage.recovered).endObject();
    }
    return printJsonLine(writer.endArray().endObject().text());
  }
  const std::string what = done.created         ? counted(done.appended, "new entry", "new entries")
                           : done.appended == 0 ? std::string("nothing new")
                                                : counted(done.appended, "more entry", "more entries");
  printWrapped(
      fmt::format("{}  {}  {}  {}", done.sessionId, report.facts.agent, what, text::excerpt(report.facts.title, 60)));
  const std::string text = withDamage ? damageText(report, path) : std::string();
  if (!text.empty()) printMessage("note: " + text);
}

// What was already reported about watched files: they grow often, and failed imports are retried again and again.
struct AlreadyReported {
  std::unordered_map<std::string, std::uint64_t> damage;  // by path; reported again when the damage grows
  std::unordered_set<std::string> failures;               // since everything last succeeded
};

class Importer {
 public:
  // With `watched`, prints nothing for unchanged sessions, and reports the same damage or failure only once.
  Importer(const Context& context, std::unique_ptr<SessionStore>& store, AlreadyReported* watched = nullptr)
      : context_(context), store_(store), watched_(watched) {}

  // Imports the source soon, together with others. Returns false when continuing is pointless.
  bool add(Source&& source) {
    group_.push_back(std::move(source));
    return group_.size() < kGroup || importGroup();
  }

  // Imports the rest. Then imports, one after the other, files that continue another session, which must be imported
  // first, and further files of the same session.
  void importRest() {
    if (!group_.empty() && !importGroup()) return;
    while (!waiting_.empty() && !outputClosed()) {
      const std::vector<Source> sources = std::exchange(waiting_, {});
      isLater_ = true;
      for (const Source& source : sources) {
        if (!add(Source(source))) return;
      }
      if (!group_.empty() && !importGroup()) return;
      if (waiting_.size() == sources.size()) return retryWaiting();
    }
    reportUnknownFiles();
  }

  [[nodiscard]] std::size_t failed() const { return failed_; }
  // Returns true when the file was imported, or belongs to no known agent.
  [[nodiscard]] bool isDone(const std::string& path) const { return done_.contains(path); }

 private:
  // A store keeps the latest writes of each session in memory, which would add up over many sessions.
  static constexpr std::size_t kGroup = 16;

  void retryWaiting() {
    for (const Source& source : waiting_) {
      const auto done = importTranscript(*store_, source.path);
      if (done) done_.insert(source.path);
      if (!done && !hasVanished(source.path)) noteFailure(done.error());
    }
    reportUnknownFiles();
  }

  void reportUnknownFiles() const {
    if (unknown_ == 0) return;
    printMessage(fmt::format("note: {} not of an agent that bough knows: {}", counted(unknown_, "file is", "files are"),
                             text::excerpt(example_, 160)));
  }

  bool importGroup() {
    const std::vector<Source> group = std::exchange(group_, {});
    std::vector<std::string> paths;
    for (const Source& source : group) paths.push_back(source.path);
    const auto results =
        group.size() > 1 && !isLater_ ? importInParallel(*store_, paths) : importSequentially(*store_, paths);
    for (std::size_t i = 0; i < group.size(); ++i) take(group[i], results[i]);
    return reopenStore() && !outputClosed();
  }

  void take(const Source& source, const Result<ImportResult>& done) {
    if (done) return reportImported(*done, source.path);
    const ErrorCode code = done.error().code;
    if (code == ErrorCode::NotFound || (code == ErrorCode::Conflict && !isLater_)) {
      waiting_.push_back(source);
    } else if (code == ErrorCode::Unsupported && !source.asked) {
      if (++unknown_ == 1) example_ = done.error().message;
      done_.insert(source.path);
    } else {
      noteFailure(done.error());
    }
  }

  void reportImported(const ImportResult& done, const std::string& path) {
    bool isNews = true;
    done_.insert(path);
    if (watched_ != nullptr) {
      const std::uint64_t places = done.report.recovered + done.report.unreadable;
      isNews = std::exchange(watched_->damage[path], places) != places;
      if (places == 0) watched_->damage.erase(path);
      if (!isNews && !done.created && done.appended == 0) return;
    }
    print(done, path, context_.json, isNews);
  }

  // Reopens the store. If that fails, no store is left.
  bool reopenStore() {
    const auto closed = store_->close();
    if (!closed) noteFailure(closed.error());
    const auto opened = openStoreInto(context_, store_);
    if (opened) return closed.has_value();
    noteFailure(opened.error());
    store_.reset();
    return false;
  }

  // A watched file may disappear before it is read.
  [[nodiscard]] bool hasVanished(const std::string& path) const {
    std::error_code error;
    return watched_ != nullptr && !isInDatabase(path) && !fs::exists(path, error);
  }

  void noteFailure(const Error& error) {
    if (watched_ == nullptr || watched_->failures.insert(error.message).second) printError(error, context_.json);
    ++failed_;
  }

  const Context& context_;
  std::unique_ptr<SessionStore>& store_;
  AlreadyReported* watched_;
  std::vector<Source> group_;
  std::vector<Source> waiting_;
  bool isLater_ = false;  // the files that waited are now being imported
  std::uint64_t unknown_ = 0;
  std::string example_;
  std::size_t failed_ = 0;
  std::unordered_set<std::string> done_;  // paths
};

// Imports files that are watched; returns those that could not be imported now.
std::vector<std::string> importWatched(const Context& context, std::unique_ptr<SessionStore>& store,
                                       AlreadyReported& reported, const std::vector<std::string>& paths) {
  const auto opened = store ? Result<void>() : openStoreInto(context, store);
  if (!opened) {
    if (reported.failures.insert(opened.error().message).second) printError(opened.error(), context.json);
    return paths;
  }
  Importer importing(context, store, &reported);
  const bool goesOn =
      std::ranges::all_of(paths, [&](const std::string& path) { return importing.add({.path = path}); });
  if (goesOn) importing.importRest();
  std::vector<std::string> failed;
  std::ranges::copy_if(paths, std::back_inserter(failed), [&](const auto& path) { return !importing.isDone(path); });
  if (importing.failed() == 0) reported.failures.clear();
  return failed;
}

// Runs until it is stopped.
Result<ExitCode> watch(const Context& context, const Options& options) {
  BOUGH_TRY(auto store, context.openStore(/*create=*/true));
  AlreadyReported reported;
  BOUGH_TRY(const ExitCode code, watchAndImport(options.sources, [&](const std::vector<std::string>& paths) {
              return importWatched(context, store, reported, paths);
            }));
  if (store) {
    BOUGH_TRY(store->close());
  }
  return code;
}

// Imports one file into the session with this id.
Result<ExitCode> importAs(const Context& context, const Options& options) {
  std::error_code error;
  const bool isOneFile = options.sources.size() == 1 && !isAgent(options.sources.front()) &&
                         !fs::is_directory(options.sources.front(), error);
  if (!isOneFile) {
    return fail(ErrorCode::InvalidArgument, "--id is for one file", "bough import FILE --id ID");
  }
  BOUGH_TRY(checkSource(options.sources.front()));
  BOUGH_TRY(const auto store, context.openStore(/*create=*/true));
  BOUGH_TRY(const auto done, importTranscript(*store, options.sources.front(), {.agent = {}, .sessionId = options.id}));
  print(done, options.sources.front(), context.json, /*withDamage=*/true);
  BOUGH_TRY(store->close());
  return kDone;
}

Result<ExitCode> run(const Context& context, const Options& options) {
  if (!options.id.empty()) return importAs(context, options);
  if (options.watch) return watch(context, options);
  if (options.sources.empty()) {
    return fail(ErrorCode::InvalidArgument, "import needs a file, a folder or an agent",
                "bough import claude-code; `bough help import` lists the agents");
  }
  // Check the names before importing anything, and create a store only when there is something to store.
  for (const std::string& name : options.sources) BOUGH_TRY(checkSource(name));
  std::unique_ptr<SessionStore> store;
  Importer importing(context, store);
  Result<void> opened;
  bool goesOn = true;
  const auto use = [&](Source&& source) {
    if (!store) opened = openStoreInto(context, store);
    return goesOn = opened && importing.add(std::move(source));
  };
  bool sawAll = true;
  for (std::size_t i = 0; i < options.sources.size() && goesOn; ++i) {
    BOUGH_TRY(const bool sawFolders, eachSource(options.sources[i], use));
    sawAll = sawAll && sawFolders;
  }
  BOUGH_TRY(opened);
  if (importing.failed() > 0 && !store) return kProblem;
  if (!store) {
    printMessage("no sessions found");
    return sawAll ? kDone : kProblem;
  }
  if (goesOn) importing.importRest();
  if (!store) return kProblem;
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
          "Takes files, folders, and names of agents; for the name of an agent, its own folders are searched. The "
          "format is recognized from the content. Importing again adds only what is new, also to sessions that have "
          "grown. The files are never changed. --watch also imports what changes later, until Ctrl-C; without SOURCE, "
          "it imports the sessions of all agents. `bough keep` runs this as a service. Agents: " +
          agents + ".",
      .examples =
          "  bough import ~/.pi/agent/sessions\n"
          "  bough import pi openclaw\n"
          "  bough import session.jsonl --json\n"
          "  bough import --watch claude-code codex",
      .options = {{.name = "SOURCE", .help = "A file, a folder, or an agent", .target = &options->sources},
                  {.name = "--id",
                   .help = "For one file: the id of the session, if another session already has the id in the file",
                   .target = &options->id,
                   .value = "ID",
                   .conflictsWith = {"--watch"}},
                  {.name = "--watch", .help = "Keep importing what changes", .target = &options->watch}},
      .run = [options](const Context& context) { return run(context, *options); },
  };
}

}  // namespace bough::cli::import_command
