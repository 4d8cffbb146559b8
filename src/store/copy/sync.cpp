// Brings two copies of a session together. Entries have ids of their own and never change, so each side gets what only
// the other has, in the order in which it was written there: parents come first. What two sides may say differently of
// one thing (the head, a label, the title) is then said once more, in both, by the same entry.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "base/bytes/sha256.h"
#include "base/json/json_scan.h"
#include "base/json/json_write.h"
#include "base/model/head.h"
#include "base/model/ids.h"
#include "base/system/environment.h"
#include "base/text/timestamp.h"
#include "base/try.h"
#include "bough/store.h"
#include "store/copy/session_part.h"
#include "store/rules/erasure.h"

namespace bough {

// The trash of a store, as it was read last. To read a long list for each of many sessions that are missing would take
// forever: it is read again after a tenth as many questions as it is long, and a short one each time.
struct KnownTrash {
  std::unordered_set<std::string> sessionIds = {};
  std::size_t answers = 0;  // that it is still good for
};

using namespace copying;

namespace {

// What was erased has a receipt of its own in each store: its content does not count.
constexpr std::string_view kErased = "erased ";

std::string digestOf(const Entry& entry) {
  Sha256 sum;
  const auto add = [&](const std::string& part) {
    sum.add(fmt::format("{}:", part.size()));
    sum.add(part);
  };
  const bool erased = isErasedPayload(entry.payload);
  for (const std::string* part : {&entry.type, &entry.timestamp, &entry.runId}) add(*part);
  if (!erased) {
    for (const std::string* part : {&entry.payload, &entry.meta, &entry.extra}) add(*part);
  }
  sum.add(entry.parentId.value_or(""));
  return (erased ? std::string(kErased) : "") + sum.hex();
}

// Something of which each side has its own last word: the head, a label, the title, whether the session is pinned, how
// long it lives.
struct LastWord {
  std::string value;
  std::string timestamp;
  std::string entryId;
  std::map<std::string, std::pair<std::string, std::string>> said = {};  // value: when last, and by which entry

  // The same value may be said again, in a log that was put together from several: the newest time counts.
  void say(std::string what, const Entry& entry, bool remember) {
    value = std::move(what);
    timestamp = entry.timestamp;
    entryId = entry.id;
    if (!remember) return;
    auto& [when, by] = said[value];
    if (!by.empty() && parseTimestamp(when).value_or(0) > parseTimestamp(timestamp).value_or(0)) {
      timestamp = when;
      entryId = by;
    }
    when = timestamp;
    by = entryId;
  }
};
using LastWords = std::map<std::string, LastWord>;

constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kInfo{
    {{"title", "title"}, {"pin", "pinned"}, {"time to live", "timeToLiveMs"}}};

// The members of a session_info of which each is a thing of its own, as an object of that member alone; empty: none.
std::string infoOf(const Entry& entry, std::string_view member) {
  std::string object;
  for (const std::string_view key : {member, std::string_view(member == "title" ? "titleSource" : "")}) {
    const auto value = key.empty() ? std::nullopt : json::findMember(entry.payload, key);
    if (!value && key == member) return {};
    if (value) object += fmt::format("{}\"{}\":{}", object.empty() ? "" : ",", key, *value);
  }
  return "{" + object + "}";
}

// What the next entry of a log says about them.
void hear(LastWords& words, const Entry& entry) {
  const EntryKind kind = entryKind(entry.type);
  std::string storage;
  if (const auto head = headAfter(kind, entry.id, entry.payload, storage)) {
    // An entry of the conversation is the head by itself, and once.
    words["head"].say(std::string(*head), entry, kind == EntryKind::Head);
  }
  if (kind == EntryKind::Label) {
    const std::string name = json::findString(entry.payload, "name").value_or("");
    words["label " + name].say(entry.payload, entry, true);
  }
  if (kind != EntryKind::SessionInfo) return;
  for (const auto& [what, member] : kInfo) {
    std::string value = infoOf(entry, member);
    if (!value.empty()) words[std::string(what)].say(std::move(value), entry, true);
  }
}

// What one side has.
struct Side {
  StoreSide& store;
  std::string tail = {};
  std::unordered_map<std::string, std::string> digests = {};  // by id
  LastWords words = {};
  std::uint64_t extra = 0;  // how many of them the other lacks
};

Result<bool> isInTrash(StoreSide& side, const std::string& sessionId) {
  if (side.trash && side.trash->answers > 0) {
    --side.trash->answers;
    return side.trash->sessionIds.contains(sessionId);
  }
  const auto trash = side.store->listTrash();
  if (!trash && trash.error().code == ErrorCode::Unsupported) return false;  // a backend may have none
  if (!trash) return std::unexpected(trash.error());
  side.trash = std::make_shared<KnownTrash>();
  side.trash->answers = trash->size() / 10;
  for (const TrashedSession& each : *trash) side.trash->sessionIds.insert(each.sessionId);
  return side.trash->sessionIds.contains(sessionId);
}

class Sync {
 public:
  Sync(StoreSide& left, StoreSide& right, const std::string& sessionId) : left_{.store = left}, right_{.store = right} {
    result_.sessionId = sessionId;
  }

