// Imports a transcript into a store, repeatedly: what the store already has is recognized by offset and by id.
//
// 1. The first lines of the file name the session. 2. The session's entries say how far the file was read, and the last
// of them whether the file is still the same. 3. The rest is appended in batches. 4. Facts and head follow when they
// are new.
//
// After an interruption at any point the next import continues: each batch is stored whole or not at all. So are the
// entries of one line, unless there are very many; such a line is read again. An import that always loses the race
// against other imports of the file ends when the session has everything that the file contained when the import
// started.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/bytes/flat_map.h"
#include "base/bytes/sha256.h"
#include "base/json/json_scan.h"
#include "base/try.h"
#include "transcript/imported_head.h"
#include "transcript/model/agent.h"
#include "transcript/model/facts.h"
#include "transcript/model/ids.h"
#include "transcript/model/origin.h"
#include "transcript/rewritten_file.h"
#include "transcript/source/record.h"

namespace bough {
namespace {

using namespace transcript;

constexpr std::size_t kBatchEntries = 1'000;
constexpr std::size_t kBatchBytes = std::size_t{2} << 20;
constexpr std::size_t kMaxLineEntries = 20'000;  // limit after which even the entries of one line are split
constexpr std::uint64_t kReadAtOnce = 1'000;

// Returns whether the file still has these bytes at this offset.
bool hasBytesAt(const std::string& path, std::uint64_t offset, std::string_view bytes) {
  auto file = openFile(path);
  if (!file) return false;
  std::string buffer(std::size_t{64} << 10, '\0');
  std::uint64_t at = 0;
  while (!bytes.empty()) {
    const auto got = (*file)->read(std::span(buffer));
    if (!got || *got == 0) return false;
    std::string_view piece(buffer.data(), *got);
    if (at + piece.size() > offset) {
      piece.remove_prefix(at < offset ? static_cast<std::size_t>(offset - at) : 0);
      const std::size_t count = std::min(piece.size(), bytes.size());
      if (piece.substr(0, count) != bytes.substr(0, count)) return false;
      bytes.remove_prefix(count);
    }
    at += *got;
  }
  return true;
}

bool isSameLine(const Entry& one, const Entry& next) {
  const auto before = originOf(one);
  const auto after = originOf(next);
  return before && after && before->agent == after->agent && before->offset == after->offset;
}

// Tracks how far a file is known without a gap, because what came through another agent's file may be only some of its
// lines. Overlapping lines belong to a file that was rewritten: some of them are at other places now.
class KnownBytes {
 public:
  void add(std::uint64_t begin, std::uint64_t sizeBytes) {
    begin > end_ ? later_.push_back({begin, begin + sizeBytes}) : addKnown(begin, begin + sizeBytes);
  }
  /// Returns std::nullopt when lines overlap.
  std::optional<std::uint64_t> end() {
    std::ranges::sort(later_);
    for (const auto& [begin, end] : later_) {
      if (begin > end_) break;
      addKnown(begin, end);
    }
    return overlap_ ? std::nullopt : std::optional(end_);
  }

 private:
  void addKnown(std::uint64_t begin, std::uint64_t end) {
    overlap_ = overlap_ || begin < end_;
    end_ = std::max(end_, end);
  }

