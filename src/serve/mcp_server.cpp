#include "serve/mcp_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/json/json_scan.h"
#include "base/json/json_write.h"
#include "bough/version.h"
#include "serve/mcp_resources.h"
#include "serve/mcp_tools.h"

namespace bough::serve {
namespace {

constexpr std::string_view kStatelessVersion = "2026-07-28";
constexpr std::array<std::string_view, 4> kHandshakeVersions = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};
constexpr std::string_view kBatchVersion = "2025-03-26";  // the only revision with batches
constexpr std::size_t kMaxBatchMessages = 50;
constexpr std::string_view kVersionKey = "io.modelcontextprotocol/protocolVersion";
constexpr std::string_view kCapabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
constexpr std::string_view kCapabilities = R"({"tools":{},"resources":{}})";
constexpr std::string_view kInstructions =
    "Past conversations of AI agents. search_sessions finds what was said, list_sessions what there is; read_session "
    "reads one, in parts.";

std::string serverInfo() {
  return fmt::format(R"({{"name":"bough","title":"bough","version":{}}})", json::quoted(kVersion));
}

// Adds what the newer generation requires in a result: complete, private to the client, and with the server's name.
// Joins it with the `_meta` of the result, which is always the last member.
std::string statelessResult(std::string_view result, bool cacheable) {
  constexpr std::string_view kMeta = R"(,"_meta":{)";
  const bool hasMeta = json::findMember(result, "_meta").has_value();
  result.remove_suffix(1);
  std::string meta;
  if (const std::size_t own = result.rfind(kMeta); hasMeta && own != std::string_view::npos) {
    meta = "," + std::string(result.substr(own + kMeta.size(), result.size() - own - kMeta.size() - 1));
    result = result.substr(0, own);
  }
  return fmt::format(R"({}{}"resultType":"complete"{},"_meta":{{"io.modelcontextprotocol/serverInfo":{}{}}}}})", result,
                     result == "{" ? "" : ",", cacheable ? R"(,"ttlMs":0,"cacheScope":"private")" : "", serverInfo(),
                     meta);
}

// Replaces shell commands in a hint, which a client may not have, by the tools that it has.
std::string hintForClient(const std::string& hint) {
  for (const std::string_view command : {"`bough tree", "`bough cat", "`bough labels", "`bough show --all"}) {
    if (hint.starts_with(command)) return "session_tree and read_session give the ids of entries";
  }
  const bool ofSessions = hint.starts_with("`bough` lists") || hint.starts_with("`bough ls` lists");
  return ofSessions ? "list_sessions and search_sessions give the ids of sessions" : hint;
}

// Answers an unsupported version with the newest one of that generation; the client decides.
std::string_view negotiatedVersion(std::string_view params) {
  const std::string wanted = json::findString(params, "protocolVersion").value_or("");
  const auto known = std::ranges::find(kHandshakeVersions, wanted);
  return known == kHandshakeVersions.end() ? kHandshakeVersions.front() : *known;
}

RpcResult<void> checkVersion(std::string_view version) {
  if (version == kStatelessVersion || std::ranges::find(kHandshakeVersions, version) != kHandshakeVersions.end())
    return {};
  return rpcFail(RpcCode::UnsupportedProtocolVersion, fmt::format("unsupported protocol version {}", version),
                 fmt::format(R"({{"supported":["{}"],"requested":{}}})", kStatelessVersion, json::quoted(version)));
}

}  // namespace

std::string McpServer::handle(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  if (line[begin] == '[' && version_ == kBatchVersion && json::check(line)) return handleBatch(line);
  return handleOne(line);
}

std::string McpServer::refusalAnswer(const Error& error) {
  return rpcFailure({}, {RpcCode::InvalidRequest, error.message});
}

std::string McpServer::handleBatch(std::string_view line) {
  json::ArrayReader reader(line);
  std::vector<std::string_view> messages;
  while (const auto each = reader.next()) {
    messages.push_back(*each);
    if (messages.size() > kMaxBatchMessages) break;
  }
  if (messages.empty() || messages.size() > kMaxBatchMessages) {
    return rpcFailure({}, {RpcCode::InvalidRequest, fmt::format("a batch has 1 to {} messages", kMaxBatchMessages)});
  }
  std::string answers;
  for (const std::string_view message : messages) {
    const std::string answer = handleOne(message);
    if (!answer.empty()) answers += (answers.empty() ? "" : ",") + answer;
  }
  return answers.empty() ? std::string() : "[" + answers + "]";
}

