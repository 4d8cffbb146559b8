// Conditions of queries on the rows, and the values that they need.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "bough/catalog.h"
#include "catalog/database/database.h"

namespace bough::catalog {

/// The conditions of one query, added piece by piece, and their values.
class Conditions {
 public:
  using Value = std::variant<std::string, std::uint64_t>;
  /// `values` must have as many elements as `sql` has question marks.
  void add(std::string_view sql, std::vector<Value> values = {});
  /// Returns "" or " WHERE …".
  [[nodiscard]] std::string where() const;
  void bindTo(Query& query) const;

 private:
  std::vector<std::string> parts_;
  std::vector<Value> values_;
};

/// How a filter tests a folder or a prefix of keys: on each row, or through an index. The index is faster when few
/// sessions match, and slower when most do.
enum class RangesBy : std::uint8_t { Row, Index };
RangesBy bestRanges(Database& database, const SessionFilter& filter);

/// Adds the conditions of a filter on the table `session`, except its times.
void addFilter(Conditions& conditions, const SessionFilter& filter, RangesBy rangesBy = RangesBy::Row);

/// The same, including the times: in a list of sessions they apply to the last activity.
Conditions listConditions(const SessionFilter& filter, RangesBy rangesBy = RangesBy::Row);

/// Conditions that a title contains a text, ignoring the case of ASCII letters and accents. Bind titlePart(text). They
/// search an index of the titles, which has a tenth of the size of the rows; for named sessions, a smaller index.
inline constexpr std::string_view kTitleContains =
    "session.id IN (SELECT given.id FROM session AS given WHERE holds_part(given.title, ?))";
inline constexpr std::string_view kNameContains =
    "session.id IN (SELECT given.id FROM session AS given WHERE given.titleSource > 1 AND holds_part(given.title, ?))";
std::string titlePart(std::string_view text);

}  // namespace bough::catalog
