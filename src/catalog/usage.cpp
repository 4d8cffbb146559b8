// How Catalog sums up usage.

#include "bough/catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <ctime>
#include <map>
#include <set>
#include <unordered_map>

#include "base/model/merge_by_id.h"
#include "base/model/usage_counts.h"
#include "base/try.h"
#include "catalog/catalog_state.h"
#include "catalog/database/conditions.h"
#include "catalog/database/usage_columns.h"
#include "catalog/usage_groups.h"

namespace bough {

using catalog::Conditions;
using catalog::Query;

namespace {

constexpr std::uint64_t kQuarterSeconds = 900;

// Returns by how many seconds the local time zone is ahead of UTC at that time.
std::int64_t zoneSeconds(std::int64_t epochSeconds) {
  const std::time_t when = epochSeconds;
  std::tm local{};
  return ::localtime_r(&when, &local) == nullptr ? 0 : local.tm_gmtoff;
}

// Returns the name of the day, week or month that contains a quarter of an hour.
std::string periodName(std::uint64_t quarter, UsageBy by, bool localTime) {
  using namespace std::chrono;
  auto at = static_cast<std::int64_t>(quarter * kQuarterSeconds);
  if (localTime) at += zoneSeconds(at);
  const sys_days day = floor<days>(sys_seconds(seconds(at)));
  const year_month_day date(day);
  if (by == UsageBy::Day) {
    return fmt::format("{:04}-{:02}-{:02}", int(date.year()), unsigned(date.month()), unsigned(date.day()));
  }
  if (by == UsageBy::Hour) {
    return fmt::format("{:04}-{:02}-{:02} {:02}:00", int(date.year()), unsigned(date.month()), unsigned(date.day()),
                       floor<hours>(sys_seconds(seconds(at)) - day).count());
  }
  if (by == UsageBy::Month) return fmt::format("{:04}-{:02}", int(date.year()), unsigned(date.month()));
  // ISO 8601: a week belongs to the year that contains its Thursday.
  const sys_days thursday = day - days(weekday(day).iso_encoding() - 1) + days(3);
  const year itsYear = year_month_day(thursday).year();
  const auto week = (thursday - sys_days(itsYear / January / 1)).count() / 7 + 1;
  return fmt::format("{:04}-W{:02}", int(itsYear), week);
}

// Returns the expression that groups the rows.
std::string_view groupOf(UsageBy by) {
  switch (by) {
    case UsageBy::Session: return "session.sessionId";
    case UsageBy::Key: return "session.key";
    case UsageBy::Model: return "answer.model";
    case UsageBy::Branch: return "answer.branch";
    default: return "answer.quarter";
  }
}

bool isPeriod(UsageBy by) {
  return by == UsageBy::Day || by == UsageBy::Week || by == UsageBy::Month || by == UsageBy::Hour;
}

// The usage of one model.
struct ModelSum {
  std::uint64_t messages = 0;
  std::uint64_t withoutId = 0;
  std::uint64_t withoutUsage = 0;
  Usage tokens;
};

// Collects sums by group and model, then computes their costs.
class Summing {
 public:
  explicit Summing(const PriceTable& prices) : prices_(prices) {}

  /// The reference stays valid.
  ModelSum& of(const std::string& name, const std::string& model) { return groups_[name][model]; }

  void add(const std::string& name, const std::string& model, const ModelSum& part) {
    ModelSum& sum = of(name, model);
    sum.messages += part.messages;
    sum.withoutId += part.withoutId;
    sum.withoutUsage += part.withoutUsage;
    sum.tokens += part.tokens;
  }

