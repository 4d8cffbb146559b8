#include "catalog/session_scan.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include "base/bytes/chunk_buffer.h"
#include "base/json/json_scan.h"
#include "base/system/file_io.h"
#include "base/system/threads.h"
#include "base/text/timestamp.h"
#include "base/try.h"
#include "catalog/database/entry_facts.h"
#include "catalog/search/search_query.h"
#include "catalog/search/session_files.h"
#include "catalog/search/word_query.h"
#include "catalog/tally/title.h"

namespace bough::catalog {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{128} << 10;  // fits into the cache of a core
constexpr std::size_t kRestBytes = std::size_t{16} << 10;

// A large file is divided into parts of this size. They are scanned from the end of the file, because the newest
// entries come first.
constexpr std::uint64_t kPartBytes = std::uint64_t{4} << 20;

// One piece of work for a thread: a part of a session's file. A session that is not in an uncompressed file is scanned
// whole, with its last part.
struct FilePart {
  std::size_t session = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = UINT64_MAX;  // a line that begins before `end` is scanned whole
  [[nodiscard]] bool isLast() const { return end == UINT64_MAX; }
};

// Hands out the work in the order of the results.
class WorkList {
 public:
  WorkList(SessionStore& store, const std::vector<std::string>& sessions)
      : files_(store.folder()), sessions_(sessions) {}

  std::optional<FilePart> next() {
    if (left_ > 0) {
      const std::uint64_t end = left_;
      left_ -= std::min(left_, kPartBytes);
      return FilePart{.session = at_ - 1, .begin = left_, .end = end};
    }
    if (at_ == sessions_.size()) return std::nullopt;
    const std::uint64_t size = files_.info(sessions_[at_]).value_or(FileInfo()).sizeBytes;
    left_ = size > kPartBytes ? size - kPartBytes : 0;
    return FilePart{.session = at_++, .begin = left_};
  }

 private:
  SessionFiles files_;
  const std::vector<std::string>& sessions_;
  std::size_t at_ = 0;
  std::uint64_t left_ = 0;  // of the session before at_: the bytes before this offset are not handed out yet
};

// An entry whose line may match. `line` is empty when the session is not in an uncompressed file; the line was then
// checked when it was read.
struct Candidate {
  std::string id;
  std::string line = {};
};

// The candidates of a session, in log order.
class Candidates {
 public:
  Candidates(SessionStore& store, const ScanQuery& query, const std::atomic<bool>& stopped)
      : store_(store), files_(store.folder()), filter_(query.anchors, query.form), stopped_(stopped) {}

  /// `mayMatch` is called before the line of an entry is discarded.
  Result<std::vector<Candidate>> of(const std::string& sessionId, const FilePart& work,
                                    const std::function<Result<bool>(std::string_view)>& mayMatch) {
    found_.clear();
    const auto file = files_.open(sessionId);
    if (file) {
      BOUGH_TRY(orError(readFile(*file, work), "read", sessionId));
    }
    if (file || !work.isLast()) return std::move(found_);
    // The session is archived, or not in a file at all.
    BOUGH_TRY(const auto session, store_.session(sessionId));
    Result<bool> wanted = false;
    BOUGH_TRY(session.exportLines([&](std::string_view line) {
      if (filter_.find(line, 0) == std::string_view::npos) return !stopped_;
      wanted = mayMatch(line);
      if (wanted && *wanted && addCandidate(line)) found_.back().line.clear();
      return wanted && !stopped_;
    }));
    BOUGH_TRY(wanted);
    return std::move(found_);
  }

 private:
  bool addCandidate(std::string_view line) {
    // Entries that can be found have their id as the first member. A line without an id is damaged or not bough's.
    auto id = json::findString(line, "id");
    if (id) found_.push_back({.id = std::move(*id), .line = std::string(line)});
    return id.has_value();
  }

  void addCandidates(std::string_view lines) {
    for (std::size_t at = 0; (at = filter_.find(lines, at)) != std::string_view::npos;) {
      const std::size_t before = at == 0 ? std::string_view::npos : lines.rfind('\n', at - 1);
      const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
      const std::size_t end = std::min(lines.find('\n', at), lines.size());
      addCandidate(lines.substr(begin, end - begin));
      at = end + 1;
      if (at >= lines.size()) return;
    }
  }

