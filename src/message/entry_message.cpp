// The message that an entry holds, and the dialect it is in.
#include <fmt/format.h>

#include "base/json_scan.h"
#include "bough/message.h"

namespace bough {

Result<std::optional<Dialect>> namedDialect(const Entry& entry) {
  const auto name = json::findString(entry.payload, "dialect");
  if (!name) return std::optional<Dialect>();
  const auto dialect = parseDialect(*name);
  if (!dialect) return std::unexpected(dialect.error());
  return std::optional<Dialect>(*dialect);
}

Result<Message> normalizeEntry(const Entry& entry) {
  const auto named = namedDialect(entry);
  if (!named) return std::unexpected(named.error());
  const auto stored = json::findMember(entry.payload, "message");
  if (!stored && *named) return fail(ErrorCode::InvalidArgument, fmt::format("entry {} has no message", entry.id));
  auto message = normalize(stored.value_or(entry.payload), named->value_or(Dialect::Plain));
  if (!message) message.error().message = fmt::format("entry {}: {}", entry.id, message.error().message);
  return message;
}

}  // namespace bough
