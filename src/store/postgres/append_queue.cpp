#include "store/postgres/append_queue.h"

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

#include "base/system/threads.h"
#include "base/try.h"
#include "store/postgres/append_statement.h"
#include "store/postgres/chain_statements.h"

namespace bough::postgres {
namespace {

constexpr Statement kAppend{"append", R"sql(
SELECT @.append($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19))sql"};
constexpr Statement kAppendStatement{"append_statement", kAppendSql};

constexpr int kMostGroups = 4;  // exchanges that run at the same time
constexpr std::size_t kMostAppends = 32;
constexpr std::size_t kMostBytes = std::size_t{8} << 20;
constexpr std::size_t kEnvelopeBytes = 256;  // about the size of an entry in a statement without its body

// Returns true when the entries continue from the head and their ids were generated for this call.
bool isChain(const Database& database, const QueuedAppend& append) {
  return database.pool.location().append == AppendForm::Mixed && append.terms.mode == CheckMode::OwnIds &&
         append.plan->continuesHead();
}

// Returns the conditions of an append, in the parameter order that all statements share.
Parameters beginning(const Database& database, const QueuedAppend& append) {
  Parameters parameters;
  parameters.reserve(append.plan->bytes + append.plan->ids.size() * kEnvelopeBytes);
  parameters.text(append.sessionId).number(database.serializer.schemaVersion());
  append.terms.expectedTail ? parameters.text(*append.terms.expectedTail) : parameters.nothing();
  append.terms.turn ? parameters.number(bigint(*append.terms.turn)) : parameters.nothing();
  return parameters;
}

Call chainCall(Database& database, const QueuedAppend& append) {
  const BatchPlan& plan = *append.plan;
  Parameters parameters = beginning(database, append);
  if (plan.ids.size() == 1) {
    parameters.text(*plan.ids[0]).number(plan.factOf(0)).bytes(plan.bodies[0]);
    return database.call(kChainOfOne, std::move(parameters));
  }
  std::vector<std::int64_t> facts(plan.ids.size());
  for (std::size_t i = 0; i < facts.size(); ++i) facts[i] = plan.factOf(i);
  parameters.texts(plan.ids).numbers(facts).byteTexts(plan.bodies);
  parameters.number(static_cast<std::int64_t>(plan.bytes)).text(*plan.ids.back());
  return database.call(kChain, std::move(parameters));
}

// Returns true when all appends are chains of one entry to different sessions. They are sorted by session.
bool areOneOfEach(const Database& database, const std::vector<QueuedAppend*>& group) {
  const auto isOne = [&](const QueuedAppend* each) { return each->plan->ids.size() == 1 && isChain(database, *each); };
  return std::ranges::all_of(group, isOne) &&
         std::ranges::adjacent_find(group, {}, &QueuedAppend::sessionId) == group.end();
}

Call chainOfEach(Database& database, const std::vector<QueuedAppend*>& group) {
  std::vector<std::optional<std::string_view>> sessions, expected, ids;
  std::vector<std::string_view> bodies;
  std::vector<std::int64_t> turns, facts;
  std::size_t bytes = 0;
  for (const QueuedAppend* each : group) {
    const auto& [tail, turn, mode] = each->terms;
    sessions.emplace_back(each->sessionId);
    expected.push_back(tail ? std::optional<std::string_view>(*tail) : std::nullopt);
    turns.push_back(turn ? bigint(*turn) : std::numeric_limits<std::int64_t>::max());
    ids.push_back(each->plan->ids[0]);
    facts.push_back(each->plan->factOf(0));
    bodies.push_back(each->plan->bodies[0]);
    bytes += each->plan->bytes + kEnvelopeBytes;
  }
  Parameters parameters;
  parameters.reserve(bytes);
  parameters.texts(sessions).number(database.serializer.schemaVersion()).texts(expected).numbers(turns);
  parameters.texts(ids).numbers(facts).byteTexts(bodies);
  return database.call(kChainOfEach, std::move(parameters));
}

void setAnswer(QueuedAppend& append, Result<std::string> answer) {
  append.answer = std::move(answer);
  append.answered = true;
}

}  // namespace

Call appendCall(Database& database, const QueuedAppend& append) {
  if (isChain(database, append)) return chainCall(database, append);
  Parameters parameters = beginning(database, append);
  parameters.number(static_cast<std::int64_t>(append.terms.mode));
  append.plan->addEntries(parameters);
  append.plan->addRequired(parameters);
  append.plan->addHead(parameters);
  if (database.pool.location().append == AppendForm::Statement) {
    return database.call(kAppendStatement, std::move(parameters));
  }
  parameters.truth(append.terms.mode != CheckMode::AlreadyChecked && append.plan->isChain());
  return database.call(kAppend, std::move(parameters));
}

void AppendQueue::run(std::span<QueuedAppend*> appends) {
  const auto isDone = [&] { return std::ranges::all_of(appends, [](const QueuedAppend* each) { return each->done; }); };
  // From here on nothing throws: other threads wait for the group that this thread runs, and the group refers to their
  // appends.
  std::vector<QueuedAppend*> group;
  group.reserve(kMostAppends);
  std::unique_lock lock(mutex_);
  waiting_.insert(waiting_.end(), appends.begin(), appends.end());
  while (!isDone()) {
    if (waiting_.empty() || running_ == kMostGroups) {
      changed_.wait(lock);
      continue;
    }
    group.clear();
    std::size_t bytes = 0;
    while (!waiting_.empty() && group.size() < kMostAppends && bytes < kMostBytes) {
      bytes += waiting_.front()->plan->bytes;
      group.push_back(waiting_.front());
      waiting_.pop_front();
    }
    ++running_;
    lock.unlock();
    ThreadFailure failure;
    failure.guard([&] { runGroup(group); });
    lock.lock();
    --running_;
    for (QueuedAppend* each : group) {
      each->done = true;
      each->outOfMemory = failure.failed() && !each->answered;
    }
    changed_.notify_all();
  }
  if (std::ranges::any_of(appends, &QueuedAppend::outOfMemory)) throw std::bad_alloc();
}

void AppendQueue::runGroup(std::vector<QueuedAppend*>& group) {
  // The same order everywhere, so that two groups never wait for each other's sessions.
  std::ranges::stable_sort(group, {}, &QueuedAppend::sessionId);
  if (group.size() > 1) {
    const auto done = runTogether(group);
    if (done) return;
    if (done.error().trouble != Trouble::Refused) {
      for (QueuedAppend* each : group) setAnswer(*each, std::unexpected(done.error().error));
      return;
    }
  }
  // There is only one append, or one of them made the server refuse all: run each alone.
  for (QueuedAppend* each : group) {
    const auto rows = database_.pool.run(appendCall(database_, *each));
    setAnswer(*each,
              rows ? Result<std::string>(rows->empty() ? "" : rows->string(0, 0)) : std::unexpected(rows.error()));
  }
}

Exchange<void> AppendQueue::runTogether(const std::vector<QueuedAppend*>& group) {
  const bool asOne = areOneOfEach(database_, group);
  std::vector<Call> calls;
  if (asOne) {
    calls.push_back(chainOfEach(database_, group));
  } else {
    for (const QueuedAppend* each : group) calls.push_back(appendCall(database_, *each));
  }
  auto answers = database_.pool.exchange(calls);
  if (!answers) return std::unexpected(std::move(answers.error()));
  for (std::size_t i = 0; i < group.size(); ++i) {
    const Rows& rows = asOne ? answers->front() : (*answers)[i];
    const int row = asOne ? static_cast<int>(i) : 0;
    setAnswer(*group[i], row < rows.size() ? rows.string(row, 0) : "");
  }
  return {};
}

}  // namespace bough::postgres
