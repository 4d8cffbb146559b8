#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "base/bytes/sha256.h"
#include "base/json/json_write.h"
#include "base/text/shell_word.h"
#include "base/text/text.h"
#include "base/try.h"
#include "cli/commands/commands.h"
#include "cli/names/entry_name.h"
#include "cli/names/foreign.h"
#include "cli/names/session_name.h"
#include "cli/repl/start_chat.h"
#include "cli/terminal/output.h"
#include "cli/views/entry_view.h"
#include "cli/views/transcript_file.h"

namespace bough::cli::resume_command {
namespace {

struct Options {
  std::string session;
  std::string agent;
  std::string at;
  std::vector<std::string> cwdMap;
  bool dryRun = false;
};

struct Resumed {
  SessionTranscript made;
  TranscriptPlace place;
  bool alreadyExists = false;  // the file exists and has exactly this content
  std::string otherFile = {};  // a file of the same session with other content
};

// The folder that a session records is not checked otherwise: the session may come from anywhere.
bool isAbsolute(const std::string& folder) {
  return folder.starts_with('/');
}

bool isFolderMissing(const std::string& folder) {
  std::error_code error;
  return !folder.empty() && !(isAbsolute(folder) && std::filesystem::is_directory(folder, error));
}

std::string folderOfFile(const TranscriptFacts& facts, const std::string& cwd) {
  TranscriptFacts there = facts;
  there.cwd = cwd;
  const auto place = placeForTranscript(transcriptHome(), there);
  return place ? std::filesystem::path(place->path).parent_path().string() : std::string();
}

// Returns true when the agent, started in the file's folder, finds the session of this file. Most agents look only in
// the files of that folder; some keep all sessions together.
bool isWhereAgentLooks(const TranscriptFacts& file, const std::string& path) {
  if (folderOfFile(file, "/a") == folderOfFile(file, "/b")) return true;
  return !file.cwd.empty() && std::filesystem::path(path).parent_path() == folderOfFile(file, file.cwd);
}

// Returns the agent's file for a session that is not where bough would put it: written in another time zone, or by the
// agent itself; or, when the session records no folder (`mayMove`), stored for another folder. Empty when there is no
// such file.
std::string fileElsewhere(const TranscriptFacts& facts, bool mayMove) {
  constexpr std::size_t kInName = 8;  // characters of the id
  std::string found;
  const auto isOfSession = [&](const std::string& path) {
    const std::string name = std::filesystem::path(path).filename().string();
    const bool isLive = name.ends_with(".jsonl") || name.ends_with(".jsonl.zst");
    if (!isLive || path.contains("/archived_sessions/") || !name.contains(facts.sessionId.substr(0, kInName))) {
      return false;
    }
    const auto other = peekTranscript(path);
    if (!other || other->agent != facts.agent || other->sessionId != facts.sessionId) return false;
    return (mayMove || other->cwd == facts.cwd) && isWhereAgentLooks(*other, path);
  };
  // For an agent without session folders the walk finds nothing.
  (void)eachTranscript(transcriptHome(), {facts.agent}, [&](FoundTranscript&& file) {
    if (isOfSession(file.path)) found = std::move(file.path);
    return found.empty();
  });
  return found;
}

// The place where the agent looks for the session. An existing file is compared with the new content and never changed.
class Target {
 public:
  // `mayMove`: a file for another folder than that of the facts may also be the session's.
  Target(bool dryRun, bool mayMove) : dryRun_(dryRun), mayMove_(mayMove) {}

  Result<void> begin(const TranscriptFacts& facts) {
    BOUGH_TRY(place_, placeForTranscript(transcriptHome(), facts));
    // Some agents keep their sessions in the project's folder. That folder is not created just because a session names
    // it.
    if (place_.path.starts_with(facts.cwd + "/") && isFolderMissing(facts.cwd)) {
      return fail(ErrorCode::NotFound, fmt::format("the session's folder {} is gone", text::printable(facts.cwd)),
                  "--cwd-map OLD=NEW names another");
    }
    std::error_code error;
    isFree_ = !std::filesystem::exists(place_.path, error);
    if (std::string other = isFree_ ? fileElsewhere(facts, mayMove_) : ""; !other.empty()) {
      place_.path = std::move(other);
      isFree_ = false;
    }
    if (isFree_) return {};
    const auto present = peekTranscript(place_.path);
    if (mayMove_ && present && !present->cwd.empty() && present->cwd != facts.cwd) {
      otherFolder_ = present->cwd;
      return otherContentError();
    }
    return {};
  }

