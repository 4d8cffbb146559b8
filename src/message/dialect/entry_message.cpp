#include "message/dialect/entry_message.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/json/json_scan.h"
#include "base/try.h"
#include "bough/message.h"

namespace bough {
namespace message {
namespace {

constexpr std::string_view kPlainTypes[] = {"user", "assistant", "tool_call", "tool_use", "tool_result"};

}  // namespace

bool isMessageType(std::string_view type) {
  return type == "message" || std::ranges::find(kPlainTypes, type) != std::end(kPlainTypes);
}

std::string withType(std::string_view type, std::string_view payload) {
  std::string dressed = "{\"type\":\"" + std::string(type) + '"';
  const std::size_t first = payload.find_first_not_of(" \t\r\n", payload.find('{') + 1);
  if (first != std::string_view::npos && payload[first] != '}') dressed += ',';
  return dressed.append(payload.substr(payload.find('{') + 1));
}

}  // namespace message

Result<std::optional<Dialect>> namedDialect(const Entry& entry) {
  const auto name = json::findString(entry.payload, "dialect");
  if (!name) return std::optional<Dialect>();
  BOUGH_TRY(const auto dialect, parseDialect(*name));
  return std::optional<Dialect>(dialect);
}

bool holdsMessage(const Entry& entry) {
  return message::isMessageType(entry.type);
}

namespace {

// A bare entry: the type of the entry is the type of the message.
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
  BOUGH_TRY(const auto named, namedDialect(entry));
  const auto stored = json::findMember(entry.payload, "message");
  if (!stored && named) return fail(ErrorCode::InvalidArgument, fmt::format("entry {} has no message", entry.id));
  auto message = normalize(stored.value_or(entry.payload), named.value_or(Dialect::Plain));
  if (!message) message.error().message = fmt::format("entry {}: {}", entry.id, message.error().message);
  return message;
}

}  // namespace bough
