#include "serve/mcp_resources.h"

#include <fmt/format.h>

#include <charconv>

#include "base/json/json_scan.h"
#include "base/json/json_write.h"
#include "base/model/out_of_date.h"
#include "base/try.h"
#include "serve/session_text.h"

namespace bough::serve {
namespace {

constexpr std::string_view kScheme = "bough://session/";
constexpr std::size_t kPageSessions = 50;

std::optional<std::uint64_t> parseNumber(std::string_view text) {
  std::uint64_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || rest != text.data() + text.size() || text.empty()) return std::nullopt;
  return number;
}

RpcError rpcError(const Error& error) {
  const bool isCallersError = error.code == ErrorCode::NotFound || error.code == ErrorCode::InvalidArgument;
  return {isCallersError ? RpcCode::InvalidParams : RpcCode::InternalError, error.message};
}

// The target of a resource address.
struct Address {
  std::string sessionId;
  std::string entryId;     // empty: the whole session
  std::uint64_t from = 0;  // `?from=`: a place on the branch, or an offset in the entry's text
};

// Decodes `%3A` and the like, which clients write when they fill in a template. A `%` without two hex digits stays.
std::string decoded(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    unsigned byte = 0;
    const char* const digits = text.data() + at + 1;
    if (text[at] == '%' && text.size() - at > 2 && std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2) {
      out += static_cast<char>(byte);
      at += 2;
    } else {
      out += text[at];
    }
  }
  return out;
}

std::optional<Address> parseAddress(std::string_view uri) {
  if (!uri.starts_with(kScheme)) return std::nullopt;
  uri.remove_prefix(kScheme.size());
  Address address;
  if (const std::size_t query = uri.find("?from="); query != std::string_view::npos) {
    const auto from = parseNumber(uri.substr(query + 6));
    if (!from) return std::nullopt;
    address.from = *from;
    uri = uri.substr(0, query);
  }
  const std::size_t slash = std::min(uri.find('/'), uri.size());
  address.sessionId = decoded(uri.substr(0, slash));
  address.entryId = decoded(uri.substr(std::min(slash + 1, uri.size())));
  if (address.sessionId.empty()) return std::nullopt;
  return address;
}

Result<std::string> readAddress(SessionStore& store, const Address& address) {
  if (address.entryId.empty()) return readSection(store, address.sessionId, {.from = address.from});
  BOUGH_TRY(auto entry, store.loadEntry(address.sessionId, address.entryId));
  json::Writer writer;
  writeEntry(writer, entry, address.from, kMaxResultBytes);
  return writer.take();
}

}  // namespace

bool hasCursor(std::string_view params) {
  const auto cursor = json::findMember(params, "cursor");
  return cursor && json::kindOf(*cursor) != json::Kind::Null;
}

std::string formatPlace(const SessionSummary& row) {
  return fmt::format("{}:{}", row.activeMs, row.sessionId);
}

std::optional<ListPlace> parsePlace(std::string_view text) {
  const std::size_t end = text.find(':');
  const auto time = parseNumber(text.substr(0, end));
  if (end == std::string_view::npos || !time) return std::nullopt;
  return ListPlace{.activeMs = *time, .sessionId = std::string(text.substr(end + 1))};
}

RpcResult<std::string> listResources(Catalog& catalog, std::string_view params) {
  ListOptions options;
  options.models = false;
  options.limit = kPageSessions + 1;  // one extra row tells whether there is another page
  if (hasCursor(params)) {
    options.after = parsePlace(json::findString(params, "cursor").value_or(""));
    if (!options.after) return rpcFail(RpcCode::InvalidParams, "the cursor is not one that this server gave");
  }
  const auto caught = catalog.catchUp();
  if (!caught && !canAnswerDespite(caught.error())) return std::unexpected(rpcError(caught.error()));
  auto rows = catalog.list(options);
  if (!rows) return std::unexpected(rpcError(rows.error()));
  const bool more = rows->size() > kPageSessions;
  if (more) rows->pop_back();
  json::Writer writer;
  writer.beginObject().key("resources").beginArray();
  for (const SessionSummary& row : *rows) {
    writer.beginObject().member("uri", fmt::format("{}{}", kScheme, row.sessionId)).member("name", row.sessionId);
    if (!row.title.empty()) writer.member("title", textPart(row.title, 0, 200));
    writer.member("mimeType", "application/json").endObject();
  }
  writer.endArray();
  if (more) writer.member("nextCursor", formatPlace(rows->back()));
  // The protocol's list has no member for this; `_meta` is meant for additions of a server.
  if (!caught) writer.key("_meta").beginObject().member("bough/outOfDate", caught.error().message).endObject();
  return writer.endObject().take();
}

std::string resourceTemplates() {
  return R"({"resourceTemplates":[)"
         R"({"uriTemplate":"bough://session/{id}{?from}","name":"session","description":"A session's conversation; )"
         R"(read on at ?from=next","mimeType":"application/json"},)"
         R"({"uriTemplate":"bough://session/{id}/{entry}{?from}","name":"entry","description":"One entry; read on at )"
         R"(?from=nextOffset","mimeType":"application/json"}]})";
}

RpcResult<std::string> readResource(SessionStore& store, std::string_view params) {
  const auto uri = json::findString(params, "uri");
  if (!uri) return rpcFail(RpcCode::InvalidParams, "resources/read needs a uri");
  const std::string data = fmt::format(R"({{"uri":{}}})", json::quoted(cutMessage(*uri)));
  const auto address = parseAddress(*uri);
  if (!address) return rpcFail(RpcCode::InvalidParams, fmt::format("not a resource of bough: {}", *uri), data);
  auto text = readAddress(store, *address);
  if (text) text = addUnreadableNotes(store, std::move(*text), {address->sessionId});
  if (!text) {
    RpcError error = rpcError(text.error());
    error.data = data;
    return std::unexpected(std::move(error));
  }
  json::Writer writer;
  writer.beginObject().key("contents").beginArray().beginObject();
  writer.member("uri", *uri).member("mimeType", "application/json").member("text", *text);
  return writer.endObject().endArray().endObject().take();
}

}  // namespace bough::serve
