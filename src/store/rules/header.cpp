#include "store/rules/header.h"

#include <fmt/format.h>

#include "base/json/json_scan.h"
#include "base/json/json_write.h"
#include "base/model/ids.h"
#include "base/try.h"

namespace bough {
namespace {

// Copies the members of an object, without the braces, except those in `skip`.
void copyMembers(json::Writer& writer, std::string_view object, std::initializer_list<std::string_view> skip) {
  json::ObjectReader members(object);
  while (const auto member = members.next()) {
    bool skipped = false;
    for (const std::string_view name : skip) skipped = skipped || member->keyIs(name);
    const std::string_view quotedKey(member->key.data() - 1, member->key.size() + 2);
    if (!skipped) writer.key(json::decodeString(quotedKey).value_or("")).raw(member->value);
  }
}

// Returns the text of a member from the rest of a damaged object; empty when it cannot be read.
std::string memberNamedIn(std::string_view damaged, std::string_view name) {
  const std::size_t at = damaged.find(fmt::format("\"{}\":", name));
  if (at == std::string_view::npos) return {};
  const std::string rest = "{" + std::string(damaged.substr(at));
  const auto value = json::findMember(rest, name);
  return value && json::check(*value) ? std::string(*value) : std::string();
}

int readFormat(std::string_view payload) {
  if (!json::findMember(payload, "format")) return 0;
  const auto number = json::findUnsigned(payload, "format");
  return number && *number < kUnknownFormat ? static_cast<int>(*number) : kUnknownFormat;
}

}  // namespace

Result<void> checkSessionId(const std::string& sessionId) {
  if (isSessionId(sessionId)) return {};
  return fail(ErrorCode::InvalidArgument, fmt::format("\"{}\" is not a session id", sessionId.substr(0, 120)),
              "session ids are 1 to 100 of [A-Za-z0-9._-] without a leading dot");
}

HeaderInfo readHeader(const Entry& first) {
  HeaderInfo info;
  if (first.type != entry_type::kSessionHeader) return info;
  info.format = readFormat(first.payload);
  info.key = json::findString(first.payload, "key").value_or("");
  info.cwd = json::findString(first.payload, "cwd").value_or("");
  if (const auto parent = json::findMember(first.payload, "parentSession")) {
    auto session = json::findString(*parent, "sessionId");
    auto entry = json::findString(*parent, "entryId");
    if (session && entry) info.origin = ForkOrigin{.sessionId = std::move(*session), .entryId = std::move(*entry)};
  }
  return info;
}

std::string unknownFormat(int format) {
  if (format == kUnknownFormat) return "the header names a format that this version of bough does not know";
  return fmt::format("format {} is newer than this version of bough knows", format);
}

Error newerFormatError(int format, std::string_view sessionId, std::string_view path) {
  return {.code = ErrorCode::NewerFormat,
          .message = fmt::format("session {}: {} ({}, byte 0)", sessionId, unknownFormat(format), path),
          .hint = "upgrade bough; until then it can be read, not written"};
}

Result<void> refuseForeignFile(const Entry& first, std::string_view sessionId, std::string_view path) {
  if (first.payload != "{}" || first.extra.empty()) return {};
  const std::string members = "{" + first.extra + "}";
  const auto has = [&](std::string_view name) { return json::findMember(members, name).has_value(); };
  const bool isPlain = (first.type == "user" || first.type == "assistant" || first.type == "system") && has("content");
  const bool isCall = (first.type == "tool_call" || first.type == "tool_use" || first.type == "tool_result") &&
                      (has("content") || has("name") || has("tool_call_id"));
  const bool isPi = first.type == "session" || (first.type == entry_type::kMessage && has("message"));
  if (!isPlain && !isCall && !isPi) return {};
  return fail(ErrorCode::Damaged,
              fmt::format("session {} is not a log of bough but holds the lines of another tool ({})", sessionId, path),
              fmt::format("`bough show {0}` reads them as they are; to bring them into the store, move the file out "
                          "of it and `bough import` it from there",
                          path));
}

Result<void> checkFormat(const Entry& first, std::string_view sessionId, std::string_view path, std::uint64_t offset,
                         int known) {
  const int format = readHeader(first).format;
  if (format == known) return {};
  if (format > known) return std::unexpected(newerFormatError(format, sessionId, path));
  if (first.type == entry_type::kSessionHeader) {
    return fail(ErrorCode::MigrationNeeded,
                fmt::format("session {} is in format {}: it can be read, not written", sessionId, format),
                fmt::format("run `bough migrate {}`; the old file is kept", sessionId));
  }
  BOUGH_TRY(refuseForeignFile(first, sessionId, path));
  if (offset > 0) {
    return fail(
        ErrorCode::MigrationNeeded,
        fmt::format("the header of session {} cannot be read ({}, byte 0): it can be read, not written", sessionId,
                    path),
        fmt::format("bring the first line back from a copy; or run `bough migrate {}`, which makes a new header "
                    "and keeps the old file",
                    sessionId));
  }
  return fail(ErrorCode::MigrationNeeded,
              fmt::format("session {} has no header ({}, byte 0): it can be read, not written", sessionId, path),
              fmt::format("run `bough migrate {}`; the old file is kept", sessionId));
}

std::string makeHeaderPayload(const NewSession& session, const std::optional<ForkOrigin>& origin, int format) {
  json::Writer writer;
  writer.beginObject().member("format", static_cast<std::uint64_t>(format)).member("sessionId", session.sessionId);
  if (!session.key.empty()) writer.member("key", session.key);
  if (!session.cwd.empty()) writer.member("cwd", session.cwd);
  if (origin) {
    writer.key("parentSession").beginObject();
    writer.member("sessionId", origin->sessionId).member("entryId", origin->entryId).endObject();
  }
  return writer.endObject().take();
}

std::string upgradeHeaderPayload(std::string_view payload, std::string_view sessionId, int format) {
  json::Writer writer;
  writer.beginObject().member("format", static_cast<std::uint64_t>(format)).member("sessionId", sessionId);
  copyMembers(writer, payload, {"format", "sessionId"});
  return writer.endObject().take();
}

std::optional<ForkOrigin> originNamedIn(std::string_view damaged) {
  constexpr std::string_view kKey = R"("parentSession":)";
  const std::size_t at = damaged.find(kKey);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view object = damaged.substr(at + kKey.size());
  auto session = json::findString(object, "sessionId");
  if (!session) return std::nullopt;
  return ForkOrigin{.sessionId = std::move(*session), .entryId = json::findString(object, "entryId").value_or("")};
}

std::optional<int> formatNamedIn(std::string_view damaged) {
  const std::size_t at = damaged.find(R"("format":)");
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = damaged.substr(at);
  const std::string member = "{" + std::string(rest.substr(0, rest.find_first_of(",}"))) + "}";
  return readFormat(member);
}

std::string rebuiltHeaderPayload(std::string_view damaged, std::string_view sessionId,
                                 const std::optional<ForkOrigin>& origin, int format) {
  std::string_view line = damaged.substr(0, damaged.find('\n'));
  const bool isHeader = line.contains(entry_type::kSessionHeader) || line.contains(R"("payload":{"format":)");
  if (!isHeader) line = {};
  const auto textOf = [&](std::string_view name) { return json::decodeString(memberNamedIn(line, name)).value_or(""); };
  NewSession session{.sessionId = std::string(sessionId), .key = textOf("key"), .cwd = textOf("cwd")};
  if (!isSessionKey(session.key)) session.key.clear();
  std::string payload = makeHeaderPayload(session, origin, format);
  if (origin) return payload;
  for (const std::string_view name : {"detachedFrom", "rootSession"}) {
    const std::string value = memberNamedIn(line, name);
    if (!value.empty()) payload.insert(payload.size() - 1, fmt::format(",\"{}\":{}", name, value));
  }
  return payload;
}

std::string detachHeaderPayload(std::string_view payload, std::string_view root) {
  const auto parent = json::findMember(payload, "parentSession");
  if (!parent) return std::string(payload);
  json::Writer writer;
  writer.beginObject();
  copyMembers(writer, payload, {"parentSession", "rootSession"});
  writer.key("detachedFrom").raw(*parent).member("rootSession", root);
  return writer.endObject().take();
}

bool isSameHeaderPayload(std::string_view left, std::string_view right) {
  const auto rest = [](std::string_view payload) {
    json::Writer writer;
    writer.beginObject();
    copyMembers(writer, payload, {"rootSession"});
    return writer.endObject().take();
  };
  return left == right || rest(left) == rest(right);
}

std::string labelPayload(std::string_view name, std::optional<std::string_view> entryId) {
  json::Writer writer;
  writer.beginObject().key("entryId");
  entryId ? writer.string(*entryId) : writer.null();
  return writer.member("name", name).endObject().take();
}

}  // namespace bough
