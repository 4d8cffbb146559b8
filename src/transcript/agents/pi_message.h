// Messages of pi (AgentMessage) as messages of the normalized form, and back.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/bytes/flat_map.h"
#include "base/json/json_write.h"
#include "transcript/model/origin.h"

namespace bough::transcript {

/// A message of pi, read.
struct PiMessage {
  std::string json;     ///< In the dialect `bough`; empty when the model never sees it.
  std::string shown{};  ///< What people see of a message that the model never sees.
  std::string shownRole{};
  std::vector<Hole> holes{};  ///< What is verbatim in it.
  std::string model{};
  std::string_view usage{};  ///< Of an answer that the model never sees again: what it took, in pi's words.
  std::string requestId{};   ///< Names the request that took it.
};

/// `entryId` names the request when the message does not: forks copy messages with their entries' ids.
PiMessage readPiMessage(std::string_view message, std::string_view entryId);
/// Content alone, as that of a user: a string or blocks.
PiMessage readPiContent(std::string_view content);

/// Writes a member `usage` with what a request took. `id`: names the request; empty for none.
void writePiUsage(json::Writer& writer, std::string_view usage, std::string_view id = {});

/// What an answer's line needs beyond the message itself.
struct PiAnswer {
  std::string api;
  std::string provider;
  std::string model;
  std::string usage;  ///< JSON; empty when unknown.
  std::string timestampMs;
  std::string responseId{};  ///< Of the provider; empty when unknown.
};

/// Which call is of which tool: a number a call, since a long session has many calls of few tools.
class ToolNames {
 public:
  void add(const std::string& callId, const std::string& name);
  /// Empty when the call is not known.
  [[nodiscard]] std::string of(const std::string& callId) const;

 private:
  FlatMap<std::uint32_t> byCall_;  // by the hash of the call's id: a place in names_
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::vector<std::string> names_;
};

/// The messages of pi for one message of the dialect `bough`: each result of a tool is one of its own. `toolNames`
/// remembers which call is of which tool. What pi has no place for is added to `notHeld`.
std::vector<std::string> writePiMessages(std::string_view message, const PiAnswer& answer, ToolNames& toolNames,
                                         std::vector<std::string>& notHeld);

}  // namespace bough::transcript