  bool overlap_ = false;
  std::uint64_t end_ = 0;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> later_;  // after a gap
};

// Returns whether a file is the output of an interrupted migration of an older document. Then the session continues
// from the end of the document. `headId` is its present head.
Result<bool> isBeginningOfDocument(SessionStore& store, const std::string& path, const ImportResult& imported,
                                   const std::string& headId) {
  constexpr std::string_view kEnding = ".jsonl";
  const Agent* agent = findAgent(imported.report.facts.agent);
  if (agent == nullptr || agent->canHoldTree || headId.empty() || imported.report.headId.empty()) return false;
  if (!path.ends_with(kEnding)) return false;
  const auto older = peekTranscript(path.substr(0, path.size() - 1));
  if (!older || transcriptSessionId(*older) != imported.sessionId) return false;
  BOUGH_TRY(const auto tree, store.loadTree(imported.sessionId));
  BOUGH_TRY(const auto head, store.sequenceOf(imported.sessionId, headId));
  BOUGH_TRY(const auto mine, store.sequenceOf(imported.sessionId, imported.report.headId));
  return tree.commonAncestor(head, mine) == mine;
}

// Notes which sessions of an agent a session was imported from, according to its facts.
class ImportedSessions {
 public:
  void add(const Entry& entry, const TranscriptFacts& file) {
    if (!holdsFacts(entry)) return;
    const auto facts = json::findMember(*json::findMember(entry.payload, "transcript"), "facts");
    if (json::findString(*facts, "agent") != file.agent) return;
    (json::findString(*facts, "sessionId").value_or("") == file.sessionId ? isSame_ : isOther_) = true;
  }
  [[nodiscard]] bool hasOnlyOthers() const { return isOther_ && !isSame_; }

 private:
  bool isSame_ = false;
  bool isOther_ = false;
};

// An id that the user chose may belong to a session from another file. A file of another session is a continuation only
// when the stored session has lines of it.
Result<void> checkLines(SessionStore& store, const std::string& sessionId, const std::string& path,
                        const ImportOptions& options) {
  bool hasOwn = false;
  const auto look = [&](Entry&& entry) -> Result<void> {
    if (!isConversation(entryKind(entry.type))) return {};
    const auto stored = store.loadEntry(sessionId, entry.id);
    hasOwn = stored && (stored->redacted || lineOf(*stored) == lineOf(entry));
    return fail(ErrorCode::Conflict, "");  // the first one is enough
  };
  const auto read = readTranscript(path, {.agent = options.agent, .fromOffset = 0}, look);
  if (!read && read.error().code != ErrorCode::Conflict) return std::unexpected(read.error());
  if (hasOwn) return {};
  return fail(ErrorCode::AlreadyExists,
              fmt::format("session {} was imported from another session than that of {}", sessionId, path),
              "give the import another id: --id ID");
}

// Notes the hashes of all ids of a session, including the entries that a fork shares, because the file of a fork that
// went to an agent begins with those.
Result<void> addAllIds(SessionStore& store, const std::string& sessionId, NumberSet& known) {
  constexpr std::size_t kAtOnce = 100;
  BOUGH_TRY(auto cursor, store.openCursor(sessionId));
  while (true) {
    BOUGH_TRY(const auto entries, cursor.next(kAtOnce));
    if (entries.empty()) return {};
    for (const Entry& entry : entries) known.insert(hashOf(entry.id));
  }
}

// How one attempt of an import differs from the first.
struct Attempt {
  bool fromBeginning = false;              // reads the whole file, whatever the session has of it
  std::uint64_t enoughBytes = UINT64_MAX;  // a session that has at least this much of the file is left unchanged
};

class Import {
 public:
  Import(SessionStore& store, const std::string& path, const ImportOptions& options, const Attempt& how,
         unsigned depth = 0)
      : store_(store), path_(path), options_(options), depth_(depth), how_(how) {}

  /// Returns whether run() skipped lines that the session has.
  [[nodiscard]] bool hasSkippedLines() const { return covered_ > 0; }
  /// Returns what was done before run() failed.
  [[nodiscard]] const ImportResult& partialResult() const { return out_; }

  Result<ImportResult> run() {
    BOUGH_TRY(facts_, peekTranscript(path_));
    out_.sessionId = options_.sessionId.empty() ? transcriptSessionId(facts_) : options_.sessionId;
    BOUGH_TRY(open());
    BOUGH_TRY(auto state, store_.sessionState(out_.sessionId));
    tail_ = std::move(state.tailId);
    head_.begin(std::move(state.headId));
    if (!out_.created) {
      if (state.origin) {
        BOUGH_TRY(addAllIds(store_, out_.sessionId, known_));
      }
      BOUGH_TRY(findCovered());
      const bool isSure = options_.sessionId.empty() || covered_ > 0;
      if (!isSure && importedSessions_.hasOnlyOthers()) {
        BOUGH_TRY(checkLines(store_, out_.sessionId, path_, options_));
      }
    }
    BOUGH_TRY(readRest());
    if (covered_ >= how_.enoughBytes) return std::move(out_);
    BOUGH_TRY(addFacts());
    BOUGH_TRY(moveHead());
    return std::move(out_);
  }