  UsageReport report(UsageBy by) {
    UsageReport report;
    std::set<std::string> unknown;
    std::map<std::string, ModelUsage> allModels;
    for (const auto& [name, models] : groups_) {
      UsageRow& row = report.rows.emplace_back();
      row.name = name;
      for (const auto& [model, sum] : models) {
        auto cost = prices_.cost(model, sum.tokens);
        if (!cost) unknown.insert(model.empty() ? "(no model)" : model);
        if (sum.withoutUsage == sum.messages) cost.reset();
        row.byModel.push_back({.model = model, .messages = sum.messages, .tokens = sum.tokens, .costUsd = cost});
        for (UsageRow* each : {&row, &report.total}) {
          each->messages += sum.messages;
          each->withoutId += sum.withoutId;
          each->withoutUsage += sum.withoutUsage;
          each->tokens += sum.tokens;
          each->costUsd += cost.value_or(0);
          each->costKnown = each->costKnown && cost.has_value() && sum.withoutUsage == 0;
        }
        row.models.push_back(model);
        ModelUsage& all = allModels[model];
        all.model = model;
        all.messages += sum.messages;
        all.tokens += sum.tokens;
        if (cost) all.costUsd = all.costUsd.value_or(0) + *cost;
      }
    }
    if (!isPeriod(by)) {
      std::ranges::stable_sort(report.rows, [](const UsageRow& a, const UsageRow& b) {
        return std::tuple(a.costUsd, a.tokens.outputTokens) > std::tuple(b.costUsd, b.tokens.outputTokens);
      });
    }
    report.total.name = "total";
    for (auto& [model, used] : allModels) {
      report.total.models.push_back(model);
      report.total.byModel.push_back(std::move(used));
    }
    report.unknownModels.assign(unknown.begin(), unknown.end());
    return report;
  }

