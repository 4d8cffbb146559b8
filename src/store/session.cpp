#include "bough/session.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json/json_grammar.h"
#include "base/json/json_scan.h"
#include "base/json/json_write.h"
#include "base/model/head.h"
#include "base/text/text.h"
#include "base/try.h"
#include "store/rules/header.h"
#include "store/rules/twin_lines.h"
#include "store/session_store_impl.h"

namespace bough {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

// Removes the blanks around a JSON text, which a line does not keep. Without them, the text is the same before and
// after it is stored.
void trimBlanks(std::string& text) {
  if (text.empty() || (!json::isBlank(text.front()) && !json::isBlank(text.back()))) return;
  text.erase(text.find_last_not_of(kBlanks) + 1);
  text.erase(0, text.find_first_not_of(kBlanks));
}

// A mistake must not lock everybody out for days.
Result<void> checkLease(std::uint64_t leaseMs) {
  constexpr std::uint64_t kMostMs = 3'600'000;
  if (leaseMs <= kMostMs) return {};
  return fail(ErrorCode::InvalidArgument, fmt::format("a lease of {} ms is longer than an hour", leaseMs),
              "give a shorter one, and renew it");
}

std::unexpected<Error> noSuchEntry(const std::string& sessionId, const std::string& entryId) {
  return fail(ErrorCode::NotFound, fmt::format("session {} has no entry {}", sessionId, entryId),
              "`bough tree` shows the entries of a session");
}

Result<SessionLabel> findLabel(const Session& session, const std::string& name) {
  BOUGH_TRY(auto known, session.labels());
  const auto found = std::ranges::find(known, name, &SessionLabel::name);
  if (found != known.end()) return std::move(*found);
  return fail(ErrorCode::NotFound, fmt::format("session {} has no label \"{}\"", session.id(), text::excerpt(name, 40)),
              "`bough labels` lists the labels of a session");
}

}  // namespace

Session::Session(std::shared_ptr<State> state) : state_(std::move(state)) {}

Result<AppendResult> Session::State::append(std::string_view type, std::string payload,
                                            std::optional<Durability> durability) const {
  AppendRequest request;
  Entry& entry = request.entries.emplace_back();
  entry.type = type;
  entry.payload = std::move(payload);
  return store->append(stored, std::move(request), durability.value_or(store->options.durability));
}

const std::string& Session::id() const {
  return state_->stored->sessionId();
}

Result<SessionState> Session::state() const {
  BOUGH_TRY(state_->ready());
  return state_->stored->state();
}

Result<AppendResult> Session::append(std::vector<Entry> entries, const AppendOptions& options) const {
  for (Entry& entry : entries) {
    for (std::string* text : {&entry.payload, &entry.meta, &entry.extra}) trimBlanks(*text);
  }
  return state_->store->append(
      state_->stored, {.entries = std::move(entries), .expectedTail = options.expectedTail, .turn = options.turn},
      options.durability.value_or(state_->store->options.durability));
}

Result<std::uint64_t> Session::beginTurn() const {
  BOUGH_TRY(state_->ready());
  return state_->stored->beginTurn();
}

Result<std::uint64_t> Session::leaseTurn(std::uint64_t leaseMs) const {
  if (leaseMs == 0) return fail(ErrorCode::InvalidArgument, "a lease of 0 ms", "give at least 1 ms");
  BOUGH_TRY(checkLease(leaseMs));
  BOUGH_TRY(state_->ready());
  return state_->stored->leaseTurn({.leaseMs = leaseMs});
}

Result<void> Session::renewTurn(std::uint64_t turn, std::uint64_t leaseMs) const {
  BOUGH_TRY(checkLease(leaseMs));
  if (turn == 0) return fail(ErrorCode::InvalidArgument, "there is no turn 0", "give the number of leaseTurn");
  BOUGH_TRY(state_->ready());
  BOUGH_TRY(state_->stored->leaseTurn({.turn = turn, .leaseMs = leaseMs}));
  return {};
}

Result<std::vector<Entry>> Session::load(const LoadOptions& options) const {
  BOUGH_TRY(state_->ready());
  BOUGH_TRY(auto found, state_->stored->load({.options = options}));
  return std::move(found.entries);
}

Result<Entry> Session::entry(const std::string& entryId) const {
  BOUGH_TRY(state_->ready());
  BOUGH_TRY(auto found, state_->stored->load({.ids = {entryId}}));
  if (found.entries.empty()) {
    return fail(ErrorCode::NotFound, fmt::format("session {} has no entry {}", id(), entryId),
                "`bough cat` prints all entries of a session");
  }
  return std::move(found.entries.front());
}

Result<std::vector<Entry>> Session::entriesAt(const std::vector<Sequence>& sequences) const {
  BOUGH_TRY(state_->ready());
  if (sequences.empty()) return std::vector<Entry>();
  BOUGH_TRY(auto found, state_->stored->load({.sequences = {sequences.begin(), sequences.end()}}));
  return std::move(found.entries);
}

Result<void> forEachEntryAt(const Session& session, const std::vector<Sequence>& sequences,
                            const std::function<bool(const Entry&)>& use) {
  constexpr std::size_t kMostEntries = 256;
  constexpr std::size_t kPartBytes = std::size_t{4} << 20;
  std::size_t count = 16;
  for (auto next = sequences.begin(); next != sequences.end();) {
    const auto end = next + std::min(static_cast<std::ptrdiff_t>(count), sequences.end() - next);
    BOUGH_TRY(const auto entries, session.entriesAt({next, end}));
    std::size_t bytes = 0;
    for (const Entry& entry : entries) {
      bytes += entry.payload.size();
      if (!use(entry)) return {};
    }
    count = bytes > kPartBytes ? std::max<std::size_t>(count / 2, 1) : std::min(count * 2, kMostEntries);
    next = end;
  }
  return {};
}

