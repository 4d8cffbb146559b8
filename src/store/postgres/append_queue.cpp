#include "store/postgres/append_queue.h"

#include <algorithm>

#include "base/try.h"
#include "store/postgres/append_statement.h"

namespace bough::postgres {
namespace {

constexpr Statement kAppend{"append", R"sql(
SELECT @.append($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19))sql"};
constexpr Statement kAppendOne{"append_one", R"sql(
SELECT @.append_one($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16))sql"};
// $4 holds ten numbers an append: the turn (-1: none), the mode, and those of append_one.
constexpr Statement kAppendEach{"append_each", R"sql(
SELECT @.append_one(x.session, $2, x.expected, nullif(($4::bigint[])[10 * x.n - 9], -1), ($4::bigint[])[10 * x.n - 8],
    x.id, x.parent, ($4::bigint[])[10 * x.n - 7], ($4::bigint[])[10 * x.n - 6], ($4::bigint[])[10 * x.n - 5],
    ($4::bigint[])[10 * x.n - 4], ($4::bigint[])[10 * x.n - 3], ($4::bigint[])[10 * x.n - 2], x.body,
    ($4::bigint[])[10 * x.n - 1] = 1, ($4::bigint[])[10 * x.n])
  FROM unnest($1::text[], $3::text[], $5::text[], $6::text[], $7::bytea[]) WITH ORDINALITY
    AS x(session, expected, id, parent, body, n))sql"};
constexpr Statement kAppendStatement{"append_statement", kAppendSql};

constexpr int kMostGroups = 4;  // exchanges at a time
constexpr std::size_t kMostAppends = 32;
constexpr std::size_t kMostBytes = std::size_t{8} << 20;

// One entry that goes on from the head.
bool isPlain(const QueuedAppend& append) {
  return append.terms.mode != Mode::Looked && append.plan->ids.size() == 1 && append.plan->isChain();
}

// Plain appends, as one call.
Call appendEach(Database& database, const std::vector<QueuedAppend*>& group) {
  std::vector<std::string> sessions;
  std::vector<std::optional<std::string_view>> expected, ids, parents;
  std::vector<std::string_view> bodies;
  std::vector<std::int64_t> numbers;
  for (const QueuedAppend* each : group) {
    const auto& [tail, turn, mode] = each->terms;
    const BatchPlan& plan = *each->plan;
    sessions.push_back(each->sessionId);
    expected.push_back(tail ? std::optional<std::string_view>(*tail) : std::nullopt);
    ids.push_back(plan.ids[0]);
    parents.push_back(plan.parents[0]);
    bodies.push_back(plan.bodies[0]);
    numbers.insert(numbers.end(), {turn ? static_cast<std::int64_t>(*turn) : -1, static_cast<std::int64_t>(mode),
                                   plan.places[0], plan.roots[0], plan.steps[0], plan.joins[0], plan.kinds[0],
                                   plan.times[0], plan.headFresh ? 1 : 0, static_cast<std::int64_t>(plan.bytes)});
  }
  Parameters parameters;
  parameters.texts(sessions).number(database.serializer.schemaVersion()).texts(expected).numbers(numbers);
  parameters.texts(ids).texts(parents).byteTexts(bodies);
  return database.call(kAppendEach, std::move(parameters));
}

}  // namespace

Call appendCall(Database& database, const QueuedAppend& append) {
  const AppendTerms& terms = append.terms;
  Parameters parameters;
  parameters.text(append.sessionId).number(database.serializer.schemaVersion());
  terms.expectedTail ? parameters.text(*terms.expectedTail) : parameters.nothing();
  terms.turn ? parameters.number(static_cast<std::int64_t>(*terms.turn)) : parameters.nothing();
  parameters.number(static_cast<std::int64_t>(terms.mode));
  const bool asStatement = database.pool.location().singleStatement;
  if (!asStatement && isPlain(append)) {
    append.plan->addOnly(parameters);
    return database.call(kAppendOne, std::move(parameters));
  }
  append.plan->addEntries(parameters);
  append.plan->addNeeds(parameters);
  append.plan->addHead(parameters);
  if (!asStatement) parameters.truth(terms.mode != Mode::Looked && append.plan->isChain());
  return database.call(asStatement ? kAppendStatement : kAppend, std::move(parameters));
}

void AppendQueue::run(std::span<QueuedAppend*> appends) {
  const auto isDone = [&] { return std::ranges::all_of(appends, [](const QueuedAppend* each) { return each->done; }); };
  std::unique_lock lock(mutex_);
  waiting_.insert(waiting_.end(), appends.begin(), appends.end());
  while (!isDone()) {
    if (waiting_.empty() || running_ == kMostGroups) {
      changed_.wait(lock);
      continue;
    }
    std::vector<QueuedAppend*> group;
    std::size_t bytes = 0;
    while (!waiting_.empty() && group.size() < kMostAppends && bytes < kMostBytes) {
      bytes += waiting_.front()->plan->bytes;
      group.push_back(waiting_.front());
      waiting_.pop_front();
    }
    ++running_;
    lock.unlock();
    runGroup(group);
    lock.lock();
    --running_;
    for (QueuedAppend* each : group) each->done = true;
    changed_.notify_all();
  }
}

void AppendQueue::runGroup(std::vector<QueuedAppend*>& group) {
  // In the same order everywhere, so that two groups never wait for one another's sessions.
  std::ranges::stable_sort(group, {}, &QueuedAppend::sessionId);
  if (group.size() > 1) {
    const auto done = runTogether(group);
    if (done) return;
    if (done.error().trouble != Trouble::Refused) {
      for (QueuedAppend* each : group) each->answer = std::unexpected(done.error().error);
      return;
    }
  }
  // One alone, or one of them makes the server refuse all: each by itself.
  for (QueuedAppend* each : group) {
    const auto rows = database_.pool.run(appendCall(database_, *each));
    each->answer = rows ? Result<std::string>(rows->empty() ? "" : rows->string(0, 0)) : std::unexpected(rows.error());
  }
}

Exchange<void> AppendQueue::runTogether(const std::vector<QueuedAppend*>& group) {
  const bool asOne = !database_.pool.location().singleStatement &&
                     std::ranges::all_of(group, [](const QueuedAppend* each) { return isPlain(*each); });
  std::vector<Call> calls;
  if (asOne) {
    calls.push_back(appendEach(database_, group));
  } else {
    for (const QueuedAppend* each : group) calls.push_back(appendCall(database_, *each));
  }
  auto answers = database_.pool.exchange(calls);
  if (!answers) return std::unexpected(std::move(answers.error()));
  for (std::size_t i = 0; i < group.size(); ++i) {
    const Rows& rows = asOne ? answers->front() : (*answers)[i];
    const int row = asOne ? static_cast<int>(i) : 0;
    group[i]->answer = row < rows.size() ? rows.string(row, 0) : "";
  }
  return {};
}

}  // namespace bough::postgres
