#include "serve/json_rpc.h"

#include <fmt/format.h>

#include "base/json/json_scan.h"
#include "base/json/json_write.h"
#include "serve/session_text.h"

namespace bough::serve {
namespace {

bool isId(std::string_view value) {
  const json::Kind kind = json::kindOf(value);
  return kind == json::Kind::Number || kind == json::Kind::String;
}

}  // namespace

RpcResult<RpcRequest> parseRequest(std::string_view line, std::string_view& id) {
  if (const auto checked = json::check(line); !checked) {
    return rpcFail(RpcCode::ParseError,
                   fmt::format("not valid JSON at byte {}: {}", checked.error().offset, checked.error().reason));
  }
  const auto givenId = json::findMember(line, "id");
  if (givenId && isId(*givenId)) id = *givenId;
  if (json::findString(line, "jsonrpc") != "2.0") {
    return rpcFail(RpcCode::InvalidRequest, "the message is not a JSON-RPC 2.0 object; batches are not supported");
  }
  // A message with an id is not a notification, so the client waits for an answer.
  if (givenId && id.empty()) return rpcFail(RpcCode::InvalidRequest, "the id is not a text or a number");
  RpcRequest request;
  request.id = id;
  const auto method = json::findString(line, "method");
  if (!method) {
    request.isResponse = json::findMember(line, "result") || json::findMember(line, "error");
    if (request.isResponse) return request;
    return rpcFail(RpcCode::InvalidRequest, "the message has no method");
  }
  request.method = *method;
  if (const auto params = json::findMember(line, "params")) {
    const bool isObject = json::kindOf(*params) == json::Kind::Object;
    // A notification has no answer, whatever it contains.
    if (!isObject && !id.empty()) return rpcFail(RpcCode::InvalidParams, "params is not an object");
    if (isObject) request.params = *params;
  }
  return request;
}

std::string rpcAnswer(std::string_view id, std::string_view result) {
  return fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{}}})", id, result);
}

std::string cutMessage(std::string_view message) {
  constexpr std::size_t kMaxBytes = 2000;
  if (message.size() <= kMaxBytes) return std::string(message);
  return std::string(textPart(message, 0, kMaxBytes)) + "…";
}

std::string rpcFailure(std::string_view id, const RpcError& error) {
  const std::string data = error.data.empty() ? "" : ",\"data\":" + error.data;
  return fmt::format(R"({{"jsonrpc":"2.0","id":{},"error":{{"code":{},"message":{}{}}}}})", id.empty() ? "null" : id,
                     static_cast<int>(error.code), json::quoted(cutMessage(error.message)), data);
}

}  // namespace bough::serve
