// A scripted model that can use the API of any provider: thirty consecutive answers, which use every tool in every way.
// The next answer follows from the request alone, as with a real model.
#pragma once

#include <bough/message.h>

#include <string>
#include <vector>

#include "agent/loopback.h"
#include "agent/providers/stream_reader.h"
#include "bough/agent/loop.h"

namespace bough::agent {

struct ScriptedCall {
  std::string name;
  std::string arguments;  ///< Text that should be a JSON object.
};

struct ScriptedAnswer {
  std::string thinking;
  std::string text;
  std::vector<ScriptedCall> calls;
};

/// The thirty answers, and the user's prompts. An answer without calls ends a turn.
const std::vector<ScriptedAnswer>& scenarioAnswers();
const std::vector<std::string>& scenarioPrompts();

/// Returns one answer as the provider's stream. `number` (from 1) identifies the text and the calls.
std::string streamOf(Dialect dialect, const ScriptedAnswer& answer, std::size_t number);

/// Returns the number of the last answer in a request; 0 when there is none.
std::size_t lastAnswerIn(const std::string& body);

/// Returns the dialect whose API a request was sent to.
Dialect dialectOfPath(const std::string& path);

/// Plays the scenario: responds to every request, in any dialect, with the next answer, in pieces of varying size.
LoopbackServer::Handler playScenario(const std::vector<ScriptedAnswer>& answers);

/// Saves requests in $BOUGH_AGENT_DUMP, in a folder per dialect, for checks outside of this program (oracles.sh).
void dumpRequests(const std::vector<HttpIn>& requests);

/// Returns an endpoint of the loopback server.
Endpoint loopbackEndpoint(const LoopbackServer& server, Dialect dialect);

/// Records all events, and allows what the test tells it to allow.
class RecordingListener final : public Listener {
 public:
  void onEvent(const AgentEvent& event) override { events.push_back(event); }
  std::optional<bool> allow(const ToolCall& call, const std::string& question) override {
    questions.push_back(question);
    return call.name == "bash" ? allowBash : std::optional<bool>();
  }
  RecoveryChoice recover(const UnfinishedToolCall& call) override {
    recovered.push_back(call);
    return choice;
  }
  [[nodiscard]] std::vector<AgentEvent> of(EventKind kind) const {
    std::vector<AgentEvent> out;
    for (const AgentEvent& event : events) {
      if (event.kind == kind) out.push_back(event);
    }
    return out;
  }

  std::vector<AgentEvent> events;
  std::vector<std::string> questions;
  std::vector<UnfinishedToolCall> recovered;
  std::optional<bool> allowBash = true;
  RecoveryChoice choice;
};

}  // namespace bough::agent
