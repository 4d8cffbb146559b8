#include "cli/views/text_scan.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "base/json/json_scan.h"
#include "base/text/text.h"
#include "base/text/timestamp.h"
#include "base/try.h"

namespace bough::cli {
namespace {

constexpr std::size_t kAround = 60;  // bytes of text before and after what was found

struct ScannedSession {
  bool done = false;
  std::deque<SearchHit> hits;
  std::optional<Error> error;
};

// The beginning of a character at or before a place.
std::size_t characterAt(std::string_view text, std::size_t at) {
  while (at > 0 && at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
  return at;
}

std::string excerptOf(std::string_view text, const TextMatcher& matcher, TextMatcher::Place place) {
  const std::size_t before = text.rfind('\n', place.begin);
  std::size_t begin = before == std::string_view::npos || place.begin == 0 ? 0 : before + 1;
  if (begin > place.begin) begin = place.begin;
  const bool cutBefore = place.begin - begin > kAround;
  if (cutBefore) begin = characterAt(text, place.begin - kAround);
  std::size_t end = std::min({text.find('\n', place.end), place.end + 2 * kAround, text.size()});
  const bool cutAfter = end < text.size() && text[end] != '\n';
  end = characterAt(text, end);
  std::string out = cutBefore ? "…" : "";
  std::size_t at = begin;
  for (std::optional<TextMatcher::Place> each = place; each && each->end <= end; each = matcher.find(text, each->end)) {
    out += text.substr(at, each->begin - at);
    out += kMarkBegin;
    out += text.substr(each->begin, each->end - each->begin);
    out += kMarkEnd;
    at = each->end;
  }
  out += text.substr(at, end > at ? end - at : 0);
  return out + (cutAfter ? "…" : "");
}

std::string roleOf(const Entry& entry, const EntryView& view) {
  return entry.type == entry_type::kCompactionSummary || entry.type == entry_type::kBranchSummary ? "summary"
                                                                                                  : view.speaker;
}

bool isWanted(const Entry& entry, std::uint64_t timeMs, const ScanOptions& options) {
  if (!holdsMessage(entry) && entry.type != entry_type::kCompactionSummary &&
      entry.type != entry_type::kBranchSummary) {
    return false;
  }
  return !entry.redacted && timeMs >= options.sinceMs.value_or(0) && timeMs < options.untilMs.value_or(UINT64_MAX);
}

void scanEntry(const Entry& entry, const TextMatcher& matcher, const ScanOptions& options, ScannedSession& found) {
  const std::uint64_t timeMs = parseTimestamp(entry.timestamp).value_or(0);
  if (!isWanted(entry, timeMs, options)) return;
  const EntryView view = viewEntry(entry);
  const std::string role = roleOf(entry, view);
  if (!options.roles.empty() && std::ranges::find(options.roles, role) == options.roles.end()) return;
  for (const EntryPart& part : view.parts) {
    const auto place = matcher.find(part.text);
    if (!place) continue;
    if (found.hits.size() >= options.mostOfSession) found.hits.pop_front();
    found.hits.push_back(
        {.entryId = entry.id, .role = role, .timeMs = timeMs, .excerpt = excerptOf(part.text, matcher, *place)});
    return;
  }
}

Result<void> scanSession(SessionStore& store, const std::string& sessionId, const TextMatcher& matcher,
                         const ScanOptions& options, const std::atomic<bool>& stopped, ScannedSession& found) {
  BOUGH_TRY(const auto session, store.session(sessionId));
  std::optional<Error> problem;
  BOUGH_TRY(session.exportLines([&](std::string_view line) {
    if (stopped) return false;
    if (!matcher.mayBeIn(line)) return true;
    const auto id = json::findString(line, "id");
    if (!id) return true;
    // As every view shows it: hidden when it was redacted, and with its attachment.
    const auto entry = session.entry(*id);
    if (entry) scanEntry(*entry, matcher, options, found);
    if (!entry && !problem) problem = entry.error();
    return true;
  }));
  for (SearchHit& hit : found.hits) hit.sessionId = sessionId;
  std::ranges::reverse(found.hits);
  if (problem) return std::unexpected(*problem);
  return {};
}

}  // namespace

void scanSessions(SessionStore& store, const std::vector<std::string>& sessions, const TextMatcher& matcher,
                  const ScanOptions& options, const std::function<bool(SearchHit&)>& use,
                  const std::function<void(const std::string& sessionId, const Error&)>& problem) {
  std::vector<ScannedSession> scanned(sessions.size());
  std::mutex mutex;
  std::condition_variable changed;
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> stopped = false;
  const auto work = [&] {
    for (std::size_t i = next++; i < sessions.size() && !stopped; i = next++) {
      ScannedSession found;
      if (auto done = scanSession(store, sessions[i], matcher, options, stopped, found); !done)
        found.error = done.error();
      const std::lock_guard lock(mutex);
      found.done = true;
      scanned[i] = std::move(found);
      changed.notify_one();
    }
  };
  std::vector<std::thread> workers;
  const std::size_t threads = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, 8);
  for (std::size_t i = 0; i < std::min(threads, sessions.size()); ++i) workers.emplace_back(work);
  for (std::size_t i = 0; i < sessions.size() && !stopped; ++i) {
    ScannedSession found;
    {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return scanned[i].done; });
      found = std::move(scanned[i]);
    }
    if (found.error) problem(sessions[i], *found.error);
    for (SearchHit& hit : found.hits) {
      if (use(hit)) continue;
      stopped = true;
      break;
    }
  }
  for (std::thread& worker : workers) worker.join();
}

}  // namespace bough::cli
