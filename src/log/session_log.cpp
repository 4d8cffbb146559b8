#include "log/session_log.h"

#include <algorithm>

#include "base/json/json_scan.h"
#include "base/try.h"
#include "log/batch_writer.h"
#include "log/log_parts.h"

namespace bough {

struct SessionLog::ProcessParts {
  ProcessParts(const LogFolders& folders, const std::string& sessionId, const EntrySerializer& serializer,
               Environment& environment, const Options& options)
      : parts(folders, sessionId, serializer, environment, options.lockTimeoutMs,
              {.writeFile = options.writeIndex, .askElsewhere = options.askElsewhere}),
        writer(parts, options.mayAppend, environment) {}

  LogParts parts;
  BatchWriter writer;
};

SessionLog::SessionLog(LogFolders folders, std::string sessionId, const EntrySerializer& serializer,
                       Environment& environment, const Options& options)
    : sessionId_(std::move(sessionId)),
      serializer_(serializer),
      processParts_([this, folders = std::move(folders), &environment, options] {
        return std::make_unique<ProcessParts>(folders, sessionId_, serializer_, environment, options);
      }) {}

SessionLog::~SessionLog() = default;

Result<std::shared_ptr<SessionLog>> SessionLog::open(LogFolders folders, std::string sessionId,
                                                     const EntrySerializer& serializer, Environment& environment,
                                                     Options options) {
  std::shared_ptr<SessionLog> log(
      new SessionLog(std::move(folders), std::move(sessionId), serializer, environment, options));
  LogParts& parts = log->processParts_->parts;
  const MutexLock lock(parts.mutex);
  BOUGH_TRY(parts.index.reopen());
  if (options.previousIdentity && parts.index.refresh())
    parts.index.resume(options.previousIdentity->summary, options.previousIdentity->generation);
  return log;
}

template <typename Operation>
auto SessionLog::withIndex(Operation operation) {
  LogParts& parts = processParts_->parts;
  const MutexLock lock(parts.mutex);
  return parts.withIndex(std::move(operation));
}

std::optional<SessionLog::Identity> SessionLog::identity() {
  LogParts& parts = processParts_->parts;
  if (!parts.mutex.tryLock()) return std::nullopt;
  const IndexSummary summary = parts.index.summary();
  const std::uint64_t generation = parts.index.generation();
  const bool isPlain = parts.file.opened().form == LogForm::Plain;
  const auto seen = isPlain ? parts.file.lastKnown().info() : std::nullopt;
  parts.mutex.unlock();
  if (summary.hasSeal == 0 || summary.doubtful != 0) return std::nullopt;
  return Identity{.generation = generation, .summary = summary, .file = seen};
}

std::uint64_t SessionLog::generation() {
  return processParts_->parts.generation();
}

Result<std::uint64_t> SessionLog::freshGeneration() {
  LogParts& parts = processParts_->parts;
  const MutexLock lock(parts.mutex);
  BOUGH_TRY(parts.index.refresh());
  return parts.index.generation();
}

std::uint64_t SessionLog::offsetOf(Sequence sequence) {
  LogParts& parts = processParts_->parts;
  const MutexLock lock(parts.mutex);
  return sequence < parts.index.summary().count ? parts.index.records().record(sequence).offset : 0;
}

std::string SessionLog::path() {
  LogParts& parts = processParts_->parts;
  const MutexLock lock(parts.mutex);
  return parts.file.path();
}

Result<SessionState> SessionLog::state() {
  LogParts& parts = processParts_->parts;
  const MutexLock lock(parts.mutex);
  BOUGH_TRY(auto state, parts.withIndex([](LogIndex& index, StoredLines& lines) -> Indexed<SessionState> {
    BOUGH_TRY(lines.loadEnds());
    return SessionState{.entryCount = index.summary().count,
                        .tailId = index.ends().tailId,
                        .headId = index.ends().headId,
                        .problemCount = index.summary().problemCount + lines.notEntries().size()};
  }));
  state.sessionId = sessionId_;
  state.archived = parts.file.opened().form != LogForm::Plain;
  BOUGH_TRY(state.bytes, parts.file.size());
  state.trailingBytes = state.bytes - std::min(state.bytes, parts.index.summary().coveredBytes);
  state.trailingInDoubt = state.trailingBytes > 0 && parts.index.doubt().has_value();
  return state;
}

Result<std::string> SessionLog::headOfFork(const IsShared& isShared) {
  LogParts& parts = processParts_->parts;
  const MutexLock lock(parts.mutex);
  return parts.withIndex([&](LogIndex&, StoredLines& lines) { return lines.headOfFork(isShared); });
}

Result<SessionLog::Header> SessionLog::header() {
  LogParts& parts = processParts_->parts;
  const MutexLock lock(parts.mutex);
  BOUGH_TRY(const std::string* header, parts.withIndex([](LogIndex&, StoredLines& lines) { return lines.header(); }));
  if (!header->empty()) return Header{.text = *header, .generation = parts.index.generation()};
  if (parts.file.source().damagedAt()) return std::unexpected(unpackError(parts.file.opened()));
  return fail(ErrorCode::Damaged, fmt::format("{} holds no entry", parts.file.path()),
              "it is empty or not a session file; move it out of the store, or see `bough verify`");
}

Result<std::string> SessionLog::unreadableBeginning() {
  constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 10;
  LogParts& parts = processParts_->parts;
  const MutexLock lock(parts.mutex);
  BOUGH_TRY(const std::uint64_t until, parts.withIndex([](LogIndex& index, StoredLines&) -> Indexed<std::uint64_t> {
    return index.summary().count > 0 ? index.records().record(0).offset : kMostBytes;
  }));
  std::string bytes(static_cast<std::size_t>(std::min(until, kMostBytes)), '\0');
  const auto got = readFully(parts.file.source(), 0, bytes);
  if (!got) return std::unexpected(parts.file.ioError(got.error(), "read"));
  bytes.resize(*got);
  return bytes;
}

Result<std::optional<Sequence>> SessionLog::find(std::string_view id) {
  return withIndex([&](LogIndex& index, StoredLines&) -> Indexed<std::optional<Sequence>> { return index.find(id); });
}

Result<std::vector<Sequence>> SessionLog::select(Sequence from, std::size_t limit, std::optional<EntryKind> kind,
                                                 bool newestFirst) {
  return withIndex([&](LogIndex& index, StoredLines& lines) -> Indexed<std::vector<Sequence>> {
    std::vector<Sequence> wanted;
    const auto isOfKind = [&](Sequence sequence) {
      const bool isNone = *kind == EntryKind::Other && lines.notEntries().contains(sequence);
      return isNone || index.records().record(sequence).kind == *kind;
    };
    const Sequence count = index.summary().count;
    const Sequence total = count > from ? count - from : 0;
    for (Sequence i = 0; i < total && wanted.size() < limit; ++i) {
      const Sequence sequence = newestFirst ? count - 1 - i : from + i;
      if (!kind || isOfKind(sequence)) wanted.push_back(sequence);
    }
    return wanted;
  });
}

Result<std::vector<Sequence>> SessionLog::controls(std::span<const EntryKind> kinds) {
  LogParts& parts = processParts_->parts;
  const MutexLock lock(parts.mutex);
  return parts.withIndex(
      [&, known = &parts.controls](LogIndex& index, StoredLines&) { return known->get(index, kinds); });
}

Result<SessionOutline> SessionLog::outline() {
  LogParts& parts = processParts_->parts;
  const MutexLock lock(parts.mutex);
  return parts.withIndex([outline = &parts.outline](LogIndex& index, StoredLines&) { return outline->get(index); });
}

Result<std::vector<std::string>> SessionLog::findIds(std::string_view prefix, std::size_t limit) {
  LogParts& parts = processParts_->parts;
  const MutexLock lock(parts.mutex);
  return parts.withIndex([&, file = &parts.file](LogIndex& index, StoredLines& lines) {
    return findIdsIn(*file, index, lines, prefix, limit);
  });
}

// Follows the parents upwards. Every parent has a smaller sequence than its child, so the loop ends.
Result<BranchPart> SessionLog::branch(Sequence leaf, std::size_t limit) {
  return withIndex([&](LogIndex& index, StoredLines& lines) -> Indexed<BranchPart> {
    BranchPart path;
    for (Sequence at = leaf; at < index.summary().count && path.sequences.size() < limit;) {
      path.sequences.push_back(at);
      const Sequence parent = index.records().record(at).parent;
      if (index.records().damaged()) break;
      if (parent == kElsewhere) {
        BOUGH_TRY(path.continuesAt, lines.parentIdOf(at));
      }
      at = parent;
    }
    std::ranges::reverse(path.sequences);
    return path;
  });
}

template <typename Read>
auto SessionLog::readAt(const std::vector<Sequence>& sequences, Read read)
    -> Result<typename std::invoke_result_t<Read, StoredLines&>::value_type> {
  LogParts& parts = processParts_->parts;
  const MutexLock lock(parts.mutex);
  BOUGH_TRY(parts.index.refresh());
  const Sequence count = parts.index.summary().count;
  if (std::ranges::all_of(sequences, [&](Sequence sequence) { return sequence < count; })) {
    auto done = read(parts.lines);
    if (done) return std::move(done).value();
    if (!done.error().isStaleIndex()) return std::unexpected(done.error().error());
  }
  BOUGH_TRY(parts.index.rebuild());
  return changedWhileRead(parts.file.path());
}

Result<std::vector<std::string>> SessionLog::read(const std::vector<Sequence>& sequences) {
  return readAt(sequences, [&](StoredLines& lines) { return lines.texts(sequences); });
}

Result<std::vector<Entry>> SessionLog::readEntries(const std::vector<Sequence>& sequences) {
  return readAt(sequences, [&](StoredLines& lines) { return lines.entries(sequences); });
}

Result<std::vector<std::string>> SessionLog::readFrom(Sequence from, std::size_t limit) {
  return withIndex([&](LogIndex& index, StoredLines& lines) {
    std::vector<Sequence> sequences;
    for (Sequence i = from; i < index.summary().count && sequences.size() < limit; ++i) sequences.push_back(i);
    return lines.texts(sequences);
  });
}

Result<void> SessionLog::readAll(const std::function<bool(Sequence, const std::string&)>& use) {
  constexpr std::size_t kPart = 256;
  std::string last;
  for (Sequence from = 0;;) {
    // Read the last line again: if it is unchanged, all lines before it are unchanged, because its seal covers their
    // seals.
    const Sequence again = from > 0 ? 1 : 0;
    BOUGH_TRY(auto lines, readFrom(from - again, kPart + again));
    if (again > 0 && (lines.empty() || lines.front() != last)) return changedWhileRead(path());
    for (std::size_t i = again; i < lines.size(); ++i) {
      const Sequence sequence = from++;
      if (!lines[i].empty() && !use(sequence, lines[i])) return {};
    }
    if (lines.size() < kPart + again) return {};  // the end: this is what the log held, whatever happens to it now
    last = std::move(lines.back());
  }
}

void SessionLog::append(AppendWork& work, std::size_t weightBytes) {
  processParts_->writer.append(work, weightBytes);
}

Result<std::uint64_t> SessionLog::scanWhole(ScanSink& sink) {
  LogParts& parts = processParts_->parts;
  const MutexLock lock(parts.mutex);
  BOUGH_TRY(parts.index.refresh());
  ScanState state{.countedBytes = parts.index.summary().coveredBytes};
  const auto trailing = scanLog(parts.file.source(), serializer_, state, sink);
  if (!trailing) return std::unexpected(parts.file.ioError(trailing.error(), "read"));
  if (parts.file.source().damagedAt()) {
    sink.onProblem(ProblemKind::Damage, 0, 0, unpackError(parts.file.opened()).message);
  }
  return *trailing;
}

Result<void> SessionLog::makeDurable(std::string_view id) {
  return processParts_->writer.makeDurable(id);
}

Result<RepairReport> SessionLog::repair() {
  return processParts_->writer.repair();
}

}  // namespace bough