 private:
  const PriceTable& prices_;
  std::map<std::string, std::map<std::string, ModelSum>> groups_;
};

Conditions conditionsOf(const UsageOptions& options) {
  Conditions conditions;
  catalog::addFilter(conditions, {.agent = options.agent,
                                  .key = options.key,
                                  .cwd = options.cwd,
                                  .session = options.session,
                                  .writtenBy = options.writtenBy});
  constexpr std::uint64_t kQuarterMs = kQuarterSeconds * 1000;
  if (options.sinceMs) conditions.add("answer.quarter >= ?", {*options.sinceMs / kQuarterMs});
  if (options.untilMs) conditions.add("answer.quarter < ?", {(*options.untilMs + kQuarterMs - 1) / kQuarterMs});
  if (!options.model.empty()) conditions.add("model.name = ?", {options.model});
  return conditions;
}

void takeSums(Query& query, const UsageOptions& options, Summing& sums) {
  while (query.next()) {
    const std::string model = query.text(1);
    const std::string name = options.by == UsageBy::Model ? model
                             : isPeriod(options.by)       ? periodName(query.number(0), options.by, options.localTime)
                                                          : query.text(0);
    sums.add(name, model,
             {.messages = query.number(2),
              .withoutId = query.number(3),
              .withoutUsage = query.number(4),
              .tokens = catalog::usageIn(query, 5)});
  }
}

bool isOfAll(const UsageOptions& options) {
  return (isPeriod(options.by) || options.by == UsageBy::Model) && options.agent.empty() && options.key.empty() &&
         options.cwd.empty() && options.session.empty() && options.writtenBy.empty();
}

// An answer that several sessions contain counts once, for the selected session with the smallest id. With min(),
// SQLite takes the other columns from the row that has the minimum.
void sumAnswers(catalog::Database& database, const UsageOptions& options, std::string_view answers, Summing& sums) {
  const Conditions conditions = conditionsOf(options);
  Query query(
      database,
      fmt::format("SELECT place, model.name, count(*), sum(1 - certain), " BOUGH_WITHOUT_USAGE ", " BOUGH_USAGE_SUMS
                  " FROM (SELECT min(session.sessionId), {0} AS place, answer.model AS model, certain, "
                  "answer.input, answer.output, answer.cacheRead, answer.cacheWrite, answer.reasoning, "
                  "answer.cacheWriteHour FROM {1} JOIN session ON session.id = answer.session "
                  "JOIN model ON model.id = answer.model{2} GROUP BY answer.id) AS answers JOIN model ON "
                  "model.id = answers.model GROUP BY place, answers.model",
                  groupOf(options.by), answers, conditions.where()));
  conditions.bindTo(query);
  takeSums(query, options, sums);
}

// The same for periods or models of all sessions. The catalog maintains the sums of the answers that have usage and are
// in only one session.
void sumAll(catalog::Database& database, const UsageOptions& options, Summing& sums) {
  Conditions conditions = conditionsOf(options);
  conditions.add("answers > 0");
  Query query(database, fmt::format("SELECT quarter, model.name, answers, uncertain, 0, " BOUGH_USAGE_COLUMNS
                                    " FROM used AS answer JOIN model ON model.id = answer.model{}",
                                    conditions.where()));
  conditions.bindTo(query);
  takeSums(query, options, sums);
  sumAnswers(database, options, "copied CROSS JOIN answer ON answer.id = copied.id", sums);
}

// Adds the title to rows of sessions, and names rows of branches by their last entry.
void nameRows(catalog::Database& database, const UsageOptions& options, std::vector<UsageRow>& rows) {
  for (UsageRow& row : rows) {
    if (options.by == UsageBy::Session) {
      Query query(database, "SELECT title FROM session WHERE sessionId = ?", row.name);
      if (query.next()) row.title = query.text(0);
    } else if (options.by == UsageBy::Branch) {
      Query query(
          database,
          "SELECT tipId FROM branch JOIN session ON session.id = branch.session WHERE sessionId = ? AND number = "
          "CAST(? AS INTEGER)",
          options.session, row.name);
      if (query.next()) row.name = query.text(0);
    }
  }
}

UsageReport reportOf(const std::vector<UsageSum>& parts, const UsageOptions& options) {
  Summing sums(options.prices == nullptr ? PriceTable::builtIn() : *options.prices);
  std::map<std::string, std::string> titles;
  for (const UsageSum& part : parts) {
    std::string name = part.name;
    if (isPeriod(options.by)) {
      std::uint64_t quarter = 0;
      std::from_chars(name.data(), name.data() + name.size(), quarter);
      name = periodName(quarter, options.by, options.localTime);
    }
    sums.add(name, part.model,
             {.messages = part.messages,
              .withoutId = part.withoutId,
              .withoutUsage = part.withoutUsage,
              .tokens = part.tokens});
    if (!part.title.empty()) titles[name] = part.title;
  }
  UsageReport report = sums.report(options.by);
  for (UsageRow& row : report.rows) {
    if (const auto title = titles.find(row.name); title != titles.end()) row.title = title->second;
  }
  return report;
}

}  // namespace

UsageReport sumUsage(std::vector<AnswerUsage> answers, const UsageOptions& options) {
  constexpr std::uint64_t kQuarterMs = kQuarterSeconds * 1000;
  mergeById(answers, [](AnswerUsage& known, const AnswerUsage& other) {
    if (other.session < known.session) {
      known = other;
    } else if (other.session == known.session) {
      raiseTo(known.tokens, other.tokens);
    }
  });
  Summing sums(options.prices == nullptr ? PriceTable::builtIn() : *options.prices);
  // Keyed by address and length of a model's name: there are few names, and the same name at two addresses leads to the
  // same sums.
  std::map<std::pair<const char*, std::size_t>, std::unordered_map<std::uint64_t, ModelSum*>> sumsOf;
  for (const AnswerUsage& answer : answers) {
    const std::uint64_t quarter = answer.timeMs / kQuarterMs;
    if (options.sinceMs && quarter < *options.sinceMs / kQuarterMs) continue;
    if (options.untilMs && quarter >= (*options.untilMs + kQuarterMs - 1) / kQuarterMs) continue;
    if (!options.model.empty() && answer.model != options.model) continue;
    ModelSum*& sum = sumsOf[{answer.model.data(), answer.model.size()}][quarter];
    if (sum == nullptr) {
      const std::string model(answer.model);
      sum = &sums.of(options.by == UsageBy::Model ? model : periodName(quarter, options.by, options.localTime), model);
    }
    ++sum->messages;
    sum->withoutId += answer.certain ? 0 : 1;
    sum->withoutUsage += isUsageUnknown(answer.tokens) && answer.model != catalog::kNoModel ? 1U : 0U;
    sum->tokens += answer.tokens;
  }
  return sums.report(options.by);
}

Result<UsageReport> Catalog::usage(const UsageOptions& options) {
  if (options.by == UsageBy::Block) return catalog::usageByBlock(*this, options);
  if (options.by == UsageBy::Folder) return catalog::usageByFolder(*this, options);
  if (options.by == UsageBy::Branch && options.session.empty()) {
    return fail(ErrorCode::InvalidArgument, "branches are those of one session", "name the session as well");
  }
  if (state_->source != nullptr) {
    BOUGH_TRY(const auto parts, state_->askSource([&](CatalogSource& source) { return source.usage(options); }));
    return reportOf(parts, options);
  }
  return state_->answerFromSnapshot([&]() -> Result<UsageReport> {
    Summing sums(options.prices == nullptr ? PriceTable::builtIn() : *options.prices);
    if (isOfAll(options)) {
      sumAll(*state_->database, options, sums);
    } else {
      sumAnswers(*state_->database, options, "answer", sums);
    }
    UsageReport report = sums.report(options.by);
    nameRows(*state_->database, options, report.rows);
    BOUGH_TRY(state_->database->takeFailure());
    return report;
  });
}

}  // namespace bough
