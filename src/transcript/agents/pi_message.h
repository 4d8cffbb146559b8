// Messages of pi (AgentMessage) as messages of the normalized form, and back.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "transcript/model/origin.h"

namespace bough::transcript {

/// A message of pi, read.
struct PiMessage {
  std::string json;         ///< In the dialect `bough`; empty when the model never sees it.
  std::vector<Hole> holes;  ///< What is verbatim in it.
  std::string model;
};

/// `entryId` names the request when the message does not: forks copy messages with their entries' ids.
PiMessage readPiMessage(std::string_view message, std::string_view entryId);
/// Content alone, as that of a user: a string or blocks.
PiMessage readPiContent(std::string_view content);

/// What an answer's line needs beyond the message itself.
struct PiAnswer {
  std::string api;
  std::string provider;
  std::string model;
  std::string usage;  ///< JSON; empty when unknown.
  std::string timestampMs;
};

/// The messages of pi for one message of the dialect `bough`: each result of a tool is one of its own. `toolNames`
/// remembers which call is of which tool. What pi has no place for is added to `notHeld`.
std::vector<std::string> writePiMessages(std::string_view message, const PiAnswer& answer,
                                         std::unordered_map<std::string, std::string>& toolNames,
                                         std::vector<std::string>& notHeld);

}  // namespace bough::transcript
