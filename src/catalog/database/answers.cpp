#include "catalog/database/answers.h"

#include <map>
#include <string>
#include <utility>

#include "base/bytes/sha256.h"

namespace bough::catalog {

std::int64_t answerId(const std::string& identity) {
  constexpr std::size_t kDigits = 15;  // of a number that SQLite holds with its sign
  return static_cast<std::int64_t>(std::stoull(Sha256::of(identity).substr(0, kDigits), nullptr, 16));
}

std::int64_t modelId(Database& database, const std::string& name) {
  Query(database, "INSERT OR IGNORE INTO model(name) VALUES(?)", name).run();
  Query query(database, "SELECT id FROM model WHERE name = ?", name);
  return query.next() ? query.integer(0) : 0;
}

namespace {

// A part of the sums, or what they become less by: numbers wrap around.
struct UsedPart {
  std::uint64_t answers = 0;
  std::uint64_t uncertain = 0;
  Usage tokens = {};

  UsedPart& operator+=(const UsedPart& part) {
    answers += part.answers;
    uncertain += part.uncertain;
    tokens += part.tokens;
    return *this;
  }
};

// By quarter and model: the answers of a session have few of them.
using UsedParts = std::map<std::pair<std::uint64_t, std::int64_t>, UsedPart>;

UsedPart minus(const UsedPart& part) {
  const Usage& used = part.tokens;
  return {.answers = -part.answers,
          .uncertain = -part.uncertain,
          .tokens = {.inputTokens = -used.inputTokens,
                     .outputTokens = -used.outputTokens,
                     .cacheReadTokens = -used.cacheReadTokens,
                     .cacheWriteTokens = -used.cacheWriteTokens,
                     .reasoningTokens = -used.reasoningTokens}};
}

void addToSums(Database& database, std::uint64_t quarter, std::int64_t model, const UsedPart& part) {
  const Usage& used = part.tokens;
  Query(database,
        "INSERT INTO used(quarter, model, answers, uncertain, input, output, cacheRead, cacheWrite, reasoning) "
        "VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT DO UPDATE SET answers = answers + ?3, "
        "uncertain = uncertain + ?4, input = input + ?5, output = output + ?6, cacheRead = cacheRead + ?7, "
        "cacheWrite = cacheWrite + ?8, reasoning = reasoning + ?9",
        quarter, model, part.answers, part.uncertain, used.inputTokens, used.outputTokens, used.cacheReadTokens,
        used.cacheWriteTokens, used.reasoningTokens)
      .run();
}

void addToSums(Database& database, const UsedParts& parts) {
  for (const auto& [place, part] : parts) addToSums(database, place.first, place.second, part);
}

// Reads certain, input, output, cacheRead, cacheWrite and reasoning from this column on.
UsedPart partIn(const Query& query, int column) {
  return {.answers = 1,
          .uncertain = 1 - query.number(column),
          .tokens = {.inputTokens = query.number(column + 1),
                     .outputTokens = query.number(column + 2),
                     .cacheReadTokens = query.number(column + 3),
                     .cacheWriteTokens = query.number(column + 4),
                     .reasoningTokens = query.number(column + 5)}};
}

bool isCopied(Database& database, std::int64_t id) {
  Query query(database, "SELECT 1 FROM copied WHERE id = ?", id);
  return query.next();
}

// Another session has the answer, and the sums had it: `parts` takes it out of them.
bool makeCopied(Database& database, std::int64_t id, UsedParts& parts) {
  {
    Query query(
        database,
        "SELECT quarter, model, certain, input, output, cacheRead, cacheWrite, reasoning FROM answer WHERE id = ?", id);
    if (!query.next()) return false;
    parts[{query.number(0), query.integer(1)}] += minus(partIn(query, 2));
  }
  Query(database, "INSERT INTO copied(id) VALUES(?)", id).run();
  return true;
}

}  // namespace

void addAnswers(Database& database, const std::vector<std::pair<std::int64_t, Answer>>& answers) {
  UsedParts parts;
  for (const auto& [id, answer] : answers) {
    const Usage& used = answer.usage;
    if (!isCopied(database, id) && !makeCopied(database, id, parts)) {
      parts[{answer.quarter, answer.model}] += {.answers = 1, .uncertain = answer.certain ? 0U : 1U, .tokens = used};
    }
    Query(database,
          "INSERT INTO answer(session, id, first, branch, quarter, model, certain, input, output, cacheRead, "
          "cacheWrite, reasoning) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
          answer.session, id, answer.sequence, answer.branch, answer.quarter, answer.model, answer.certain,
          used.inputTokens, used.outputTokens, used.cacheReadTokens, used.cacheWriteTokens, used.reasoningTokens)
        .run();
  }
  addToSums(database, parts);
}

Usage saveAnswer(Database& database, const Answer& answer) {
  const std::int64_t id = answerId(answer.identity);
  std::uint64_t quarter = 0;
  std::int64_t model = 0;
  Usage before;
  {
    Query query(database,
                "SELECT quarter, model, certain, input, output, cacheRead, cacheWrite, reasoning FROM answer WHERE "
                "session = ? AND id = ?",
                answer.session, id);
    if (!query.next()) {
      addAnswers(database, {{id, answer}});
      return answer.usage;
    }
    quarter = query.number(0);
    model = query.integer(1);
    before = partIn(query, 2).tokens;
  }
  const Usage& now = answer.usage;
  const auto more = [](std::uint64_t was, std::uint64_t is) { return is > was ? is - was : 0; };
  const Usage grown{.inputTokens = more(before.inputTokens, now.inputTokens),
                    .outputTokens = more(before.outputTokens, now.outputTokens),
                    .cacheReadTokens = more(before.cacheReadTokens, now.cacheReadTokens),
                    .cacheWriteTokens = more(before.cacheWriteTokens, now.cacheWriteTokens),
                    .reasoningTokens = more(before.reasoningTokens, now.reasoningTokens)};
  Query(database,
        "UPDATE answer SET input = input + ?3, output = output + ?4, cacheRead = cacheRead + ?5, cacheWrite = "
        "cacheWrite + ?6, reasoning = reasoning + ?7 WHERE session = ?1 AND id = ?2",
        answer.session, id, grown.inputTokens, grown.outputTokens, grown.cacheReadTokens, grown.cacheWriteTokens,
        grown.reasoningTokens)
      .run();
  if (!isCopied(database, id)) addToSums(database, quarter, model, {.tokens = grown});
  return grown;
}

void forgetAnswers(Database& database, std::int64_t session, std::uint64_t sequence) {
  UsedParts gone;
  {
    Query query(database,
                "SELECT quarter, model, certain, input, output, cacheRead, cacheWrite, reasoning FROM answer WHERE "
                "session = ? AND first >= ? AND NOT EXISTS(SELECT 1 FROM copied WHERE copied.id = answer.id)",
                session, sequence);
    while (query.next()) {
      gone[{query.number(0), query.integer(1)}] += minus(partIn(query, 2));
    }
  }
  addToSums(database, gone);
  Query(database, "DELETE FROM answer WHERE session = ? AND first >= ?", session, sequence).run();
}

}  // namespace bough::catalog
