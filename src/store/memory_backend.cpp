// Sessions in memory: for tests, for throw-away agents, and as the shortest statement of what a backend does.

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <unordered_map>

#include "base/environment.h"
#include "base/file_io.h"
#include "base/ids.h"
#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/sha256.h"
#include "log/line.h"
#include "store/append_rules.h"
#include "store/attachment_reference.h"
#include "store/header.h"
#include "store/memory_state.h"

namespace bough {

namespace {

class MemoryView final : public LogView {
 public:
  MemoryView(const MemorySession& session, const EntrySerializer& serializer)
      : session_(session), serializer_(serializer) {}
  Result<std::optional<Entry>> entryOf(std::string_view id) override {
    const auto found = session_.sequences.find(std::string(id));
    if (found == session_.sequences.end()) return std::nullopt;
    auto entry = serializer_.decode(session_.lines[found->second].text);
    if (!entry) return std::unexpected(entry.error());
    return std::move(*entry);
  }
  Result<bool> contains(std::string_view id) override { return session_.sequences.contains(std::string(id)); }
  [[nodiscard]] std::string_view tailId() const override { return session_.lines.back().id; }
  [[nodiscard]] std::string_view headId() override { return session_.headId; }

 private:
  const MemorySession& session_;
  const EntrySerializer& serializer_;
};

class StayingHold final : public Hold {
 public:
  explicit StayingHold(StayingSession<ToKeep> held) : held_(std::move(held)) {}

 private:
  StayingSession<ToKeep> held_;
};

}  // namespace

class MemoryBackend::AttachmentHold final : public Hold {
 public:
  explicit AttachmentHold(std::shared_ptr<State> state) : state_(std::move(state)), lock_(state_->adding) {}

 private:
  std::shared_ptr<State> state_;
  ToKeep lock_;
};

class MemoryBackend::MemoryWatcher final : public ChangeWatcher {
 public:
  explicit MemoryWatcher(std::shared_ptr<State> state) : state_(std::move(state)) {
    const std::lock_guard lock(state_->mutex);
    seen_ = state_->changes;
  }
  Result<bool> wait(int timeoutMs) override {
    std::unique_lock lock(state_->mutex);
    const auto ready = [&] { return woken_ || state_->changes != seen_; };
    if (timeoutMs < 0) {
      state_->changed.wait(lock, ready);
    } else if (!state_->changed.wait_for(lock, std::chrono::milliseconds(timeoutMs), ready)) {
      return false;
    }
    woken_ = false;
    seen_ = state_->changes;
    return true;
  }
  void wake() override {
    const std::lock_guard lock(state_->mutex);
    woken_ = true;
    state_->changed.notify_all();
  }