Result<Sequence> Session::sequenceOf(const std::string& entryId) const {
  BOUGH_TRY(state_->ready());
  BOUGH_TRY(const auto found, state_->stored->load({.ids = {entryId}, .asStored = true}));
  if (found.sequences.empty()) return noSuchEntry(id(), entryId);
  return static_cast<Sequence>(found.sequences.front());
}

Result<std::vector<std::string>> Session::findEntryIds(const std::string& prefix, std::size_t limit) const {
  BOUGH_TRY(state_->ready());
  return state_->stored->findIds(prefix, limit);
}

Result<std::vector<Entry>> Session::conversation(const std::string& entryId) const {
  std::string leaf = entryId;
  if (leaf.empty()) {
    BOUGH_TRY(leaf, head());
  }
  if (leaf.empty()) return std::vector<Entry>();
  BOUGH_TRY(auto entries, load({.branch = leaf}));
  std::erase_if(entries, [](const Entry& entry) { return !isConversation(entryKind(entry.type)); });
  return entries;
}

Result<void> Session::readOwn(std::uint64_t fromSequence, std::uint64_t limit,
                              const std::function<void(std::uint64_t, Entry&)>& use) const {
  constexpr std::uint64_t kPart = 128;
  BOUGH_TRY(state_->ready());
  const std::uint64_t end = limit < UINT64_MAX - fromSequence ? fromSequence + limit : UINT64_MAX;
  for (std::uint64_t next = fromSequence; next < end;) {
    const auto count = static_cast<std::size_t>(std::min(kPart, end - next));
    BOUGH_TRY(auto part, state_->stored->loadOwn(next, count));
    if (part.empty()) break;
    for (Entry& entry : part) use(next++, entry);
  }
  return {};
}

Result<void> Session::exportLines(const std::function<bool(std::string_view)>& line) const {
  BOUGH_TRY(state_->ready());
  return state_->stored->exportLines(line);
}

Result<SessionTree> Session::tree() const {
  BOUGH_TRY(state_->ready());
  BOUGH_TRY(auto shape, state_->stored->shape());
  std::vector<TreeLabel> labels;
  for (auto& label : shape.labels) labels.push_back({.name = std::move(label.name), .node = label.sequence});
  return SessionTree(std::move(shape.outline), std::move(labels));
}

Result<std::string> Session::head() const {
  BOUGH_TRY(auto known, state());
  return std::move(known.headId);
}

// The rules of an append decide what may become the head or be labelled or redacted (append_rules.h).
Result<AppendResult> Session::moveHead(const std::string& entryId) const {
  return state_->append(entry_type::kHead, headPayload(entryId), Durability::Sync);
}

Result<Session> Session::fork(const std::string& entryId, const NewSession& session) const {
  BOUGH_TRY(state_->ready());
  BOUGH_TRY(const auto forkId, state_->store->create(session, ForkOrigin{.sessionId = id(), .entryId = entryId}));
  BOUGH_TRY(auto stored, state_->store->backend->open(forkId));
  return Session(std::make_shared<State>(state_->store, std::move(stored)));
}

Result<AppendResult> Session::label(const std::string& entryId, const std::string& name) const {
  return state_->append(entry_type::kLabel, labelPayload(name, entryId), Durability::Sync);
}

Result<std::vector<SessionLabel>> Session::labels() const {
  BOUGH_TRY(state_->ready());
  return state_->stored->labels();
}

Result<AppendResult> Session::removeLabel(const std::string& name) const {
  BOUGH_TRY(findLabel(*this, name));
  return state_->append(entry_type::kLabel, labelPayload(name, std::nullopt), Durability::Sync);
}

Result<AppendResult> Session::moveHeadToLabel(const std::string& name) const {
  BOUGH_TRY(const auto label, findLabel(*this, name));
  return moveHead(label.entryId);
}

Result<AppendResult> Session::setTitle(const std::string& title) const {
  std::string payload = json::Writer().beginObject().member("title", title).endObject().take();
  return state_->append(entry_type::kSessionInfo, std::move(payload), Durability::Sync);
}

Result<AppendResult> Session::appendBranchSummary(const BranchSummary& summary) const {
  json::Writer writer;
  writer.beginObject().member("sourceSessionId", summary.sourceSessionId);
  writer.member("sourceEntryId", summary.sourceEntryId).member("summary", summary.summary).endObject();
  return state_->append(entry_type::kBranchSummary, writer.take());
}

Result<AppendResult> Session::redact(const std::string& entryId, const std::string& by,
                                     const std::string& reason) const {
  // Entries that repeat the content of this one are hidden with it. The entry's own redaction comes last.
  BOUGH_TRY(state_->ready());
  std::vector<std::string> hidden;
  if (!entryId.empty()) {
    BOUGH_TRY(hidden, twinsOf(*state_->stored, {entryId}, /*forGood=*/false));
  }
  hidden.push_back(entryId);
  AppendRequest request;
  for (const std::string& each : hidden) {
    json::Writer writer;
    writer.beginObject().member("entryId", each).member("by", by).member("reason", reason).endObject();
    Entry& entry = request.entries.emplace_back();
    entry.type = entry_type::kRedaction;
    entry.payload = writer.take();
  }
  return state_->store->append(state_->stored, std::move(request), Durability::Sync);
}

}  // namespace bough
