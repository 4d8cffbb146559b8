// A server of the Model Context Protocol: offers the sessions of a store to a model, as tools and as resources.
//
// It supports both generations of the protocol on one connection. A client of the older generation (2024-11-05 to
// 2025-11-25) starts with `initialize`. A client of the newer generation (2026-07-28) sends no greeting: every request
// names its version in `_meta`, and the server keeps no state between requests. Lines are answered one by one, in
// order.
#pragma once

#include <string>
#include <string_view>

#include "bough/catalog.h"
#include "bough/store.h"
#include "serve/json_rpc.h"

namespace bough::serve {

struct McpOptions {
  bool write = false;  ///< Offer the tools that change the store.
};

/// Use it from one thread. The store and the catalog must outlive it.
class McpServer {
 public:
  McpServer(SessionStore& store, Catalog& catalog, McpOptions options)
      : store_(store), catalog_(catalog), options_(options) {}

  /// Answers one line from a client; empty when no answer is needed. Never fails: an error becomes the answer.
  std::string handle(std::string_view line);
  /// Returns the answer to a message that could not be read, such as a line that is too long.
  static std::string refusalAnswer(const Error& error);

 private:
  RpcResult<std::string> answer(const RpcRequest& request);
  RpcResult<std::string> answerMethod(const RpcRequest& request);
  std::string handleBatch(std::string_view line);
  std::string handleOne(std::string_view line);
  [[nodiscard]] std::string initialize() const;
  [[nodiscard]] std::string discover() const;
  RpcResult<std::string> callTool(std::string_view params);

  SessionStore& store_;
  Catalog& catalog_;
  McpOptions options_;
  std::string_view version_;  // set by `initialize`: requests without a version are then of the older generation
};

}  // namespace bough::serve
