// How SessionStore makes a tree of a session: its own outline, with the branch that a fork shares put in front, and
// what the index cannot say (parents in that branch, parents that stand later) found by their ids.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/file_io.h"
#include "base/json_scan.h"
#include "store/session_store_impl.h"

namespace bough {
namespace {

constexpr std::uint32_t kNone = SessionOutline::kNone;
constexpr std::uint32_t kElsewhere = SessionOutline::kElsewhere;

// Puts the shared branch between the header and the session's own entries: the order in which the store shows them.
class OutlineJoin {
 public:
  OutlineJoin(StorageBackend& backend, const std::string& sessionId, const ForkHistory& history)
      : backend_(backend), sessionId_(sessionId), history_(history), shared_(static_cast<TreeNode>(history.size())) {}

  Result<SessionOutline> run() {
    auto own = backend_.outline(sessionId_);
    if (!own) return own;
    if (own->kinds.size() + std::uint64_t{shared_} >= kElsewhere) {
      return fail(ErrorCode::Unsupported, fmt::format("session {} has too many entries for a tree", sessionId_));
    }
    if (shared_ == 0) {
      joined_ = std::move(*own);
    } else if (auto added = join(*own); !added) {
      return std::unexpected(added.error());
    }
    if (auto found = findParents(); !found) return std::unexpected(found.error());
    if (joined_.head == kElsewhere) {
      auto state = backend_.state(sessionId_);
      if (!state) return std::unexpected(state.error());
      auto head = placeOf(state->headId);
      if (!head) return std::unexpected(head.error());
      joined_.head = *head;
    }
    return std::move(joined_);
  }

  // kElsewhere when the session has no such entry.
  Result<TreeNode> placeOf(const std::string& id) {
    auto own = backend_.sequenceOf(sessionId_, id);
    if (!own) return std::unexpected(own.error());
    if (*own) return moved(static_cast<std::uint32_t>(**own));
    auto place = history_.find(backend_, id);
    if (!place) return std::unexpected(place.error());
    return *place ? static_cast<TreeNode>(**place + 1) : kElsewhere;
  }

 private:
  [[nodiscard]] TreeNode moved(std::uint32_t own) const { return own == 0 || own >= kElsewhere ? own : own + shared_; }

  Result<void> join(const SessionOutline& own) {
    if (own.kinds.empty()) return {};
    auto jump = own.jumps.begin();
    const bool rooted = jump == own.jumps.end() || jump->sequence > 0;
    joined_.add(own.kinds.front(), rooted ? kNone : moved((jump++)->parent));
    if (auto added = addShared(); !added) return added;
    joined_.kinds.insert(joined_.kinds.end(), own.kinds.begin() + 1, own.kinds.end());
    // The first own entry may follow the header, which no longer stands right before it.
    if (own.kinds.size() > 1 && (jump == own.jumps.end() || jump->sequence > 1)) {
      joined_.jumps.push_back({.sequence = moved(1), .parent = 0});
    }
    for (; jump != own.jumps.end(); ++jump) {
      joined_.jumps.push_back({.sequence = moved(jump->sequence), .parent = moved(jump->parent)});
    }
    joined_.head = moved(own.head);
    return {};
  }

  Result<void> addShared() {
    bool first = true;
    for (const ForkHistory::Part& part : history_.parts()) {
      if (part.sequences.empty()) continue;
      auto other = backend_.outline(part.sessionId);
      if (!other) return std::unexpected(other.error());
      if (part.sequences.back() >= other->kinds.size()) return changedWhileRead("session " + sessionId_);
      if (first) {
        const auto root = static_cast<std::uint32_t>(part.sequences.front());
        const bool orphan = other->walkUp(root, [](std::uint32_t, std::uint32_t) {}) == kElsewhere;
        joined_.add(other->kinds[root], orphan ? kElsewhere : kNone);
      }
      for (std::size_t i = first ? 1 : 0; i < part.sequences.size(); ++i) {
        joined_.kinds.push_back(other->kinds[static_cast<std::size_t>(part.sequences[i])]);
      }
      first = false;
    }
    return {};
  }

  // Entries whose parent the index does not know: it may be shared, stand later, or be nowhere.
  Result<void> findParents() {
    constexpr std::size_t kPart = 256;
    std::vector<SessionOutline::Jump*> unknown;
    for (SessionOutline::Jump& jump : joined_.jumps) {
      const bool own = jump.sequence == 0 || jump.sequence > shared_;
      if (own && jump.parent == kElsewhere) unknown.push_back(&jump);
    }
    for (std::size_t from = 0; from < unknown.size(); from += kPart) {
      const auto part = std::span(unknown).subspan(from, std::min(kPart, unknown.size() - from));
      std::vector<std::uint64_t> sequences;
      for (const auto* jump : part) sequences.push_back(jump->sequence == 0 ? 0 : jump->sequence - shared_);
      auto entries = backend_.read(sessionId_, sequences);
      if (!entries) return std::unexpected(entries.error());
      for (std::size_t i = 0; i < part.size(); ++i) {
        auto parent = placeOf((*entries)[i].parentId.value_or(""));
        if (!parent) return std::unexpected(parent.error());
        part[i]->parent = *parent;
      }
    }
    return {};
  }