  Result<void> add(std::string_view piece) {
    if (!isFree_) {
      wanted_.add(piece);
      return {};
    }
    if (dryRun_) return {};
    if (!file_) {
      BOUGH_TRY(file_, NewFile::make(place_.path));
    }
    return file_->add(piece);
  }

  // An existing transcript already has its own side files.
  Result<void> keepBeside(const std::string& agent, const std::string& name, std::string_view bytes) const {
    if (!isFree_ || dryRun_) return {};
    return keepBesideTranscript(agent, place_.path, name, bytes);
  }

  // Moves the new file into place.
  Result<void> save() { return file_ ? file_->save() : Result<void>(); }

  [[nodiscard]] const TranscriptPlace& place() const { return place_; }
  [[nodiscard]] bool holdsOtherContent() const { return holdsOtherContent_; }
  // Returns the folder of the file, if it differs from the session's.
  [[nodiscard]] const std::string& otherFolder() const { return otherFolder_; }
  // Call after the last piece. Returns true when the existing file has the same content; the agent may have compressed
  // the file.
  [[nodiscard]] bool holdsSameContent() {
    if (isFree_ || holdsOtherContent_) return false;
    Sha256 held;
    const auto read = readTranscriptBytes(place_.path, [&](std::string_view piece) {
      held.add(piece);
      return true;
    });
    return read && held.hex() == wanted_.hex();
  }
  [[nodiscard]] bool isFree() const { return isFree_; }

 private:
  std::unexpected<Error> otherContentError() {
    holdsOtherContent_ = true;
    return fail(ErrorCode::AlreadyExists, fmt::format("{} exists and holds something else", place_.path),
                "nothing was changed");
  }

