// How a batch is appended: nearly always one call of the database's function; a detailed check when that function asks
// for it.

#include <algorithm>
#include <charconv>
#include <unordered_map>
#include <unordered_set>

#include "base/json/json_scan.h"
#include "base/try.h"
#include "store/postgres/postgres_session.h"
#include "store/rules/append_rules.h"
#include "store/rules/entry_rules.h"
#include "store/rules/header.h"

namespace bough::postgres {
namespace {

constexpr Statement kLock{"lock", R"sql(
SELECT s.tail_id, s.head_id, e.entry_id, e.parent_id, e.body, s.fence FROM @.sessions s
  JOIN @.entries e ON e.session_id = s.session_id AND e.life = s.life AND e.seq = 0
  WHERE s.session_id = $1 AND s.trash_id IS NULL FOR NO KEY UPDATE OF s)sql"};
constexpr Statement kNamedEntries{"named_entries", R"sql(
SELECT e.entry_id, e.parent_id, e.body, l.own, l.depth FROM @.locate($1, $2) l
  JOIN @.entries e ON e.session_id = l.session_id AND e.life = l.life AND e.seq = l.seq)sql"};

enum class Status : std::uint8_t { Stored, Duplicate, OtherTail, NoSession, CheckInDetail, LaterTurn };

// The answer of the database: `STATUS FENCE TAIL`, or only the status.
struct Verdict {
  Status status = Status::CheckInDetail;
  std::uint64_t fence = 0;
  std::string_view tail;

  explicit Verdict(std::string_view answer) {
    if (answer.empty()) return;
    status = static_cast<Status>(answer.front() - '0');
    const char* const end = answer.data() + answer.size();
    const auto number = std::from_chars(answer.data() + std::min<std::size_t>(2, answer.size()), end, fence);
    if (number.ptr != end) tail = {number.ptr + 1, end};
  }
};

// A placeholder for the session's head, which only the database knows.
constexpr std::string_view kAssumedHead = "bough:the-head-of-the-session";

// The session as it probably is: it has every entry that a batch names, and none of the batch's own entries.
class AssumedLog final : public LogView {
 public:
  explicit AssumedLog(const AppendRequest& request) {
    for (const Entry& entry : request.entries) {
      if (!entry.id.empty()) fresh_.insert(entry.id);
    }
    if (request.expectedTail) tail_ = *request.expectedTail;
  }
  Result<std::optional<Entry>> entryOf(std::string_view id) override {
    if (fresh_.contains(id)) return std::nullopt;
    Entry assumed;
    assumed.id = id;
    assumed.type = entry_type::kMessage;
    return assumed;
  }
  Result<bool> contains(std::string_view id) override { return !fresh_.contains(id); }
  [[nodiscard]] std::string_view tailId() const override { return tail_; }
  [[nodiscard]] std::string_view headId() override { return kAssumedHead; }

 private:
  std::unordered_set<std::string_view> fresh_;
  std::string_view tail_;
};

// The entries that were found for the ids that a batch names.
class NamedEntries final : public LogView, public SharedEntries {
 public:
  struct Named {
    Entry entry;
    bool own = true;
    std::int64_t depth = 0;
  };

  Result<void> load(const Database& database, const Rows& session, const Rows& named) {
    tail_ = session.string(0, 0);
    head_ = session.string(0, 1);
    std::string line;
    for (int row = 0; row < named.size(); ++row) {
      BOUGH_TRY(auto entry, entryFrom(database.serializer, named, row, line));
      const std::string id = entry.id;
      found_[id] = {.entry = std::move(entry), .own = named.truth(row, 3), .depth = named.number(row, 4)};
    }
    return {};
  }
  [[nodiscard]] const Named* find(std::string_view id) const {
    const auto found = found_.find(std::string(id));
    return found == found_.end() ? nullptr : &found->second;
  }

  Result<std::optional<Entry>> entryOf(std::string_view id) override { return entryIf(id, true); }
  Result<bool> contains(std::string_view id) override {
    const Named* const named = find(id);
    return named != nullptr && named->own;
  }
  [[nodiscard]] std::string_view tailId() const override { return tail_; }
  [[nodiscard]] std::string_view headId() override { return head_; }

  [[nodiscard]] Result<std::optional<Entry>> entryOf(std::string_view id) const override { return entryIf(id, false); }
  [[nodiscard]] Result<bool> contains(std::string_view id) const override {
    const Named* const named = find(id);
    return named != nullptr && !named->own;
  }

 private:
  [[nodiscard]] Result<std::optional<Entry>> entryIf(std::string_view id, bool own) const {
    const Named* const named = find(id);
    if (named == nullptr || named->own != own) return std::nullopt;
    return named->entry;
  }

