// Migration to another provider. The fork's own branch starts at its own root: a marker, then the converted messages
// with all entries between them. A context of the fork therefore contains only what belongs to the new provider.
#include <bough/context.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "base/bytes/sha256.h"
#include "base/json/json_scan.h"
#include "base/json/json_write.h"
#include "base/model/ids.h"
#include "base/model/unreadable.h"
#include "base/system/environment.h"
#include "base/try.h"
#include "context/compatibility.h"
#include "context/memory_need.h"
#include "context/provider_migration.h"
#include "message/dialect/entry_message.h"
#include "message/model/message_edit.h"
#include "message/request/stored.h"

namespace bough {
namespace context {
namespace {

using message::ConvertedMessage;
using message::Original;

constexpr std::size_t kMaxWrapperBytes = 64;  // upper limit of what a payload contains around its message

// Returns the entry's own meta, plus the record of this migration.
std::string metaOf(std::string_view meta, std::string_view migration) {
  json::Writer writer;
  writer.beginObject();
  json::ObjectReader reader(meta);
  while (const auto member = meta.empty() ? std::nullopt : reader.next()) {
    if (!member->keyIs("migration")) writer.key(member->key).raw(member->value);
  }
  std::string out = writer.key("migration").raw(migration).endObject().take();
  out.shrink_to_fit();
  return out;
}

void replaceMember(std::string& payload, std::string_view name, std::string_view text) {
  const auto value = json::findMember(payload, name);
  if (!value) return;
  const auto at = static_cast<std::size_t>(value->data() - payload.data());
  payload.replace(at, value->size(), json::quoted(text));
}

// Position in the source → the entries made from it.
using MadeEntries = std::map<std::size_t, std::vector<std::string>>;

// Returns the message from which an earlier migration made an entry; empty when there is none.
std::string sourceOf(const Entry& entry) {
  const auto migration = entry.meta.empty() ? std::nullopt : json::findMember(entry.meta, "migration");
  const auto sources = migration ? json::findMember(*migration, "sources") : std::nullopt;
  if (!sources || json::kindOf(*sources) != json::Kind::Array) return {};
  json::ArrayReader list(*sources);
  const auto first = list.next();
  return first ? json::findString(*first, "entryId").value_or("") : std::string();
}

// Returns the entries made from a message; null when there are none. When an earlier migration split one message into
// several entries, and they are joined again now, the result was made from any of them.
const std::vector<std::string>* madeOf(const std::string& entryId, const std::vector<Entry>& source,
                                       const MadeEntries& made) {
  const auto entry = std::ranges::find(source, entryId, &Entry::id);
  if (entry == source.end()) return nullptr;
  const auto found = made.find(static_cast<std::size_t>(entry - source.begin()));
  if (found != made.end()) return &found->second;
  const std::string origin = sourceOf(*entry);
  if (origin.empty()) return nullptr;
  for (const auto& [place, entries] : made) {
    if (sourceOf(source[place]) == origin) return &entries;
  }
  return nullptr;
}

// Adapts an edit whose target became several entries: the edit applies to the first one, and the returned edits leave
// the others out.
std::vector<Entry> leaveOutRest(Entry& edit, const std::vector<std::string>& made) {
  replaceMember(edit.payload, "entryId", made.front());
  std::vector<Entry> others;
  for (auto id = made.begin() + 1; id != made.end(); ++id) {
    Entry& other = others.emplace_back(edit);
    other.payload = message::leaveOutPayload(*id);
  }
  return others;
}

std::string titleOf(SessionStore& store, const std::string& sessionId) {
  const auto infos = store.loadSessionEntries(sessionId, {.type = std::string(entry_type::kSessionInfo)});
  std::string title;
  for (const Entry& info : infos.value_or(std::vector<Entry>())) {
    title = json::findString(info.payload, "title").value_or(title);
  }
  return title;
}

// Answers frequent questions about the entries of the source.
class SourceFacts {
 public:
  explicit SourceFacts(const std::vector<Entry>& entries) : entries_(entries) {}

