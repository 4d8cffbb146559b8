#include "cli/views/transcript_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/system/file_io.h"
#include "base/system/file_system.h"
#include "base/system/threads.h"
#include "base/text/counted.h"
#include "base/text/text.h"
#include "base/try.h"
#include "base/user_folders.h"
#include "cli/names/foreign.h"
#include "cli/terminal/output.h"
#include "cli/views/compatibility_text.h"

namespace bough::cli {

namespace fs = std::filesystem;

namespace {

// Returns the absolute path of a project's folder; a path below the current folder may be relative. A shell does not
// expand `~` after `=`.
Result<std::string> presentFolder(const std::string& folder) {
  const bool isWindows = folder.starts_with("\\\\") || (folder.size() > 1 && folder[1] == ':');
  BOUGH_TRY(const std::string path, withHome(folder));
  if (path.starts_with('/') || isWindows) return path;
  std::error_code error;
  const fs::path whole = fs::absolute(path, error).lexically_normal();
  if (error)
    return fail(ErrorCode::Io, fmt::format("cannot find the folder {}", path), "name it with an absolute path");
  return whole.string();
}

}  // namespace

Result<std::vector<MovedFolder>> movesOf(const std::string& folder, const std::vector<std::string>& maps) {
  std::vector<MovedFolder> moves;
  for (const std::string& map : maps) {
    std::optional<MovedFolder> move;
    // A folder's name may contain `=`; the session's folder decides where the name ends.
    for (std::size_t at = map.find('='); at != std::string::npos; at = map.find('=', at + 1)) {
      if (at == 0 || at + 1 == map.size()) continue;
      MovedFolder each{.from = {}, .to = map.substr(at + 1)};
      BOUGH_TRY(each.from, withHome(map.substr(0, at)));
      const bool fits = movedFolder(folder, {each}).has_value();
      if (fits || !move) move = std::move(each);
      if (fits) break;
    }
    if (!move) {
      return fail(ErrorCode::InvalidArgument, fmt::format("\"{}\" is not OLD=NEW", map),
                  "--cwd-map /old/path=/new/path");
    }
    BOUGH_TRY(move->to, presentFolder(move->to));
    moves.push_back(std::move(*move));
  }
  return moves;
}

std::string mapFolder(const std::string& folder, const std::vector<MovedFolder>& moves, bool isQuiet) {
  const auto moved = movedFolder(folder, moves);
  if (!moved && !moves.empty() && !isQuiet) {
    printMessage(fmt::format("note: --cwd-map does not match: the session's folder is {}",
                             folder.empty() ? "not known" : text::printable(folder)));
  }
  return moved.value_or(folder);
}

namespace {

// Returns true when nothing is selected or changed, so that the agent's own lines can be written as they were read.
bool isPlainCopy(const TranscriptRequest& request) {
  return request.at.empty() && request.cwdMap.empty() && !request.branchOnly && !request.needsFolder &&
         request.copy == 0;
}

// A file that continues part of another file records the length of that part, which changes when the other session is
// exported as well. Returns the new length; 0 when it is unchanged, or when the other session is not available.
Result<std::uint64_t> continuedNow(SessionStore& store, const std::string& sessionId, const TranscriptSource& entries,
                                   const WriteTranscriptOptions& request) {
  const std::uint64_t before = continuedBytes(entries);
  if (before == 0 || request.facts.parentSession.empty()) return 0;
  BOUGH_TRY(const auto state, store.sessionState(sessionId));
  if (!state.origin) return 0;
  const std::string& parentId = state.origin->sessionId;
  const auto parent = TranscriptSource::open(store, parentId);
  if (!parent) return 0;
  WriteTranscriptOptions options{.agent = request.agent, .moves = request.moves, .pastOffset = before};
  BOUGH_TRY(options.facts, factsForExport(store, parentId, request.agent, *parent));
  options.facts.cwd = mapFolder(options.facts.cwd, request.moves, /*isQuiet=*/true);
  BOUGH_TRY(const auto written, writeTranscript(*parent, options, [](std::string_view) { return Result<void>(); }));
  return written.pastBytes == before ? 0 : written.pastBytes;
}

}  // namespace

Result<SessionTranscript> writeSessionTranscript(
    SessionStore& store, const std::string& sessionId, const TranscriptRequest& request, const TranscriptSink& out,
    const std::function<Result<void>(const TranscriptFacts& facts)>& begin) {
  SessionTranscript made;
  if (isPlainCopy(request) && !begin) {
    BOUGH_TRY(auto copied, copyTranscript(store, sessionId, request.agent, out));
    if (copied) {
      made.facts = std::move(copied->facts);
      made.written = std::move(copied->written);
      return made;
    }
  }
  BOUGH_TRY(const auto entries, TranscriptSource::open(store, sessionId));
  BOUGH_TRY(made.facts, factsForExport(store, sessionId, request.agent, entries));
  const std::string folder = made.facts.cwd;
  const std::string id = made.facts.sessionId;
  if (request.copy > 0) made.facts = factsOfCopy(made.facts, request.copy);
  BOUGH_TRY(auto moves, movesOf(folder, request.cwdMap));
  made.facts.cwd = mapFolder(folder, moves, /*isQuiet=*/request.copy > 0);
  if (request.needsFolder && made.facts.cwd.empty()) {
    made.facts.cwd = request.folder.empty() ? fs::current_path().string() : request.folder;
  }
  WriteTranscriptOptions options{.agent = request.agent,
                                 .facts = made.facts,
                                 .headId = request.at,
                                 .branchOnly = request.branchOnly,
                                 .bare = request.bare,
                                 .moves = std::move(moves),
                                 .renamedFrom = request.copy == 0 ? std::string() : id,
                                 .keepBeside = request.keepBeside};
  if (begin) {
    BOUGH_TRY(begin(made.facts));
  } else {
    BOUGH_TRY(options.continuedBytes, continuedNow(store, sessionId, entries, options));
  }
  BOUGH_TRY(made.written, writeTranscript(entries, options, out));
  return made;
}

Result<std::unique_ptr<NewFile>> NewFile::make(const std::string& path) {
  std::error_code error;
  const fs::path whole = fs::absolute(path, error);
  if (fs::exists(whole, error)) {
    return fail(ErrorCode::AlreadyExists, fmt::format("{} exists already", path),
                "nothing is overwritten; name another file");
  }
  const std::string folder = whole.parent_path().string();
  auto opened = orError(posixFileSystem().openRoot(folder, true), "open", folder);
  if (!opened) {
    opened.error().hint = "name a file in another folder";
    return std::unexpected(std::move(opened.error()));
  }
  std::unique_ptr<NewFile> made(new NewFile(path, std::move(*opened)));
  made->folderDescriptor_ = ::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (made->folderDescriptor_ < 0) return std::unexpected(systemError(errno, "open", folder));
  BOUGH_TRY(auto file, orError(AtomicFile::create(made->folderDescriptor_, made->name(), 0600), "create", path));
  made->file_.emplace(std::move(file));
  return made;
}

std::string NewFile::name() const {
  return fs::path(path_).filename().string();
}

NewFile::~NewFile() {
  file_.reset();
  if (folderDescriptor_ >= 0) ::close(folderDescriptor_);
}

Result<void> NewFile::add(std::string_view piece) {
  return orError(file_->write(piece), "write", path_);
}

Result<void> NewFile::save() {
  BOUGH_TRY(sync());
  BOUGH_TRY(publish());
  file_->removeLeftovers();
  return syncFolder();
}

Result<void> NewFile::sync() {
  return orError(file_->sync(), "write", path_);
}

Result<void> NewFile::publish() {
  const auto placed = file_->publish(IfPresent::Refuse);
  if (!placed && placed.error() == EEXIST) {
    return fail(ErrorCode::AlreadyExists, fmt::format("{} exists already", path_),
                "nothing is overwritten; name another file");
  }
  return orError(placed, "write", path_);
}

Result<void> NewFile::syncFolder() {
  return orError(folder_->sync(), "write", path_);
}

Result<void> writeNewFile(const std::string& path, std::string_view bytes) {
  BOUGH_TRY(const auto file, NewFile::make(path));
  BOUGH_TRY(file->add(bytes));
  return file->save();
}

namespace {

// Syncs many files in parallel, which takes a disk about as long as one file.
Result<void> syncAll(const std::vector<std::unique_ptr<NewFile>>& files) {
  constexpr std::size_t kMostThreads = 16;
  std::vector<Result<void>> done(files.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < files.size(); i = next++) done[i] = files[i]->sync();
  };
  {
    const auto threads = startThreads(std::min(kMostThreads, files.size()) - 1, [&](std::size_t) { work(); });
    work();
  }
  for (const auto& each : done) BOUGH_TRY(each);
  return {};
}

}  // namespace

