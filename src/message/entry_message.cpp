// The message that an entry holds.
#include <fmt/format.h>

#include "base/json_scan.h"
#include "bough/message.h"

namespace bough {

Result<Message> normalizeEntry(const Entry& entry) {
  const auto name = json::findString(entry.payload, "dialect");
  const auto dialect = name ? parseDialect(*name) : Result<Dialect>(Dialect::Plain);
  if (!dialect) return std::unexpected(dialect.error());
  const auto stored = json::findMember(entry.payload, "message");
  if (!stored && name) return fail(ErrorCode::InvalidArgument, fmt::format("entry {} has no message", entry.id));
  auto message = normalize(stored.value_or(entry.payload), *dialect);
  if (!message) message.error().message = fmt::format("entry {}: {}", entry.id, message.error().message);
  return message;
}

}  // namespace bough