  /// Returns the hash of an entry's content. The last result is cached, because an entry that becomes several messages
  /// is asked for several times in a row.
  const std::string& digestOf(std::size_t place) {
    if (digest_.empty() || digestPlace_ != place) {
      const std::string& payload = entries_[place].payload;
      digest_ = Sha256::of(json::findMember(payload, "message").value_or(payload));
      digestPlace_ = place;
    }
    return digest_;
  }

  /// Returns the position of an entry; the number of entries when it does not exist.
  std::size_t indexOf(const std::string& entryId) {
    for (; known_ < entries_.size(); ++known_) places_.emplace(entries_[known_].id, known_);
    const auto found = places_.find(entryId);
    return found == places_.end() ? entries_.size() : found->second;
  }

 private:
  const std::vector<Entry>& entries_;
  std::size_t digestPlace_ = 0;
  std::string digest_;
  std::size_t known_ = 0;
  std::unordered_map<std::string_view, std::size_t> places_;
};

class Migrator {
 public:
  Migrator(SessionStore& store, Dialect target) : store_(store), reporter_(out_.report) { out_.to = target; }

  /// `entries` is the branch, when it was already read.
  Result<void> convert(const std::string& sessionId, const std::string& at, bool strict, std::vector<Entry> entries) {
    out_.sourceSessionId = sessionId;
    BOUGH_TRY(checkTarget(out_.to));
    source_.entries = std::move(entries);
    BOUGH_TRY(readSource(store_, sessionId, at, source_));
    out_.sourceEntryId = source_.headId;
    out_.from = source_.dialect;
    BOUGH_TRY(readOriginals(store_, sessionId, source_, strict, history_, reporter_));
    converted_ =
        message::convertSession(history_, out_.to, source_.settings.system(), source_.settings.tools(), reporter_);
    return {};
  }

  Result<ProviderMigration> store(const MigrateOptions& options) {
    NewSession session = options.session;
    if (session.title.empty()) session.title = titleOf(store_, out_.sourceSessionId);
    BOUGH_TRY(auto fork, store_.branchFromEntry(out_.sourceSessionId, out_.sourceEntryId, session));
    out_.sessionId = fork.sessionId;
    if (auto done = storeEntries(session.title); !done) {
      // Nothing was stored in it, and an empty fork would only confuse.
      (void)store_.deleteSession(out_.sessionId);
      return std::unexpected(done.error());
    }
    return std::move(out_);
  }

  CompatibilityReport takeReport() { return std::move(out_.report); }

 private:
  Result<void> storeEntries(const std::string& title) {
    BOUGH_TRY(auto header, store_.loadSessionEntries(out_.sessionId, {.limit = 1}));
    out_.migratedAt = header.front().timestamp;
    BOUGH_TRY(auto wayBack, store_.putAttachment(converted_.wayBack.json));
    prepareSource();
    addInfo(title);
    addMarker(wayBack);
    for (std::size_t i = 0; i < converted_.messages.size(); ++i) {
      copyNonMessages(firstPlaceOf(converted_.messages[i]));
      addNode(i);
    }
    copyNonMessages(source_.entries.size());
    std::string().swap(converted_.text);  // the new entries contain it
    BOUGH_TRY(store_.appendSessionEntries(out_.sessionId, std::move(batch_), {.durability = Durability::Sync}));
    // The attachment is referenced now. Store it again, in case another process removed it as unused in between.
    BOUGH_TRY(wayBack, store_.putAttachment(converted_.wayBack.json));
    return {};
  }

  // The new entries reuse the memory of data that is no longer needed: first of the parsed messages, then of the
  // source, entry by entry.
  void prepareSource() {
    for (Entry& entry : source_.entries) {
      if (entry.type == entry_type::kToolStart) renameCall(entry);
    }
    for (Original& original : history_.originals) original.message = {};
    history_.trees.clear();
    lastUses_.resize(source_.entries.size());
    for (std::size_t i = 0; i < converted_.messages.size(); ++i) {
      for (const std::size_t place : placesOf(converted_.messages[i])) lastUses_[place] = i;
    }
  }