 private:
  std::shared_ptr<State> state_;
  std::uint64_t seen_ = 0;
  bool woken_ = false;
};

MemoryBackend::MemoryBackend(const EntrySerializer& serializer, Environment& environment)
    : serializer_(serializer),
      environment_(environment),
      ids_(environment.clock, environment.random),
      state_(std::make_shared<State>()) {}

Result<std::shared_ptr<MemorySession>> MemoryBackend::session(const std::string& sessionId) {
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->sessions.find(sessionId);
  if (found != state_->sessions.end()) return found->second;
  return fail(ErrorCode::NotFound, fmt::format("there is no session {} in memory", sessionId),
              "`bough` lists the sessions of a store");
}

void MemoryBackend::noteChange(const std::string& sessionId) {
  const std::lock_guard lock(state_->mutex);
  ++state_->changes;
  if (const auto found = state_->sessions.find(sessionId); found != state_->sessions.end()) {
    found->second->version = state_->changes;
  }
  state_->changed.notify_all();
}

Result<ChangeSet> MemoryBackend::changesSince(std::string_view token) {
  const std::lock_guard lock(state_->mutex);
  ChangeSet changes{.token = fmt::format("{}", state_->changes)};
  changes.all = changes.token != token;
  return changes;
}

Result<std::string> MemoryBackend::stamp(const std::string& sessionId) {
  auto known = session(sessionId);
  if (!known) return std::unexpected(known.error());
  const std::lock_guard lock(state_->mutex);
  return fmt::format("{}", (*known)->version);
}

Result<std::vector<std::string>> MemoryBackend::listSessions() {
  const std::lock_guard lock(state_->mutex);
  std::vector<std::string> ids;
  for (const auto& [id, session] : state_->sessions) ids.push_back(id);
  return ids;
}

Result<void> MemoryBackend::createSession(const std::string& sessionId, const std::vector<Entry>& entries) {
  if (!isSessionId(sessionId)) {
    return fail(ErrorCode::InvalidArgument, fmt::format("\"{}\" is no session id", sessionId.substr(0, 120)),
                "session ids are 1 to 100 of [A-Za-z0-9._-] without a leading dot");
  }
  auto lines = prepareFirstBatch(entries, serializer_);
  if (!lines) return std::unexpected(lines.error());
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->sessions.contains(sessionId)) {
      return fail(ErrorCode::AlreadyExists, fmt::format("there is a session {} already", sessionId),
                  "choose another id, or append to that one");
    }
    auto made = std::make_shared<MemorySession>();
    made->add(*lines);
    const auto origin = readHeader(entries.front()).origin;
    if (origin) made->headId = origin->entryId;
    state_->sessions.emplace(sessionId, std::move(made));
  }
  noteChange(sessionId);
  return {};
}

Result<Entry> MemoryBackend::header(const std::string& sessionId) {
  return with(session(sessionId), [&](MemorySession& known) { return serializer_.decode(known.lines.front().text); });
}

Result<std::optional<ForkOrigin>> MemoryBackend::origin(const std::string& sessionId) {
  auto first = header(sessionId);
  if (!first) return std::unexpected(first.error());
  return readHeader(*first).origin;
}

Result<SeenOrigin> MemoryBackend::seenOrigin(const std::string& sessionId) {
  auto known = origin(sessionId);
  if (!known) return std::unexpected(known.error());
  return SeenOrigin{.origin = std::move(*known)};
}

Result<SessionState> MemoryBackend::stateOf(const std::string& sessionId, MemorySession& known) {
  auto first = serializer_.decode(known.lines.front().text);
  if (!first) return std::unexpected(first.error());
  const HeaderInfo info = readHeader(*first);
  SessionState state{.sessionId = sessionId,
                     .entryCount = known.lines.size(),
                     .tailId = known.lines.back().id,
                     .headId = known.headId,
                     .origin = info.origin,
                     .format = info.format};
  for (const MemoryLine& line : known.lines) state.bytes += line.text.size();
  return state;
}

Result<SessionState> MemoryBackend::state(const std::string& sessionId) {
  return with(session(sessionId), [&](MemorySession& known) { return stateOf(sessionId, known); });
}

Result<AppendResult> MemoryBackend::append(AppendRequest& request) {
  auto result = with(session(request.sessionId), [&](MemorySession& known) -> Result<AppendResult> {
    auto first = serializer_.decode(known.lines.front().text);
    if (!first) return std::unexpected(first.error());
    if (auto may = checkFormat(*first, request.sessionId, describe(), 0, serializer_.schemaVersion()); !may) {
      return std::unexpected(may.error());
    }
    MemoryView view(known, serializer_);
    NewLines lines;
    auto prepared = prepareBatch(view, request, serializer_, ids_, environment_.clock, lines);
    if (!prepared) return prepared;
    known.add(lines);
    return prepared;
  });
  noteChange(request.sessionId);
  return result;
}

Result<std::uint64_t> MemoryBackend::numbering(const std::string& sessionId) {
  return with(session(sessionId), [](MemorySession& known) -> Result<std::uint64_t> { return known.numbering; });
}

Result<std::optional<std::uint64_t>> MemoryBackend::sequenceOf(const std::string& sessionId, std::string_view entryId) {
  return with(session(sessionId), [&](MemorySession& known) -> Result<std::optional<std::uint64_t>> {
    const auto found = known.sequences.find(std::string(entryId));
    if (found == known.sequences.end()) return std::nullopt;
    return found->second;
  });
}

