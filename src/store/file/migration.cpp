#include "store/file/migration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <unordered_set>

#include "base/bytes/sha256.h"
#include "base/json/json_write.h"
#include "base/model/ids.h"
#include "base/system/file_io.h"
#include "base/text/timestamp.h"
#include "base/text/utf8.h"
#include "base/try.h"
#include "log/file/archive.h"
#include "log/file/new_file.h"
#include "log/source/scan.h"
#include "store/rules/append_rules.h"
#include "store/rules/attachment_reference.h"
#include "store/rules/entry_rules.h"
#include "store/rules/header.h"

namespace bough {
namespace {

// Collects the places of a log's entries, and what could not be read.
class PlacesSink final : public ScanSink {
 public:
  struct Place {
    std::uint64_t offset;
    std::uint32_t length;
  };

  void onLine(const ScannedLine& line) override {
    if (places.empty()) beginsWithHeader = line.keys.type == entry_type::kSessionHeader;
    places.push_back({.offset = line.offset, .length = line.length});
    hasSeals = hasSeals || line.chained;
    if (line.keys.parentId && !ids.contains(std::string(*line.keys.parentId)))
      missingParents.emplace(*line.keys.parentId);
    if (ids.emplace(line.keys.id).second || duplicateId) return;
    duplicateId = {.kind = ProblemKind::DuplicateId,
                   .offset = line.offset,
                   .bytes = line.length,
                   .message = fmt::format("a second entry {}", line.keys.id)};
  }
  void onProblem(ProblemKind kind, std::uint64_t offset, std::uint64_t bytes, std::string_view message) override {
    if (isNote(kind)) return;
    problems.push_back({.kind = kind, .offset = offset, .bytes = bytes, .message = std::string(message)});
  }

  std::vector<Place> places;
  std::vector<Problem> problems;
  std::unordered_set<std::string> ids;
  std::optional<Problem> duplicateId;  // the first line with an id that an earlier line has
  bool beginsWithHeader = false;       // the first line is a header
  bool hasSeals = false;               // a line has a seal, which drafts never have
  std::unordered_set<std::string>
      missingParents;  // parents that no earlier entry has: before a fork's first entry, or hidden by damage
};

// Reads a log's entries one after the other.
class EntryReader {
 public:
  EntryReader(OpenLog& log, const EntrySerializer& serializer) : log_(log), serializer_(serializer) {}

  Result<void> open() {
    ScanState state;
    const auto trailing = scanLog(*log_.source, serializer_, state, places_);
    if (!trailing) return std::unexpected(readError(log_, trailing.error(), "read"));
    if (*trailing > 0) {
      places_.problems.push_back({.kind = ProblemKind::Torn,
                                  .offset = state.offset,
                                  .bytes = *trailing,
                                  .message = "bytes after the last complete batch"});
    }
    return findLostParents();
  }

  [[nodiscard]] std::size_t size() const { return places_.places.size(); }
  // Returns true when there seems to be a header that cannot be read.
  [[nodiscard]] bool hasLostHeader() const {
    if (places_.beginsWithHeader || places_.problems.empty()) return false;
    return places_.places.empty() || places_.problems.front().offset < places_.places.front().offset;
  }
  // Returns the bytes before the first entry, at most 64 KiB.
  Result<std::string> unreadableBeginning() {
    std::string beginning(std::min<std::uint64_t>(places_.places.front().offset, std::uint64_t{64} << 10), '\0');
    const auto got = readFully(*log_.source, 0, beginning);
    if (!got) return std::unexpected(readError(log_, got.error(), "read"));
    beginning.resize(*got);
    return beginning;
  }
  // Returns true for format 0: no line has a seal.
  [[nodiscard]] bool isDraft() const { return !places_.hasSeals; }
  [[nodiscard]] bool hasParentsElsewhere() const { return !places_.missingParents.empty(); }
  std::vector<Problem> takeProblems() { return std::move(places_.problems); }
  // Returns the first problem that makes reading the entries leave something out.
  [[nodiscard]] std::optional<Problem> firstLoss() const {
    return places_.problems.empty() ? places_.duplicateId : places_.problems.front();
  }