  void writeMigration(json::Writer& writer) {
    writer.member("migratedFrom", toString(out_.from)).member("migratedTo", toString(out_.to));
    writer.member("migratedAt", out_.migratedAt);
  }

  void addInfo(const std::string& title) {
    Entry info;
    info.type = entry_type::kSessionInfo;
    json::Writer writer(info.payload);
    writer.beginObject();
    if (!title.empty()) writer.member("title", title);
    writeMigration(writer);
    writer.endObject();
    batch_.push_back(std::move(info));
  }

  void addMarker(const std::string& wayBack) {
    Entry marker;
    marker.type = entry_type::kCustom;
    json::Writer writer(marker.payload);
    writer.beginObject().member("kind", kMigrationKind);
    writeMigration(writer);
    writer.member("sourceSessionId", out_.sourceSessionId).member("sourceEntryId", out_.sourceEntryId);
    writer.key("origin").beginObject().member("sha256", wayBack);
    writer.member("bytes", static_cast<std::uint64_t>(converted_.wayBack.json.size())).endObject().endObject();
    push(std::move(marker));
  }

  // Appends an entry to the fork's own branch. The placeholder of a damaged line becomes a text entry, because its
  // bytes are in the log of the source.
  void push(Entry entry) {
    if (isUnreadable(entry)) keepAsText(entry);
    entry.id = ids_.next();
    entry.parentId = lastId_;
    lastId_ = entry.id;
    batch_.push_back(std::move(entry));
  }

  [[nodiscard]] const Original& originalAt(std::int32_t index) const {
    return history_.originals[static_cast<std::size_t>(index)];
  }

  // Returns the positions of the entries that a converted message was made from, in the order of the branch.
  [[nodiscard]] std::vector<std::size_t> placesOf(const ConvertedMessage& converted) const {
    std::vector<std::size_t> places;
    for (const std::int32_t index : converted.originals) {
      const std::int64_t document = originalAt(index).messageIndex;
      if (document >= 0) places.push_back(source_.places[static_cast<std::size_t>(document)]);
    }
    std::ranges::sort(places);
    places.erase(std::ranges::unique(places).begin(), places.end());
    return places;
  }

  [[nodiscard]] std::size_t firstPlaceOf(const ConvertedMessage& converted) const {
    const auto places = placesOf(converted);
    return places.empty() ? 0 : places.front();
  }

  void addNode(std::size_t index) {
    const ConvertedMessage& converted = converted_.messages[index];
    const auto places = placesOf(converted);
    Entry entry;
    entry.type = entry_type::kMessage;
    entry.payload.reserve(converted.end - converted.begin +
                          kMaxWrapperBytes);  // growing would take up to twice the size
    json::Writer writer(entry.payload);
    writer.beginObject().member("dialect", toString(converted.dialect)).key("message");
    writer.raw(std::string_view(converted_.text).substr(converted.begin, converted.end - converted.begin)).endObject();
    if (!places.empty()) {
      entry.timestamp = source_.entries[places.back()].timestamp;
      entry.runId = source_.entries[places.back()].runId;
    }
    entry.meta = metaOf(places.size() == 1 ? source_.entries[places.front()].meta : "", migrationOf(converted, places));
    ++out_.nodes;
    if (converted.verbatim) ++out_.verbatim;
    if (converted.originals.empty()) ++out_.synthetic;
    push(std::move(entry));
    for (const std::size_t place : places) {
      madeFrom_[place].push_back(lastId_);
      if (lastUses_[place] == index) std::string().swap(source_.entries[place].payload);
    }
  }

