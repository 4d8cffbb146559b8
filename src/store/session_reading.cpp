// How SessionStore reads: whole sessions, parts, branches, and forks as if they were whole.

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>

#include "base/file_io.h"
#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/kind_set.h"
#include "store/append_rules.h"
#include "store/attachment_reference.h"
#include "store/header.h"
#include "store/session_store_impl.h"

namespace bough {
namespace {

// What stands in place of a redacted payload.
std::string redactedPayload(const Entry& redaction) {
  std::string payload;
  json::Writer writer(payload);
  writer.beginObject().key("redacted").beginObject().member("redactionId", redaction.id);
  for (const std::string_view name : {"by", "reason"}) {
    if (const auto value = json::findMember(redaction.payload, name)) writer.key(name).raw(*value);
  }
  writer.endObject().endObject();
  return payload;
}

// The redaction that hides an entry: its own, or that of one it was converted from, which its meta then names.
const Entry* redactionOf(const Entry& entry, const std::map<std::string, Entry>& hidden) {
  const auto own = hidden.find(entry.id);
  if (own != hidden.end()) return &own->second;
  const auto migration = entry.meta.empty() ? std::nullopt : json::findMember(entry.meta, "migration");
  if (!migration || hidden.empty()) return nullptr;
  for (const auto& [id, redaction] : hidden) {
    if (migration->contains('"' + id + '"')) return &redaction;
  }
  return nullptr;
}

// The entries of these types on the branch that ends in `leafId`, root first, from the index alone; a header is on no
// branch. None when the branch leaves the session, or when the index does not know the types apart.
Result<std::optional<std::vector<std::uint64_t>>> sequencesOfTypes(StorageBackend& backend,
                                                                   const std::string& sessionId,
                                                                   const std::string& leafId,
                                                                   const std::vector<std::string>& types) {
  KindSet wanted;
  for (const std::string& type : types) wanted.add(entryKind(type));
  auto leaf = backend.sequenceOf(sessionId, leafId);
  if (!leaf) return std::unexpected(leaf.error());
  if (!*leaf || wanted.contains(EntryKind::Other)) return std::nullopt;
  auto outline = backend.outline(sessionId);
  if (!outline) return std::unexpected(outline.error());
  std::vector<std::uint64_t> found;
  if (**leaf >= outline->kinds.size()) return std::nullopt;
  const auto look = [&](std::uint32_t first, std::uint32_t last) {
    const std::span stretch = std::span<const EntryKind>(outline->kinds).first(last + std::size_t{1});
    const std::size_t before = found.size();
    for (std::size_t at = wanted.find(stretch, std::max<std::size_t>(first, 1)); at < stretch.size();
         at = wanted.find(stretch, at + 1)) {
      found.push_back(at);
    }
    std::reverse(found.begin() + static_cast<std::ptrdiff_t>(before), found.end());
  };
  const std::uint32_t end = outline->walkUp(static_cast<std::uint32_t>(**leaf), look);
  if (end != SessionOutline::kNone) return std::nullopt;
  std::ranges::reverse(found);
  return found;
}

std::vector<std::uint64_t> range(std::uint64_t from, std::uint64_t end) {
  std::vector<std::uint64_t> sequences;
  sequences.reserve(end > from ? static_cast<std::size_t>(end - from) : 0);
  for (std::uint64_t i = from; i < end; ++i) sequences.push_back(i);
  return sequences;
}

}  // namespace

// By the id of what each hides: those of the session and of every one whose history it shares.
Result<std::map<std::string, Entry>> SessionStore::Impl::redactions(const std::string& sessionId) {
  std::map<std::string, Entry> found;
  auto history = historyOf(sessionId);
  if (!history) return std::unexpected(history.error());
  std::vector<std::string> sessions = (*history)->sessions();
  sessions.push_back(sessionId);
  for (const std::string& session : sessions) {
    auto sequences = backend->controls(session);
    if (!sequences) return std::unexpected(sequences.error());
    auto entries = backend->read(session, *sequences);
    if (!entries) return std::unexpected(entries.error());
    for (Entry& entry : *entries) {
      if (entry.type != entry_type::kRedaction) continue;
      if (auto target = json::findString(entry.payload, "entryId")) found.emplace(*target, std::move(entry));
    }
  }
  return found;
}

Result<void> SessionStore::Impl::complete(const std::string& sessionId, std::vector<Entry>& entries, bool showRedacted,
                                          std::size_t limitBytes) {
  std::map<std::string, Entry> hidden;
  if (!showRedacted) {
    auto found = redactions(sessionId);
    if (!found) return std::unexpected(found.error());
    hidden = std::move(*found);
  }
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < entries.size(); bytes += entries[i++].payload.size()) {
    if (bytes >= limitBytes) {
      entries.resize(i);
      break;
    }
    Entry& entry = entries[i];
    const Entry* redaction = redactionOf(entry, hidden);
    if (redaction != nullptr && canBeRedacted(entryKind(entry.type))) {
      entry.payload = redactedPayload(*redaction);
      entry.redacted = true;
      continue;
    }
    const auto reference = readAttachmentReference(entry.payload);
    if (!reference) continue;
    auto payload = backend->getAttachment(*reference);
    if (!payload) {
      payload.error().message = fmt::format("entry {} of session {}: {}", entry.id, sessionId, payload.error().message);
      return std::unexpected(payload.error());
    }
    entry.payload = std::move(*payload);
  }
  return {};
}