Result<void> NewFiles::begin(const std::string& path) {
  constexpr std::size_t kAtOnce = 128;
  if (group_.size() == kAtOnce) {
    BOUGH_TRY(save());
  }
  BOUGH_TRY(auto file, NewFile::make(path));
  group_.push_back(std::move(file));
  return {};
}

Result<void> NewFiles::save() {
  if (group_.empty()) return {};
  BOUGH_TRY(syncAll(group_));
  for (const auto& file : group_) BOUGH_TRY(file->publish());
  BOUGH_TRY(group_.back()->syncFolder());
  group_.clear();
  return {};
}

Result<void> writeOrResumeFile(const std::string& path, std::string_view bytes) {
  std::error_code error;
  if (!fs::exists(path, error)) return writeNewFile(path, bytes);
  std::ifstream in(path, std::ios::binary);
  std::ostringstream held;
  held << in.rdbuf();
  if (!in.bad() && held.view().starts_with(bytes)) return {};  // the agent may have appended since
  if (in.bad() || !bytes.starts_with(held.view())) {
    return fail(ErrorCode::AlreadyExists, fmt::format("{} exists and holds something else", path),
                "nothing was changed");
  }
  // Append the rest, so that lines which a running agent adds are kept.
  const std::size_t heldBytes = held.view().size();
  if (fs::file_size(path, error) != heldBytes) {
    return fail(ErrorCode::Conflict, fmt::format("{} changed meanwhile", path), "try again when the agent is idle");
  }
  std::ofstream out(path, std::ios::binary | std::ios::app);
  out << bytes.substr(heldBytes) << std::flush;
  if (!out) return std::unexpected(systemError(errno, "append to", path));
  const std::string folder = fs::absolute(path, error).parent_path().string();
  BOUGH_TRY(const auto opened, orError(posixFileSystem().openRoot(folder, false), "open", folder));
  BOUGH_TRY(const auto file,
            orError(opened->open(fs::path(path).filename().string(), OpenMode::ReadWrite), "open", path));
  return orError(file->sync(), "sync", path);
}