  // Scans the lines that begin in the part, in chunks of whole lines. The buffer grows with the longest line.
  SysResult<void> readFile(File& file, const FilePart& work) {
    buffer_.clear();
    // Start one byte earlier: when that byte ends a line, the part begins with a line.
    std::uint64_t offset = work.begin == 0 ? 0 : work.begin - 1;
    bool atLine = work.begin == 0;
    std::uint64_t lineBegin = offset;  // offset of the bytes held
    while (!stopped_ && lineBegin < work.end) {
      // After the part, only the rest of its last line is needed.
      const std::uint64_t wanted = offset < work.end ? work.end - offset : kRestBytes;
      const auto got = file.readAt(
          offset, buffer_.room(offset, static_cast<std::size_t>(std::min<std::uint64_t>(wanted, kChunkBytes))));
      if (!got) return std::unexpected(got.error());
      buffer_.add(*got);
      offset += *got;
      if (!atLine) {
        const std::string_view all = buffer_.held();
        const std::size_t skipped = *got == 0 ? all.size() : std::min(all.find('\n'), all.size() - 1) + 1;
        atLine = skipped > 0 && all[skipped - 1] == '\n';
        buffer_.drop(skipped);
        lineBegin += skipped;
        if (lineBegin >= work.end) break;
      }
      const std::string_view all = buffer_.held();
      const std::size_t end = *got == 0 ? all.size() : endOfLines(all, *got);
      if (atLine && end > 0) addCandidates(linesBefore(all.substr(0, end), lineBegin, work.end));
      if (*got == 0) break;
      lineBegin += end;
      buffer_.drop(end);
    }
    return {};
  }

  // Returns the position after the last complete line. Only the last `fresh` bytes of the text can contain its end.
  static std::size_t endOfLines(std::string_view text, std::size_t fresh) {
    fresh = std::min(fresh, text.size());
    const void* last = ::memrchr(text.data() + text.size() - fresh, '\n', fresh);
    return last == nullptr ? 0 : static_cast<std::size_t>(static_cast<const char*>(last) - text.data()) + 1;
  }

  // Returns the lines that begin before `end`.
  static std::string_view linesBefore(std::string_view lines, std::uint64_t begin, std::uint64_t end) {
    if (end - begin >= lines.size()) return lines;
    const std::size_t last = lines.find('\n', static_cast<std::size_t>(end - begin) - 1);
    return lines.substr(0, std::min(last, lines.size() - 1) + 1);
  }

  SessionStore& store_;
  SessionFiles files_;
  LineFilter filter_;
  const std::atomic<bool>& stopped_;
  ChunkBuffer buffer_;
  std::vector<Candidate> found_;
};

struct ScanResult {
  std::size_t session = 0;
  bool done = false;
  std::vector<SearchHit> hits;  // newest first
  std::optional<Error> error;
};

// The state of one thread.
class Scanner {
 public:
  Scanner(SessionStore& store, const ScanQuery& query, const ScanOptions& options, const std::atomic<bool>& stopped)
      : store_(store), query_(query), options_(options), stopped_(stopped), candidates_(store, query, stopped) {}

  Result<void> run(const std::string& sessionId, const FilePart& work, std::vector<SearchHit>& hits) {
    if (!excerptOf_) {
      BOUGH_TRY(excerptOf_, query_.matcher());
    }
    BOUGH_TRY(const auto candidates,
              candidates_.of(sessionId, work, [this](std::string_view line) { return mayMatch(line); }));
    if (candidates.empty()) return {};
    BOUGH_TRY(const auto session, store_.session(sessionId));
    std::optional<Error> problem;
    for (auto each = candidates.rbegin(); each != candidates.rend(); ++each) {
      if (hits.size() >= options_.maxHitsPerSession || stopped_) break;
      BOUGH_TRY(const bool mayBeHit, mayMatch(each->line));
      if (!mayBeHit) continue;
      // Load the entry as every view shows it: hidden when redacted, and with its attachment.
      const auto entry = session.entry(each->id);
      if (entry) {
        BOUGH_TRY(addHit(sessionId, *entry, hits));
      } else if (!problem) {
        const bool isTorn = entry.error().code == ErrorCode::NotFound;
        problem = isTorn ? Error{.code = ErrorCode::Damaged, .message = "a line that matches is damaged or incomplete"}
                         : entry.error();
      }
    }
    if (problem) return std::unexpected(*problem);
    return {};
  }

