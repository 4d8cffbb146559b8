// JSON-RPC 2.0, one message a line: what comes in, and what goes back.
#pragma once

#include <expected>
#include <string>
#include <string_view>

namespace bough::serve {

/// The codes of the specification, and those that MCP adds.
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

/// One message of a client. The views point into the line.
struct RpcRequest {
  std::string_view id;  ///< Raw: a number or a string. Empty for a notification.
  std::string method;
  std::string_view params;  ///< Raw: an object. Empty when absent.
  bool isResponse = false;  ///< It answers something that the client was asked; we never ask.
};

/// Fails with ParseError, InvalidRequest or InvalidParams. `id` is set when it could be read, so that the answer can
/// name it.
RpcResult<RpcRequest> parseRequest(std::string_view line, std::string_view& id);

/// The answer to a request, without a line end. `result` is a JSON object.
std::string rpcAnswer(std::string_view id, std::string_view result);
/// A message or an address as an answer repeats it: not all of what a client may have sent.
std::string cutMessage(std::string_view message);
/// The answer to a request that failed. An empty id becomes null.
std::string rpcFailure(std::string_view id, const RpcError& error);

}  // namespace bough::serve