 private:
  Result<void> open() {
    const auto state = store_.sessionState(out_.sessionId);
    if (state) return {};
    if (state.error().code != ErrorCode::NotFound) return std::unexpected(state.error());
    NewSession session{.sessionId = out_.sessionId, .key = {}, .cwd = facts_.cwd, .title = {}};
    // The agent's name is part of the key, so that `--agent` finds the session.
    session.key = isUsableKey(facts_.key) ? facts_.key : fmt::format("{}:transcript:{}", facts_.agent, out_.sessionId);
    if (facts_.parentEntryId.empty()) {
      BOUGH_TRY(store_.createSession(session));
      out_.created = true;
      return {};
    }
    TranscriptFacts parent = facts_;
    parent.sessionId = facts_.parentSession;
    parent.storeId.clear();
    BOUGH_TRY(const std::string parentId, importParent(transcriptSessionId(parent)));
    auto forked = store_.branchFromEntry(parentId, facts_.parentEntryId, session);
    out_.created = forked.has_value();
    if (forked) return {};
    forked.error().message =
        fmt::format("{} continues session {}: {}", path_, facts_.parentSession, forked.error().message);
    forked.error().hint = "import that session first";
    return std::unexpected(forked.error());
  }

  // Imports the session that the file continues, if the store does not have it and its file is found. Returns its id in
  // the store, which is another than `parentId` when a store exported the file.
  Result<std::string> importParent(const std::string& parentId) {
    const Agent* agent = findAgent(facts_.agent);
    if (depth_ >= kMaxForks || agent == nullptr || agent->findParent == nullptr) return parentId;
    const auto isMissing = [&](const std::string& id) {
      const auto state = store_.sessionState(id);
      return !state && state.error().code == ErrorCode::NotFound;
    };
    if (!isMissing(parentId)) return parentId;
    const std::string path = agent->findParent(path_, facts_.parentSession);
    const auto facts = path.empty() ? Result<TranscriptFacts>() : peekTranscript(path);
    if (path.empty() || !facts) return parentId;
    if (std::string id = transcriptSessionId(*facts); !isMissing(id)) return id;
    const ImportOptions options{.agent = facts_.agent, .sessionId = {}};
    BOUGH_TRY(const auto imported, Import(store_, path, options, {}, depth_ + 1).run());
    return imported.sessionId;
  }

  // Finds out what the session has of this file.
  Result<void> findCovered() {
    std::uint64_t from = 0;
    std::optional<Entry> last;
    std::uint64_t lastEnd = 0;
    KnownBytes bytes;
    bool foreign = true;
    std::uint64_t lineAt = 0;
    std::size_t lineEntries = 0;
    while (true) {
      std::uint64_t count = 0;
      BOUGH_TRY(store_.readOwnEntries(out_.sessionId, from, kReadAtOnce, [&](std::uint64_t, Entry& entry) {
        ++count;
        known_.insert(hashOf(entry.id));
        importedSessions_.add(entry, facts_);
        const auto origin = originOf(entry);
        if (!origin || origin->agent != facts_.agent) return;
        foreign = false;
        head_.addStored(entry);
        if (!entry.timestamp.empty()) lastTime_ = entry.timestamp;
        lineEntries = origin->offset == lineAt ? lineEntries + 1 : 1;
        lineAt = origin->offset;
        if (!origin->torn && !origin->carries) givenOffsets_.insert(origin->offset);
        if (origin->torn || origin->sizeBytes == 0) return;
        bytes.add(origin->offset, origin->sizeBytes);
        if (origin->offset + origin->sizeBytes < lastEnd) return;
        lastEnd = origin->offset + origin->sizeBytes;
        last = entry;
      }));
      if (count == 0) break;
      from += count;
    }
    if (foreign && known_.size() > 1) {
      BOUGH_TRY(checkHasSessionEntries());
    }
    const auto line = last ? lineOf(*last) : std::nullopt;
    // A line that carries entries is stored without them: only the bytes before them are compared.
    const std::size_t compared = line && originOf(*last)->carries ? line->rfind('}') : std::string::npos;
    out_.rewritten = line && !hasBytesAt(path_, originOf(*last)->offset, std::string_view(*line).substr(0, compared));
    const bool isWhole = bytes.end() == lastEnd;
    covered_ = out_.rewritten || !isWhole || how_.fromBeginning ? 0 : lastEnd;
    if (lineEntries >= kMaxLineEntries / 2) covered_ = std::min(covered_, lineAt);
    return {};
  }

