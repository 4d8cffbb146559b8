#include "catalog/database/answers.h"

#include <algorithm>
#include <string>

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

Usage saveAnswer(Database& database, const Answer& answer) {
  const std::int64_t id = answerId(answer.identity);
  Usage before;
  {
    Query query(database,
                "SELECT input, output, cacheRead, cacheWrite, reasoning FROM answer WHERE session = ? AND id = ?",
                answer.session, id);
    if (query.next()) {
      before = {.inputTokens = query.number(0),
                .outputTokens = query.number(1),
                .cacheReadTokens = query.number(2),
                .cacheWriteTokens = query.number(3),
                .reasoningTokens = query.number(4)};
    }
  }
  const Usage& now = answer.usage;
  Query(database,
        "INSERT INTO answer(session, id, first, branch, quarter, model, certain, input, output, cacheRead, cacheWrite, "
        "reasoning) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12) ON CONFLICT DO UPDATE SET "
        "input = max(input, ?8), output = max(output, ?9), cacheRead = max(cacheRead, ?10), "
        "cacheWrite = max(cacheWrite, ?11), reasoning = max(reasoning, ?12)",
        answer.session, id, answer.sequence, answer.branch, answer.quarter, answer.model, answer.certain,
        now.inputTokens, now.outputTokens, now.cacheReadTokens, now.cacheWriteTokens, now.reasoningTokens)
      .run();
  const auto more = [](std::uint64_t was, std::uint64_t is) { return is > was ? is - was : 0; };
  return {.inputTokens = more(before.inputTokens, now.inputTokens),
          .outputTokens = more(before.outputTokens, now.outputTokens),
          .cacheReadTokens = more(before.cacheReadTokens, now.cacheReadTokens),
          .cacheWriteTokens = more(before.cacheWriteTokens, now.cacheWriteTokens),
          .reasoningTokens = more(before.reasoningTokens, now.reasoningTokens)};
}

void forgetAnswers(Database& database, std::int64_t session, std::uint64_t sequence) {
  Query(database, "DELETE FROM answer WHERE session = ? AND first >= ?", session, sequence).run();
}

}  // namespace bough::catalog
