#include "catalog/database/answers.h"

#include <map>
#include <string>
#include <utility>

#include "base/bytes/sha256.h"
#include "base/model/usage_counts.h"
#include "catalog/database/usage_columns.h"

namespace bough::catalog {

std::int64_t answerId(const std::string& identity) {
  constexpr std::size_t kDigits = 15;  // so that the number fits into SQLite's signed integers
  return static_cast<std::int64_t>(std::stoull(Sha256::of(identity).substr(0, kDigits), nullptr, 16));
}

std::int64_t modelId(Database& database, const std::string& name) {
  Query(database, "INSERT OR IGNORE INTO model(name) VALUES(?)", name).run();
  Query query(database, "SELECT id FROM model WHERE name = ?", name);
  return query.next() ? query.integer(0) : 0;
}

namespace {

// A summand of the sums in `used`. Negative values are represented by wraparound.
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

// By quarter hour and model: the answers of a session fall into few of these groups.
using UsedParts = std::map<std::pair<std::uint64_t, std::int64_t>, UsedPart>;

UsedPart minus(const UsedPart& part) {
  UsedPart minus{.answers = -part.answers, .uncertain = -part.uncertain};
  for (const auto count : kUsageCounts) minus.tokens.*count = -(part.tokens.*count);
  return minus;
}

void addToSums(Database& database, std::uint64_t quarter, std::int64_t model, const UsedPart& part) {
  Query query(database,
              "INSERT INTO used(quarter, model, answers, uncertain, input, output, cacheRead, cacheWrite, reasoning, "
              "cacheWriteHour) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ON CONFLICT DO UPDATE SET answers = "
              "answers + ?3, uncertain = uncertain + ?4, input = input + ?5, output = output + ?6, cacheRead = "
              "cacheRead + ?7, cacheWrite = cacheWrite + ?8, reasoning = reasoning + ?9, cacheWriteHour = "
              "cacheWriteHour + ?10",
              quarter, model, part.answers, part.uncertain);
  bindUsage(query, part.tokens);
  query.run();
}

void addToSums(Database& database, const UsedParts& parts) {
  for (const auto& [place, part] : parts) addToSums(database, place.first, place.second, part);
}

// Reads `certain` and the counts, starting at this column.
UsedPart partIn(const Query& query, int column) {
  return {.answers = 1, .uncertain = 1 - query.number(column), .tokens = usageIn(query, column + 1)};
}

void addToCopied(Database& database, std::int64_t id) {
  Query(database, "INSERT INTO copied(id) VALUES(?)", id).run();
}

bool isCopied(Database& database, std::int64_t id) {
  Query query(database, "SELECT 1 FROM copied WHERE id = ?", id);
  return query.next();
}

// When another session has the answer and the sums contain it, subtracts it from `parts` and marks it as copied.
bool makeCopied(Database& database, std::int64_t id, Query& other, UsedParts& parts) {
  if (!other.next()) return false;
  parts[{other.number(0), other.integer(1)}] += minus(partIn(other, 2));
  addToCopied(database, id);
  return true;
}

bool makeCopied(Database& database, std::int64_t id, UsedParts& parts) {
  Query other(database, "SELECT quarter, model, certain, " BOUGH_USAGE_COLUMNS " FROM answer WHERE id = ?", id);
  return makeCopied(database, id, other, parts);
}

bool makeCopied(Database& database, std::int64_t id, std::int64_t session, FirstAnswers& first, UsedParts& parts) {
  const std::int64_t* const before = first.find(static_cast<std::uint64_t>(id));
  if (before != nullptr) {
    Query other(database,
                "SELECT quarter, model, certain, " BOUGH_USAGE_COLUMNS " FROM answer WHERE session = ? AND id = ?",
                *before, id);
    if (makeCopied(database, id, other, parts)) return true;
  }
  first.set(static_cast<std::uint64_t>(id), session);
  return false;
}

}  // namespace

void addAnswers(Database& database, const std::vector<std::pair<std::int64_t, Answer>>& answers, FirstAnswers* first) {
  UsedParts parts;
  bool anyCopied = Query(database, "SELECT 1 FROM copied LIMIT 1").next();
  for (const auto& [id, answer] : answers) {
    const bool wasCopied = anyCopied && isCopied(database, id);
    const auto becomesCopied = [&] {
      return first == nullptr ? makeCopied(database, id, parts)
                              : makeCopied(database, id, answer.session, *first, parts);
    };
    if (wasCopied || becomesCopied()) {
      // The sums do not contain it.
    } else if (isUsageUnknown(answer.usage)) {
      addToCopied(database, id);
      anyCopied = true;
    } else {
      parts[{answer.quarter, answer.model}] +=
          {.answers = 1, .uncertain = answer.certain ? 0U : 1U, .tokens = answer.usage};
    }
    Query query(database,
                "INSERT INTO answer(session, id, first, branch, quarter, model, certain, " BOUGH_USAGE_COLUMNS
                ") VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                answer.session, id, answer.sequence, answer.branch, answer.quarter, answer.model, answer.certain);
    bindUsage(query, answer.usage);
    query.run();
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
                "SELECT quarter, model, certain, " BOUGH_USAGE_COLUMNS " FROM answer WHERE session = ? AND id = ?",
                answer.session, id);
    if (!query.next()) {
      addAnswers(database, {{id, answer}});
      return answer.usage;
    }
    quarter = query.number(0);
    model = query.integer(1);
    before = partIn(query, 2).tokens;
  }
  const Usage grown = excessOver(answer.usage, before);
  Query query(database,
              "UPDATE answer SET input = input + ?3, output = output + ?4, cacheRead = cacheRead + ?5, cacheWrite = "
              "cacheWrite + ?6, reasoning = reasoning + ?7, cacheWriteHour = cacheWriteHour + ?8 WHERE session = ?1 "
              "AND id = ?2",
              answer.session, id);
  bindUsage(query, grown);
  query.run();
  if (!isCopied(database, id)) addToSums(database, quarter, model, {.tokens = grown});
  return grown;
}

void removeAnswers(Database& database, std::int64_t session, std::uint64_t sequence) {
  UsedParts gone;
  {
    Query query(database,
                "SELECT quarter, model, certain, " BOUGH_USAGE_COLUMNS
                " FROM answer WHERE session = ? AND first >= ? AND NOT EXISTS(SELECT 1 FROM copied WHERE copied.id = "
                "answer.id)",
                session, sequence);
    while (query.next()) {
      gone[{query.number(0), query.integer(1)}] += minus(partIn(query, 2));
    }
  }
  addToSums(database, gone);
  Query(database, "DELETE FROM answer WHERE session = ? AND first >= ?", session, sequence).run();
}

}  // namespace bough::catalog
