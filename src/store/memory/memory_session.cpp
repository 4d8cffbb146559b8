#include "store/memory/memory_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <unordered_set>
#include <utility>

#include "base/json/json_write.h"
#include "base/system/file_io.h"
#include "base/try.h"
#include "log/format/line.h"
#include "store/rules/append_rules.h"
#include "store/rules/entry_rules.h"
#include "store/rules/header.h"

namespace bough {
namespace {

constexpr std::string_view kWhere = "memory:";

class MemoryWatcher final : public ChangeWatcher {
 public:
  MemoryWatcher(std::shared_ptr<MemoryStore> store, const std::vector<std::string>& sessionIds)
      : store_(std::move(store)), ids_(sessionIds.begin(), sessionIds.end()) {
    const std::lock_guard lock(store_->mutex);
    seen_ = taken_ = store_->changes;
  }
  Result<bool> wait(int timeoutMs) override {
    std::unique_lock lock(store_->mutex);
    const auto ready = [&] { return woken_ || !changedSince(seen_).empty(); };
    if (timeoutMs < 0) {
      store_->changed.wait(lock, ready);
    } else if (!store_->changed.wait_for(lock, std::chrono::milliseconds(timeoutMs), ready)) {
      return false;
    }
    woken_ = false;
    seen_ = store_->changes;
    return true;
  }
  ChangedSessions takeChanged() override {
    const std::lock_guard lock(store_->mutex);
    ChangedSessions found{.sessionIds = changedSince(taken_)};
    taken_ = store_->changes;
    return found;
  }
  void wake() override {
    const std::lock_guard lock(store_->mutex);
    woken_ = true;
    store_->changed.notify_all();
  }

 private:
  [[nodiscard]] std::vector<std::string> changedSince(std::uint64_t seen) const {
    std::vector<std::string> found;
    if (store_->changes == seen) return found;
    for (const auto& [id, version] : store_->versions) {
      if (version > seen && (ids_.empty() || ids_.contains(id))) found.push_back(id);
    }
    return found;
  }

  std::shared_ptr<MemoryStore> store_;
  const std::unordered_set<std::string> ids_;  // empty: all
  std::uint64_t seen_ = 0;                     // by wait()
  std::uint64_t taken_ = 0;                    // by takeChanged()
  bool woken_ = false;
};

}  // namespace

std::unique_ptr<ChangeWatcher> watchMemory(std::shared_ptr<MemoryStore> store,
                                           const std::vector<std::string>& sessionIds) {
  return std::make_unique<MemoryWatcher>(std::move(store), sessionIds);
}

void MemoryStore::expectChange(const std::string& sessionId) {
  const std::lock_guard lock(mutex);
  versions.try_emplace(sessionId, 0);
}

void MemoryStore::noteChange(const std::string& sessionId) {
  const std::lock_guard lock(mutex);
  versions[sessionId] = ++changes;
  changed.notify_all();
}

class MemorySession::View final : public LogView {
 public:
  View(const MemoryLog& log, const EntrySerializer& serializer) : log_(log), serializer_(serializer) {}
  Result<std::optional<Entry>> entryOf(std::string_view id) override {
    const auto found = log_.sequences.find(std::string(id));
    if (found == log_.sequences.end()) return std::nullopt;
    BOUGH_TRY(auto entry, serializer_.decode(log_.lines[found->second].text));
    return entry;
  }
  Result<bool> contains(std::string_view id) override { return log_.sequences.contains(std::string(id)); }
  [[nodiscard]] std::string_view tailId() const override { return log_.lines.back().id; }
  [[nodiscard]] std::string_view headId() override { return log_.headId; }

 private:
  const MemoryLog& log_;
  const EntrySerializer& serializer_;
};

std::uint64_t MemoryLog::nextGeneration() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

void MemoryLog::add(const BatchLines& fresh) {
  const std::size_t before = lines.size();
  try {
    addLines(fresh);
    std::string movedHead;
    if (const auto head = fresh.headAfter(movedHead)) headId = *head;
  } catch (...) {
    lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(before), lines.end());
    std::erase_if(sequences, [&](const auto& each) { return each.second >= before; });
    for (auto& [kind, places] : controls) std::erase_if(places, [&](std::uint64_t each) { return each >= before; });
    throw;
  }
}

void MemoryLog::addLines(const BatchLines& fresh) {
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    const BatchLines::Line line = fresh[i];
    std::string parentId(line.parentId());
    const std::uint32_t parent = parentId.empty() ? kNoSequence : sequenceOf(parentId);
    sequences.emplace(std::string(line.id()), lines.size());
    if (const EntryKind kind = entryKind(line.type()); isControl(kind)) controls[kind].push_back(lines.size());
    lines.push_back({.text = std::string(line.text()),
                     .id = std::string(line.id()),
                     .parentId = std::move(parentId),
                     .parent = parent,
                     .type = std::string(line.type())});
  }
}

