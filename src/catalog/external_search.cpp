#include "catalog/external_search.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <optional>
#include <unordered_set>

#include "base/system/threads.h"
#include "base/text/timestamp.h"
#include "base/try.h"
#include "bough/transcript.h"
#include "catalog/database/entry_facts.h"
#include "catalog/external.h"

namespace bough::catalog {
namespace {

struct SessionHits {
  std::deque<SearchHit> hits;  // newest last
  std::optional<Error> error;
};

// The state of one thread.
class ExternalScanner {
 public:
  ExternalScanner(const ScanQuery& query, const ScanOptions& options)
      : query_(query), options_(options), filter_(query.anchors, query.form) {
    for (const std::string& anchor : query.anchors) longestAnchor_ = std::max(longestAnchor_, anchor.size());
  }

  Result<void> run(const std::string& sessionId, const std::vector<std::string>& paths, SessionHits& found) {
    if (!excerptOf_) {
      BOUGH_TRY(excerptOf_, query_.matcher());
    }
    std::unordered_set<std::string> seen;  // several files of a session may repeat entries
    for (const std::string& path : paths) {
      BOUGH_TRY(const bool mayMatch, hasCandidate(path));
      if (!mayMatch) continue;
      const ReadTranscriptOptions readOptions{.agent = {}, .fromOffset = 0, .withoutLines = true};
      BOUGH_TRY(readTranscript(path, readOptions, [&](Entry&& entry) -> Result<void> {
        if (paths.size() > 1 && !seen.insert(entry.id).second) return {};
        return addHit(sessionId, entry, found);
      }));
    }
    return {};
  }

 private:
  // A quick test of the bytes, because most files contain nothing that matches. A line may be longer than a piece, so
  // the end of each piece is examined again together with the next.
  Result<bool> hasCandidate(const std::string& path) {
    constexpr std::size_t kOverlap = 4096;
    const std::size_t overlap = std::max(kOverlap, longestAnchor_ * 16);
    bool found = false;
    std::string text;
    BOUGH_TRY(readTranscriptBytes(path, [&](std::string_view piece) {
      text.erase(0, text.size() - std::min(text.size(), overlap));
      text += piece;
      found = filter_.find(text, 0) != std::string_view::npos;
      return !found;
    }));
    return found;
  }

  Result<void> addHit(const std::string& sessionId, const Entry& entry, SessionHits& found) {
    if (entry.type == entry_type::kSessionInfo) return {};
    const std::uint64_t timeMs = parseTimestamp(entry.timestamp).value_or(0);
    if (timeMs < options_.sinceMs.value_or(0) || timeMs >= options_.untilMs.value_or(UINT64_MAX)) return {};
    const EntryFacts facts = readFacts(entry, true);
    const std::string role(toString(facts.role));
    const bool isWanted = options_.roles.empty() || std::ranges::find(options_.roles, role) != options_.roles.end();
    if (facts.text.empty() || !isWanted) return {};
    BOUGH_TRY(auto excerpt, excerptOf_(facts.text));
    if (!excerpt) return {};
    found.hits.push_back(
        {.sessionId = sessionId, .entryId = entry.id, .role = role, .timeMs = timeMs, .excerpt = std::move(*excerpt)});
    if (found.hits.size() > options_.maxHitsPerSession) found.hits.pop_front();
    return {};
  }

  const ScanQuery& query_;
  const ScanOptions& options_;
  LineFilter filter_;
  std::size_t longestAnchor_ = 0;  // longest anchor
  ExcerptOf excerptOf_;
};

}  // namespace

void searchExternalSessions(const std::string& folder, const std::vector<std::string>& sessions, const ScanQuery& query,
                            const ScanOptions& options, const std::function<bool(SearchHit&)>& use,
                            const std::function<void(const std::string& sessionId, const Error&)>& problem) {
  constexpr std::size_t kSessionsAtOnce = 64;
  constexpr unsigned kMaxThreads = 8;
  const unsigned count = std::clamp(std::thread::hardware_concurrency(), 1U, kMaxThreads);
  std::deque<ExternalScanner> scanners;
  for (unsigned i = 0; i < count; ++i) scanners.emplace_back(query, options);
  for (std::size_t from = 0; from < sessions.size(); from += kSessionsAtOnce) {
    const std::size_t size = std::min(kSessionsAtOnce, sessions.size() - from);
    std::vector<SessionHits> found(size);
    const auto begin = sessions.begin() + static_cast<std::ptrdiff_t>(from);
    const auto paths = externalFilesOf(folder, {begin, begin + static_cast<std::ptrdiff_t>(size)});
    if (!paths) return problem(sessions[from], paths.error());
    std::atomic<std::size_t> next = 0;
    const auto work = [&](ExternalScanner& scanner) {
      for (std::size_t i = next++; i < size; i = next++) {
        if (auto done = scanner.run(sessions[from + i], (*paths)[i], found[i]); !done) found[i].error = done.error();
      }
    };
    ThreadFailure failure;
    {
      const auto threads =
          startThreads(count - 1, [&](std::size_t number) { failure.guard([&] { work(scanners[number + 1]); }); });
      work(scanners[0]);
    }
    failure.rethrow();
    for (std::size_t i = 0; i < size; ++i) {
      if (found[i].error) problem(sessions[from + i], *found[i].error);
      for (auto hit = found[i].hits.rbegin(); hit != found[i].hits.rend(); ++hit) {
        if (!use(*hit)) return;
      }
    }
  }
}

}  // namespace bough::catalog