std::string McpServer::handleOne(std::string_view line) {
  std::string_view id;
  auto request = parseRequest(line, id);
  if (!request) return rpcFailure(id, request.error());
  if (request->isResponse || request->id.empty()) return {};  // notifications need no answer and change nothing
  auto result = answer(*request);
  return result ? rpcAnswer(id, *result) : rpcFailure(id, result.error());
}

RpcResult<std::string> McpServer::answer(const RpcRequest& request) {
  if (request.method == "initialize") {
    version_ = negotiatedVersion(request.params);
    return initialize();
  }
  const auto meta = json::findMember(request.params, "_meta");
  const auto version = meta ? json::findString(*meta, kVersionKey) : std::nullopt;
  if (!version && (!version_.empty() || request.method == "ping")) return answerMethod(request);
  if (!version || !json::findMember(*meta, kCapabilitiesKey)) {
    return rpcFail(RpcCode::InvalidParams,
                   fmt::format("send `initialize` first, or name {} and {} in _meta", kVersionKey, kCapabilitiesKey));
  }
  if (auto known = checkVersion(*version); !known) return std::unexpected(std::move(known.error()));
  if (request.method == "server/discover") return statelessResult(discover(), true);
  if (request.method == "ping") return rpcFail(RpcCode::MethodNotFound, "revision 2026-07-28 has no ping");
  auto result = answerMethod(request);
  if (!result) return result;
  return statelessResult(*result, request.method != "tools/call");
}

RpcResult<std::string> McpServer::answerMethod(const RpcRequest& request) {
  const std::string& method = request.method;
  if (method == "ping") return "{}";
  // Lists that are never split have no cursors.
  if (method.ends_with("/list") && method != "resources/list" && hasCursor(request.params)) {
    return rpcFail(RpcCode::InvalidParams, "the cursor is not one that this server gave");
  }
  if (method == "tools/list") return listTools(options_.write);
  if (method == "tools/call") return callTool(request.params);
  if (method == "resources/list") return listResources(catalog_, request.params);
  if (method == "resources/templates/list") return resourceTemplates();
  if (method == "resources/read") return readResource(store_, request.params);
  if (method == "prompts/list") return R"({"prompts":[]})";
  return rpcFail(RpcCode::MethodNotFound, fmt::format("there is no method {}", method));
}

std::string McpServer::initialize() const {
  return fmt::format(R"({{"protocolVersion":"{}","capabilities":{},"serverInfo":{},"instructions":{}}})", version_,
                     kCapabilities, serverInfo(), json::quoted(kInstructions));
}

std::string McpServer::discover() const {
  return fmt::format(R"({{"supportedVersions":["{}"],"capabilities":{},"instructions":{}}})", kStatelessVersion,
                     kCapabilities, json::quoted(kInstructions));
}

// A tool that fails returns a result that says so, so that the model can correct its call. Only an unknown tool is an
// error.
RpcResult<std::string> McpServer::callTool(std::string_view params) {
  const auto name = json::findString(params, "name");
  if (!name) return rpcFail(RpcCode::InvalidParams, "tools/call needs the name of a tool");
  const McpTool* tool = findTool(*name, options_.write);
  if (tool == nullptr) {
    const bool writes = findTool(*name, true) != nullptr;
    return rpcFail(RpcCode::InvalidParams,
                   fmt::format("there is no tool {}{}", *name, writes ? " without `bough mcp --write`" : ""));
  }
  std::string_view arguments = json::findMember(params, "arguments").value_or("{}");
  if (json::kindOf(arguments) == json::Kind::Null) arguments = "{}";
  auto text = runTool(*tool, store_, catalog_, arguments);
  std::string result = R"({"content":[{"type":"text","text":)";
  if (text) {
    json::appendQuoted(result, *text);
    return result + "}]}";
  }
  const std::string message = cutMessage(text.error().message);
  const std::string hint = hintForClient(text.error().hint);
  json::appendQuoted(result, hint.empty() ? message : message + "; " + hint);
  return result + R"(}],"isError":true})";
}

}  // namespace bough::serve