Result<std::vector<Entry>> SessionStore::Impl::entriesFrom(const std::string& sessionId, std::uint64_t from,
                                                           std::size_t limit) {
  auto history = historyOf(sessionId);
  if (!history) return std::unexpected(history.error());
  std::vector<Entry> entries;
  const auto add = [&](Result<std::vector<Entry>> part) -> Result<void> {
    if (!part) return std::unexpected(part.error());
    std::ranges::move(*part, std::back_inserter(entries));
    return {};
  };
  const auto own = [&](std::uint64_t first, std::size_t count) -> Result<std::vector<Entry>> {
    auto sequences = backend->select(sessionId, {.fromSequence = first, .limit = count, .type = {}});
    if (!sequences) return std::unexpected(sequences.error());
    return backend->read(sessionId, *sequences);
  };
  const std::uint64_t shared = (*history)->size();
  if (from == 0 && limit > 0) {
    if (auto done = add(own(0, 1)); !done) return std::unexpected(done.error());
  }
  if (from <= shared && entries.size() < limit && shared > 0) {
    const std::size_t skip = from == 0 ? 0 : static_cast<std::size_t>(from - 1);
    if (auto done = add((*history)->read(*backend, skip, limit - entries.size())); !done) {
      return std::unexpected(done.error());
    }
  }
  if (entries.size() < limit) {
    const std::uint64_t first = from > shared ? from - shared : 1;
    if (auto done = add(own(std::max<std::uint64_t>(first, 1), limit - entries.size())); !done) {
      return std::unexpected(done.error());
    }
  }
  return entries;
}

// The place behind the entry that a stored position names.
Result<std::uint64_t> SessionStore::Impl::placeBehind(const std::string& sessionId, const std::string& position) {
  if (position.empty()) return 0;
  auto history = historyOf(sessionId);
  if (!history) return std::unexpected(history.error());
  auto own = backend->sequenceOf(sessionId, position);
  if (!own) return std::unexpected(own.error());
  if (*own) return **own == 0 ? 1 : **own + (*history)->size() + 1;
  auto place = (*history)->find(*backend, position);
  if (!place) return std::unexpected(place.error());
  if (*place) return **place + 2;
  return fail(ErrorCode::NotFound, fmt::format("session {} has no entry {} to continue from", sessionId, position),
              "start from the beginning with an empty position");
}