  // A file of another agent continues the session when it contains the session's own entries.
  Result<void> checkHasSessionEntries() {
    bool sawOwn = false;
    const auto look = [&](Entry&& entry) -> Result<void> {
      if (!isConversation(entryKind(entry.type))) return {};
      sawOwn = isKnown(entry.id);
      if (!sawOwn) {
        BOUGH_TRY(sawOwn, rewrittenFile_.hasMoved(entry));
      }
      return fail(ErrorCode::Conflict, "");  // the first one is enough
    };
    const auto read = readTranscript(path_, {.agent = options_.agent, .fromOffset = 0}, look);
    if (!read && read.error().code != ErrorCode::Conflict) return std::unexpected(read.error());
    if (!sawOwn) {
      return fail(ErrorCode::AlreadyExists, fmt::format("session {} is not from {}", out_.sessionId, path_),
                  "give the import another id: --id ID");
    }
    return {};
  }

  Result<void> readRest() {
    const ReadTranscriptOptions how{
        .agent = options_.agent, .fromOffset = covered_, .wasGiven = [this](std::uint64_t offset) {
          return givenOffsets_.contains(offset);
        }};
    BOUGH_TRY(out_.report, readTranscript(path_, how, [&](Entry&& entry) { return addEntry(std::move(entry)); }));
    rewrittenFile_.addTo(out_.report);
    return {};
  }

  // Two ids may have the same hash.
  [[nodiscard]] bool isKnown(const std::string& id) const {
    if (!known_.contains(hashOf(id))) return false;
    if (std::ranges::find(batch_.entries, id, &Entry::id) != batch_.entries.end()) return true;
    const auto stored = store_.loadEntry(out_.sessionId, id);
    return stored || stored.error().code != ErrorCode::NotFound;
  }

  Result<void> addEntry(Entry&& entry) {
    if (covered_ >= how_.enoughBytes) return {};
    if (covered_ == 0 && !out_.created) {
      BOUGH_TRY(rewrittenFile_.resolveId(entry, [this](const std::string& id) { return isKnown(id); }));
    }
    if (isKnown(entry.id)) return {};
    known_.insert(hashOf(entry.id));
    const bool isFull = batch_.entries.size() >= kBatchEntries || batch_.bytes >= kBatchBytes;
    if (isFull && (batch_.entries.size() >= kMaxLineEntries || !isSameLine(batch_.entries.back(), entry))) {
      BOUGH_TRY(appendBatch());
    }
    batch_.bytes += entry.payload.size();
    head_.addNew(entry);
    if (!entry.timestamp.empty()) lastTime_ = entry.timestamp;
    batch_.entries.push_back(std::move(entry));
    return {};
  }

  // Appends only if the session has not changed since it was read. Another import of the file may have stored a part of
  // it meanwhile, and may have joined lines to different entries because the file was shorter or longer.
  Result<AppendResult> append(std::vector<Entry>&& entries) {
    const AppendOptions options{.expectedTail = tail_, .durability = Durability::Sync};
    BOUGH_TRY(auto done, store_.appendSessionEntries(out_.sessionId, std::move(entries), options));
    if (done.appendedCount > 0) tail_ = done.lastAppendedEntryId;
    return done;
  }

