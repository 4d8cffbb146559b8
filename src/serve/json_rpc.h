// JSON-RPC 2.0, one message per line: requests and answers.
#pragma once

#include <expected>
#include <string>
#include <string_view>

namespace bough::serve {

/// The codes of the specification, and the codes that MCP adds.
enum class RpcCode : int {
  ParseError = -32700,
  InvalidRequest = -32600,
  MethodNotFound = -32601,
  InvalidParams = -32602,
  InternalError = -32603,
  UnsupportedProtocolVersion = -32022,
};

struct RpcError {
  RpcCode code = RpcCode::InternalError;
  std::string message;
  std::string data = {};  ///< A JSON value, or empty.
};

template <typename T>
using RpcResult = std::expected<T, RpcError>;

inline std::unexpected<RpcError> rpcFail(RpcCode code, std::string message, std::string data = {}) {
  return std::unexpected(RpcError{code, std::move(message), std::move(data)});
}

/// One message from a client. The views point into the line.
struct RpcRequest {
  std::string_view id;  ///< Raw: a number or a string. Empty for a notification.
  std::string method;
  std::string_view params;  ///< Raw: an object. Empty when absent.
  bool isResponse = false;  ///< An answer to a request of the server; this server sends none.
};

/// Parses a message. Fails with ParseError, InvalidRequest or InvalidParams. Sets `id` as soon as it was read, so that
/// the answer to a failure can name it.
RpcResult<RpcRequest> parseRequest(std::string_view line, std::string_view& id);

/// Returns the answer to a request, without a line end. `result` is a JSON object.
std::string rpcAnswer(std::string_view id, std::string_view result);
/// Shortens a message or an address that is repeated in an answer, because a client may have sent any length.
std::string cutMessage(std::string_view message);
/// Returns the answer to a failed request. An empty id becomes null.
std::string rpcFailure(std::string_view id, const RpcError& error);

}  // namespace bough::serve