 private:
  // Returns false when the line alone shows that its entry does not match: loading an entry costs more than this test.
  Result<bool> mayMatch(std::string_view line) {
    const auto type = json::findString(line, "type");
    const auto payload = json::findMember(line, "payload");
    if (!type || !payload || payload->starts_with(R"({"$attachment")") || *type == entry_type::kSessionInfo)
      return true;
    Entry entry;
    entry.type = *type;
    entry.payload = *payload;
    const std::string text = readFacts(entry, true).text;
    if (text.empty()) return false;
    BOUGH_TRY(const auto excerpt, excerptOf_(text));
    return excerpt.has_value();
  }

  Result<void> addHit(const std::string& sessionId, const Entry& entry, std::vector<SearchHit>& hits) {
    if (entry.redacted) return {};
    const std::uint64_t timeMs = parseTimestamp(entry.timestamp).value_or(0);
    if (timeMs < options_.sinceMs.value_or(0) || timeMs >= options_.untilMs.value_or(UINT64_MAX)) return {};
    if (entry.type == entry_type::kSessionInfo) return addTitleHit(sessionId, entry, timeMs, hits);
    const EntryFacts facts = readFacts(entry, true);
    const std::string role(toString(facts.role));
    if (facts.text.empty() || !wants(role)) return {};
    BOUGH_TRY(auto excerpt, excerptOf_(facts.text));
    if (!excerpt) return {};
    hits.push_back({.sessionId = sessionId, .entryId = entry.id, .role = role, .timeMs = timeMs, .excerpt = *excerpt});
    return {};
  }

  // A title that was replaced later does not count.
  Result<void> addTitleHit(const std::string& sessionId, const Entry& entry, std::uint64_t timeMs,
                           std::vector<SearchHit>& hits) {
    const auto title = titleIn(entry);
    if (!query_.titles || !options_.roles.empty() || !title) return {};
    BOUGH_TRY(auto excerpt, excerptOf_(*title));
    if (!excerpt) return {};
    BOUGH_TRY(const auto current, readTitle(store_, sessionId));
    if (current != *title) return {};
    hits.insert(hits.begin(), {.sessionId = sessionId, .role = "title", .timeMs = timeMs, .excerpt = *excerpt});
    return {};
  }

  [[nodiscard]] bool wants(const std::string& role) const {
    return options_.roles.empty() || std::ranges::find(options_.roles, role) != options_.roles.end();
  }

  SessionStore& store_;
  const ScanQuery& query_;
  const ScanOptions& options_;
  const std::atomic<bool>& stopped_;
  Candidates candidates_;
  ExcerptOf excerptOf_;
};

bool isInFolder(const std::string& folder, std::string wanted) {
  while (wanted.size() > 1 && wanted.ends_with('/')) wanted.pop_back();
  return (folder + "/").starts_with(wanted == "/" ? wanted : wanted + "/");
}

// Returns true when the header of a session matches the filter.
Result<bool> matchesFilter(SessionStore& store, const SessionFilter& filter, const std::string& sessionId) {
  if (!filter.session.empty() && sessionId != filter.session) return false;
  if (filter.agent.empty() && filter.key.empty() && filter.cwd.empty()) return true;
  bool wanted = true;
  BOUGH_TRY(store.readOwnEntries(sessionId, 0, 1, [&](std::uint64_t, Entry& header) {
    const std::string key = json::findString(header.payload, "key").value_or("");
    const std::string cwd = json::findString(header.payload, "cwd").value_or("");
    const auto parts = parseSessionKey(key);
    const bool beginning = filter.key.ends_with('*');
    wanted = (filter.agent.empty() || (parts && parts->agent == filter.agent)) &&
             (filter.key.empty() ||
              (beginning ? key.starts_with(filter.key.substr(0, filter.key.size() - 1)) : key == filter.key)) &&
             (filter.cwd.empty() || isInFolder(cwd, filter.cwd));
  }));
  return wanted;
}

}  // namespace

Result<ScanQuery> scanForWords(std::string_view query) {
  ScanQuery scan{.form = AnchorForm::Word, .titles = true};
  BOUGH_TRY(const auto parsed, parseSearch(query));
  scan.anchors = anchorsOf(parsed.words);
  scan.matcher = [query = std::string(query)]() -> Result<ExcerptOf> {
    BOUGH_TRY(auto opened, WordQuery::open(query));
    const auto words = std::make_shared<WordQuery>(std::move(opened));
    return ExcerptOf([words](std::string_view text) { return words->excerptOf(text); });
  };
  return scan;
}

