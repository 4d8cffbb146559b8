#include "catalog/database/conditions.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "base/text/accents.h"

namespace bough::catalog {

std::string titlePart(std::string_view text) {
  std::string out = text::withoutAccents(text);
  std::ranges::transform(out, out.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; });
  return out;
}

void Conditions::add(std::string_view sql, std::vector<Value> values) {
  parts_.emplace_back(sql);
  std::ranges::move(values, std::back_inserter(values_));
}

std::string Conditions::where() const {
  std::string sql;
  for (const std::string& part : parts_) sql += (sql.empty() ? " WHERE " : " AND ") + part;
  return sql;
}

void Conditions::bindTo(Query& query) const {
  for (const Value& value : values_) {
    if (const auto* text = std::get_if<std::string>(&value))
      query.bind(*text);
    else  // SQLite's integers are signed
      query.bind(std::min<std::uint64_t>(std::get<std::uint64_t>(value), INT64_MAX));
  }
}

namespace {

// Texts with the same prefix form a range of an index.
struct Range {
  std::string where;                      // a condition on the columns of `session`
  std::vector<Conditions::Value> values;  // for the question marks of the condition
};

std::string withoutEnd(std::string folder) {
  while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
  return folder;
}

// Returns the range of keys that begin with the text before the filter's `*`. The index of keys omits sessions without
// a key, so the condition must exclude them too.
std::optional<Range> keyRange(const std::string& key) {
  if (key.size() < 2 || !key.ends_with('*')) return std::nullopt;
  const std::string beginning = key.substr(0, key.size() - 1);
  return Range{.where = "key <> '' AND key >= ? AND key < ?", .values = {beginning, beginning + "\xFF"}};
}

// The folder itself, and everything below it: `folder/` up to `folder0`, the next text in byte order.
std::optional<Range> folderRange(const std::string& cwd) {
  const std::string folder = withoutEnd(cwd);
  if (folder.empty() || folder == "/") return std::nullopt;
  return Range{.where = "cwd = ? OR (cwd >= ? AND cwd < ?)", .values = {folder, folder + "/", folder + "0"}};
}

void requireIn(Conditions& conditions, const Range& range) {
  conditions.add(fmt::format("session.id IN (SELECT id FROM session WHERE {})", range.where), range.values);
}

void requireBeginning(Conditions& conditions, std::string_view column, const std::string& text) {
  conditions.add(fmt::format("substr({}, 1, length(?)) = ?", column), {text, text});
}

void requireKey(Conditions& conditions, const std::string& key, RangesBy rangesBy) {
  const auto range = keyRange(key);
  if (range && rangesBy == RangesBy::Index) return requireIn(conditions, *range);
  if (key.ends_with('*')) return requireBeginning(conditions, "session.key", key.substr(0, key.size() - 1));
  if (!key.empty()) conditions.add("session.key <> '' AND session.key = ?", {key});
}

void requireFolder(Conditions& conditions, const std::string& cwd, RangesBy rangesBy) {
  const auto range = folderRange(cwd);
  if (range && rangesBy == RangesBy::Index) return requireIn(conditions, *range);
  const std::string folder = withoutEnd(cwd);
  if (!folder.empty()) requireBeginning(conditions, "session.cwd || '/'", folder == "/" ? folder : folder + "/");
}

bool isFew(Database& database, const std::optional<Range>& range) {
  constexpr std::size_t kMinMatches = 1000;
  if (!range) return false;
  Query query(database, fmt::format("SELECT 1 FROM session WHERE {} LIMIT 1 OFFSET {}", range->where, kMinMatches));
  Conditions conditions;
  conditions.add(range->where, range->values);
  conditions.bindTo(query);
  return !query.next();
}

}  // namespace

void addFilter(Conditions& conditions, const SessionFilter& filter, RangesBy rangesBy) {
  if (!filter.session.empty()) conditions.add("session.sessionId = ?", {filter.session});
  if (!filter.agent.empty()) conditions.add("session.agent <> '' AND session.agent = ?", {filter.agent});
  if (!filter.writtenBy.empty()) {
    // A session may be in the files of several agents.
    constexpr std::string_view kIsOne = "instr(',' || session.writtenBy || ',', ',' || ? || ',') > 0";
    std::string isAny;
    for (std::size_t i = 0; i < filter.writtenBy.size(); ++i)
      isAny += fmt::format("{}{}", i == 0 ? "" : " OR ", kIsOne);
    conditions.add(fmt::format("({})", isAny), {filter.writtenBy.begin(), filter.writtenBy.end()});
  }
  requireKey(conditions, filter.key, rangesBy);
  requireFolder(conditions, filter.cwd, rangesBy);
  static_assert(static_cast<int>(TitleSource::Message) == 1);
  if (filter.named) conditions.add("session.titleSource > 1");
  if (!filter.title.empty()) conditions.add(filter.named ? kNameContains : kTitleContains, {titlePart(filter.title)});
  if (filter.condition) conditions.add("session.condition = ?", {static_cast<std::uint64_t>(*filter.condition)});
  if (filter.withProblem) conditions.add("session.problem <> ''");
}

Conditions listConditions(const SessionFilter& filter, RangesBy rangesBy) {
  Conditions conditions;
  addFilter(conditions, filter, rangesBy);
  if (filter.sinceMs) conditions.add("session.activeMs >= ?", {*filter.sinceMs});
  if (filter.untilMs) conditions.add("session.activeMs < ?", {*filter.untilMs});
  return conditions;
}

RangesBy bestRanges(Database& database, const SessionFilter& filter) {
  const bool few = isFew(database, folderRange(filter.cwd)) || isFew(database, keyRange(filter.key));
  return few ? RangesBy::Index : RangesBy::Row;
}

}  // namespace bough::catalog