  Result<void> appendBatch() {
    batch_.bytes = 0;
    if (batch_.entries.empty()) return {};
    BOUGH_TRY(const auto done, append(std::exchange(batch_.entries, {})));
    out_.appended += done.appendedCount;
    return {};
  }

  // The id is made from the content, so the same facts are stored once. They are appended with the last entries.
  Result<void> addFacts() {
    Entry entry;
    entry.type = entry_type::kSessionInfo;
    // Not the present time: nothing happened in the session now.
    entry.timestamp = lastTime_;
    entry.payload = factsPayload(out_.report);
    constexpr std::size_t kShort = 16;
    entry.id = std::string(kFactsId) + Sha256::of(entry.payload).substr(0, kShort);
    BOUGH_TRY(addEntry(std::move(entry)));
    return appendBatch();
  }

  Result<void> moveHead() {
    if (out_.report.headId.empty() && !out_.report.startsOver) return {};
    BOUGH_TRY(const auto state, store_.sessionState(out_.sessionId));
    BOUGH_TRY(auto moves, head_.headEntries(store_, out_, state.headId, lastTime_));
    if (moves.empty()) return {};
    BOUGH_TRY(const bool isBeginning, isBeginningOfDocument(store_, path_, out_, state.headId));
    if (!isBeginning) {
      BOUGH_TRY(append(std::move(moves)));
    }
    return {};
  }

  SessionStore& store_;
  const std::string& path_;
  const ImportOptions& options_;
  unsigned depth_;  // number of forks that were followed to get here
  Attempt how_;
  TranscriptFacts facts_;
  ImportResult out_;
  std::string tail_;  // the session's last entry, as far as this import knows
  std::uint64_t covered_ = 0;
  NumberSet known_;         // hashes of the ids of entries that the session has, or will have after this batch
  NumberSet givenOffsets_;  // offsets of the lines that the session has
  struct {
    std::vector<Entry> entries{};
    std::size_t bytes = 0;
  } batch_;
  ImportedSessions importedSessions_;
  RewrittenFileMatcher rewrittenFile_{store_, out_.sessionId};
  ImportedHead head_;
  std::string lastTime_;  // of the last entry of the file, stored or read
};

}  // namespace

Result<ImportResult> importTranscript(SessionStore& store, const std::string& path, const ImportOptions& options) {
  // Another import of the file may be running. What it has stored is found when this import starts again.
  constexpr int kFewTries = 4;
  const auto isIdTaken = [](const Error& error) {
    return error.code == ErrorCode::AlreadyExists || error.code == ErrorCode::IdConflict;
  };
  std::uint64_t sizeBytes = UINT64_MAX;
  if (const auto file = openFile(path)) sizeBytes = (*file)->sizeBytes().value_or(UINT64_MAX);
  Attempt how;
  ImportResult before;  // result of earlier attempts that failed
  std::string tailId;   // the session's tail at the last attempt: while it changes, the other import makes progress
  for (int tries = 1;; ++tries) {
    if (tries > kFewTries) how.enoughBytes = sizeBytes;
    Import import(store, path, options, how);
    auto done = import.run();
    const ImportResult& now = done ? *done : import.partialResult();
    before.created |= now.created;
    before.appended += now.appended;
    if (done) {
      done->created = before.created;
      done->appended = before.appended;
      return done;
    }
    // The new lines may continue an entry that an earlier version did not make from the lines before.
    if (done.error().code == ErrorCode::InvalidArgument && import.hasSkippedLines()) {
      how.fromBeginning = true;
      continue;
    }
    const auto state = store.sessionState(now.sessionId);
    const bool moves = state && std::exchange(tailId, state->tailId) != state->tailId;
    const bool isRace = done.error().code == ErrorCode::Conflict || isIdTaken(done.error());
    if (!isRace || (tries >= kFewTries && !moves)) return done;
  }
}

}  // namespace bough
