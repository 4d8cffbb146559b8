#include "catalog/database/conditions.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace bough::catalog {

std::string likePattern(std::string_view text) {
  std::string out = "%";
  for (const char c : text) {
    if (c == '%' || c == '_' || c == '\\') out += '\\';
    out += c;
  }
  return out + "%";
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
  for (const Value& value : values_) std::visit([&](const auto& each) { query.bind(each); }, value);
}

void addFilter(Conditions& conditions, const SessionFilter& filter) {
  const auto begins = [&](std::string_view column, const std::string& text) {
    conditions.add(fmt::format("substr({}, 1, length(?)) = ?", column), {text, text});
  };
  if (!filter.session.empty()) conditions.add("session.sessionId = ?", {filter.session});
  if (!filter.agent.empty()) conditions.add("session.agent = ?", {filter.agent});
  if (!filter.writtenBy.empty()) {
    std::string marks;
    for (std::size_t i = 0; i < filter.writtenBy.size(); ++i) marks += marks.empty() ? "?" : ", ?";
    conditions.add(fmt::format("session.writtenBy IN ({})", marks), {filter.writtenBy.begin(), filter.writtenBy.end()});
  }
  if (filter.key.ends_with('*')) {
    begins("session.key", filter.key.substr(0, filter.key.size() - 1));
  } else if (!filter.key.empty()) {
    conditions.add("session.key = ?", {filter.key});
  }
  if (!filter.cwd.empty()) {
    std::string folder = filter.cwd;
    while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
    begins("session.cwd || '/'", folder == "/" ? folder : folder + "/");
  }
  static_assert(static_cast<int>(TitleSource::Message) == 1);
  if (filter.named) conditions.add("session.titleSource > 1");
  if (!filter.title.empty()) conditions.add(filter.named ? kNameHolds : kTitleHolds, {likePattern(filter.title)});
  if (filter.condition) conditions.add("session.condition = ?", {static_cast<std::uint64_t>(*filter.condition)});
}

}  // namespace bough::catalog