void scanSessions(SessionStore& store, const std::vector<std::string>& sessions, const ScanQuery& query,
                  const ScanOptions& options, const std::function<bool(SearchHit&)>& use,
                  const std::function<void(const std::string& sessionId, const Error&)>& problem) {
  WorkList list(store, sessions);
  std::deque<ScanResult> scanned;  // in the order of the work
  bool ended = false;              // no work is left to hand out
  std::mutex mutex;
  std::condition_variable changed;
  std::atomic<bool> stopped = false;
  ThreadFailure failure;
  // Returns false when no work is left.
  const auto scanNext = [&](Scanner& scanner) {
    std::optional<FilePart> piece;
    ScanResult* place = nullptr;
    {
      const std::lock_guard lock(mutex);
      piece = list.next();
      ended = ended || !piece;
      if (piece) place = &scanned.emplace_back(ScanResult{.session = piece->session});
    }
    if (!piece) return false;
    ScanResult found{.session = piece->session};
    if (auto done = scanner.run(sessions[piece->session], *piece, found.hits); !done) found.error = done.error();
    const std::lock_guard lock(mutex);
    found.done = true;
    *place = std::move(found);
    changed.notify_one();
    return true;
  };
  const std::size_t threads = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, 8);
  auto workers = startThreads(sessions.empty() ? 0 : threads, [&](std::size_t) {
    failure.guard([&] {
      Scanner scanner(store, query, options, stopped);
      while (!stopped && scanNext(scanner)) {
      }
    });
    const std::lock_guard lock(mutex);
    changed.notify_one();
  });
  std::optional<Scanner> localScanner;
  if (workers.empty()) localScanner.emplace(store, query, options, stopped);
  std::size_t hitsOfSession = 0;
  for (std::size_t i = 0, before = SIZE_MAX; !stopped; ++i) {
    ScanResult found;
    if (localScanner) scanNext(*localScanner);
    {
      std::unique_lock lock(mutex);
      changed.wait(
          lock, [&] { return failure.failed() || (i < scanned.size() ? scanned[i].done : ended || sessions.empty()); });
      if (failure.failed() || i >= scanned.size()) break;
      found = std::move(scanned[i]);
    }
    if (found.session != before) hitsOfSession = 0;
    before = found.session;
    if (found.error) problem(sessions[found.session], *found.error);
    for (SearchHit& hit : found.hits) {
      if (++hitsOfSession > options.maxHitsPerSession || use(hit)) continue;
      stopped = true;
      break;
    }
  }
  stopped = true;
  workers.clear();
  failure.rethrow();
}

Result<std::vector<std::string>> sessionsByFile(SessionStore& store, const SessionFilter& filter) {
  const SessionFiles files(store.folder());
  BOUGH_TRY(const auto ids, store.listSessions());
  std::vector<std::pair<std::uint64_t, std::string>> found;
  for (const std::string& id : ids) {
    // A session that cannot be examined comes last; reading it reports the reason.
    if (matchesFilter(store, filter, id).value_or(true))
      found.emplace_back(files.info(id).value_or(FileInfo()).modifiedNs, id);
  }
  std::ranges::sort(found, std::ranges::greater());
  std::vector<std::string> sessions;
  for (auto& [time, id] : found) sessions.push_back(std::move(id));
  return sessions;
}

Result<std::string> readTitle(SessionStore& store, const std::string& sessionId) {
  constexpr std::uint64_t kFirstEntries = 50;
  TitleChoice choice;
  std::vector<std::pair<std::uint64_t, std::string>> first;
  std::uint64_t latestMs = 0;
  BOUGH_TRY(store.readOwnEntries(sessionId, 0, kFirstEntries, [&](std::uint64_t, Entry& entry) {
    const std::uint64_t timeMs = parseTimestamp(entry.timestamp).value_or(latestMs);
    latestMs = std::max(latestMs, timeMs);
    if (entry.type == entry_type::kMessage) first.emplace_back(timeMs, entry.id);
  }));
  std::ranges::stable_sort(first, {}, &std::pair<std::uint64_t, std::string>::first);
  BOUGH_TRY(const auto session, store.session(sessionId));
  const auto addEntry = [&](const std::string& id) {
    if (const auto entry = session.entry(id)) choice.add(*entry, entry->redacted);
  };
  for (const auto& [timeMs, id] : first) {
    if (choice.source() == TitleSource::None) addEntry(id);
  }
  BOUGH_TRY(const auto infos, session.load({.type = std::string(entry_type::kSessionInfo)}));
  for (const Entry& info : infos) choice.add(info, info.redacted);
  return choice.title();
}

}  // namespace bough::catalog
