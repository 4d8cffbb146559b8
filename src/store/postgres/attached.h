// Reads the bytes of attachments from the database, part by part.
#pragma once

#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "store/postgres/schema/database.h"

namespace bough::postgres {

/// Attachments that were read, by digest. A digest that is in neither member is missing in the database.
struct Attached {
  std::unordered_map<std::string, std::string> bytes;
  std::set<std::string> damaged;  ///< Their bytes do not match the digest.

  /// Returns the reason why an attachment is not in `bytes`.
  [[nodiscard]] Error errorFor(const std::string& sha256) const;
};

/// Reads these attachments with one exchange. At most these bytes and one part are in memory.
Result<Attached> readAttached(Database& database, const std::vector<std::string>& sha256s);

}  // namespace bough::postgres
