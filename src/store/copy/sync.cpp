// Synchronizes two copies of a session. Entries have unique ids and never change, so each side gets the entries that
// only the other has, in the order of the other log: parents come first. When the two sides then disagree about one
// thing (the head, a label, the title), the same new entry in both of them decides it.
//
// Both logs are read side by side as long as they are equal. After that, a fingerprint of each entry (Fingerprint) is
// kept for the side that has fewer entries left, and the other side is compared with it entry by entry.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
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

using namespace copying;

namespace {

// 128 bits of a SHA-256: enough to identify entries, and small, because there may be many.
using Digest = std::array<char, 16>;

Digest digestFromHex(const std::string& hex) {
  Digest digest{};
  for (std::size_t i = 0; i < digest.size(); ++i) {
    const auto digit = [&](std::size_t at) { return hex[at] <= '9' ? hex[at] - '0' : hex[at] - 'a' + 10; };
    digest[i] = static_cast<char>(digit(2 * i) * 16 + digit(2 * i + 1));
  }
  return digest;
}

struct DigestHash {
  std::size_t operator()(const Digest& digest) const {
    std::size_t hash = 0;
    std::memcpy(&hash, digest.data(), sizeof hash);
    return hash;
  }
};

// What is kept of an entry, by the digest of its id.
struct Fingerprint {
  Digest content = {};
  bool erased = false;
  bool inBoth = false;
};

// For an erased entry, the content, the type and the timestamp do not count: each store has its own receipt, and an
// entry that was unreadable has lost its type and timestamp.
Fingerprint fingerprintOf(const Entry& entry) {
  Sha256 sum;
  const auto add = [&](const std::string& part) {
    sum.add(fmt::format("{}:", part.size()));
    sum.add(part);
  };
  const bool erased = isErasedPayload(entry.payload);
  if (!erased) {
    for (const std::string* part :
         {&entry.type, &entry.timestamp, &entry.runId, &entry.payload, &entry.meta, &entry.extra}) {
      add(*part);
    }
  }
  sum.add(entry.parentId.value_or(""));
  return {.content = digestFromHex(sum.hex()), .erased = erased};
}

// A setting of which each side has its own last value: the head, a label, the title, whether the session is pinned, its
// time to live.
struct Setting {
  std::string value;
  std::string timestamp;  // When the value was set last; not always by the last entry of the log.
  std::string entryId;
  std::string shownTime = {};  // The time of the last entry of the log, which is what the store shows.
  std::map<std::string, std::pair<std::string, std::string>> lastSet =
      {};  // value: when it was set last, by which entry