Result<std::vector<std::uint64_t>> MemoryBackend::select(const std::string& sessionId, const Selection& selection) {
  return with(session(sessionId), [&](MemorySession& known) -> Result<std::vector<std::uint64_t>> {
    std::vector<std::uint64_t> found;
    const std::uint64_t count = known.lines.size();
    std::string type = json::quoted(selection.type);  // as it stands in a line
    type = type.substr(1, type.size() - 2);
    for (std::uint64_t i = selection.fromSequence; i < count && found.size() < selection.limit; ++i) {
      const std::uint64_t at = selection.newestFirst ? count - 1 - (i - selection.fromSequence) : i;
      if (selection.type.empty() || known.lines[at].type == type) found.push_back(at);
    }
    return found;
  });
}

Result<std::vector<std::uint64_t>> MemoryBackend::controls(const std::string& sessionId) {
  return with(session(sessionId), [&](MemorySession& known) -> Result<std::vector<std::uint64_t>> {
    std::vector<std::uint64_t> found;
    for (std::uint64_t i = 0; i < known.lines.size(); ++i) {
      if (isControlType(known.lines[i].type)) found.push_back(i);
    }
    return found;
  });
}

Result<SessionOutline> MemoryBackend::outline(const std::string& sessionId) {
  return with(session(sessionId), [&](MemorySession& known) -> Result<SessionOutline> {
    const auto sequenceOf = [&](const std::string& id, std::uint64_t before) {
      const auto found = known.sequences.find(id);
      const bool earlier = found != known.sequences.end() && found->second < before;
      return earlier ? static_cast<std::uint32_t>(found->second) : SessionOutline::kElsewhere;
    };
    SessionOutline outline;
    for (std::uint64_t i = 0; i < known.lines.size(); ++i) {
      const std::string& parent = known.lines[i].parentId;
      outline.add(entryKind(known.lines[i].type), parent.empty() ? SessionOutline::kNone : sequenceOf(parent, i));
    }
    if (!known.headId.empty()) outline.head = sequenceOf(known.headId, known.lines.size());
    return outline;
  });
}

Result<std::vector<std::string>> MemoryBackend::findIds(const std::string& sessionId, std::string_view prefix,
                                                        std::size_t limit) {
  return with(session(sessionId), [&](MemorySession& known) -> Result<std::vector<std::string>> {
    std::vector<std::string> found;
    for (const MemoryLine& line : known.lines) {
      if (found.size() < limit && line.id.starts_with(prefix)) found.push_back(line.id);
    }
    return found;
  });
}

Result<BranchPart> MemoryBackend::branch(const std::string& sessionId, std::uint64_t leaf, std::size_t limit) {
  return with(session(sessionId), [&](MemorySession& known) -> Result<BranchPart> {
    if (leaf >= known.lines.size()) return changedWhileRead("session " + sessionId);
    BranchPart part;
    for (std::uint64_t at = leaf; part.sequences.size() < limit;) {
      part.sequences.push_back(at);
      const std::string& parent = known.lines[at].parentId;
      const auto found = known.sequences.find(parent);
      if (found == known.sequences.end()) {
        part.continuesAt = parent;
        break;
      }
      at = found->second;
    }
    std::ranges::reverse(part.sequences);
    return part;
  });
}

Result<std::vector<Entry>> MemoryBackend::read(const std::string& sessionId, std::span<const std::uint64_t> sequences) {
  return with(session(sessionId), [&](MemorySession& known) -> Result<std::vector<Entry>> {
    std::vector<Entry> entries;
    for (const std::uint64_t sequence : sequences) {
      if (sequence >= known.lines.size()) return changedWhileRead("session " + sessionId);
      auto entry = serializer_.decode(known.lines[sequence].text);
      if (!entry) return std::unexpected(entry.error());
      entries.push_back(std::move(*entry));
    }
    return entries;
  });
}

Result<void> MemoryBackend::exportLines(const std::string& sessionId,
                                        const std::function<bool(std::string_view)>& line) {
  return exportTo(session(sessionId), line);
}