  Result<SyncedSession> run() {
    BOUGH_TRY(readBoth());
    BOUGH_TRY(compare());
    BOUGH_TRY(const std::vector<Entry> decided, decide());
    BOUGH_TRY(give(right_, left_));
    BOUGH_TRY(give(left_, right_));
    BOUGH_TRY(appendAll(left_.store, result_.sessionId, decided, left_.tail));
    BOUGH_TRY(appendAll(right_.store, result_.sessionId, decided, right_.tail));
    result_.toLeft = right_.extra + decided.size();
    result_.toRight = left_.extra + decided.size();
    return std::move(result_);
  }

 private:
  // Makes the session where it is missing, after it was read: one that cannot be read leaves none in the other store.
  Result<void> readBoth() {
    BOUGH_TRY(const auto onLeft, findHeader(left_.store, result_.sessionId));
    BOUGH_TRY(const auto onRight, findHeader(right_.store, result_.sessionId));
    if (!onLeft && !onRight) {
      return fail(ErrorCode::NotFound, fmt::format("session {} is gone from both stores", result_.sessionId));
    }
    Side& other = onLeft ? right_ : left_;
    BOUGH_TRY(read(onLeft ? left_ : right_));
    if (!onLeft || !onRight) {
      BOUGH_TRY(noteTrash(other.store));
    }
    BOUGH_TRY(makeSession(other.store, result_.sessionId, onLeft ? *onLeft : *onRight));
    return read(other);
  }

  // Who removed the session from one store alone would be surprised.
  Result<void> noteTrash(StoreSide& lacking) {
    BOUGH_TRY(const bool trashed, isInTrash(lacking, result_.sessionId));
    if (!trashed) return {};
    result_.notes.push_back(
        fmt::format("it is in the trash of {} and comes back from the other store; remove it from "
                    "both to be rid of it",
                    lacking.backend->describe()));
    return {};
  }

  Result<void> read(Side& side) {
    for (std::uint64_t next = 0;;) {
      BOUGH_TRY(const auto part, readPart(side.store, result_.sessionId, next));
      if (part.empty()) return {};
      for (const Entry& entry : part) {
        side.digests[entry.id] = digestOf(entry);
        hear(side.words, entry);
      }
      side.tail = part.back().id;
      next += part.size();
    }
  }

  Result<void> compare() {
    for (const auto& [id, digest] : left_.digests) {
      const auto other = right_.digests.find(id);
      if (other == right_.digests.end() || other->second == digest) continue;
      if (const bool here = digest.starts_with(kErased); here != other->second.starts_with(kErased)) {
        return std::unexpected(
            erasedInOne(result_.sessionId, id, here ? left_.store : right_.store, here ? right_.store : left_.store));
      }
      return fail(ErrorCode::IdConflict,
                  fmt::format("session {} has an entry {} in both stores, with other content", result_.sessionId, id),
                  "one of the stores was changed by hand: `bough verify` says which; nothing was changed");
    }
    return {};
  }