Result<std::vector<Entry>> SessionStore::Impl::load(const std::string& sessionId, const LoadOptions& wanted) {
  auto header = backend->header(sessionId);
  if (!header) return std::unexpected(header.error());
  const bool fork = readHeader(*header).origin.has_value();
  std::vector<Entry> entries;
  if (wanted.branch) {
    // A fork has the branch that it shares, not all of the other session.
    if (fork) {
      if (auto known = storedEntry(sessionId, *wanted.branch); !known) return std::unexpected(known.error());
    }
    if (!wanted.types.empty() && wanted.fromSequence == 0) {
      auto found = sequencesOfTypes(*backend, sessionId, *wanted.branch, wanted.types);
      if (!found) return std::unexpected(found.error());
      if (*found) {
        if (wanted.last && wanted.type.empty() && wanted.limit == SIZE_MAX && (*found)->size() > *wanted.last) {
          (*found)->erase((*found)->begin(), (*found)->end() - static_cast<std::ptrdiff_t>(*wanted.last));
        }
        auto read = backend->read(sessionId, **found);
        if (!read) return read;
        return finish(sessionId, wanted, std::move(*read));
      }
    }
    // Without further conditions only as much of the branch is walked as is wanted.
    const bool plain =
        wanted.type.empty() && wanted.types.empty() && wanted.fromSequence == 0 && wanted.limit == SIZE_MAX;
    const std::size_t length = plain ? wanted.last.value_or(SIZE_MAX) : SIZE_MAX;
    // One at least, so that a branch that is not there is noticed.
    auto branch = ForkHistory::ofBranch(*backend, sessionId, *wanted.branch, std::max<std::size_t>(length, 1));
    if (!branch) return std::unexpected(branch.error());
    // With fromSequence the others count, too.
    if (!wanted.types.empty() && wanted.fromSequence == 0) {
      if (auto done = branch->keepTypes(*backend, wanted.types); !done) return std::unexpected(done.error());
    }
    auto read = branch->read(*backend, static_cast<std::size_t>(std::min<std::uint64_t>(wanted.fromSequence, SIZE_MAX)),
                             wanted.type.empty() && wanted.types.empty() ? wanted.limit : SIZE_MAX);
    if (!read) return read;
    entries = std::move(*read);
  } else if (fork) {
    auto read = entriesFrom(sessionId, wanted.fromSequence,
                            wanted.type.empty() && wanted.types.empty() ? wanted.limit : SIZE_MAX);
    if (!read) return read;
    entries = std::move(*read);
  } else {
    const bool all = !wanted.types.empty();
    const bool fromEnd = wanted.last && wanted.limit == SIZE_MAX && !all;
    auto sequences = backend->select(sessionId, {.fromSequence = wanted.fromSequence,
                                                 .limit = all       ? SIZE_MAX
                                                          : fromEnd ? *wanted.last
                                                                    : wanted.limit,
                                                 .type = wanted.type,
                                                 .newestFirst = fromEnd});
    if (!sequences) return std::unexpected(sequences.error());
    if (fromEnd) std::ranges::reverse(*sequences);
    auto read = backend->read(sessionId, *sequences);
    if (!read) return read;
    entries = std::move(*read);
  }
  return finish(sessionId, wanted, std::move(entries));
}

// The conditions that are not met yet, then redactions and attachments.
Result<std::vector<Entry>> SessionStore::Impl::finish(const std::string& sessionId, const LoadOptions& wanted,
                                                      std::vector<Entry> entries) {
  if (!wanted.type.empty()) std::erase_if(entries, [&](const Entry& entry) { return entry.type != wanted.type; });
  if (!wanted.types.empty()) {
    std::erase_if(
        entries, [&](const Entry& entry) { return std::ranges::find(wanted.types, entry.type) == wanted.types.end(); });
  }
  if (entries.size() > wanted.limit) entries.resize(wanted.limit);
  if (wanted.last && entries.size() > *wanted.last) {
    entries.erase(entries.begin(), entries.end() - static_cast<std::ptrdiff_t>(*wanted.last));
  }
  if (auto done = complete(sessionId, entries, wanted.showRedacted, wanted.limitBytes); !done) {
    return std::unexpected(done.error());
  }
  return entries;
}

Result<std::vector<Entry>> SessionStore::loadSessionEntries(const std::string& sessionId, const LoadOptions& options) {
  if (auto ready = impl_->readyToRead(sessionId); !ready) return std::unexpected(ready.error());
  return retryWhenChanged([&] { return impl_->load(sessionId, options); });
}

