#include "transcript/agents/codex/place.h"

#include "base/json/json_scan.h"
#include "base/json/json_write.h"
#include "base/system/file_io.h"
#include "base/text/timestamp.h"
#include "base/try.h"
#include "transcript/agents/codex/lineage.h"
#include "transcript/model/uuid.h"
#include "transcript/source/nearby_files.h"

namespace bough::transcript::codex {
namespace {

constexpr std::string_view kIndex = "session_index.jsonl";

std::string root(const TranscriptHome& home) {
  const std::string set = home.variable("CODEX_HOME");
  return set.empty() ? home.home + "/.codex" : set;
}

// A session has the name of its rollout (rolloutName).
std::string threadOf(const std::string& sessionId) {
  const std::string name = rolloutName(sessionId);
  return name != sessionId ? sessionId : name.substr(0, name.find('_'));
}

// Returns the name of a thread in the index: the last line about the thread is the newest.
std::optional<std::string> nameIn(std::string_view index, const std::string& thread) {
  std::optional<std::string> name;
  for (std::size_t at = 0; at < index.size();) {
    const std::size_t end = std::min(index.find('\n', at), index.size());
    const std::string_view line = index.substr(at, end - at);
    at = end + 1;
    if (line.find(thread) == std::string_view::npos || json::findString(line, "id") != thread) continue;
    if (auto named = json::findString(line, "thread_name")) name = std::move(named);
  }
  return name;
}

}  // namespace

std::vector<std::string> folders(const TranscriptHome& home) {
  return {root(home) + "/sessions", root(home) + "/archived_sessions"};
}

bool isTranscript(std::string_view relative) {
  const std::string name = nameOf(relative);
  return name.starts_with("rollout-") && (name.ends_with(".jsonl") || name.ends_with(".jsonl.zst"));
}

// Uses the day in UTC; Codex looks in all days.
Result<TranscriptPlace> place(const TranscriptHome& home, const TranscriptFacts& facts) {
  const std::string thread = threadOf(facts.sessionId);
  if (!isUuid(thread)) return fail(ErrorCode::InvalidArgument, "a session id of Codex is a UUID", "");
  const auto created = parseTimestamp(facts.created);
  const std::string time = formatTimestamp(created.value_or(uuidTimeMs(thread)));
  std::string stamp = time.substr(0, std::string_view("2026-01-02T03:04:05").size());
  for (char& c : stamp) c = c == ':' ? '-' : c;
  TranscriptPlace place;
  place.path = root(home) + "/sessions/" + time.substr(0, 4) + '/' + time.substr(5, 2) + '/' + time.substr(8, 2) +
               "/rollout-" + stamp + '-' + facts.sessionId + ".jsonl";
  place.command = "codex resume " + thread;
  return place;
}

Result<void> addFactsBeside(const std::string& path, TranscriptFacts& facts) {
  const std::string home = homeOf(path);
  if (home.empty()) return {};
  BOUGH_TRY(const auto read, readSmallFile(home + '/' + std::string(kIndex)));
  facts.title = nameIn(read.value_or(""), threadOf(facts.sessionId)).value_or(facts.title);
  return {};
}

Result<void> announce(const TranscriptHome& home, const TranscriptFacts& facts, const std::string& path) {
  (void)path;
  if (facts.title.empty()) return {};
  BOUGH_TRY(const auto folder, orError(posixFileSystem().openRoot(root(home), true), "open", root(home)));
  BOUGH_TRY(const auto file, orError(folder->open(kIndex, OpenMode::OpenOrCreate), "open", kIndex));
  BOUGH_TRY(lockWithin(*file, LockKind::Exclusive, 5'000, kIndex));
  const FileLock lock(*file);
  // A name that the user gave the thread there stays.
  BOUGH_TRY(const auto index, readSmallFile(root(home) + '/' + std::string(kIndex)));
  if (nameIn(index.value_or(""), threadOf(facts.sessionId))) return {};
  BOUGH_TRY(const FileInfo info, orError(file->info(), "look at", kIndex));
  // A last line that was cut short must stay a line of its own.
  char last = '\n';
  if (info.sizeBytes > 0) {
    BOUGH_TRY(orError(file->readAt(info.sizeBytes - 1, std::span(&last, 1)), "read", kIndex));
  }
  std::string line = last == '\n' ? "" : "\n";
  json::Writer writer(line);
  writer.beginObject().member("id", threadOf(facts.sessionId)).member("thread_name", facts.title);
  writer.member("updated_at", facts.created).endObject();
  line += '\n';
  BOUGH_TRY(orError(writeFully(*file, info.sizeBytes, line), "append to", kIndex));
  return orError(file->sync(), "sync", kIndex);
}

}  // namespace bough::transcript::codex
