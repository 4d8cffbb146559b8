// Converts pi's messages (AgentMessage) to the normalized form, and back.
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

/// A message of pi in the normalized form.
struct PiMessage {
  std::string json;     ///< In the dialect `bough`; empty when the model never sees it.
  std::string shown{};  ///< What people see of a message that the model never sees.
  std::string shownRole{};
  std::vector<Hole> holes{};  ///< The parts of `json` that are verbatim in pi's message.
  std::string model{};
  std::string_view usage{};  ///< For an answer that the model never sees again: its usage, in pi's format.
  std::string requestId{};   ///< Names the request that the usage belongs to.
};

/// Reads a message. `entryId` names the request when the message does not; forks copy messages together with the ids of
/// their entries.
PiMessage readPiMessage(std::string_view message, std::string_view entryId);
/// Reads content alone, as that of a user: a string or blocks.
PiMessage readPiContent(std::string_view content);

/// Writes a member `usage` with the cost of a request. `id` names the request; empty for none.
void writePiUsage(json::Writer& writer, std::string_view usage, std::string_view id = {});

/// What an answer's line needs beyond the message itself.
struct PiAnswer {
  std::string api;
  std::string provider;
  std::string model;
  std::string usage;  ///< JSON; empty when unknown.
  std::string timestampMs;
  std::string responseId{};  ///< The provider's id; empty when unknown.
};

/// Remembers which tool each call is for. Stores a number per call, because a long session has many calls of few tools.
class ToolNames {
 public:
  void add(const std::string& callId, const std::string& name);
  /// Returns an empty string when the call is not known.
  [[nodiscard]] std::string of(const std::string& callId) const;

 private:
  FlatMap<std::uint32_t> byCall_;  // hash of the call's id → index in names_
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::vector<std::string> names_;
};

/// Returns the messages of pi for one message of the dialect `bough`: each tool result becomes a message. `toolNames`
/// remembers the tool of each call. What pi cannot hold is added to `lossyFields`.
std::vector<std::string> writePiMessages(std::string_view message, const PiAnswer& answer, ToolNames& toolNames,
                                         std::vector<std::string>& lossyFields);

}  // namespace bough::transcript