  StorageBackend& backend_;
  const std::string& sessionId_;
  const ForkHistory& history_;
  const TreeNode shared_;
  SessionOutline joined_;
};

}  // namespace

Result<std::uint64_t> SessionStore::Impl::placeOf(const std::string& sessionId, const std::string& entryId) {
  auto history = historyOf(sessionId);
  if (!history) return std::unexpected(history.error());
  auto own = backend->sequenceOf(sessionId, entryId);
  if (!own) return std::unexpected(own.error());
  if (*own) return **own == 0 ? 0 : **own + (*history)->size();
  auto place = (*history)->find(*backend, entryId);
  if (!place) return std::unexpected(place.error());
  if (*place) return **place + 1;
  return fail(ErrorCode::NotFound, fmt::format("session {} has no entry {}", sessionId, entryId),
              "`bough tree` shows the entries of a session");
}

Result<std::vector<Entry>> SessionStore::Impl::entriesAt(const std::string& sessionId,
                                                         std::span<const std::uint64_t> places) {
  auto history = historyOf(sessionId);
  if (!history) return std::unexpected(history.error());
  std::vector<std::uint64_t> own;
  std::vector<std::size_t> shared;
  for (const std::uint64_t place : places) {
    if (place == 0 || place > (*history)->size()) {
      own.push_back(place == 0 ? 0 : place - (*history)->size());
    } else {
      shared.push_back(static_cast<std::size_t>(place - 1));
    }
  }
  auto mine = backend->read(sessionId, own);
  if (!mine || shared.empty()) return mine;
  auto theirs = (*history)->readAt(*backend, shared);
  if (!theirs) return theirs;
  std::vector<Entry> entries;
  entries.reserve(places.size());
  auto nextOwn = mine->begin();
  auto nextShared = theirs->begin();
  for (const std::uint64_t place : places) {
    entries.push_back(std::move(place == 0 || place > (*history)->size() ? *nextOwn++ : *nextShared++));
  }
  return entries;
}

Result<SessionTree> SessionStore::Impl::tree(const std::string& sessionId) {
  auto history = historyOf(sessionId);
  if (!history) return std::unexpected(history.error());
  OutlineJoin join(*backend, sessionId, **history);
  auto outline = join.run();
  if (!outline) return std::unexpected(outline.error());
  std::vector<TreeLabel> named;
  const bool labelled =
      std::memchr(outline->kinds.data(), static_cast<int>(EntryKind::Label), outline->kinds.size()) != nullptr;
  if ((*history)->size() > 0 || labelled) {
    auto known = labels(sessionId);
    if (!known) return std::unexpected(known.error());
    for (SessionLabel& label : *known) {
      auto place = join.placeOf(label.entryId);
      if (!place) return std::unexpected(place.error());
      named.push_back({.name = std::move(label.name), .node = *place});
    }
  }
  return SessionTree(std::move(*outline), std::move(named));
}

Result<SessionTree> SessionStore::loadTree(const std::string& sessionId) {
  if (auto ready = impl_->readyToRead(sessionId); !ready) return std::unexpected(ready.error());
  return retryWhenChanged([&] { return impl_->tree(sessionId); });
}

Result<std::vector<Entry>> SessionStore::loadEntriesAt(const std::string& sessionId,
                                                       const std::vector<TreeNode>& sequences) {
  if (auto ready = impl_->readyToRead(sessionId); !ready) return std::unexpected(ready.error());
  const std::vector<std::uint64_t> places(sequences.begin(), sequences.end());
  return retryWhenChanged([&]() -> Result<std::vector<Entry>> {
    auto entries = impl_->entriesAt(sessionId, places);
    if (!entries) return entries;
    if (auto done = impl_->complete(sessionId, *entries, false); !done) return std::unexpected(done.error());
    return entries;
  });
}

Result<TreeNode> SessionStore::sequenceOf(const std::string& sessionId, const std::string& entryId) {
  if (auto ready = impl_->readyToRead(sessionId); !ready) return std::unexpected(ready.error());
  auto place = retryWhenChanged([&] { return impl_->placeOf(sessionId, entryId); });
  if (!place) return std::unexpected(place.error());
  return static_cast<TreeNode>(*place);
}

Result<std::vector<std::string>> SessionStore::findEntryIds(const std::string& sessionId, const std::string& prefix,
                                                            std::size_t limit) {
  if (auto ready = impl_->readyToRead(sessionId); !ready) return std::unexpected(ready.error());
  auto history = impl_->historyOf(sessionId);
  if (!history) return std::unexpected(history.error());
  std::vector<std::string> found;
  // Other sessions may have more of that beginning than the branch that is shared.
  for (const ForkHistory::Part& part : (*history)->parts()) {
    auto ids = impl_->backend->findIds(part.sessionId, prefix, SIZE_MAX);
    if (!ids) return ids;
    for (std::string& id : *ids) {
      auto place = (*history)->find(*impl_->backend, id);
      if (!place) return std::unexpected(place.error());
      if (*place && found.size() < limit) found.push_back(std::move(id));
    }
  }
  auto own = impl_->backend->findIds(sessionId, prefix, limit - found.size());
  if (!own) return own;
  std::ranges::move(*own, std::back_inserter(found));
  return found;
}

Result<std::vector<Entry>> SessionStore::buildConversationHistory(const std::string& sessionId,
                                                                  const std::string& entryId) {
  std::string leaf = entryId;
  if (leaf.empty()) {
    auto state = sessionState(sessionId);
    if (!state) return std::unexpected(state.error());
    leaf = state->headId;
  }
  if (leaf.empty()) return std::vector<Entry>();
  auto entries = loadSessionEntries(sessionId, {.branch = leaf});
  if (entries) {
    std::erase_if(*entries, [](const Entry& entry) { return !isConversation(entryKind(entry.type)); });
  }
  return entries;
}

}  // namespace bough
