// The tree of a session that shares history: the session's own outline with the shared branch inserted before its own
// entries. Parents that the index does not know (in that branch, or later in the log) are found by their ids.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "base/json/json_scan.h"
#include "base/system/file_io.h"
#include "base/try.h"
#include "store/sharing/session_loader.h"
#include "store/sharing/sharing_session.h"

namespace bough {
namespace {

// Inserts the shared branch between the header and the session's own entries: this is the session's order.
class OutlineJoin {
 public:
  OutlineJoin(SharingSession& session, const ForkHistory& history)
      : session_(session), history_(history), shared_(static_cast<std::uint32_t>(history.size())) {}

  Result<SessionOutline> run() {
    BOUGH_TRY(SessionOutline own, session_.ownOutline());
    if (own.kinds.size() + std::uint64_t{shared_} >= kElsewhere) {
      return fail(ErrorCode::Unsupported,
                  fmt::format("session {} has too many entries for a tree", session_.sessionId()));
    }
    if (shared_ == 0) {
      joined_ = std::move(own);
    } else {
      BOUGH_TRY(join(own));
    }
    BOUGH_TRY(findParents());
    if (joined_.head == kElsewhere) {
      BOUGH_TRY(const SessionState state, session_.state());
      BOUGH_TRY(joined_.head, sequenceOf(state.headId));
    }
    return std::move(joined_);
  }

  // Returns kElsewhere when the session has no such entry.
  Result<std::uint32_t> sequenceOf(const std::string& id) {
    BOUGH_TRY(const auto own, session_.ownSequenceOf(id));
    if (own) return moved(static_cast<std::uint32_t>(*own));
    BOUGH_TRY(const auto place, history_.find(id));
    return place ? static_cast<std::uint32_t>(*place + 1) : kElsewhere;
  }

 private:
  [[nodiscard]] std::uint32_t moved(std::uint32_t own) const {
    return own == 0 || own >= kElsewhere ? own : own + shared_;
  }

  Result<void> join(const SessionOutline& own) {
    if (own.kinds.empty()) return {};
    auto jump = own.jumps.begin();
    const bool rooted = jump == own.jumps.end() || jump->sequence > 0;
    joined_.add(own.kinds.front(), rooted ? kNoSequence : moved((jump++)->parent));
    BOUGH_TRY(addShared());
    joined_.kinds.insert(joined_.kinds.end(), own.kinds.begin() + 1, own.kinds.end());
    // The parent of the first own entry may be the header, which is no longer directly before it.
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
      BOUGH_TRY(const SessionOutline other, part.session->ownOutline());
      if (part.sequences.back() >= other.kinds.size()) return changedWhileRead("session " + session_.sessionId());
      if (first) {
        const auto root = static_cast<std::uint32_t>(part.sequences.front());
        const bool orphan = other.walkUp(root, [](std::uint32_t, std::uint32_t) {}) == kElsewhere;
        joined_.add(other.kinds[root], orphan ? kElsewhere : kNoSequence);
      }
      for (std::size_t i = first ? 1 : 0; i < part.sequences.size(); ++i) {
        joined_.kinds.push_back(other.kinds[static_cast<std::size_t>(part.sequences[i])]);
      }
      first = false;
    }
    return {};
  }

  // Finds the parents that the index does not know. Such a parent may be shared, come later, or not exist.
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
      BOUGH_TRY(const auto entries, session_.ownEntries(sequences));
      for (std::size_t i = 0; i < part.size(); ++i) {
        BOUGH_TRY(part[i]->parent, sequenceOf(entries[i].parentId.value_or("")));
      }
    }
    return {};
  }

  SharingSession& session_;
  const ForkHistory& history_;
  const std::uint32_t shared_;
  SessionOutline joined_;
};

// Returns the labels in a session's own entries. A label that was removed has an empty entry id.
Result<std::map<std::string, SessionLabel>> ownLabels(SharingSession& session) {
  constexpr EntryKind kKinds[] = {EntryKind::Label, EntryKind::Redaction};
  BOUGH_TRY(const auto sequences, session.ownControls(kKinds));
  BOUGH_TRY(const auto entries, session.ownEntries(sequences));
  std::set<std::string> hidden;
  for (const Entry& entry : entries) {
    if (entry.type == entry_type::kRedaction) hidden.insert(json::findString(entry.payload, "entryId").value_or(""));
  }
  std::map<std::string, SessionLabel> byName;
  for (const Entry& entry : entries) {
    if (entry.type != entry_type::kLabel || hidden.contains(entry.id)) continue;
    auto name = json::findString(entry.payload, "name");
    if (!name) continue;
    byName[*name] = {.name = *name,
                     .entryId = json::findString(entry.payload, "entryId").value_or(""),
                     .timestamp = entry.timestamp,
                     .sessionId = session.sessionId()};
  }
  return byName;
}

// In each session, the last label entry of a name counts. A fork inherits the labels that earlier sessions gave to the
// shared entries, unless its own entries say otherwise.
Result<std::vector<SessionLabel>> labelsOf(SharingSession& session) {
  BOUGH_TRY(const auto history, session.history());
  std::map<std::string, SessionLabel> byName;
  const auto take = [&](SharingSession& from) -> Result<void> {
    BOUGH_TRY(auto given, ownLabels(from));
    for (auto& [name, label] : given) {
      bool known = !label.entryId.empty();
      if (known && &from != &session) {
        BOUGH_TRY(const auto place, history->find(label.entryId));
        known = place.has_value();
      }
      if (known) byName[name] = std::move(label);
      if (!known) byName.erase(name);
    }
    return {};
  };
  for (const ForkHistory::Part& part : history->parts()) BOUGH_TRY(take(*part.session));
  BOUGH_TRY(take(session));
  std::vector<SessionLabel> found;
  for (auto& [name, label] : byName) found.push_back(std::move(label));
  return found;
}

Result<SessionShape> shapeOf(SharingSession& session) {
  BOUGH_TRY(const auto history, session.history());
  OutlineJoin join(session, *history);
  SessionShape shape;
  BOUGH_TRY(shape.outline, join.run());
  for (const ForkHistory::Part& part : history->parts()) {
    shape.shared.push_back({.sessionId = part.session->sessionId(), .sequences = part.sequences});
  }
  const auto& kinds = shape.outline.kinds;
  const bool labelled = std::memchr(kinds.data(), static_cast<int>(EntryKind::Label), kinds.size()) != nullptr;
  if (history->size() == 0 && !labelled) return shape;
  BOUGH_TRY(auto labels, labelsOf(session));
  for (SessionLabel& label : labels) {
    BOUGH_TRY(const std::uint32_t sequence, join.sequenceOf(label.entryId));
    shape.labels.push_back({.name = std::move(label.name), .sequence = sequence});
  }
  return shape;
}

}  // namespace

Result<SessionShape> SharingSession::shape() {
  return retryWhenChanged([&] { return shapeOf(*this); });
}

Result<std::vector<SessionLabel>> SharingSession::labels() {
  return retryWhenChanged([&] { return labelsOf(*this); });
}

}  // namespace bough