  // Calls `use` with the entries that a side had and the other lacked when they were compared, a part at a time.
  Result<void> eachExtra(const Side& side, const Side& other,
                         const std::function<Result<void>(std::vector<Entry>)>& use) {
    const bool any =
        std::ranges::any_of(side.digests, [&](const auto& each) { return !other.digests.contains(each.first); });
    for (std::uint64_t next = 0; any;) {
      BOUGH_TRY(auto part, readPart(side.store, result_.sessionId, next));
      if (part.empty()) break;
      next += part.size();
      std::erase_if(part, [&](const Entry& entry) {
        return other.digests.contains(entry.id) || !side.digests.contains(entry.id);
      });
      BOUGH_TRY(use(std::move(part)));
    }
    return {};
  }

  Result<void> give(Side& from, Side& to) {
    return eachExtra(from, to, [&](std::vector<Entry> entries) -> Result<void> {
      from.extra += entries.size();
      return appendAll(to.store, result_.sessionId, entries, to.tail);
    });
  }

  // One entry for each thing of which the logs have different last words once each has what the other had: they hold
  // the same entries then, in another order. That is so also after a sync that was cut off between the two.
  Result<std::vector<Entry>> decide() {
    const auto heard = [&](const Side& side, const Side& other) -> Result<LastWords> {
      LastWords words = side.words;
      BOUGH_TRY(eachExtra(other, side, [&](const std::vector<Entry>& entries) -> Result<void> {
        for (const Entry& entry : entries) hear(words, entry);
        return {};
      }));
      return words;
    };
    BOUGH_TRY(const LastWords left, heard(left_, right_));
    BOUGH_TRY(const LastWords right, heard(right_, left_));
    std::vector<Entry> decided;
    for (const auto& [what, mine] : left) {
      const auto found = right.find(what);
      if (found == right.end() || found->second.value == mine.value) continue;
      const LastWord& theirs = found->second;
      const bool leftWins = parseTimestamp(mine.timestamp).value_or(0) >= parseTimestamp(theirs.timestamp).value_or(0);
      const LastWord& newer = leftWins ? mine : theirs;
      const LastWord& older = leftWins ? theirs : mine;
      decided.push_back(makeEntry(what, newer));
      result_.notes.push_back(
          fmt::format("both stores changed the {}: the newer one, of entry {}, counts; the other is entry {}", what,
                      newer.entryId, older.entryId));
    }
    return decided;
  }

  // Every field is said, so that both stores get the same bytes. It is as old as what it repeats: a third store may
  // have changed the same later than that, and before this sync.
  Entry makeEntry(const std::string& what, const LastWord& word) {
    Entry entry;
    entry.id = ids_.next();
    entry.timestamp = word.timestamp;
    entry.parentId = word.entryId;
    entry.type = what == "head"               ? entry_type::kHead
                 : what.starts_with("label ") ? entry_type::kLabel
                                              : entry_type::kSessionInfo;
    entry.payload = what == "head" ? headPayload(word.value) : word.value;
    return entry;
  }

  Side left_;
  Side right_;
  SyncedSession result_;
  IdGenerator ids_{systemEnvironment().clock, systemEnvironment().random};
};

}  // namespace

Result<std::vector<SyncedSession>> syncSession(StoreSide& left, StoreSide& right, const std::string& sessionId) {
  constexpr int kTries = 5;  // somebody may append meanwhile
  BOUGH_TRY(const auto lineage, lineageOf({&left, &right}, sessionId));
  std::vector<SyncedSession> synced;
  for (const std::string& each : lineage) {
    auto one = Sync(left, right, each).run();
    for (int tries = 1; tries < kTries && !one && one.error().code == ErrorCode::Conflict; ++tries) {
      one = Sync(left, right, each).run();
    }
    if (!one) {
      if (!one.error().actualTail.empty()) one.error().hint = "somebody goes on appending to it: repeat the sync";
      return std::unexpected(one.error());
    }
    synced.push_back(std::move(*one));
  }
  return synced;
}

}  // namespace bough