std::uint32_t MemoryLog::sequenceOf(const std::string& id) const {
  const auto found = sequences.find(id);
  return found == sequences.end() ? kElsewhere : static_cast<std::uint32_t>(found->second);
}

Result<SessionState> MemoryLog::state(const std::string& sessionId, const EntrySerializer& serializer) const {
  BOUGH_TRY(const Entry first, serializer.decode(lines.front().text));
  HeaderInfo info = readHeader(first);
  SessionState found{.sessionId = sessionId,
                     .entryCount = lines.size(),
                     .tailId = lines.back().id,
                     .headId = headId,
                     .origin = std::move(info.origin),
                     .format = info.format};
  for (const Line& line : lines) found.bytes += line.text.size();
  return found;
}

void MemoryLog::exportTo(const std::function<bool(std::string_view)>& line) const {
  SealDigits seal;
  for (const Line& stored : lines) {
    std::string text;
    seal = appendSealedLine(text, stored.text, seal, 1, 1);
    text.pop_back();
    if (!line(text)) break;
  }
}

// Calls `use` under the log's lock. Fails with NotFound when the session is not in the store.
template <typename Use>
auto MemorySession::with(Use use) -> decltype(use(std::declval<MemoryLog&>())) {
  const auto found = log();
  if (found) {
    const std::lock_guard lock(found->mutex);
    return use(*found);
  }
  return fail(ErrorCode::NotFound, fmt::format("there is no session {} in memory", sessionId()),
              "`bough ls` lists the sessions of a store");
}

std::shared_ptr<MemoryLog> MemorySession::log() {
  const std::lock_guard lock(mutex_);
  return log_;
}

std::shared_ptr<MemoryLog> MemorySession::replaceLog(std::shared_ptr<MemoryLog> log) {
  const std::lock_guard lock(mutex_);
  return std::exchange(log_, std::move(log));
}

Result<Entry> MemorySession::header() {
  return with([&](MemoryLog& log) { return store_->serializer.decode(log.lines.front().text); });
}

Result<std::optional<ForkOrigin>> MemorySession::origin() {
  BOUGH_TRY(const Entry first, header());
  return readHeader(first).origin;
}

Result<SessionState> MemorySession::state() {
  BOUGH_TRY(auto found, with([&](MemoryLog& log) { return log.state(sessionId(), store_->serializer); }));
  found.lostSession = lostSession(found.origin);
  found.lostPayloads = sessions().lostPayloads().count(sessionId());
  return found;
}

Result<AppendResult> MemorySession::append(AppendRequest& request) {
  BOUGH_TRY(const auto from, origin());
  BOUGH_TRY(const auto shared, historyOf(from));
  const std::shared_lock stays(removalLock_);  // an acknowledged entry must be in the store, not in the trash
  auto result = with([&](MemoryLog& log) -> Result<AppendResult> {
    BOUGH_TRY(const Entry first, store_->serializer.decode(log.lines.front().text));
    BOUGH_TRY(checkFormat(first, sessionId(), kWhere, 0, store_->serializer.schemaVersion()));
    View view(log, store_->serializer);
    BatchLines lines;
    BOUGH_TRY(auto prepared,
              prepareBatch(
                  view, {.sessionId = sessionId(), .request = request, .shared = shared.get(), .turn = log.turns.turn},
                  store_->serializer, store_->ids, store_->environment.clock, lines));
    log.add(lines);
    return prepared;
  });
  store_->noteChange(sessionId());
  return result;
}

Result<std::uint64_t> MemorySession::beginTurn() {
  return with([&](MemoryLog& log) -> Result<std::uint64_t> {
    log.turns = {.turn = log.turns.turn + 1};
    return log.turns.turn;
  });
}

Result<std::uint64_t> MemorySession::leaseTurn(const TurnLease& lease) {
  return with([&](MemoryLog& log) -> Result<std::uint64_t> {
    BOUGH_TRY(log.turns, afterLease(sessionId(), log.turns, lease, store_->environment.clock.nowMs()));
    return log.turns.turn;
  });
}

// Works on a copy without the lock, because `line` may call the session again.
Result<void> MemorySession::exportLines(const std::function<bool(std::string_view)>& line) {
  MemoryLog copy;
  BOUGH_TRY(with([&](MemoryLog& log) -> Result<void> {
    copy.lines = log.lines;
    return {};
  }));
  copy.exportTo(line);
  return {};
}

Result<std::unique_ptr<ChangeWatcher>> MemorySession::watch() {
  BOUGH_TRY(header());
  return watchMemory(store_, {sessionId()});
}

Result<std::uint64_t> MemorySession::generation() {
  return with([&](MemoryLog& log) -> Result<std::uint64_t> { return log.generation; });
}

Result<std::optional<std::uint64_t>> MemorySession::ownSequenceOf(std::string_view entryId) {
  return with([&](MemoryLog& log) -> Result<std::optional<std::uint64_t>> {
    const auto found = log.sequences.find(std::string(entryId));
    if (found == log.sequences.end()) return std::nullopt;
    return found->second;
  });
}