  // A log that was merged from several may set the same value more than once: the newest time counts.
  void set(std::string what, const Entry& entry, bool remember) {
    value = std::move(what);
    timestamp = entry.timestamp;
    entryId = entry.id;
    shownTime = entry.timestamp;
    if (!remember) return;
    auto& [when, by] = lastSet[value];
    if (!by.empty() && parseTimestamp(when).value_or(0) > parseTimestamp(timestamp).value_or(0)) {
      timestamp = when;
      entryId = by;
    }
    when = timestamp;
    by = entryId;
  }
};
using Settings = std::map<std::string, Setting>;

constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kInfo{
    {{"title", "title"}, {"pin", "pinned"}, {"time to live", "timeToLiveMs"}}};

// Returns a member of a session_info as an object that contains only this member; empty when it is absent.
std::string infoOf(const Entry& entry, std::string_view member) {
  std::string object;
  for (const std::string_view key : {member, std::string_view(member == "title" ? "titleSource" : "")}) {
    const auto value = key.empty() ? std::nullopt : json::findMember(entry.payload, key);
    if (!value && key == member) return {};
    if (value) object += fmt::format("{}\"{}\":{}", object.empty() ? "" : ",", key, *value);
  }
  return "{" + object + "}";
}

using EntryIds = std::unordered_set<std::string>;

// Updates the settings with the next entry of a log. A redacted label or title is ignored.
void applyEntry(Settings& settings, const Entry& entry, const EntryIds& redacted = {}) {
  const EntryKind kind = entryKind(entry.type);
  std::string storage;
  if (const auto head = headAfter(kind, entry.id, entry.payload, storage)) {
    // An entry of the conversation becomes the head by itself, once.
    settings["head"].set(std::string(*head), entry, kind == EntryKind::Head);
  }
  if (!redacted.empty() && redacted.contains(entry.id)) return;
  if (kind == EntryKind::Label) {
    const std::string name = json::findString(entry.payload, "name").value_or("");
    settings["label " + name].set(entry.payload, entry, true);
  }
  if (kind != EntryKind::SessionInfo) return;
  for (const auto& [what, member] : kInfo) {
    std::string value = infoOf(entry, member);
    if (value.empty()) continue;
    // Which of the two is shown does not depend on their order.
    const bool generated = member == "title" && json::findString(entry.payload, "titleSource") == "generated";
    settings[(generated ? "generated " : "") + std::string(what)].set(std::move(value), entry, true);
  }
}

// The state of one side.
struct Side {
  StoreSide& store;
  StoreSide& other;  // the store from which lost attachments are restored
  std::string tail = {};
  std::uint64_t count = 0;  // entries that were read
  Settings settings = {};
  EntryIds redacted = {};
  std::uint64_t extraCount = 0;  // entries that the other side lacks
  std::uint64_t& receivedCount;  // entries that this side was given, also by earlier tries
};

// Reads a side from its beginning.
class Reader {
 public:
  Reader(Side& side, const std::string& sessionId) : side_(side), sessionId_(sessionId) {}

  // Returns the next entry; null at the end.
  Result<const Entry*> next() {
    if (at_ == part_.size()) {
      BOUGH_TRY(part_, readPart(side_.store, sessionId_, side_.count, &side_.other));
      at_ = 0;
      if (part_.empty()) return nullptr;
    }
    return &part_[at_];
  }
  void advance() {
    const Entry& entry = part_[at_++];
    applyEntry(side_.settings, entry);
    if (entry.type == entry_type::kRedaction) {
      side_.redacted.insert(json::findString(entry.payload, "entryId").value_or(""));
    }
    side_.tail = entry.id;
    ++side_.count;
  }

 private:
  Side& side_;
  const std::string& sessionId_;
  std::vector<Entry> part_;
  std::size_t at_ = 0;
};

class Sync {
 public:
  // `result` is what earlier tries did.
  Sync(StoreSide& left, StoreSide& right, SyncedSession& result, SeenSessions& seen)
      : left_{.store = left, .other = right, .receivedCount = result.toLeft},
        right_{.store = right, .other = left, .receivedCount = result.toRight},
        result_(result),
        seen_(seen) {}

  Result<void> run() {
    BOUGH_TRY(readBoth());
    BOUGH_TRY(const std::vector<Entry> decided, decidingEntries());
    BOUGH_TRY(copyExtra(right_, left_));
    BOUGH_TRY(copyExtra(left_, right_));
    BOUGH_TRY(append(left_, decided));
    for (std::string& each : decisions_) note(std::move(each));  // from here on, another try finds them decided
    return append(right_, decided);
  }

 private:
  void note(std::string what) {
    if (std::ranges::find(result_.notes, what) == result_.notes.end()) result_.notes.push_back(std::move(what));
  }

  Result<void> append(Side& side, const std::vector<Entry>& entries) {
    return appendAll(side.store, result_.sessionId, entries, side.tail, side.receivedCount);
  }