  Result<Entry> at(std::size_t index) {
    const auto [offset, length] = places_.places[index];
    line_.resize(length);
    const auto got = readFully(*log_.source, offset, line_);
    if (!got) return std::unexpected(readError(log_, got.error(), "read"));
    std::string_view text = line_;
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    if (text.ends_with('\r')) text.remove_suffix(1);
    return serializer_.decode(text);
  }

 private:
  // An unreadable line may still begin with its id. A parent with that id is then not missing.
  Result<void> findLostParents() {
    constexpr std::size_t kBeginningBytes = 256;
    std::string beginning;
    for (const Problem& problem : places_.problems) {
      if (places_.missingParents.empty()) break;
      beginning.resize(static_cast<std::size_t>(std::min<std::uint64_t>(problem.bytes, kBeginningBytes)));
      const auto got = readFully(*log_.source, problem.offset, beginning);
      if (!got) return std::unexpected(readError(log_, got.error(), "read"));
      places_.missingParents.erase(std::string(peekId(std::string_view(beginning).substr(0, *got))));
    }
    return {};
  }

  OpenLog& log_;
  const EntrySerializer& serializer_;
  PlacesSink places_;
  std::string line_;
};

// Converts entries of an older format to entries of this format, in order.
class Upgrade {
 public:
  // `lost`: the rest of a header that cannot be read.
  Upgrade(std::string_view sessionId, std::string lost, std::optional<ForkOrigin> origin, int format,
          Environment& environment)
      : sessionId_(sessionId),
        lostHeader_(std::move(lost)),
        origin_(std::move(origin)),
        format_(format),
        now_(formatTimestamp(environment.clock.nowMs())),
        ids_(environment.clock, environment.random) {}

  // Makes the header for a log that does not begin with one.
  Entry missingHeader(const Entry& first) {
    Entry header;
    header.id = ids_.next();
    header.type = entry_type::kSessionHeader;
    header.timestamp = parseTimestamp(first.timestamp) ? first.timestamp : now_;
    header.payload = rebuiltHeaderPayload(lostHeader_, sessionId_, origin_, format_);
    return header;
  }

  Entry entry(Entry old, bool first) {
    if (first && old.type == entry_type::kSessionHeader) {
      old.payload = upgradeHeaderPayload(old.payload, sessionId_, format_);
    }
    if (!parseTimestamp(old.timestamp)) {
      // An unreadable timestamp is kept as an extra member, and replaced by the last readable one before it.
      if (!old.timestamp.empty()) {
        if (!old.extra.empty()) old.extra += ',';
        old.extra += "\"originalTimestamp\":" + json::quoted(old.timestamp);
      }
      old.timestamp = lastTimestamp_.empty() ? now_ : lastTimestamp_;
    }
    lastTimestamp_ = old.timestamp;
    return old;
  }

 private:
  std::string sessionId_;
  std::string lostHeader_;
  std::optional<ForkOrigin> origin_;  // of the missing header
  int format_;
  std::string now_;
  std::string lastTimestamp_;
  IdGenerator ids_;
};

std::string referenceTo(std::string_view payload) {
  return makeAttachmentReference(Sha256::of(payload), payload.size());
}

// Stores payloads as attachments that look like a reference but are not one.
class LookAlikeAttachments {
 public:
  explicit LookAlikeAttachments(AttachmentFolder& attachments) : attachments_(attachments) {}

