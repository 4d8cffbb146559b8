#include "catalog/intake.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json/json_scan.h"
#include "base/model/lineage.h"
#include "base/model/missing_log.h"
#include "base/model/unreadable.h"
#include "base/text/counted.h"
#include "base/text/timestamp.h"
#include "base/try.h"
#include "catalog/database/answers.h"
#include "catalog/schema.h"
#include "catalog/search/search_index.h"
#include "catalog/tally/title.h"

namespace bough::catalog {
namespace {

// Limits for texts that are handed over: a database stores them with one statement, which must not take long.
constexpr std::uint64_t kMaxTexts = 10'000;
constexpr std::uint64_t kMaxTextBytesAtOnce = std::uint64_t{4} << 20;

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

std::vector<std::string> linesOf(std::string_view text) {
  std::vector<std::string> lines;
  for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return lines;
}

Result<bool> containsEntry(SessionStore& store, const SessionRow& row, const std::string& entryId) {
  const auto found = store.sequenceOf(row.facts.sessionId, entryId);
  if (!found && found.error().code != ErrorCode::NotFound) return std::unexpected(found.error());
  return found.has_value();
}

// Remembers that entries counted under the same header are gone: a log never loses entries by itself. A damaged line
// still occupies its place.
Result<void> recordLostEntries(SessionStore& store, SessionRow& row, const SessionState& state) {
  if (row.catalogedEntries == 0 && row.lostEntryId.empty()) return {};
  bool hasSameHeader = false;
  bool isStillThere = false;
  BOUGH_TRY(store.readOwnEntries(row.facts.sessionId, 0, 1,
                                 [&](std::uint64_t, Entry& entry) { hasSameHeader = entry.id == row.headerId; }));
  if (!hasSameHeader) {
    row.lostEntryId.clear();
    return {};
  }
  if (row.catalogedEntries == 0) return {};
  if (state.entryCount >= row.catalogedEntries) {
    BOUGH_TRY(store.readOwnEntries(row.facts.sessionId, row.catalogedEntries - 1, 1,
                                   [&](std::uint64_t, Entry& entry) { isStillThere = isUnreadable(entry); }));
  }
  if (isStillThere || (!row.lostEntryId.empty() && row.lostEntries >= row.catalogedEntries)) return {};
  BOUGH_TRY(const bool isThere, containsEntry(store, row, row.lastId));
  if (isThere) return {};
  row.lostEntryId = row.lastId;
  row.lostEntries = row.catalogedEntries;
  return {};
}

// Returns true when a message is older than the message of the title. Reads only the latter from the log, because after
// an entry from the future, or when a clock was set back, every message is late.
bool isTitleOutdated(SessionStore& store, const SessionTally& tally) {
  const SessionRow& row = tally.row;
  if (!tally.oldestLateMs || row.facts.titleSource != TitleSource::Message) return false;
  if (tally.titleMs) return tally.isTitleOutdated();
  std::optional<std::uint64_t> titleMs;
  const auto sequence = store.sequenceOf(row.facts.sessionId, row.titleEntryId);
  if (!sequence) return true;
  const auto read = store.readOwnEntries(row.facts.sessionId, *sequence, 1, [&](std::uint64_t, Entry& entry) {
    if (entry.id == row.titleEntryId) titleMs = parseTimestamp(entry.timestamp);
  });
  if (!read) return true;
  return !titleMs || *tally.oldestLateMs < *titleMs;
}

// A redaction may name its target by its place in the log, when the target could not be read then. Once the target can
// be read, it is hidden by its id.
std::vector<std::string> redactedPlaces(Database& database, std::int64_t session) {
  std::vector<std::string> places;
  Query query(database, "SELECT entryId FROM redacted WHERE session = ? AND entryId LIKE 'unreadable:%'", session);
  while (query.next()) places.push_back(query.text(0));
  return places;
}

// Returns true when a session, or a place in one, is permanently unavailable: gone, damaged or not a valid name. False
// when it just cannot be read now.
bool isPermanent(const Error& error) {
  if (error.code == ErrorCode::Damaged) return !error.retryable;
  return error.code == ErrorCode::NotFound || error.code == ErrorCode::InvalidArgument ||
         error.code == ErrorCode::NewerFormat;
}

// Returns std::nullopt while the id is still unknown.
Result<std::optional<std::string>> currentIdOf(SessionStore& store, const std::string& sessionId,
                                               const std::string& place) {
  auto entry = store.loadEntry(sessionId, place);
  if (!entry && !isPermanent(entry.error())) return std::unexpected(std::move(entry.error()));
  return entry && entry->id != place ? std::optional(std::move(entry->id)) : std::nullopt;
}

void saveBranches(Database& database, const SessionTally& tally) {
  for (const SessionTally::Branch& branch : tally.branches) {
    Query(database, "INSERT OR REPLACE INTO branch(session, number, tipId, openCalls) VALUES(?, ?, ?, ?)", tally.row.id,
          branch.number, branch.tipId, joined(branch.openCalls))
        .run();
  }
}

void saveAnswers(Database& database, SessionTally& tally) {
  for (const TalliedAnswer& each : tally.answers) {
    const Answer answer{.session = tally.row.id,
                        .sequence = each.sequence,
                        .branch = each.branch,
                        .quarter = each.quarter,
                        .model = modelId(database, each.model),
                        .identity = each.identity,
                        .certain = each.certain,
                        .usage = each.usage};
    tally.row.facts.tokens += saveAnswer(database, answer);
  }
  tally.answers.clear();
}

}  // namespace

void removeSession(Database& database, std::int64_t session, const TextOf& textOf) {
  removeTexts(database, session, 0, textOf);
  Query(database, "DELETE FROM branch WHERE session = ?", session).run();
  Query(database, "DELETE FROM redacted WHERE session = ?", session).run();
  removeAnswers(database, session, 0);
  Query(database, "DELETE FROM session WHERE id = ?", session).run();
}

// A row for a missing session keeps only what a list shows. It has no key and no folder, so that a lookup of a session
// by key or folder does not find it.
void removeGoneSession(SessionStore& store, Database& database, const std::string& sessionId, bool isMissing) {
  auto row = findRow(database, sessionId);
  if (!row) return;
  removeSession(database, row->id);
  if (!isMissing) return;
  const bool hadMoreBefore = row->catalogedEntries < row->lostEntries;
  SessionRow left;
  left.stamp = kMissingStamp;
  left.headerId = row->headerId;
  left.lostEntryId = hadMoreBefore ? row->lostEntryId : row->lastId;
  left.lostEntries = hadMoreBefore ? row->lostEntries : row->catalogedEntries;
  SessionSummary& facts = left.facts;
  facts = std::move(row->facts);
  facts.key.clear();
  facts.agent.clear();
  facts.cwd.clear();
  facts.origin.reset();
  facts.tokens = {};
  facts.headId.clear();
  facts.condition = SessionCondition::Missing;
  facts.problem = missingLogMessage(left.lostEntries);
  saveRow(database, left, store.changeGroup(facts.sessionId));
}

Result<Intake::Outcome> Intake::run(const std::string& sessionId, std::optional<std::string> grownStamp,
                                    SessionGrowth* growth) {
  auto known = findRow(database_, sessionId);
  isGrown_ = grownStamp.has_value();
  growth_ = growth;
  // Read the stamp before the log: when entries are appended meanwhile, the next catch-up sees a different stamp.
  auto stamp = grownStamp ? Result<std::string>(std::move(*grownStamp)) : store_.sessionStamp(sessionId);
  if (!stamp && stamp.error().code != ErrorCode::NotFound) return std::unexpected(stamp.error());
  if (!stamp) {
    return known && known->stamp != kMissingStamp ? Outcome::Gone : Outcome::Unchanged;
  }
  if (known && known->stamp == *stamp && (!search_ || known->indexedEntries == known->catalogedEntries))
    return Outcome::Unchanged;
  if (known) row_ = std::move(*known);
  row_.facts.sessionId = sessionId;
  before_ = row_;
  row_.stamp = std::move(*stamp);
  auto state = growth != nullptr ? Result<SessionState>(growth->state) : store_.sessionState(sessionId);
  if (!state) {
    if (state.error().code == ErrorCode::NotFound) return Outcome::Unchanged;  // the next catch-up sees it
    return saveDamaged(state.error());
  }
  // Recovery asks this row before it sets bytes aside as torn. A row that counts less would protect less.
  if (state->trailingInDoubt && row_.countedBytes > state->bytes - state->trailingBytes) {
    return fail(ErrorCode::Busy,
                "its log seems shorter than what the catalog counted, and the catalog cannot be read now");
  }
  if (auto read = readLog(*state); !read) return saveDamaged(read.error());
  return Outcome::Updated;
}

// Keeps what was known before, and does not count what was read of the rest.
Result<Intake::Outcome> Intake::saveDamaged(const Error& error) {
  if (texts_ != nullptr) {
    std::erase_if(*texts_, [&](const SearchText& text) { return text.sequence >= before_.indexedEntries; });
  }
  if (before_.id != 0) {
    // The next try gives these entries the same numbers, so nothing stored for them may remain.
    const auto textOf = [&](const std::string& entryId) { return storedText(entryId); };
    if (!removeTexts(database_, before_.id, before_.indexedEntries, textOf)) result_.mustResetSearch = true;
    removeAnswers(database_, before_.id, before_.catalogedEntries);
  }
  if (error.retryable) return std::unexpected(error);
  // A refusal by the system may end without a change of the file, so such a session is tried each time.
  const bool sure = error.code == ErrorCode::Damaged || error.code == ErrorCode::NewerFormat;
  // A carried row says nothing else about the session, so it must not look as if only the rest were left to read.
  const bool isCarried = before_.stamp == kCarriedStamp;
  const std::string stamp = isCarried ? std::string(kCarriedStamp) : sure ? row_.stamp : "?" + row_.stamp;
  if (before_.stamp == stamp && before_.facts.problem == error.message) return Outcome::Unchanged;
  before_.stamp = stamp;
  row_ = std::move(before_);
  row_.facts.condition = SessionCondition::Damaged;
  row_.facts.problem = error.message;
  saveRow(database_, row_, store_.changeGroup(row_.facts.sessionId));
  return Outcome::Updated;
}

Result<void> Intake::readLog(const SessionState& state) {
  BOUGH_TRY(auto same, isSameLog(state));
  // Damage that is found only by reading the line must be found again: reading only new entries would not reach it.
  const bool wasDamaged =
      row_.facts.condition == SessionCondition::Damaged && state.problemCount == 0 && row_.lostEntryId.empty();
  if (!same) {
    BOUGH_TRY(recordLostEntries(store_, row_, state));
  }
  if (!same || wasDamaged || before_.stamp == kCarriedStamp) startOver();
  if (!row_.lostEntryId.empty()) {
    BOUGH_TRY(const bool isBack, containsEntry(store_, row_, row_.lostEntryId));
    if (isBack) row_.lostEntryId.clear();
  }
  assignRowId(database_, row_);
  before_ = row_;
  BOUGH_TRY(loadBranches());
  const std::uint64_t from = search_ ? std::min(row_.indexedEntries, row_.catalogedEntries) : row_.catalogedEntries;
  const bool isHere =
      growth_ != nullptr && growth_->first == from && from + growth_->entries.size() == state.entryCount;
  // When a session was read to its end before, read again only as many entries as can hand over their texts at once.
  std::uint64_t count = state.entryCount - std::min(from, state.entryCount);
  if (texts_ != nullptr && !isHere && row_.catalogedEntries >= state.entryCount) count = std::min(count, kMaxTexts);
  BOUGH_TRY(readAhead(store_,
                      {.sessionId = row_.facts.sessionId,
                       .from = from,
                       .count = count,
                       .textFrom = search_ ? row_.indexedEntries : UINT64_MAX,
                       .forIndex = texts_ == nullptr,
                       .known = isHere ? &growth_->entries : nullptr},
                      [&](ReadEntry& read) { apply(read); }));
  if (failure_) return std::unexpected(*std::move(failure_));
  if (tally_.isTitleLost || isTitleOutdated(store_, tally_)) {
    BOUGH_TRY(chooseTitle());
  }
  SessionState now = state;
  if (growth_ == nullptr) {
    // Reading may have found damage that the index did not know.
    BOUGH_TRY(const auto found, store_.sessionState(row_.facts.sessionId));
    now.problemCount = found.problemCount;
  }
  fillFacts(now);
  return {};
}

// A log only grows, or is replaced as a whole. If the last entry taken in is still at its place, under the same header,
// everything before it is unchanged.
Result<bool> Intake::isSameLog(const SessionState& state) {
  if (row_.catalogedEntries == 0 || state.entryCount < row_.catalogedEntries) return false;
  if (isGrown_) return true;
  bool same = true;
  for (const std::uint64_t sequence : {std::uint64_t{0}, row_.catalogedEntries - 1}) {
    const std::string& wanted = sequence == 0 ? row_.headerId : row_.lastId;
    auto read = store_.readOwnEntries(row_.facts.sessionId, sequence, 1,
                                      [&](std::uint64_t, Entry& entry) { same = same && entry.id == wanted; });
    if (!read) return std::unexpected(read.error());
    if (row_.catalogedEntries == 1) break;
  }
  return same;
}

void Intake::startOver() {
  SessionRow fresh;
  fresh.lostEntryId = row_.lostEntryId;
  fresh.lostEntries = row_.lostEntries;
  fresh.facts.sessionId = row_.facts.sessionId;
  fresh.stamp = row_.stamp;
  // Many entries of a rewritten log are the same as before, so their words can be removed. The row gets a new number,
  // because abandoned words keep the old one.
  if (row_.id != 0) {
    removeSession(database_, row_.id, [&](const std::string& entryId) { return storedText(entryId); });
  }
  row_ = std::move(fresh);
}

Result<void> Intake::loadBranches() {
  Query query(database_, "SELECT number, tipId, openCalls FROM branch WHERE session = ? ORDER BY number", row_.id);
  while (query.next()) {
    tally_.addBranch({static_cast<std::uint32_t>(query.integer(0)), query.text(1), linesOf(query.view(2))});
  }
  Query redacted(database_, "SELECT 1 FROM redacted WHERE session = ? LIMIT 1", row_.id);
  hasRedactions_ = redacted.next();
  if (!hasRedactions_) return {};
  for (const std::string& place : redactedPlaces(database_, row_.id)) {
    BOUGH_TRY(const auto id, currentIdOf(store_, row_.facts.sessionId, place));
    if (id && !isRedacted(*id)) redact(*id);
  }
  return {};
}

void Intake::apply(ReadEntry& read) {
  const std::uint64_t sequence = read.sequence;
  const Entry& entry = read.entry;
  const bool isNew = sequence >= row_.catalogedEntries;
  result_.payloadBytes += entry.payload.size();
  const bool wantText =
      search_ && sequence >= row_.indexedEntries && (texts_ == nullptr || result_.textBytes < kMaxTextBytesAtOnce);
  const std::uint64_t timeMs = parseTimestamp(entry.timestamp).value_or(row_.facts.activeMs);
  if (isNew) {
    ++result_.entries;
    tally_.addEntry(sequence, entry, timeMs);
    if (entry.type == entry_type::kSessionInfo) tally_.addInfo(entry, timeMs);
    if (entry.type == entry_type::kRedaction) applyRedaction(entry);
  }
  if (isConversation(entry)) {
    const bool isHidden = isNew && row_.facts.titleSource == TitleSource::None && isRedacted(entry.id);
    if (isNew) tally_.addConversation(entry, read.facts, timeMs, isHidden);
    if (wantText) index(read, timeMs);
  }
  if (isNew) {
    saveAnswers(database_, tally_);
    row_.catalogedEntries = sequence + 1;
  }
  if (wantText) row_.indexedEntries = sequence + 1;
}

void Intake::applyRedaction(const Entry& entry) {
  const auto target = json::findString(entry.payload, "entryId");
  if (!target) return;
  redact(*target);
  if (!offsetOfUnreadableId(*target)) return;
  const auto id = currentIdOf(store_, row_.facts.sessionId, *target);
  if (!id) failure_ = id.error();
  if (id && *id) return redact(**id);
  // The words of the target may have been indexed before it was damaged, under an id that is unknown now.
  if (!row_.titleEntryId.empty()) tally_.isTitleLost = true;
  if (before_.indexedEntries > 0) result_.mustResetSearch = true;
}

void Intake::redact(const std::string& entryId) {
  hasRedactions_ = true;
  Query(database_, "INSERT OR IGNORE INTO redacted(session, entryId) VALUES(?, ?)", row_.id, entryId).run();
  if (texts_ != nullptr) {
    std::erase_if(*texts_, [&](const SearchText& text) { return text.entryId == entryId; });
  }
  const auto textOf = [&](const std::string& id) { return storedText(id); };
  if (!removeText(database_, row_.id, entryId, textOf)) result_.mustResetSearch = true;
  // Its words, or a title made from them, may be in the file; see Catalog::State::wipe.
  Query(database_, "INSERT OR REPLACE INTO meta(name, value) VALUES('wipe', CAST('new' AS BLOB))").run();
  if (!row_.titleEntryId.empty() && row_.titleEntryId == entryId) tally_.isTitleLost = true;
}

// A session that cannot be read now must not be treated as gone: its answers would permanently be counted under another
// identity.
const std::string& Intake::family() {
  if (!family_.empty()) return family_;
  family_ = rootSession(row_.facts.sessionId, [&](const std::string& sessionId) {
    std::optional<std::string> payload;
    const auto look = [&](std::uint64_t, Entry& header) { payload = std::move(header.payload); };
    if (growth_ != nullptr && sessionId == row_.facts.sessionId) return std::optional(growth_->header.payload);
    const auto read = store_.readOwnEntries(sessionId, 0, 1, look);
    if (!read && !isPermanent(read.error())) failure_ = read.error();
    return read ? payload : std::nullopt;
  });
  return family_;
}

bool Intake::isRedacted(std::string_view entryId) {
  if (!hasRedactions_) return false;
  Query query(database_, "SELECT 1 FROM redacted WHERE session = ? AND entryId = ?", row_.id, entryId);
  return query.next();
}

void Intake::index(ReadEntry& read, std::uint64_t timeMs) {
  if (read.facts.text.empty() || isRedacted(read.entry.id)) return;
  if (texts_ == nullptr) {
    return addText(database_, entryRow(row_.id, read.sequence), read.entry.id, read.facts.role, timeMs, read.text);
  }
  result_.textBytes += read.facts.text.size();
  texts_->push_back({.sequence = read.sequence,
                     .entryId = read.entry.id,
                     .role = std::string(toString(read.facts.role)),
                     .timeMs = timeMs,
                     .text = std::move(read.facts.text)});
}

// Returns the text even when the entry was redacted: it stays in the log until it is erased.
std::optional<std::string> Intake::storedText(const std::string& entryId) {
  const auto sequence = store_.sequenceOf(row_.facts.sessionId, entryId);
  std::optional<std::string> text;
  if (!sequence) return text;
  const auto read = store_.readOwnEntries(row_.facts.sessionId, *sequence, 1, [&](std::uint64_t, Entry& entry) {
    if (entry.id == entryId) text = readFacts(entry, true).text;
  });
  return read ? text : std::nullopt;
}

// Reads the log once more, because the title was removed or an older message was found.
Result<void> Intake::chooseTitle() {
  TitleChoice choice;
  auto read = store_.readOwnEntries(row_.facts.sessionId, 0, row_.catalogedEntries,
                                    [&](std::uint64_t, Entry& entry) { choice.add(entry, isRedacted(entry.id)); });
  if (!read) return read;
  row_.facts.titleSource = choice.source();
  row_.facts.title = choice.title();
  row_.titleEntryId = choice.entryId();
  return {};
}

void Intake::fillFacts(const SessionState& state) {
  SessionSummary& facts = row_.facts;
  facts.entries = row_.catalogedEntries;
  facts.bytes = state.bytes;
  facts.branches = tally_.branches.size();
  facts.headId = state.headId;
  facts.origin = state.origin;
  row_.countedBytes = state.bytes - std::min(state.bytes, state.trailingBytes);
  facts.problem.clear();
  facts.condition = state.archived ? SessionCondition::Archived : SessionCondition::Live;
  if (tally_.isUnfinished(state.headId)) facts.condition = SessionCondition::Unfinished;
  if (state.problemCount > 0) {
    facts.condition = SessionCondition::Damaged;
    facts.problem = counted(state.problemCount, "place") + " cannot be read";
  }
  if (state.trailingBytes > 0) {
    facts.problem += fmt::format("{}{} at the end {} not a complete batch", facts.problem.empty() ? "" : "; ",
                                 counted(state.trailingBytes, "byte"), state.trailingBytes == 1 ? "is" : "are");
  }
  if (!row_.lostEntryId.empty()) {
    facts.condition = SessionCondition::Damaged;
    facts.problem +=
        fmt::format("{}the log held {} once, up to {}, which is missing", facts.problem.empty() ? "" : "; ",
                    counted(row_.lostEntries, "entry"), row_.lostEntryId);
  }
  saveBranches(database_, tally_);
  saveRow(database_, row_, store_.changeGroup(facts.sessionId));
}

}  // namespace bough::catalog