  // Creates the session where it is missing, after reading it: an unreadable session leaves nothing in the other store.
  Result<void> readBoth() {
    BOUGH_TRY(const auto onLeft, findHeader(left_.store, result_.sessionId));
    BOUGH_TRY(const auto onRight, findHeader(right_.store, result_.sessionId));
    if (!onLeft && !onRight) {
      return fail(ErrorCode::NotFound, fmt::format("session {} is gone from both stores", result_.sessionId));
    }
    if (onLeft) seen_.add(left_.store, result_.sessionId);
    if (onRight) seen_.add(right_.store, result_.sessionId);
    if (!onLeft || !onRight) {
      Side& other = onLeft ? right_ : left_;
      other.receivedCount = 0;
      BOUGH_TRY(readThrough(onLeft ? left_ : right_));
      BOUGH_TRY(noteTrash(other.store));
      StoreSide& from = onLeft ? left_.store : right_.store;
      BOUGH_TRY(makeSession(from, other.store, result_.sessionId, onLeft ? *onLeft : *onRight));
      seen_.add(other.store, result_.sessionId);
    } else {
      // A fork that has its own copy of the shared history in one store gets one in the other as well.
      if (isDetached(*onLeft, *onRight)) return detach(right_);
      if (isDetached(*onRight, *onLeft)) return detach(left_);
      BOUGH_TRY(makeSession(left_.store, right_.store, result_.sessionId, *onLeft));
    }
    return compare();
  }

  Result<void> detach(Side& side) {
    BOUGH_TRY(side.store.store->maintenance().detach(result_.sessionId));
    note(fmt::format("it now has its own copy of the history it shared in {}, as in the other store",
                     side.store.backend->describe()));
    return compare();
  }

  Result<void> readThrough(const Side& side) {
    for (std::uint64_t next = 0;;) {
      BOUGH_TRY(const auto part, readPart(side.store, result_.sessionId, next, &side.other));
      if (part.empty()) return {};
      next += part.size();
    }
  }

  // Tells a user who removed the session from only one store that it comes back.
  Result<void> noteTrash(StoreSide& lacking) {
    BOUGH_TRY(const auto trashed, trashIdsOf(lacking, result_.sessionId));
    if (trashed.empty()) return {};
    note(
        fmt::format("it is in the trash of {} and comes back from the other store; remove it from "
                    "both to be rid of it",
                    lacking.backend->describe()));
    return {};
  }

  Result<std::uint64_t> countOf(const Side& side) {
    BOUGH_TRY(const auto session, side.store.backend->open(result_.sessionId));
    BOUGH_TRY(const auto state, session->state());
    return state.entryCount;
  }

  Result<void> compare() {
    BOUGH_TRY(const std::uint64_t leftCount, countOf(left_));
    BOUGH_TRY(const std::uint64_t rightCount, countOf(right_));
    Reader left(left_, result_.sessionId);
    Reader right(right_, result_.sessionId);
    for (;; ++commonCount_) {
      BOUGH_TRY(const Entry* const mine, left.next());
      BOUGH_TRY(const Entry* const theirs, right.next());
      if (mine == nullptr || theirs == nullptr || !isSame(*mine, *theirs)) break;
      left.advance();
      right.advance();
    }
    fingerprinted_ = leftCount < rightCount ? &left_ : &right_;
    Reader& shorter = fingerprinted_ == &left_ ? left : right;
    Reader& longer = fingerprinted_ == &left_ ? right : left;
    for (;; shorter.advance()) {
      BOUGH_TRY(const Entry* const entry, shorter.next());
      if (entry == nullptr) break;
      fingerprints_.emplace(idDigest(*entry), fingerprintOf(*entry));
    }
    fingerprinted_->extraCount = fingerprints_.size();
    for (;; longer.advance()) {
      BOUGH_TRY(const Entry* const entry, longer.next());
      if (entry == nullptr) return {};
      BOUGH_TRY(match(*entry));
    }
  }

  static Digest idDigest(const Entry& entry) { return digestFromHex(Sha256::of(entry.id)); }