Result<Entry> SessionStore::Impl::storedEntry(const std::string& sessionId, const std::string& entryId) {
  auto sequence = backend->sequenceOf(sessionId, entryId);
  if (!sequence) return std::unexpected(sequence.error());
  if (*sequence) {
    auto own = backend->read(sessionId, range(**sequence, **sequence + 1));
    if (!own) return std::unexpected(own.error());
    return std::move(own->front());
  }
  auto history = historyOf(sessionId);
  if (!history) return std::unexpected(history.error());
  auto place = (*history)->find(*backend, entryId);
  if (!place) return std::unexpected(place.error());
  if (!*place) {
    return fail(ErrorCode::NotFound, fmt::format("session {} has no entry {}", sessionId, entryId),
                "`bough cat` prints all entries of a session");
  }
  auto shared = (*history)->read(*backend, **place, 1);
  if (!shared) return std::unexpected(shared.error());
  return std::move(shared->front());
}

Result<Entry> SessionStore::loadEntry(const std::string& sessionId, const std::string& entryId) {
  if (auto ready = impl_->readyToRead(sessionId); !ready) return std::unexpected(ready.error());
  return retryWhenChanged([&]() -> Result<Entry> {
    auto stored = impl_->storedEntry(sessionId, entryId);
    if (!stored) return stored;
    std::vector<Entry> found;
    found.push_back(std::move(*stored));
    if (auto done = impl_->complete(sessionId, found, false); !done) return std::unexpected(done.error());
    return std::move(found.front());
  });
}

Result<void> SessionStore::readOwnEntries(const std::string& sessionId, std::uint64_t fromSequence, std::uint64_t limit,
                                          const std::function<void(std::uint64_t, Entry&)>& use) {
  constexpr std::uint64_t kPart = 128;
  if (auto ready = impl_->readyToRead(sessionId); !ready) return ready;
  const std::uint64_t end = limit < UINT64_MAX - fromSequence ? fromSequence + limit : UINT64_MAX;
  for (std::uint64_t next = fromSequence; next < end;) {
    const auto count = static_cast<std::size_t>(std::min(kPart, end - next));
    auto part = retryWhenChanged([&]() -> Result<std::vector<Entry>> {
      auto sequences = impl_->backend->select(sessionId, {.fromSequence = next, .limit = count, .type = {}});
      if (!sequences) return std::unexpected(sequences.error());
      return impl_->backend->read(sessionId, *sequences);
    });
    if (!part) return std::unexpected(part.error());
    for (Entry& entry : *part) {
      if (const auto reference = readAttachmentReference(entry.payload)) {
        if (auto payload = impl_->backend->getAttachment(*reference)) entry.payload = std::move(*payload);
      }
      use(next++, entry);
    }
    if (part->size() < count) break;
  }
  return {};
}

struct SessionCursor::State {
  SessionStore::Impl* store;
  std::string sessionId;
  std::string position;
  std::uint64_t place = 0;
  std::optional<std::uint64_t> numbering;  // in which `place` is right

  Result<void> locate();
  [[nodiscard]] Result<void> checkLocated() const;
};

// A place is a number in the log as it was. Where that was cut or replaced, only the position says where we are.
Result<void> SessionCursor::State::locate() {
  auto now = store->backend->numbering(sessionId);
  if (!now) return std::unexpected(now.error());
  if (*now == numbering) return {};
  auto found = store->placeBehind(sessionId, position);
  if (!found) return std::unexpected(found.error());
  place = *found;
  numbering = *now;
  return {};
}

// Behind a read: whether it was still the same log.
Result<void> SessionCursor::State::checkLocated() const {
  auto now = store->backend->numbering(sessionId);
  if (!now) return std::unexpected(now.error());
  if (*now == numbering) return {};
  return changedWhileRead("session " + sessionId);
}

SessionCursor::SessionCursor(std::unique_ptr<State> state) : state_(std::move(state)) {}
SessionCursor::SessionCursor(SessionCursor&&) noexcept = default;
SessionCursor& SessionCursor::operator=(SessionCursor&&) noexcept = default;
SessionCursor::~SessionCursor() = default;

