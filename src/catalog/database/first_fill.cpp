#include "catalog/database/first_fill.h"

#include <fmt/format.h>

namespace bough::catalog {

FirstFill::FirstFill(Database& database) : database_(database) {
  std::vector<std::string> names;
  {
    Query indexes(database,
                  "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL AND tbl_name IN "
                  "('session', 'answer')");
    while (indexes.next()) {
      names.push_back(indexes.text(0));
      indexes_.push_back(indexes.text(1));
    }
  }
  for (const std::string& name : names) database.execute(fmt::format("DROP INDEX \"{}\"", name));
}

void FirstFill::end() {
  for (const std::string& make : indexes_) database_.execute(make);
  indexes_.clear();
}

}  // namespace bough::catalog