  // Looks up an entry of the side with more entries among the entries of the other side.
  Result<void> match(const Entry& entry) {
    Side& longer = fingerprinted_ == &left_ ? right_ : left_;
    const auto found = fingerprints_.empty() ? fingerprints_.end() : fingerprints_.find(idDigest(entry));
    if (found == fingerprints_.end()) {
      ++longer.extraCount;
      return {};
    }
    Fingerprint& known = found->second;
    const Fingerprint fingerprint = fingerprintOf(entry);
    if (known.erased != fingerprint.erased) {
      const StoreSide& erased = known.erased ? fingerprinted_->store : longer.store;
      return std::unexpected(
          erasedInOne(result_.sessionId, entry.id, erased, known.erased ? longer.store : fingerprinted_->store));
    }
    if (known.content != fingerprint.content) {
      return fail(
          ErrorCode::IdConflict,
          fmt::format("session {} has an entry {} in both stores, with other content", result_.sessionId, entry.id),
          "one of the stores was changed by hand: `bough verify` says which; nothing was changed");
    }
    known.inBoth = true;
    --fingerprinted_->extraCount;
    return {};
  }

  bool isExtra(const Side& side, const Entry& entry) const {
    const auto found = fingerprints_.empty() ? fingerprints_.end() : fingerprints_.find(idDigest(entry));
    return &side == fingerprinted_ ? found != fingerprints_.end() && !found->second.inBoth
                                   : found == fingerprints_.end();
  }

  // Calls `use` with the entries that a side had and the other lacked when they were compared, in parts.
  Result<void> forEachExtra(const Side& side, const std::function<Result<void>(std::vector<Entry>)>& use) {
    if (side.extraCount == 0) return {};
    for (std::uint64_t next = commonCount_; next < side.count;) {
      BOUGH_TRY(auto part, readPart(side.store, result_.sessionId, next, &side.other));
      if (part.empty()) break;
      part.resize(std::min<std::uint64_t>(part.size(), side.count - next));
      next += part.size();
      std::erase_if(part, [&](const Entry& entry) { return !isExtra(side, entry); });
      BOUGH_TRY(use(std::move(part)));
    }
    return {};
  }

  Result<void> copyExtra(Side& from, Side& to) {
    return forEachExtra(from, [&](const std::vector<Entry>& entries) -> Result<void> { return append(to, entries); });
  }

  // Returns an entry for each setting whose last values will differ after each log got the other's entries: the logs
  // then have the same entries in a different order. That also works after a sync that was interrupted between the two
  // stores.
  Result<std::vector<Entry>> decidingEntries() {
    EntryIds redacted = left_.redacted;
    redacted.insert(right_.redacted.begin(), right_.redacted.end());
    const auto mergedSettings = [&](const Side& side, const Side& other) -> Result<Settings> {
      Settings settings = side.settings;
      if (!redacted.empty()) {
        BOUGH_TRY(settings, settingsOf(side, redacted));
      }
      BOUGH_TRY(forEachExtra(other, [&](const std::vector<Entry>& entries) -> Result<void> {
        for (const Entry& entry : entries) applyEntry(settings, entry, redacted);
        return {};
      }));
      return settings;
    };
    BOUGH_TRY(const Settings left, mergedSettings(left_, right_));
    BOUGH_TRY(const Settings right, mergedSettings(right_, left_));
    std::vector<Entry> decided;
    for (const auto& [what, mine] : left) {
      const auto found = right.find(what);
      if (found == right.end()) continue;
      const Setting& theirs = found->second;
      if (theirs.value == mine.value) {
        if (showsDifferentTimes(what, mine, theirs)) decided.push_back(makeEntry(what, mine));
        continue;
      }
      const bool leftWins = parseTimestamp(mine.timestamp).value_or(0) >= parseTimestamp(theirs.timestamp).value_or(0);
      const Setting& newer = leftWins ? mine : theirs;
      const Setting& older = leftWins ? theirs : mine;
      decided.push_back(makeEntry(what, newer));
      decisions_.push_back(
          fmt::format("both stores changed the {}: the newer change, entry {}, wins; the older one is entry {}", what,
                      newer.entryId, older.entryId));
    }
    return decided;
  }