Result<SessionCursor> SessionStore::openCursor(const std::string& sessionId, const std::string& position) {
  if (auto ready = impl_->readyToRead(sessionId); !ready) return std::unexpected(ready.error());
  auto state = std::make_unique<SessionCursor::State>();
  state->store = impl_.get();
  state->sessionId = sessionId;
  state->position = position;
  if (auto located = state->locate(); !located) return std::unexpected(located.error());
  return SessionCursor(std::move(state));
}

Result<std::vector<Entry>> SessionCursor::next(std::size_t count) {
  constexpr std::size_t kPayloadBytes = std::size_t{64} << 20;
  State& state = *state_;
  if (auto ready = state.store->readyToRead(state.sessionId); !ready) return std::unexpected(ready.error());
  auto entries = retryWhenChanged([&]() -> Result<std::vector<Entry>> {
    if (auto located = state.locate(); !located) return std::unexpected(located.error());
    auto read = state.store->entriesFrom(state.sessionId, state.place, count);
    if (read) {
      if (auto same = state.checkLocated(); !same) return std::unexpected(same.error());
      if (auto done = state.store->complete(state.sessionId, *read, false, kPayloadBytes); !done) {
        return std::unexpected(done.error());
      }
    }
    return read;
  });
  if (entries && !entries->empty()) {
    state.place += entries->size();
    state.position = entries->back().id;
  }
  return entries;
}

Result<bool> SessionCursor::hasMore() const {
  State& state = *state_;
  if (auto ready = state.store->readyToRead(state.sessionId); !ready) return std::unexpected(ready.error());
  if (auto located = state.locate(); !located) return std::unexpected(located.error());
  auto history = state.store->historyOf(state.sessionId);
  if (!history) return std::unexpected(history.error());
  auto known = state.store->backend->state(state.sessionId);
  if (!known) return std::unexpected(known.error());
  return state.place < known->entryCount + (*history)->size();
}

void SessionCursor::reset() {
  state_->place = 0;
  state_->position.clear();
}

const std::string& SessionCursor::position() const {
  return state_->position;
}

struct SessionFollower::State {
  explicit State(SessionCursor from) : cursor(std::move(from)) {}
  SessionCursor cursor;
  std::unique_ptr<ChangeWatcher> watcher;
  std::atomic<bool> stopped = false;
};

SessionFollower::SessionFollower(std::unique_ptr<State> state) : state_(std::move(state)) {}
SessionFollower::SessionFollower(SessionFollower&&) noexcept = default;
SessionFollower& SessionFollower::operator=(SessionFollower&&) noexcept = default;
SessionFollower::~SessionFollower() = default;

Result<SessionFollower> SessionStore::follow(const std::string& sessionId, const std::string& position) {
  auto cursor = openCursor(sessionId, position);
  if (!cursor) return std::unexpected(cursor.error());
  auto state = std::make_unique<SessionFollower::State>(std::move(*cursor));
  // Watching begins before the first look, so nothing can slip in between.
  auto watcher = impl_->backend->watch(sessionId);
  if (!watcher) return std::unexpected(watcher.error());
  state->watcher = std::move(*watcher);
  return SessionFollower(std::move(state));
}

Result<std::vector<Entry>> SessionFollower::next(int timeoutMs) {
  constexpr std::size_t kPart = 256;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeoutMs);
  while (!state_->stopped) {
    auto entries = state_->cursor.next(kPart);
    if (!entries || !entries->empty()) return entries;
    int rest = -1;
    if (timeoutMs >= 0) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
      if (left <= 0) break;
      rest = static_cast<int>(left);
    }
    auto changed = state_->watcher->wait(rest);
    if (!changed) return std::unexpected(changed.error());
  }
  return std::vector<Entry>();
}

const std::string& SessionFollower::position() const {
  return state_->cursor.position();
}

void SessionFollower::stop() {
  state_->stopped = true;
  state_->watcher->wake();
}

}  // namespace bough
