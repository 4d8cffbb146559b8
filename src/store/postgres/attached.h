// The bytes of attachments, read from the database part by part.
#pragma once

#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "store/postgres/schema/database.h"

namespace bough::postgres {

/// What was read of some attachments, by digest. One that is in neither is missing.
struct Attached {
  std::unordered_map<std::string, std::string> bytes;
  std::set<std::string> damaged;  ///< Their bytes are not what the digest says.

  /// Why an attachment is not among the bytes.
  [[nodiscard]] Error whyNot(const std::string& sha256) const;
};

/// One exchange. Nobody holds more than these bytes and one part.
Result<Attached> readAttached(Database& database, const std::vector<std::string>& sha256s);

}  // namespace bough::postgres
