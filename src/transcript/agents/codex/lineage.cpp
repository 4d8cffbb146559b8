#include "transcript/agents/codex/lineage.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/system/file_system.h"
#include "base/text/timestamp.h"
#include "transcript/agents/codex/read.h"
#include "transcript/model/facts.h"
#include "transcript/model/uuid.h"
#include "transcript/source/nearby_files.h"

namespace bough::transcript::codex {
namespace {

constexpr std::string_view kCircle = "the files that it was forked from continue one another in a circle";
constexpr std::size_t kMaxFolders = 20'000;

// The first `sizeBytes` bytes of a file.
class Beginning : public ByteSource {
 public:
  Beginning(ByteSource& source, std::uint64_t sizeBytes) : source_(source), left_(sizeBytes) {}
  Result<std::size_t> read(std::span<char> out) override {
    if (left_ == 0) return std::size_t{0};
    auto got = source_.read(out.first(static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), left_))));
    if (got) left_ -= *got;
    return got;
  }
  [[nodiscard]] std::uint64_t left() const { return left_; }

 private:
  ByteSource& source_;
  std::uint64_t left_;
};

std::vector<std::string> list(const std::string& folder) {
  auto opened = posixFileSystem().openRoot(folder, false);
  if (!opened) return {};
  auto names = (*opened)->list();
  return names ? std::move(*names) : std::vector<std::string>();
}

constexpr std::size_t kUuidBytes = 36;

// `wanted`: the id or the name of a rollout.
bool isRolloutOf(std::string_view name, std::string_view wanted) {
  if (!name.starts_with("rollout-") || !(name.ends_with(".jsonl") || name.ends_with(".jsonl.zst"))) return false;
  const std::string rollout = rolloutName(name.substr(0, name.find('.')));
  return !rollout.empty() && (rollout == wanted || rollout.substr(rollout.size() - kUuidBytes) == wanted);
}

std::string findIn(const std::string& folder, std::string_view thread) {
  for (const std::string& name : list(folder)) {
    if (isRolloutOf(name, thread)) return folder + '/' + name;
  }
  return {};
}

bool isNumber(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
}

// The folders are days in the local time of the program that wrote the file; a thread's id begins with its time in UTC.
std::vector<std::string> daysOf(std::string_view thread) {
  std::vector<std::string> days;
  const std::uint64_t ms = uuidTimeMs(thread);
  constexpr std::uint64_t kDayMs = 86'400'000;
  if (ms < kDayMs) return days;
  for (const std::uint64_t at : {ms, ms - kDayMs, ms + kDayMs}) {
    const std::string time = formatTimestamp(at);
    days.push_back(time.substr(0, 4) + '/' + time.substr(5, 2) + '/' + time.substr(8, 2));
  }
  return days;
}

// Looks in all folders of years, months and days.
std::string findAnyDay(const std::string& sessions, std::string_view thread) {
  std::vector<std::pair<std::string, int>> folders = {{sessions, 0}};
  for (std::size_t at = 0; at < folders.size() && at < kMaxFolders; ++at) {
    const auto [folder, level] = folders[at];
    for (const std::string& name : list(folder)) {
      if (isRolloutOf(name, thread)) return folder + '/' + name;
      if (level < 3 && isNumber(name)) folders.emplace_back(folder + '/' + name, level + 1);
    }
  }
  return {};
}

}  // namespace

std::string homeOf(const std::string& path) {
  std::string folder = folderOf(path);
  for (int level = 0; level < 4; ++level, folder = folderOf(folder)) {
    const std::string name = nameOf(folder);
    if (name == "sessions" || name == "archived_sessions") return folderOf(folder);
  }
  return {};
}

std::string rolloutName(std::string_view stem) {
  constexpr std::size_t kBoth = kUuidBytes + 1 + kUuidBytes;
  const auto last = [&](std::size_t sizeBytes) { return stem.substr(stem.size() - std::min(stem.size(), sizeBytes)); };
  if (!isUuid(last(kUuidBytes))) return {};
  const std::string_view both = last(kBoth);
  const bool replacesOther = both.size() == kBoth && both[kUuidBytes] == '_' && isUuid(both.substr(0, kUuidBytes));
  return std::string(replacesOther ? both : last(kUuidBytes));
}

std::string findRollout(const std::string& path, const std::string& rollout) {
  if (rolloutName(rollout) != rollout || rollout.empty()) return {};
  // A rollout that replaced another one has its own id, and so its own time.
  const std::string thread = rollout.substr(rollout.size() - kUuidBytes);
  if (std::string beside = findIn(folderOf(path), thread); !beside.empty()) return beside;
  const std::string home = homeOf(path);
  if (home.empty()) return {};
  for (const std::string& day : daysOf(thread)) {
    if (std::string found = findIn(home + "/sessions/" + day, thread); !found.empty()) return found;
  }
  for (const std::string_view name : {"/archived_sessions", "/sessions"}) {
    if (std::string found = findAnyDay(home + std::string(name), thread); !found.empty()) return found;
  }
  return {};
}

Lineage lineageOf(const std::string& path, const std::string& rollout, std::uint64_t endOffset,
                  std::vector<std::string> followed) {
  if (followed.size() >= kMaxForks) return {.problem = "it was forked more often than bough follows"};
  const std::string parent = findRollout(path, rollout);
  if (parent.empty()) return {};
  followed.push_back(path);
  if (std::ranges::find(followed, parent) != followed.end()) return {.problem = kCircle};
  auto file = openFile(parent);
  if (!file) return {.problem = "the file that it was forked from cannot be read"};
  Beginning source(**file, endOffset);
  const Builder::Use ignore = [](Entry&&) -> Result<void> { return {}; };
  Builder builder("codex", {.fromOffset = UINT64_MAX}, ignore);
  const auto reader = makeHistoryReader(std::move(followed));
  builder.path = parent;
  builder.facts.sessionId = nameOf(parent).substr(0, nameOf(parent).find('.'));
  LineRecords records(source, [](std::string_view) { return true; });
  std::string_view problem;
  while (true) {
    const auto record = records.next();
    if (!record) problem = "the file that it was forked from cannot be read";
    if (!record || !*record) break;
    if ((*record)->kind != RecordKind::Json) {
      reader->flushHeld(builder);
      continue;
    }
    if (auto carried = (*record)->repaired ? std::nullopt : carriedIn((*record)->text)) {
      reader->flushHeld(builder);
      builder.carry(**record, std::move(*carried));
    }
    reader->record(**record, builder);
  }
  reader->end(builder);
  Lineage lineage = reader->collectLineage(builder);
  if (lineage.problem == kCircle) return {.problem = kCircle};
  const TranscriptReport report = builder.end();
  if (problem.empty() && source.left() > 0) problem = "the file that it was forked from ends before the fork";
  if (!problem.empty()) lineage.problem = problem;
  lineage.sessionId = report.facts.sessionId;
  lineage.lastEntryId = report.headId;
  return lineage;
}

}  // namespace bough::transcript::codex
