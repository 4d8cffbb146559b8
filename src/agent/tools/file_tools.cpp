// The tools that work on files without running a program: read, write, edit, ls.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <mutex>

#include "agent/parts/json_parts.h"
#include "agent/rules/command_rules.h"
#include "agent/rules/git_files.h"
#include "agent/tools/builtin.h"
#include "agent/tools/diff.h"
#include "base/system/file_io.h"
#include "base/system/folder_stream.h"
#include "base/text/counted.h"
#include "base/try.h"
#include "base/user_folders.h"

namespace bough::agent {
namespace {

constexpr std::size_t kMaxListed = 1'000;
constexpr std::uint64_t kMaxLines = 2'000;
constexpr const char* kTooLarge = "the file is too large to be edited";

// Calls run in parallel; of two simultaneous changes to one file, one would be lost.
std::mutex changing;

Result<std::string> stringArgument(const std::string& arguments, const char* name) {
  auto value = json::findString(arguments, name);
  if (value) return std::move(*value);
  return fail(ErrorCode::InvalidArgument,
              fmt::format("the argument {} is missing or not a string; nothing was done", name));
}

using RunAtPlace = ToolOutcome (*)(const std::string& arguments, const Place& place, const ToolLimits& limits);

// The path is resolved here and nowhere else. A place inside the working folder needs no question; a question about a
// place outside names where it really is.
PreparedCall withQuestionIfOutside(const char* what, const Place& place, const ToolEnvironment& environment) {
  PreparedCall prepared;
  if (place.inside) return prepared;
  prepared.question =
      fmt::format("{} {}, which is outside of {}", what, visibleText(place.path), environment.folder.path());
  prepared.permission = *prepared.question;
  prepared.allows = "exactly this";
  return prepared;
}

PreparedCall prepareAtPlace(const char* what, const std::string& arguments, const ToolEnvironment& environment,
                            RunAtPlace run, const char* otherwise = nullptr) {
  auto path = stringArgument(arguments, "path");
  if (!path && otherwise != nullptr && !json::findMember(arguments, "path")) path = otherwise;
  if (!path) return failedCall(path.error());
  auto place = givenPlace(*path, environment.folder);
  if (!place) return failedCall(place.error());
  PreparedCall prepared = withQuestionIfOutside(what, *place, environment);
  prepared.run = [run, arguments, place = std::move(*place), limits = environment.limits](const CancelToken&) {
    return run(arguments, place, limits);
  };
  return prepared;
}

bool looksBinary(std::string_view bytes) {
  return bytes.substr(0, 8'192).find('\0') != std::string_view::npos;
}

// The change that a call would make to a file.
struct FileChange {
  std::optional<std::string> before{};  // none: the file does not exist; otherwise at most ToolLimits::fileBytes of it
  std::uint64_t beforeBytes = 0;        // the size of the whole file
  std::string after{};
  bool heldKey = false;  // the file holds a key of this process, which the session must not store
};
using PlanChange = Result<FileChange> (*)(const std::string& arguments, const Place& place, const ToolLimits& limits);

// The first lines say what the diff of a long file cannot show, and whether the change can be undone.
std::string diffOf(const FileChange& change, DiffLimits limits = {}) {
  const std::string_view before = change.before ? std::string_view(*change.before) : std::string_view();
  std::string out;
  if (change.heldKey) out += "[the file holds a key, so no copy of it is kept: this cannot be undone]\n";
  if (change.beforeBytes > kMostCopiedBytes) out += "[the file is too large for a copy: this cannot be undone]\n";
  if (before.size() < change.beforeBytes) {
    out += fmt::format("[the file had {}, of which the first {} are compared here; all of them are replaced]\n",
                       counted(change.beforeBytes, "byte"), before.size());
  }
  const std::string diff = lineDiff(before, change.after, limits);
  // Zero bytes would make the whole result unreadable.
  const bool binary = !diff.empty() && (looksBinary(before) || looksBinary(change.after));
  return out + (binary ? "[binary: the differences are not shown]\n" : diff);
}

ToolOutcome applyChange(const FileChange& change, const Place& place, bool wholeFile) {
  if (const auto written = WorkingFolder::write(place, change.after); !written) return failed(written.error());
  if (!change.before) return {.text = fmt::format("made {} with {}", place.path, counted(change.after.size(), "byte"))};
  const std::string diff = diffOf(change);
  if (!wholeFile) return {.text = fmt::format("changed {}\n{}", place.path, diff)};
  return {.text = fmt::format("wrote {} to {}\n{}", counted(change.after.size(), "byte"), place.path, diff)};
}

// Returns the checksum of the whole file; empty when the file does not exist.
std::string digestOf(const Place& place) {
  return WorkingFolder::digest(place).value_or("");
}

// Only the change that the user was asked about is made: a whole file that changed after the question is not replaced.
constexpr std::string_view kChangedMeanwhile =
    "the file was changed after the user was asked; nothing was done; read it again";

Result<FileChange> planned(PlanChange plan, const std::string& arguments, const Place& place,
                           const ToolEnvironment& environment) {
  auto change = plan(arguments, place, environment.limits);
  if (change) change->heldKey = change->before && environment.secrets.areIn(*change->before);
  return change;
}

Result<void> checkSize(const Place& place, const ToolLimits& limits) {
  const auto beginning = WorkingFolder::read(place, 0);
  if (!beginning || beginning->sizeBytes <= limits.fileBytes) return {};
  return fail(ErrorCode::InvalidArgument, kTooLarge);
}

PreparedCall prepareChange(const char* what, const std::string& arguments, const ToolEnvironment& environment,
                           PlanChange plan, bool wholeFile) {
  const auto path = stringArgument(arguments, "path");
  if (!path) return failedCall(path.error());
  auto place = givenPlace(*path, environment.folder);
  if (!place) return failedCall(place.error());
  PreparedCall prepared = withQuestionIfOutside(what, *place, environment);
  // Refuse a file that is too large now, before making its copy reads the whole file.
  if (!wholeFile && place->inside) {
    if (auto size = checkSize(*place, environment.limits); !size) return failedCall(size.error());
  }
  const std::string_view obeying =
      place->inside ? programObeying(*path, *place, environment.folder) : std::string_view();
  if (!obeying.empty()) {
    prepared.question = fmt::format("{} {}, which {}{}", what, visibleText(place->path), obeying, kMayObey);
    prepared.permission = *prepared.question;
    prepared.allows = "exactly this";
  } else if (place->inside && environment.askBeforeChanges) {
    prepared.question = fmt::format("{} {}", what, visibleText(place->path));
    prepared.permission = kChangeFiles;
    prepared.allows = "every change of files in " + environment.folder.path();
  }
  // Taken before the diff, so that a later change is noticed.
  const std::string asked = prepared.question && wholeFile ? digestOf(*place) : std::string();
  const auto change = prepared.question ? planned(plan, arguments, *place, environment) : Result<FileChange>();
  // Do not ask about a change that cannot be made. Outside the working folder and below .git, ask even then, because
  // the failure itself reveals something.
  if (!change && prepared.permission == kChangeFiles) return failedCall(change.error());
  if (prepared.question && change) {
    prepared.diff = visibleText(diffOf(*change), /*keepTabs=*/true);
    prepared.wholeDiff = visibleText(diffOf(*change, kWholeDiff), /*keepTabs=*/true);
    if (prepared.wholeDiff == prepared.diff) prepared.wholeDiff.clear();
  }
  // An empty diff would look as if the change were unknown.
  if (prepared.question && change && prepared.diff.empty()) {
    *prepared.question += change->before ? ", which holds exactly that already" : ", an empty file";
  }
  const bool mustMatch = wholeFile && prepared.question && change;
  prepared.changes = *place;
  prepared.run = [plan, arguments, wholeFile, mustMatch, asked, place = std::move(*place),
                  &environment](const CancelToken&) -> ToolOutcome {
    const std::lock_guard lock(changing);
    const auto now = planned(plan, arguments, place, environment);
    if (!now) return failed(now.error());
    if (mustMatch && digestOf(place) != asked) return failed(std::string(kChangedMeanwhile));
    return applyChange(*now, place, wholeFile);
  };
  return prepared;
}

// Returns lines `first` (from 1) to `first + count - 1`, without line numbers, so that the model sees exactly what it
// edits.
ToolOutcome lineRange(const WorkingFolder::Content& content, std::uint64_t first, std::uint64_t count,
                      std::size_t limitBytes) {
  std::string_view rest = content.bytes;
  std::string out;
  std::uint64_t line = 1;
  for (; !rest.empty() && line < first + count; ++line) {
    const std::size_t end = std::min(rest.find('\n'), rest.size() - 1) + 1;
    if (line >= first) {
      if (out.size() + end > limitBytes) break;
      out.append(rest.substr(0, end));
    }
    rest.remove_prefix(end);
  }
  if (out.empty() && rest.empty()) {
    if (content.bytes.size() < content.sizeBytes) {
      return failed(fmt::format("only the first {} of {} can be read here, which are {}; `bash` can read the rest",
                                content.bytes.size(), counted(content.sizeBytes, "byte"), counted(line - 1, "line")));
    }
    return content.bytes.empty() ? ToolOutcome{.text = "[the file is empty]"}
                                 : failed("the file has only " + counted(line - 1, "line"));
  }
  if (out.empty()) return {.text = asText(rest.substr(0, limitBytes), limitBytes) + "\n[the line goes on]"};
  if (!rest.empty() || content.bytes.size() < content.sizeBytes) {
    out += fmt::format("\n[there is more: the file has {}; go on with offset {}]", counted(content.sizeBytes, "byte"),
                       line);
  }
  return {.text = std::move(out)};
}

ToolOutcome runRead(const std::string& arguments, const Place& place, const ToolLimits& limits) {
  const auto offset = numberArgument(arguments, "offset", 1);
  const auto limit = numberArgument(arguments, "limit", kMaxLines);
  if (!offset || !limit) return failed((offset ? limit : offset).error());
  const auto content = WorkingFolder::read(place, limits.fileBytes);
  if (!content) return failed(content.error());
  if (looksBinary(content->bytes))
    return {.text = fmt::format("[binary file, {}]", counted(content->sizeBytes, "byte"))};
  return lineRange(*content, std::max<std::uint64_t>(1, *offset), std::clamp<std::uint64_t>(*limit, 1, kMaxLines),
                   limits.outputBytes);
}

Result<FileChange> planWrite(const std::string& arguments, const Place& place, const ToolLimits& limits) {
  BOUGH_TRY(std::string text, stringArgument(arguments, "content"));
  auto old = WorkingFolder::read(place, limits.fileBytes);
  if (old) {
    return FileChange{.before = std::move(old->bytes), .beforeBytes = old->sizeBytes, .after = std::move(text)};
  }
  // A file that cannot be read can be neither shown nor restored.
  if (old.error().code != ErrorCode::NotFound) return std::unexpected(std::move(old.error()));
  return FileChange{.after = std::move(text)};
}

Result<FileChange> planEdit(const std::string& arguments, const Place& place, const ToolLimits& limits) {
  BOUGH_TRY(const std::string oldText, stringArgument(arguments, "oldText"));
  BOUGH_TRY(const std::string newText, stringArgument(arguments, "newText"));
  BOUGH_TRY(checkSize(place, limits));
  BOUGH_TRY(auto content, WorkingFolder::read(place, limits.fileBytes));
  if (content.bytes.size() < content.sizeBytes) {
    return fail(ErrorCode::InvalidArgument, kTooLarge);
  }
  const std::size_t at = oldText.empty() ? std::string::npos : content.bytes.find(oldText);
  if (at == std::string::npos) {
    return fail(ErrorCode::InvalidArgument, fmt::format("{} does not hold that text; nothing was changed", place.path));
  }
  if (content.bytes.find(oldText, at + 1) != std::string::npos) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("{} holds that text more than once; give more of the text around it", place.path));
  }
  std::string changed = content.bytes;
  changed.replace(at, oldText.size(), newText);
  return FileChange{.before = std::move(content.bytes), .beforeBytes = content.sizeBytes, .after = std::move(changed)};
}

ToolOutcome runLs(const std::string&, const Place& place, const ToolLimits&) {
  auto opened = WorkingFolder::openFolder(place);
  if (!opened) return failed(opened.error());
  const FolderStream folder = streamOf(opened->get());
  if (folder == nullptr) return failed(fileError(errno, "list", place.path));
  std::vector<std::string> lines;
  while (const dirent* each = ::readdir(folder.get())) {
    const std::string name = each->d_name;
    if (name == "." || name == "..") continue;
    struct stat info{};
    if (::fstatat(opened->get(), each->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
    lines.push_back(S_ISDIR(info.st_mode)   ? name + "/"
                    : S_ISLNK(info.st_mode) ? name + "@"
                                            : fmt::format("{}  {}", name, info.st_size));
  }
  std::ranges::sort(lines);
  const std::size_t total = lines.size();
  lines.resize(std::min(total, kMaxListed));
  std::string out;
  for (const std::string& line : lines) out += line + "\n";
  if (total > lines.size()) out += fmt::format("[… {} more …]\n", total - lines.size());
  return {.text = out.empty() ? "[the folder is empty]" : out};
}

}  // namespace

Result<Place> givenPlace(const std::string& given, const WorkingFolder& folder) {
  const bool mayBeHome = given == "~" || given.starts_with("~/");
  if (!mayBeHome || ::faccessat(folder.descriptor(), "~", F_OK, AT_SYMLINK_NOFOLLOW) == 0) return folder.resolve(given);
  BOUGH_TRY(const std::string path, withHome(given));
  return folder.resolve(path);
}

Tool readTool() {
  return {.name = "read",
          .description = "Read a text file. Long files come in parts: go on with offset.",
          .parameters = R"({"type":"object","properties":{"path":{"type":"string","description":"The file"},)"
                        R"("offset":{"type":"integer","description":"The first line, from 1"},)"
                        R"("limit":{"type":"integer","description":"How many lines"}},"required":["path"]})",
          .safeToRepeat = true,
          .prepare = [](const std::string& arguments, const ToolEnvironment& environment) {
            return prepareAtPlace("read", arguments, environment, runRead);
          }};
}

Tool writeTool() {
  return {.name = "write",
          .description = "Write a whole file. It replaces what was there; missing folders are made.",
          .parameters =
              R"({"type":"object","properties":{"path":{"type":"string","description":"The file"},)"
              R"("content":{"type":"string","description":"All of its text"}},"required":["path","content"]})",
          .safeToRepeat = true,
          .prepare = [](const std::string& arguments, const ToolEnvironment& environment) {
            return prepareChange("write to", arguments, environment, planWrite, /*wholeFile=*/true);
          }};
}

Tool editTool() {
  return {.name = "edit",
          .description = "Replace a piece of text in a file. It must be there exactly once.",
          .parameters = R"({"type":"object","properties":{"path":{"type":"string","description":"The file"},)"
                        R"("oldText":{"type":"string","description":"The text as it is in the file"},)"
                        R"("newText":{"type":"string","description":"What takes its place"}},)"
                        R"("required":["path","oldText","newText"]})",
          .safeToRepeat = false,
          .prepare = [](const std::string& arguments, const ToolEnvironment& environment) {
            return prepareChange("change", arguments, environment, planEdit, /*wholeFile=*/false);
          }};
}

Tool lsTool() {
  return {.name = "ls",
          .description = "List a folder: names, / for folders, @ for links, sizes in bytes.",
          .parameters = R"({"type":"object","properties":{"path":{"type":"string","description":"The folder; )"
                        R"(left out: the working folder"}}})",
          .safeToRepeat = true,
          .prepare = [](const std::string& arguments, const ToolEnvironment& environment) {
            return prepareAtPlace("list", arguments, environment, runLs, ".");
          }};
}

}  // namespace bough::agent