  bool dryRun_;
  bool mayMove_;
  bool isFree_ = false;
  bool holdsOtherContent_ = false;
  TranscriptPlace place_;
  std::string otherFolder_;
  Sha256 wanted_;  // of the new content
  std::unique_ptr<NewFile> file_;
};

// Returns the facts of the session for the agent.
Result<TranscriptFacts> factsFor(SessionStore& store, const std::string& sessionId, const std::string& agent) {
  BOUGH_TRY(const auto entries, TranscriptSource::open(store, sessionId));
  return factsForExport(store, sessionId, agent, entries);
}

// Overwrites nothing: if the agent has a file of the session with other content, the session gets a new id there.
Result<Resumed> writeInPlace(SessionStore& store, const std::string& sessionId, TranscriptRequest request,
                             bool dryRun) {
  constexpr unsigned kMostCopies = 1'000;
  BOUGH_TRY(const auto agents, factsFor(store, sessionId, request.agent));
  const bool mayMove = agents.cwd.empty();  // the session then gets the current folder
  // A subagent's session is continued under a new id.
  if (!placeForTranscript(transcriptHome(), agents)) ++request.copy;
  std::string otherFile;
  while (request.copy < kMostCopies) {
    Target target(dryRun, mayMove && request.folder.empty());
    request.keepBeside = [&](const std::string& name, std::string_view bytes) {
      return target.keepBeside(request.agent, name, bytes);
    };
    auto made = writeSessionTranscript(
        store, sessionId, request, [&](std::string_view piece) { return target.add(piece); },
        [&](const TranscriptFacts& facts) { return target.begin(facts); });
    if (!made && !target.holdsOtherContent()) return std::unexpected(std::move(made.error()));
    const bool alreadyExists = made && target.holdsSameContent();
    if (made && (target.isFree() || alreadyExists)) {
      BOUGH_TRY(target.save());
      return Resumed{
          .made = std::move(*made), .place = target.place(), .alreadyExists = alreadyExists, .otherFile = otherFile};
    }
    // A session without a folder got the folder that was current when it was written.
    if (request.folder.empty() && !target.otherFolder().empty()) {
      request.folder = target.otherFolder();
      continue;
    }
    if (otherFile.empty()) otherFile = target.place().path;
    ++request.copy;
  }
  return fail(ErrorCode::AlreadyExists, fmt::format("{} and {} copies of it exist already", otherFile, kMostCopies),
              "remove those that are not needed");
}

// Also announces an existing file: the agent's list may have refused it last time, or lost it since.
Result<void> announce(const Resumed& resumed) {
  auto announced = announceTranscript(transcriptHome(), resumed.made.facts, resumed.place.path);
  if (announced) return {};
  Error error = std::move(announced.error());
  error.hint = fmt::format("{} is written{}{}", resumed.place.path, error.hint.empty() ? "" : "; ", error.hint);
  return std::unexpected(std::move(error));
}

void print(const Resumed& resumed, const Context& context, bool dryRun) {
  const auto& [made, place, alreadyExists, otherFile] = resumed;
  if (context.json) {
    json::Writer writer;
    writer.beginObject().member("schema", 1).member("agent", made.facts.agent);
    writer.member("agentSessionId", made.facts.sessionId).member("file", place.path);
    writer.memberOrNull("cwd", made.facts.cwd).member("cwdMissing", isFolderMissing(made.facts.cwd));
    writer.member("command", place.command).member("written", !dryRun && !alreadyExists);
    writer.member("carried", made.written.carried).key("report").raw(made.written.report.toJson()).endObject();
    return printJsonLine(writer.text());
  }
  printWritten(made);
  if (!otherFile.empty()) {
    printMessage(
        fmt::format("note: {} exists and holds something else; it is not overwritten, so this is a new session "
                    "of {} with the id {}",
                    otherFile, made.facts.agent, made.facts.sessionId));
  }
  printMessage(alreadyExists ? fmt::format("{} is there already", place.path)
                             : fmt::format("{} {}", dryRun ? "would write" : "wrote", place.path));
  if (isFolderMissing(made.facts.cwd)) {
    printMessage(fmt::format("note: the session's folder {} {}; --cwd-map OLD=NEW names another", made.facts.cwd,
                             isAbsolute(made.facts.cwd) ? "is gone" : "is not an absolute path"));
  }
  if (place.command.empty()) return printMessage(place.advice);
  const std::string folder = isAbsolute(made.facts.cwd) ? fmt::format("cd {} && ", shellWord(made.facts.cwd)) : "";
  printLine(folder + place.command);
}

// Continues the session in bough's own chat.
Result<ExitCode> continueHere(const Context& context, const Options& options) {
  if (options.dryRun || !options.at.empty() || !options.cwdMap.empty()) {
    return fail(ErrorCode::InvalidArgument, "--at, --dry-run and --cwd-map need --in AGENT",
                "`bough switch SESSION ENTRY` chooses where the chat continues");
  }
  return startChat(context, {.choice = {.session = options.session, .last = options.session.empty()}});
}

Result<ExitCode> run(const Context& context, const Options& options) {
  if (options.agent.empty()) return continueHere(context, options);
  if (options.session.empty()) {
    return fail(ErrorCode::InvalidArgument, "no session was named", "`bough ls` lists the sessions");
  }
  BOUGH_TRY(auto session, openForReading(context, options.session));
  TranscriptRequest request{.agent = options.agent, .at = {}, .cwdMap = options.cwdMap, .branchOnly = false};
  if (!options.at.empty()) {
    BOUGH_TRY(request.at, resolveEntry(*session.store, session.sessionId, options.at));
  }
  request.needsFolder = true;
  BOUGH_TRY(const auto resumed, writeInPlace(*session.store, session.sessionId, std::move(request), options.dryRun));
  if (!options.dryRun) {
    BOUGH_TRY(announce(resumed));
  }
  print(resumed, context, options.dryRun);
  return kDone;
}

}  // namespace

Command define() {
  auto options = std::make_shared<Options>();
  return {
      .name = "resume",
      .summary = "Continue a session in the chat, or in another agent",
      .details =
          "Without --in, opens the session in the chat, as `bough chat --session` does. With --in, writes the session "
          "where that agent looks for it, and prints the command that continues it there. A file that exists is never "
          "overwritten: if the agent's file of the session holds something else, the session gets a new id there.",
      .examples =
          "  bough resume\n  bough resume SESSION\n  bough resume SESSION --in pi\n"
          "  bough resume SESSION --in pi --dry-run",
      .options = {{.name = "SESSION",
                   .help = std::string(kSessionHelp) + "; default: the most recent one of this folder",
                   .target = &options->session},
                  {.name = "--in",
                   .help = "The agent that continues it; default: bough chat",
                   .target = &options->agent,
                   .choices = writableAgents(),
                   .value = "AGENT"},
                  {.name = "--at",
                   .help = "The entry to continue from; default: the head",
                   .target = &options->at,
                   .value = "ENTRY"},
                  {.name = "--dry-run", .help = "Write nothing; say what would be written", .target = &options->dryRun},
                  cwdMapOption(options->cwdMap)},
      .run = [options](const Context& context) { return run(context, *options); },
  };
}

}  // namespace bough::cli::resume_command