  Result<void> storeLookAlike(Entry& entry) {
    if (!looksLikeAttachmentReference(entry.payload)) return {};
    if (const auto named = readAttachmentReference(entry.payload)) {
      const auto there = attachments_.get(*named);
      if (there || there.error().code == ErrorCode::Damaged) return {};
      if (there.error().code != ErrorCode::NotFound) return std::unexpected(there.error());
    }
    if (!hold_) {
      BOUGH_TRY(auto held, attachments_.hold());
      hold_ = std::move(held);
    }
    if (auto put = attachments_.put(Sha256::of(entry.payload), entry.payload); !put) return put;
    entry.payload = referenceTo(entry.payload);
    return {};
  }

 private:
  AttachmentFolder& attachments_;
  std::unique_ptr<Hold> hold_;  // until the log that names them is in place
};

Result<void> writeUpgraded(EntryReader& old, NewFile& file, const EntrySerializer& serializer, Upgrade& upgrade,
                           LookAlikeAttachments& lookAlikes) {
  for (std::size_t i = 0; i < old.size(); ++i) {
    BOUGH_TRY(auto entry, old.at(i));
    std::string text;
    if (i == 0 && entry.type != entry_type::kSessionHeader) {
      if (auto done = serializer.encode(upgrade.missingHeader(entry), text); !done) return done;
      if (auto added = file.addEntry(text); !added) return added;
      text.clear();
    }
    Entry fresh = upgrade.entry(std::move(entry), i == 0);
    // Only in a draft can a payload look like a reference by accident.
    if (old.isDraft()) {
      if (auto kept = lookAlikes.storeLookAlike(fresh); !kept) return kept;
    }
    if (auto done = serializer.encode(fresh, text); !done) return done;
    if (auto added = file.addEntry(text); !added) return added;
  }
  return file.sync();
}

// Returns true when the new entry contains everything of the old one. Timestamps and the header may have been
// completed.
bool containsAllOf(const Entry& old, const Entry& fresh, bool first) {
  if (old.id != fresh.id || old.parentId != fresh.parentId || old.type != fresh.type || old.runId != fresh.runId ||
      old.meta != fresh.meta || !fresh.extra.starts_with(old.extra)) {
    return false;
  }
  if (first && old.type == entry_type::kSessionHeader) return true;
  const bool samePayload = old.payload == fresh.payload ||
                           (looksLikeAttachmentReference(old.payload) && fresh.payload == referenceTo(old.payload));
  return samePayload && (old.timestamp == fresh.timestamp || !parseTimestamp(old.timestamp));
}

Result<void> compareEntries(EntryReader& old, const OpenLog& oldLog, NewFile& file, const EntrySerializer& serializer) {
  OpenLog written{.form = LogForm::Plain,
                  .file = file.file(),
                  .source = plainSource(file.file()),
                  .folder = oldLog.folder,
                  .name = oldLog.name,
                  .info = {}};
  EntryReader fresh(written, serializer);
  if (auto opened = fresh.open(); !opened) return opened;
  const std::size_t added = fresh.size() - std::min(fresh.size(), old.size());
  bool same = added <= 1 && fresh.size() == old.size() + added && fresh.takeProblems().empty();
  for (std::size_t i = 0; same && i < old.size(); ++i) {
    auto before = old.at(i);
    auto after = fresh.at(i + added);
    same = before && after && containsAllOf(*before, *after, i == 0);
  }
  if (same) return {};
  return fail(ErrorCode::Io, fmt::format("{} did not read back as it was written", file.path()),
              "check the disk; the session stays as it was");
}

Result<void> linkOldLog(Directory& folder, const OpenLog& old, const std::string& keptName) {
  auto linked = folder.link(old.name, keptName);
  if (!linked && linked.error() == EEXIST) {
    const auto there = folder.info(keptName);
    const bool ours = there && there->identity == old.info.identity;  // an interrupted run did this already
    if (ours) return orError(folder.sync(), "sync", folder.path());
    return fail(ErrorCode::AlreadyExists, fmt::format("{}/{} is there already", folder.path(), keptName),
                "move it elsewhere, then migrate again");
  }
  if (!linked) return std::unexpected(systemError(linked.error(), "keep the old file as", keptName));
  return orError(folder.sync(), "sync", folder.path());
}

// Decides from which format to which; NewerFormat when that is impossible.
Result<MigrationResult> planMigration(EntryReader& old, const OpenLog& log, std::string_view sessionId,
                                      const EntrySerializer& serializer) {
  if (old.size() == 0) {
    if (log.source->damagedAt()) return std::unexpected(unpackError(log));
    return fail(ErrorCode::Damaged, fmt::format("{} holds no entry that can be read", log.path()),
                "see `bough verify`");
  }
  BOUGH_TRY(auto first, old.at(0));
  if (old.isDraft() && first.type != entry_type::kSessionHeader) {
    BOUGH_TRY(refuseForeignFile(first, sessionId, log.path()));
  }
  MigrationResult plan{.sessionId = std::string(sessionId),
                       .fromFormat = readHeader(first).format,
                       .toFormat = serializer.schemaVersion(),
                       .entries = old.size(),
                       .keptAs = {},
                       .problems = {}};
  if (old.hasLostHeader() && !old.isDraft()) {
    BOUGH_TRY(auto beginning, old.unreadableBeginning());
    plan.fromFormat = formatNamedIn(beginning).value_or(plan.fromFormat);
  }
  if (plan.fromFormat <= plan.toFormat) return plan;
  return std::unexpected(newerFormatError(plan.fromFormat, sessionId, log.path()));
}

// Refuses to make a header without an origin for a fork: the fork would lose its history, and the shared entries might
// be removed.
Result<void> refuseLostOrigin(const EntryReader& old, const OpenLog& log, std::string_view sessionId) {
  if (!old.hasLostHeader() || !old.hasParentsElsewhere()) return {};
  return fail(ErrorCode::Damaged,
              fmt::format("the header of session {} cannot be read ({}, byte 0), and it may be a fork: entries have "
                          "parents that are not in it",
                          sessionId, log.path()),
              "bring the first line back from a copy, or write one in its place, with the parentSession of a fork "
              "(docs/format.md, Forks); then migrate again if need be");
}

}  // namespace

Result<MigrationResult> migrateLog(const LogFolders& folders, AttachmentFolder& attachments, std::string_view sessionId,
                                   const std::optional<ForkOrigin>& origin, const EntrySerializer& serializer,
                                   Environment& environment, int lockTimeoutMs) {
  BOUGH_TRY(auto log, openLocked(folders, sessionId, LockKind::Exclusive, lockTimeoutMs));
  EntryReader old(log, serializer);
  BOUGH_TRY(old.open());
  auto planned = planMigration(old, log, sessionId, serializer);
  if (!planned || (planned->fromFormat == planned->toFormat && !old.hasLostHeader())) return planned;
  if (!origin) {
    BOUGH_TRY(refuseLostOrigin(old, log, sessionId));
  }
  if (log.form != LogForm::Plain) {
    // Unpack the archive only now that the log will be rewritten.
    (void)log.file->unlock();
    BOUGH_TRY(restoreArchive(folders, sessionId, lockTimeoutMs));
    return migrateLog(folders, attachments, sessionId, origin, serializer, environment, lockTimeoutMs);
  }
  BOUGH_TRY(dropRedundantCopies(folders, sessionId, log));
  MigrationResult result = std::move(*planned);
  if (old.hasLostHeader() && !old.isDraft()) result.fromFormat = result.toFormat;  // only the header is new
  std::string lost;
  if (old.hasLostHeader()) {
    BOUGH_TRY(lost, old.unreadableBeginning());
  }
  NewFile file(*folders.sessions, logName(sessionId));
  LookAlikeAttachments lookAlikes(attachments);
  auto done = file.create();
  Upgrade upgrade(sessionId, std::move(lost), origin, result.toFormat, environment);
  if (done) done = writeUpgraded(old, file, serializer, upgrade, lookAlikes);
  if (done) done = compareEntries(old, log, file, serializer);
  const std::string kept = formatZeroName(sessionId);
  if (done) done = linkOldLog(*folders.sessions, log, kept);
  if (done) done = file.publish();
  if (!done) return std::unexpected(done.error());
  (void)folders.sessions->remove(indexName(sessionId));
  result.keptAs = fmt::format("{}/{}", folders.sessions->path(), kept);
  result.problems = old.takeProblems();
  return result;
}

Result<void> rewriteLog(const LogFolders& folders, std::string_view sessionId, const std::vector<Entry>& entries,
                        std::string_view expectedTail, const EntrySerializer& serializer, int lockTimeoutMs) {
  if (auto plain = restoreArchive(folders, sessionId, lockTimeoutMs); !plain) return plain;
  BOUGH_TRY(auto log, openLocked(folders, sessionId, LockKind::Exclusive, lockTimeoutMs));
  EntryReader old(log, serializer);
  if (auto opened = old.open(); !opened) return opened;
  if (const auto loss = old.firstLoss()) {
    const bool isDuplicate = loss->kind == ProblemKind::DuplicateId;
    return fail(ErrorCode::Damaged,
                fmt::format("{} holds {} at byte {}, which would be lost", log.path(),
                            isDuplicate ? loss->message : "what cannot be read", loss->offset),
                isDuplicate ? "copy that line elsewhere and take it out of the file, or leave the session as it is"
                            : "see `bough verify`; `bough repair` moves torn bytes aside");
  }
  BOUGH_TRY(auto last, old.size() > 0 ? old.at(old.size() - 1) : Result<Entry>(Entry()));
  if (last.id != expectedTail) return std::unexpected(tailConflict(sessionId, expectedTail, last.id));
  NewFile file(*folders.sessions, logName(sessionId));
  if (auto created = file.create(); !created) return created;
  for (const Entry& entry : entries) {
    std::string text;
    if (auto encoded = serializer.encode(entry, text); !encoded) return encoded;
    if (auto added = file.addEntry(text); !added) return added;
  }
  if (auto synced = file.sync(); !synced) return synced;
  if (auto placed = file.publish(); !placed) return placed;
  (void)folders.sessions->remove(indexName(sessionId));
  return {};
}

Result<Leftovers> removeLeftovers(const LogFolders& folders, std::string_view sessionId, int lockTimeoutMs) {
  // Nobody creates such a file while we hold the session's lock.
  BOUGH_TRY(auto log, openLocked(folders, sessionId, LockKind::Exclusive, lockTimeoutMs));
  Leftovers left;
  for (const auto& folder : {folders.sessions, folders.archive}) {
    if (!folder) continue;
    auto names = folder->list();
    if (!names) return std::unexpected(systemError(names.error(), "list", folder->path()));
    for (const std::string& name : *names) {
      const bool ours = name == logName(sessionId) + ".tmp" || name == zstdName(sessionId) + ".tmp" ||
                        isTemporaryOf(name, logName(sessionId)) || isTemporaryOf(name, indexName(sessionId));
      if (!ours) continue;
      const auto gone = folder->remove(name);
      if (gone) left.removed.push_back(name);
      if (!gone && gone.error() != ENOENT) {
        return std::unexpected(systemError(gone.error(), "remove", folder->path() + "/" + name));
      }
    }
  }
  // A compressed file beside the log shows that archiving or restoring was interrupted.
  BOUGH_TRY(auto copies, dropRedundantCopies(folders, sessionId, log));
  for (const PackedCopy& copy : copies) {
    if (copy.isRedundant) left.removed.push_back(copy.name);
    if (!copy.isRedundant) left.otherCopies.push_back(copy.path());
  }
  return left;
}

}  // namespace bough