  [[nodiscard]] std::string migrationOf(const ConvertedMessage& converted, const std::vector<std::size_t>& places) {
    json::Writer writer;
    writer.beginObject();
    if (converted.originals.empty()) {
      return writer.member("synthetic", true).endObject().take();
    }
    writer.key("sources").beginArray();
    for (const std::size_t place : places) {
      writer.beginObject()
          .member("entryId", source_.entries[place].id)
          .member("sha256", facts_.digestOf(place))
          .endObject();
    }
    writer.endArray().key("writtenAs").beginArray();
    std::vector<std::string> lost;
    std::unordered_set<std::string_view> known;
    for (const std::int32_t index : converted.originals) {
      const Original& original = originalAt(index);
      writer.beginObject().member("dialect", toString(original.dialect));
      writer.member("entryId", original.entryId).endObject();
      const auto fields = reporter_.fieldsByEntry().find(original.entryId);
      if (fields == reporter_.fieldsByEntry().end()) continue;
      for (const std::string& field : fields->second) {
        if (known.insert(field).second) lost.push_back(field);
      }
    }
    return writer.endArray().list("notExpressed", lost).endObject().take();
  }

  // Copies the entries before `end` that are not messages.
  void copyNonMessages(std::size_t end) {
    for (; copied_ < end; ++copied_) {
      Entry& entry = source_.entries[copied_];
      if (message::isMessageType(entry.type) || entry.redacted) continue;
      Entry copy = entry;
      std::string().swap(entry.payload);
      copy.meta = metaOf(entry.meta, R"({"sources":[{"entryId":")" + entry.id + R"("}]})");
      if (entry.type == entry_type::kCompactionSummary) updateFirstKept(copy);
      if (const auto edit = message::editIn(copy)) {
        const std::vector<std::string>* made = madeOf(edit->targetId, source_.entries, madeFrom_);
        if (made != nullptr) std::ranges::for_each(leaveOutRest(copy, *made), [&](Entry& each) { push(each); });
      }
      push(std::move(copy));
      madeFrom_[copied_].push_back(lastId_);
    }
  }

  void updateFirstKept(Entry& summary) {
    const auto kept = json::findString(summary.payload, "firstKeptEntryId");
    if (!kept) return;
    const auto made = madeFrom_.lower_bound(facts_.indexOf(*kept));
    replaceMember(summary.payload, "firstKeptEntryId", made == madeFrom_.end() ? lastId_ : made->second.front());
  }

  void renameCall(Entry& start) {
    const auto id = json::findString(start.payload, "toolCallId");
    if (!id) return;
    const std::string quoted = json::quoted(*id);
    const TextView seen{.escaped = std::string_view(quoted).substr(1, quoted.size() - 2), .present = true};
    const TextView now = history_.ids.inTarget(out_.to, history_.ids.original(seen));
    replaceMember(start.payload, "toolCallId", now.decode());
  }

  SessionStore& store_;
  ProviderMigration out_;
  message::Reporter reporter_;
  MigrationSource source_;
  SourceFacts facts_{source_.entries};
  message::History history_;
  message::SessionConversion converted_;
  IdGenerator ids_{systemEnvironment().clock, systemEnvironment().random};
  std::vector<Entry> batch_;
  std::string lastId_;
  std::size_t copied_ = 0;
  std::vector<std::size_t> lastUses_;  // for each entry of the source, the last converted message made from it
  MadeEntries madeFrom_;
};

}  // namespace

Result<CompatibilityReport> reportWhole(SessionStore& store, const std::string& sessionId, Dialect target,
                                        const std::string& at, std::vector<Entry> entries) {
  Migrator migrator(store, target);
  BOUGH_TRY(migrator.convert(sessionId, at, false, std::move(entries)));
  return migrator.takeReport();
}

}  // namespace context

Result<ProviderMigration> migrate(SessionStore& store, const std::string& sessionId, Dialect target,
                                  const MigrateOptions& options) {
  constexpr std::uint64_t kCopies = 7;  // the new session is stored as one batch, and the way back is one attachment
  BOUGH_TRY(
      context::checkMemory(store, sessionId, kCopies,
                           "`bough export SESSION --to AGENT` writes it for another provider's agent part by part"));
  context::Migrator migrator(store, target);
  BOUGH_TRY(migrator.convert(sessionId, options.at, options.strict, {}));
  return migrator.store(options);
}

}  // namespace bough