  std::string tail_;
  std::string head_;
  std::unordered_map<std::string, Named> found_;
};

// Returns every id that a batch names: its own ids, parents, and targets of control entries. Texts that are not valid
// ids are left out: no entry has such an id, and they need not even be valid text.
std::vector<std::string> namesIn(const AppendRequest& request) {
  std::unordered_set<std::string> names;
  for (const Entry& entry : request.entries) {
    if (!entry.id.empty()) names.insert(entry.id);
    if (entry.parentId && !entry.parentId->empty()) names.insert(*entry.parentId);
    if (!isControlType(entry.type)) continue;
    if (auto target = json::findString(entry.payload, "entryId")) names.insert(std::move(*target));
  }
  std::erase_if(names, [](const std::string& name) { return !isEntryId(name); });
  return {names.begin(), names.end()};
}

// Returns true when a batch itself contains the placeholder for the session's head, or when a control entry names the
// empty id, which is the head of a session without any: the database would take both for the head.
bool looksLikeHead(const AppendRequest& request, const BatchPlan& plan) {
  return std::ranges::any_of(
             request.entries,
             [](const Entry& entry) { return entry.id == kAssumedHead || entry.parentId == kAssumedHead; }) ||
         std::ranges::any_of(plan.targets,
                             [](const auto& target) { return target && (target->empty() || *target == kAssumedHead); });
}

// Gives the entries the ids that were generated for them. Otherwise a retry would store under new ids what an attempt
// may have stored. The lines are those of the entries that were not stored before, in the same order.
void keepIds(AppendRequest& request, const BatchLines& lines) {
  std::size_t next = 0;
  for (Entry& entry : request.entries) {
    if (next == lines.size()) return;
    if (entry.id.empty()) entry.id = lines[next].id();
    if (entry.id == lines[next].id()) ++next;
  }
}

// Fills in the depths of needed entries from the shared history, which are not among the session's own entries.
void setRequiredDepths(const NamedEntries& named, BatchPlan& plan) {
  for (std::size_t i = 0; i < plan.requiredIds.size(); ++i) {
    const NamedEntries::Named* const found = named.find(plan.requiredIds[i]);
    if (found == nullptr || found->own) continue;
    plan.requiredSequences[i] = BatchPlan::kNamed;
    plan.requiredDepths[i] = found->depth;
  }
}

bool needsParts(const AppendRequest& request) {
  std::size_t bytes = 0;
  for (const Entry& entry : request.entries) bytes += entry.payload.size();
  return bytes > kMostStatementBytes && request.entries.size() > 1;
}

bool areIdsGenerated(const AppendRequest& request) {
  return std::ranges::all_of(request.entries, [](const Entry& entry) { return entry.id.empty(); });
}

// Drops the holds of the attachments that a batch names: the append has ended them in the database.
void dropHolds(Database& database, const BatchPlan& plan) {
  const std::lock_guard lock(database.held.mutex);
  for (const auto& attachment : plan.attachments) {
    if (attachment) database.held.sha256s.erase(*attachment);
  }
}

}  // namespace

// A batch that is being appended: the result of the rules, and the call that stores it.
struct PostgresSession::Prepared {
  BatchLines lines;
  BatchPlan plan;
  AppendResult result;
  bool ownIds = false;  // all ids were generated here, so nobody else can have stored them
  QueuedAppend queued;
};

// Returns null when an error depends on the session or is for the rules to report, and for a batch that is sent in
// parts.
std::unique_ptr<PostgresSession::Prepared> PostgresSession::prepare(AppendRequest& request) {
  if (needsParts(request)) return nullptr;
  auto prepared = std::make_unique<Prepared>();
  AssumedLog assumed(request);
  auto result = prepareBatch(assumed, {.sessionId = sessionId(), .request = request}, database_.serializer,
                             database_.ids, database_.environment.clock, prepared->lines);
  if (!result || prepared->lines.size() != request.entries.size()) return nullptr;
  prepared->result = std::move(*result);
  prepared->ownIds = areIdsGenerated(request);
  prepared->plan = planBatch(prepared->lines, kAssumedHead);
  if (looksLikeHead(request, prepared->plan)) return nullptr;
  for (std::size_t i = 0; i < request.entries.size(); ++i) {
    if (request.entries[i].timestamp.empty()) noteGeneratedTime(prepared->plan, i);
  }
  prepared->queued.sessionId = sessionId();
  prepared->queued.terms = {.expectedTail = request.expectedTail,
                            .turn = request.turn,
                            .mode = prepared->ownIds ? CheckMode::OwnIds : CheckMode::CheckAll};
  prepared->queued.plan = &prepared->plan;
  return prepared;
}

Result<AppendResult> PostgresSession::resultOf(AppendRequest& request, Prepared& prepared) {
  Result<std::string>& answer = prepared.queued.answer;
  if (!answer && answer.error().code == ErrorCode::IdConflict) {
    // Another client has just stored one of these ids, or an attempt of this call whose answer was lost has stored it.
    if (!prepared.ownIds) return appendUnderLock(request, false);
    keepIds(request, prepared.lines);
    prepared.queued.terms.mode = CheckMode::CheckAll;
    prepared.queued.answered = prepared.queued.done = false;
    QueuedAppend* again = &prepared.queued;
    queue_.run(std::span(&again, 1));
  }
  BOUGH_TRY(const std::string answerText, std::move(answer));
  if (answerText.empty()) return std::unexpected(database_.noSession(sessionId()));
  AppendResult& result = prepared.result;
  const Verdict verdict(answerText);
  switch (verdict.status) {
    case Status::Stored: break;
    case Status::Duplicate:
      if (prepared.ownIds) break;  // stored by this call, whose first answer was lost
      std::swap(result.duplicateCount, result.appendedCount);
      return result;
    case Status::OtherTail: return std::unexpected(tailConflict(sessionId(), *request.expectedTail, verdict.tail));
    case Status::LaterTurn:
      return std::unexpected(turnConflict(sessionId(), *request.turn, verdict.fence, verdict.tail));
    case Status::NoSession: return std::unexpected(database_.noSession(sessionId()));
    default: return appendUnderLock(request, prepared.ownIds);
  }
  dropHolds(database_, prepared.plan);
  changes_.note(sessionId());
  return result;
}

Result<AppendResult> PostgresSession::append(AppendRequest& request) {
  return std::move(appendAll(queue_, {{this, &request}}).front());
}

std::vector<Result<AppendResult>> PostgresSession::appendAll(AppendQueue& queue, const std::vector<Batch>& batches) {
  std::vector<std::unique_ptr<Prepared>> prepared;
  std::vector<QueuedAppend*> queued;
  for (const auto& [session, request] : batches) {
    prepared.push_back(session->prepare(*request));
    if (prepared.back()) queued.push_back(&prepared.back()->queued);
  }
  if (!queued.empty()) queue.run(queued);
  std::vector<Result<AppendResult>> results;
  for (std::size_t i = 0; i < batches.size(); ++i) {
    const auto& [session, request] = batches[i];
    results.push_back(prepared[i] ? session->resultOf(*request, *prepared[i])
                                  : session->appendUnderLock(*request, areIdsGenerated(*request)));
  }
  return results;
}

// Locks the session's row, loads everything that the batch names, and lets the rules decide. `ownIds`: all ids were
// generated for this call.
Result<AppendResult> PostgresSession::appendUnderLock(AppendRequest& request, bool ownIds) {
  Result<AppendResult> result;
  std::optional<AppendResult> tried;  // the result of an earlier attempt
  const auto work = [&](Connection& connection) -> Exchange<void> {
    const bool prepare = database_.pool.prepares();
    const auto refuse = [](Error error) -> Exchange<void> {
      return std::unexpected(Failure{.trouble = Trouble::Refused, .error = std::move(error)});
    };
    Parameters names;
    names.text(sessionId()).texts(namesIn(request));
    const std::vector<Call> looks{
        {.sql = "BEGIN"}, database_.call(kLock, byId()), database_.call(kNamedEntries, std::move(names))};
    auto looked = connection.run(looks, prepare, database_.pool.deadline());
    if (!looked) return std::unexpected(looked.error());
    const Rows& session = (*looked)[1];
    if (session.empty()) return refuse(database_.noSession(sessionId()));
    std::string line;
    lineOf(session.text(0, 2), session.text(0, 3), session.text(0, 4), line);
    auto first = database_.serializer.decode(line);
    if (!first) return refuse(first.error());
    const int format = database_.serializer.schemaVersion();
    if (auto may = checkFormat(*first, sessionId(), database_.shown(), 0, format); !may) return refuse(may.error());
    NamedEntries named;
    if (auto loaded = named.load(database_, session, (*looked)[2]); !loaded) return refuse(loaded.error());
    BatchLines lines;
    result = prepareBatch(named,
                          {.sessionId = sessionId(),
                           .request = request,
                           .shared = &named,
                           .turn = static_cast<std::uint64_t>(session.number(0, 5))},
                          database_.serializer, database_.ids, database_.environment.clock, lines);
    if (!result) return refuse(result.error());
    if (lines.empty() && ownIds && tried) result = *tried;  // an attempt whose answer was lost has stored it
    if (!lines.empty()) {
      keepIds(request, lines);
      tried = *result;
    }
    std::string head(named.headId());
    std::size_t next = 0;
    do {  // the last part is sent together with the COMMIT
      std::vector<Call> calls;
      BatchPlan plan;
      if (!lines.empty()) {
        plan = planPart(lines, next, head);
        setRequiredDepths(named, plan);
        calls.push_back(appendCall(
            database_, {.sessionId = sessionId(), .terms = {.mode = CheckMode::AlreadyChecked}, .plan = &plan}));
      }
      next += plan.ids.size();
      if (plan.headPlace != BatchPlan::kUnchanged) head = plan.head;
      if (next == lines.size()) calls.push_back({.sql = "COMMIT"});
      auto stored = connection.run(calls, prepare, database_.pool.deadline());
      if (!stored) return std::unexpected(stored.error());
    } while (next < lines.size());
    return {};
  };
  if (auto done = database_.transaction(work); !done) return std::unexpected(std::move(done.error().error));
  changes_.note(sessionId());
  return result;
}

}  // namespace bough::postgres
