// Converts rows of the catalog to values, and composes statements about them.

#include <fmt/format.h>

#include <algorithm>

#include "base/text/accents.h"
#include "base/text/utf8.h"
#include "store/postgres/catalog/postgres_catalog.h"
#include "store/postgres/schema/schema.h"

namespace bough::postgres {
namespace {

// Returns a LIKE pattern that matches every text that contains `text`.
std::string patternOf(std::string_view text) {
  std::string pattern = "%";
  for (const char c : text) {
    if (c == '%' || c == '_' || c == '\\') pattern += '\\';
    pattern += c;
  }
  return pattern + "%";
}

}  // namespace

std::string Composed::text(std::string_view value) {
  parameters.text(value);
  return fmt::format("${}", parameters.size());
}

std::string Composed::number(std::uint64_t value) {
  parameters.number(bigint(value));
  return fmt::format("${}", parameters.size());
}

void Composed::require(std::string_view condition) {
  sql += hasWhere_ ? " AND " : " WHERE ";
  sql += condition;
  hasWhere_ = true;
}

void Composed::require(const SessionFilter& filter) {
  if (!filter.session.empty()) require("c.session_id = " + text(filter.session));
  if (!filter.agent.empty()) require("c.agent = " + text(filter.agent));
  if (!filter.writtenBy.empty()) {
    std::string agents;
    for (const std::string& agent : filter.writtenBy) agents += (agents.empty() ? "" : ", ") + text(agent);
    require(fmt::format("c.written_by IN ({})", agents));
  }
  if (filter.key.ends_with('*')) {
    require(fmt::format("starts_with(c.key, {})", text(filter.key.substr(0, filter.key.size() - 1))));
  } else if (!filter.key.empty()) {
    require("c.key = " + text(filter.key));
  }
  if (!filter.cwd.empty()) {
    std::string folder = filter.cwd;
    while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
    require(fmt::format("starts_with(c.cwd || '/', {})", text(folder == "/" ? folder : folder + "/")));
  }
  if (filter.named) require(fmt::format("c.title_source > {}", static_cast<int>(TitleSource::Message)));
  if (!filter.title.empty()) {
    // Accents do not count. Only a UTF-8 database can remove them.
    require(
        fmt::format("CASE getdatabaseencoding() WHEN 'UTF8' THEN regexp_replace(normalize(c.title, NFD), {}, '', 'g') "
                    "ELSE c.title END ILIKE {}",
                    text("[\u0300-\u036F]"), text(patternOf(bough::text::withoutAccents(filter.title)))));
  }
  if (filter.condition) require("c.condition = " + number(static_cast<std::uint64_t>(*filter.condition)));
  if (filter.withProblem) require("c.problem <> ''");
}

Call Composed::call(const Database& database) {
  sql = inSchema(sql, database.pool.location().schema);
  return {.sql = sql, .parameters = parameters};
}

std::string_view summaryColumns() {
  return "c.session_id, c.key, c.agent, c.written_by, c.cwd, c.title, c.origin_session, c.origin_entry, c.head_id, "
         "c.problem, "
         "c.title_source, c.created_ms, c.active_ms, c.duration_ms, c.user_messages, c.assistant_messages, "
         "c.tool_messages, c.system_messages, c.tool_calls, c.tool_failures, c.input_tokens, c.output_tokens, "
         "c.cache_read_tokens, c.cache_write_tokens, c.reasoning_tokens, c.cache_write_hour_tokens, c.entries, "
         "c.bytes, c.branches, c.condition, "
         "c.pinned, c.time_to_live_ms, c.taken";
}

SessionSummary summaryFrom(const Rows& rows, int row, int column) {
  SessionSummary summary;
  const auto number = [&] { return static_cast<std::uint64_t>(rows.number(row, column++)); };
  for (std::string* text :
       {&summary.sessionId, &summary.key, &summary.agent, &summary.writtenBy, &summary.cwd, &summary.title}) {
    *text = rows.string(row, column++);
  }
  ForkOrigin origin{.sessionId = rows.string(row, column), .entryId = rows.string(row, column + 1)};
  column += 2;
  if (!origin.sessionId.empty()) summary.origin = std::move(origin);
  summary.headId = rows.string(row, column++);
  summary.problem = rows.string(row, column++);
  summary.titleSource = static_cast<TitleSource>(number());
  Usage& tokens = summary.tokens;
  for (std::uint64_t* each :
       {&summary.createdMs, &summary.activeMs, &summary.durationMs, &summary.userMessages, &summary.assistantMessages,
        &summary.toolMessages, &summary.systemMessages, &summary.toolCalls, &summary.toolFailures, &tokens.inputTokens,
        &tokens.outputTokens, &tokens.cacheReadTokens, &tokens.cacheWriteTokens, &tokens.reasoningTokens,
        &tokens.cacheWriteHourTokens, &summary.entries, &summary.bytes, &summary.branches}) {
    *each = number();
  }
  summary.condition = static_cast<SessionCondition>(number());
  summary.pinned = number() != 0;
  if (!rows.isNull(row, column)) summary.timeToLiveMs = number();
  return summary;
}

std::vector<std::string> summaryTexts(const SessionSummary& summary) {
  const ForkOrigin origin = summary.origin.value_or(ForkOrigin{});
  std::vector<std::string> texts;
  for (const std::string* text : {&summary.key, &summary.agent, &summary.writtenBy, &summary.cwd, &summary.title,
                                  &origin.sessionId, &origin.entryId, &summary.headId, &summary.problem}) {
    texts.push_back(*text);
  }
  return texts;
}

std::vector<std::int64_t> summaryNumbers(const CatalogedSession& session) {
  const SessionSummary& summary = session.summary;
  std::vector<std::int64_t> numbers;
  for (const std::uint64_t each :
       {session.taken, session.indexed, static_cast<std::uint64_t>(summary.titleSource), summary.createdMs,
        summary.activeMs, summary.durationMs, summary.userMessages, summary.assistantMessages, summary.toolMessages,
        summary.systemMessages, summary.toolCalls, summary.toolFailures, summary.entries, summary.bytes,
        summary.branches, static_cast<std::uint64_t>(summary.condition), std::uint64_t{summary.pinned ? 1U : 0U}}) {
    numbers.push_back(bigint(each));
  }
  numbers.push_back(summary.timeToLiveMs ? bigint(*summary.timeToLiveMs) : -1);
  return numbers;
}

}  // namespace bough::postgres