Result<std::vector<std::uint64_t>> MemorySession::ownSelect(const Selection& selection) {
  return with([&](MemoryLog& log) -> Result<std::vector<std::uint64_t>> {
    std::vector<std::uint64_t> found;
    const std::uint64_t count = log.lines.size();
    std::string type = json::quoted(selection.type);  // as it is in a line
    type = type.substr(1, type.size() - 2);
    for (std::uint64_t i = selection.fromSequence; i < count && found.size() < selection.limit; ++i) {
      const std::uint64_t at = selection.newestFirst ? count - 1 - (i - selection.fromSequence) : i;
      if (selection.type.empty() || log.lines[at].type == type) found.push_back(at);
    }
    return found;
  });
}

Result<std::vector<std::uint64_t>> MemorySession::ownControls(std::span<const EntryKind> kinds) {
  return with([&](MemoryLog& log) -> Result<std::vector<std::uint64_t>> {
    std::vector<std::uint64_t> found;
    for (const EntryKind kind : kinds) {
      if (const auto places = log.controls.find(kind); places != log.controls.end()) {
        found.insert(found.end(), places->second.begin(), places->second.end());
      }
    }
    std::ranges::sort(found);
    return found;
  });
}

Result<SessionOutline> MemorySession::ownOutline() {
  return with([&](MemoryLog& log) -> Result<SessionOutline> {
    SessionOutline outline;
    for (const MemoryLog::Line& line : log.lines) outline.add(entryKind(line.type), line.parent);
    if (!log.headId.empty()) outline.head = log.sequenceOf(log.headId);
    return outline;
  });
}

Result<std::vector<std::string>> MemorySession::ownIds(std::string_view prefix, std::size_t limit) {
  return with([&](MemoryLog& log) -> Result<std::vector<std::string>> {
    std::vector<std::string> found;
    for (const MemoryLog::Line& line : log.lines) {
      if (found.size() < limit && line.id.starts_with(prefix)) found.push_back(line.id);
    }
    return found;
  });
}

Result<BranchPart> MemorySession::ownBranch(std::uint64_t leaf, std::size_t limit) {
  return with([&](MemoryLog& log) -> Result<BranchPart> {
    if (leaf >= log.lines.size()) return changedWhileRead("session " + sessionId());
    BranchPart part;
    for (std::uint64_t at = leaf; part.sequences.size() < limit;) {
      part.sequences.push_back(at);
      const MemoryLog::Line& line = log.lines[at];
      if (line.parent >= log.lines.size()) {  // no parent, or one in another session
        part.continuesAt = line.parentId;
        break;
      }
      at = line.parent;
    }
    std::ranges::reverse(part.sequences);
    return part;
  });
}

Result<std::vector<Entry>> MemorySession::ownRead(std::span<const std::uint64_t> sequences) {
  return with([&](MemoryLog& log) -> Result<std::vector<Entry>> {
    std::vector<Entry> entries;
    for (const std::uint64_t sequence : sequences) {
      if (sequence >= log.lines.size()) return changedWhileRead("session " + sessionId());
      BOUGH_TRY(auto entry, store_->serializer.decode(log.lines[sequence].text));
      entries.push_back(std::move(entry));
    }
    return entries;
  });
}

Result<void> MemorySession::rewrite(const BatchLines& lines, const std::string& expectedTail) {
  return with([&](MemoryLog& log) -> Result<void> {
    if (log.lines.back().id != expectedTail) {
      return std::unexpected(tailConflict(sessionId(), expectedTail, log.lines.back().id));
    }
    MemoryLog fresh;
    fresh.add(lines);
    log.lines.swap(fresh.lines);
    log.sequences.swap(fresh.sequences);
    log.controls.swap(fresh.controls);
    log.headId.swap(fresh.headId);
    log.generation = fresh.generation;
    return {};
  });
}

// As with files, only the header states the format.
Result<MigrationResult> MemorySession::migrate() {
  const EntrySerializer& serializer = store_->serializer;
  return with([&](MemoryLog& log) -> Result<MigrationResult> {
    BOUGH_TRY(Entry first, serializer.decode(log.lines.front().text));
    MigrationResult done{.sessionId = sessionId(),
                         .fromFormat = readHeader(first).format,
                         .toFormat = serializer.schemaVersion(),
                         .entries = log.lines.size()};
    if (done.fromFormat > done.toFormat) {
      return std::unexpected(newerFormatError(done.fromFormat, sessionId(), kWhere));
    }
    if (done.fromFormat == done.toFormat) return done;
    first.payload = upgradeHeaderPayload(first.payload, sessionId(), done.toFormat);
    std::string text;
    BOUGH_TRY(serializer.encode(first, text));
    log.lines.front().text = std::move(text);
    return done;
  });
}

}  // namespace bough