namespace {

// Takes out of the report, and returns, the number of entries that were left out because they are redacted, unreadable,
// or stand for a line that is not kept: no format can hold them, and no file contains them.
std::uint64_t takeLeftOut(CompatibilityReport& report, std::string_view name) {
  const auto found = std::ranges::find(report.lossyFields, name);
  if (found == report.lossyFields.end()) return 0;
  const auto place = found - report.lossyFields.begin();
  const std::uint64_t count = report.lossyCounts[static_cast<std::size_t>(place)];
  report.lossyFields.erase(found);
  report.lossyCounts.erase(report.lossyCounts.begin() + place);
  return count;
}

}  // namespace

void printWritten(const SessionTranscript& made) {
  if (!made.facts.parentEntryId.empty()) {
    printMessage(fmt::format("note: the file continues session {}, whose file {} needs as well",
                             text::printable(made.facts.parentSession), made.facts.agent));
  }
  if (made.written.sameBytes) {
    printMessage(fmt::format("{}, the bytes that {} wrote", counted(made.written.entries, "entry"), made.facts.agent));
    return;
  }
  CompatibilityReport report = made.written.report;
  const std::uint64_t redacted = takeLeftOut(report, "redacted");
  const std::uint64_t unreadable = takeLeftOut(report, "unreadable");
  const std::uint64_t skipped = takeLeftOut(report, "skipped");
  printMessage(fmt::format("{} for {}{}", counted(made.written.entries, "entry"), made.facts.agent,
                           report.lossyFields.empty() ? "" : "; its format cannot hold:"));
  printLosses(report);
  if (made.written.carried > 0 && !report.lossyFields.empty()) {
    printMessage("all of this is stored in the file, too, and bough reads it back from there");
  }
  if (redacted > 0) printMessage(fmt::format("left out: {}", counted(redacted, "redacted entry")));
  if (unreadable > 0) printMessage(fmt::format("left out: {}", counted(unreadable, "unreadable entry")));
  if (skipped > 0) printMessage(fmt::format("left out: {} that was too long to be kept", counted(skipped, "line")));
}

std::vector<std::string> writableAgents() {
  std::vector<std::string> names;
  for (const std::string_view name : transcriptAgents()) names.emplace_back(name);
  return names;
}

Option cwdMapOption(std::vector<std::string>& target) {
  return {.name = "--cwd-map",
          .help = "For a project that has moved: replace OLD by NEW at the beginning of folders; may be repeated",
          .target = &target,
          .value = "OLD=NEW"};
}

}  // namespace bough::cli