  // Returns the settings of a side without the entries that either side has redacted.
  Result<Settings> settingsOf(const Side& side, const EntryIds& redacted) {
    Settings settings;
    for (std::uint64_t next = 0; next < side.count;) {
      BOUGH_TRY(auto part, readPart(side.store, result_.sessionId, next, &side.other));
      if (part.empty()) break;
      part.resize(std::min<std::uint64_t>(part.size(), side.count - next));
      next += part.size();
      for (const Entry& entry : part) applyEntry(settings, entry, redacted);
    }
    return settings;
  }

  // Lists of labels show when each was given. A label that both stores gave to the same entry has another time in each
  // log.
  static bool showsDifferentTimes(const std::string& what, const Setting& mine, const Setting& theirs) {
    return what.starts_with("label ") && mine.shownTime != theirs.shownTime &&
           json::findString(mine.value, "entryId").has_value();
  }

  // Sets every field, so that both stores get the same bytes. The timestamp is that of the value it repeats, because a
  // third store may have changed the setting after that time and before this sync.
  Entry makeEntry(const std::string& what, const Setting& setting) {
    Entry entry;
    entry.id = ids_.next();
    entry.timestamp = setting.timestamp;
    entry.parentId = setting.entryId;
    entry.type = what == "head"               ? entry_type::kHead
                 : what.starts_with("label ") ? entry_type::kLabel
                                              : entry_type::kSessionInfo;
    entry.payload = what == "head" ? headPayload(setting.value) : setting.value;
    return entry;
  }

  Side left_;
  Side right_;
  std::uint64_t commonCount_ = 0;  // how many entries both logs have in common at the beginning
  Side* fingerprinted_ = nullptr;  // the side whose remaining entries are in fingerprints_
  std::unordered_map<Digest, Fingerprint, DigestHash> fingerprints_;
  SyncedSession& result_;
  SeenSessions& seen_;
  std::vector<std::string> decisions_ = {};  // notes about what was decided
  IdGenerator ids_{systemEnvironment().clock, systemEnvironment().random};
};

// `done` is what earlier tries did.
Result<std::vector<SyncedSession>> syncLineage(StoreSide& left, StoreSide& right, const std::string& sessionId,
                                               std::vector<SyncedSession>& done, SeenSessions& seen) {
  constexpr int kTries = 5;  // somebody may append meanwhile
  BOUGH_TRY(const auto lineage, lineageOf({&left, &right}, sessionId));
  std::vector<SyncedSession> synced;
  for (const std::string& each : lineage) {
    auto known = std::ranges::find(done, each, &SyncedSession::sessionId);
    if (known == done.end()) known = done.insert(known, {.sessionId = each});
    auto one = Sync(left, right, *known, seen).run();
    for (int tries = 1; tries < kTries && !one && one.error().code == ErrorCode::Conflict; ++tries) {
      one = Sync(left, right, *known, seen).run();
    }
    if (!one) {
      if (!one.error().actualTail.empty()) one.error().hint = "somebody keeps appending to it: run the sync again";
      return std::unexpected(one.error());
    }
    synced.push_back(*known);
  }
  return synced;
}

}  // namespace

Result<std::vector<SyncedSession>> syncSession(StoreSide& left, StoreSide& right, const std::string& sessionId) {
  std::vector<SyncedSession> done;
  for (int tries = 1;; ++tries) {
    SeenSessions seen;
    auto synced = syncLineage(left, right, sessionId, done, seen);
    // A session that somebody removes from one store meanwhile is copied again from the other, as if it had been in the
    // trash before.
    if (synced || tries == kRemovalTries || !seen.isCausedByRemoval(synced.error())) return synced;
  }
}

}  // namespace bough