Result<std::unique_ptr<ChangeWatcher>> MemoryBackend::watch(const std::string& sessionId) {
  if (auto known = header(sessionId); !known) return std::unexpected(known.error());
  return std::make_unique<MemoryWatcher>(state_);
}

Result<VerifyReport> MemoryBackend::verify(const std::string& sessionId) {
  auto known = state(sessionId);
  if (!known) return std::unexpected(known.error());
  return VerifyReport{.sessionId = sessionId, .entries = known->entryCount, .bytes = known->bytes};
}

Result<RepairReport> MemoryBackend::repair(const std::string& sessionId) {
  if (auto known = header(sessionId); !known) return std::unexpected(known.error());
  return RepairReport{.sessionId = sessionId};
}

// As with files, the header says the format; nothing is kept beside it.
Result<MigrationResult> MemoryBackend::migrate(const std::string& sessionId) {
  auto result = with(session(sessionId), [&](MemorySession& known) -> Result<MigrationResult> {
    auto first = serializer_.decode(known.lines.front().text);
    if (!first) return std::unexpected(first.error());
    MigrationResult done{.sessionId = sessionId,
                         .fromFormat = readHeader(*first).format,
                         .toFormat = serializer_.schemaVersion(),
                         .entries = known.lines.size(),
                         .keptAs = {},
                         .problems = {}};
    if (done.fromFormat > done.toFormat) {
      return std::unexpected(newerFormatError(done.fromFormat, sessionId, describe()));
    }
    if (done.fromFormat == done.toFormat) return done;
    first->payload = upgradeHeaderPayload(first->payload, sessionId, done.toFormat);
    std::string text;
    if (auto encoded = serializer_.encode(*first, text); !encoded) return std::unexpected(encoded.error());
    known.lines.front().text = std::move(text);
    return done;
  });
  noteChange(sessionId);
  return result;
}

Result<ArchiveSizes> MemoryBackend::archive(const std::string& sessionId) {
  if (auto known = header(sessionId); !known) return std::unexpected(known.error());
  return fail(ErrorCode::Unsupported, "a store in memory has no archive", "use a store in a folder");
}

Result<void> MemoryBackend::rewrite(const std::string& sessionId, const std::vector<Entry>& entries,
                                    const std::string& expectedTail) {
  auto lines = prepareFirstBatch(entries, serializer_);
  if (!lines) return std::unexpected(lines.error());
  auto done = with(session(sessionId), [&](MemorySession& known) -> Result<void> {
    if (known.lines.back().id != expectedTail)
      return std::unexpected(tailConflict(sessionId, expectedTail, known.lines.back().id));
    known.lines.clear();
    known.sequences.clear();
    known.headId.clear();
    known.numbering = MemorySession::nextNumbering();
    known.add(*lines);
    return {};
  });
  noteChange(sessionId);
  return done;
}

Result<void> MemoryBackend::remove(const std::string& sessionId, const std::function<Result<void>()>& allowed) {
  auto held = findStaying<ToRemove>([&] { return session(sessionId); });
  if (!held) return std::unexpected(held.error());
  if (auto may = allowed(); !may) return may;
  {
    const std::lock_guard lock(state_->mutex);
    state_->sessions.erase(sessionId);
  }
  noteChange(sessionId);
  return {};
}

Result<std::unique_ptr<Hold>> MemoryBackend::pin(const std::string& sessionId, const std::string& /*entryId*/) {
  auto held = findStaying<ToKeep>([&] { return session(sessionId); });
  if (!held) return std::unexpected(held.error());
  return std::make_unique<StayingHold>(std::move(*held));
}

Result<std::unique_ptr<Hold>> MemoryBackend::holdAttachments() {
  return std::make_unique<AttachmentHold>(state_);
}

std::shared_ptr<StorageBackend> makeMemoryBackend(const EntrySerializer& serializer) {
  return std::make_shared<MemoryBackend>(serializer, systemEnvironment());
}

}  // namespace bough
