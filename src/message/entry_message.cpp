// The message that an entry holds, and the dialect it is in.
#include <fmt/format.h>

#include "base/json_scan.h"
#include "bough/message.h"
#include "message/request.h"

namespace bough {

Result<std::optional<Dialect>> namedDialect(const Entry& entry) {
  const auto name = json::findString(entry.payload, "dialect");
  if (!name) return std::optional<Dialect>();
  const auto dialect = parseDialect(*name);
  if (!dialect) return std::unexpected(dialect.error());
  return std::optional<Dialect>(*dialect);
}

bool holdsMessage(const Entry& entry) {
  return message::isMessageType(entry.type);
}

namespace {

// A bare entry: its own type says what it is.
Result<Message> normalizeBare(const Entry& entry) {
  std::forward_list<std::string> dressed;
  dressed.push_front(message::withType(entry.type, entry.payload));
  auto message = normalize(dressed.front(), Dialect::Plain);
  if (message) message->owned.splice_after(message->owned.before_begin(), dressed);
  return message;
}

}  // namespace

Result<Message> normalizeEntry(const Entry& entry) {
  if (entry.type != entry_type::kMessage && holdsMessage(entry)) return normalizeBare(entry);
  const auto named = namedDialect(entry);
  if (!named) return std::unexpected(named.error());
  const auto stored = json::findMember(entry.payload, "message");
  if (!stored && *named) return fail(ErrorCode::InvalidArgument, fmt::format("entry {} has no message", entry.id));
  auto message = normalize(stored.value_or(entry.payload), named->value_or(Dialect::Plain));
  if (!message) message.error().message = fmt::format("entry {}: {}", entry.id, message.error().message);
  return message;
}

}  // namespace bough
