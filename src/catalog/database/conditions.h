// What is asked of the rows: conditions and the values they need.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "bough/catalog.h"
#include "catalog/database/database.h"

namespace bough::catalog {

/// Conditions of a query, put together piece by piece, and the values they need.
class Conditions {
 public:
  using Value = std::variant<std::string, std::uint64_t>;
  /// As many values as `sql` has question marks.
  void add(std::string_view sql, std::vector<Value> values = {});
  /// "" or " WHERE …".
  [[nodiscard]] std::string where() const;
  void bindTo(Query& query) const;

 private:
  std::vector<std::string> parts_;
  std::vector<Value> values_;
};

/// How a filter asks for a folder and for keys that begin alike: row by row, or through an index. The index is better
/// where few sessions are like that, and worse where most are.
enum class RangesBy : std::uint8_t { Row, Index };
RangesBy bestRanges(Database& database, const SessionFilter& filter);

/// What a filter asks of the table `session`, except its times.
void addFilter(Conditions& conditions, const SessionFilter& filter, RangesBy rangesBy = RangesBy::Row);

/// The same with its times, as a list of sessions takes them: when a session was last active.
Conditions listConditions(const SessionFilter& filter, RangesBy rangesBy = RangesBy::Row);

/// A condition that a title holds a text; neither the case of ASCII letters nor accents count. Its value is
/// titlePart(text). The titles are looked through in their index, which is a tenth of the rows; those of sessions that
/// have a name, in one that is smaller.
inline constexpr std::string_view kTitleHolds =
    "session.id IN (SELECT given.id FROM session AS given WHERE holds_part(given.title, ?))";
inline constexpr std::string_view kNameHolds =
    "session.id IN (SELECT given.id FROM session AS given WHERE given.titleSource > 1 AND holds_part(given.title, ?))";
std::string titlePart(std::string_view text);

}  // namespace bough::catalog
