// Shows what happens in a chat: as text for people, or as JSON lines for programs.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "bough/agent/loop.h"
#include "cli/terminal/word_wrap.h"
#include "cli/views/markdown/stream.h"

namespace bough::cli {

/// Asks the user a question and returns the line of the answer; std::nullopt when nobody can be asked or nobody
/// answered.
using Ask = std::function<std::optional<std::string>(const std::string& question)>;

/// Shows a chat to people. The answer goes to stdout. Other events go to stdout on a terminal, otherwise to stderr.
/// Without a terminal, an answer is printed only when it is complete, so that the pieces of an answer that broke off
/// and was retried do not appear in the output.
class TextListener final : public agent::Listener {
 public:
  /// `folder` is where a lasting permission applies; `allowed` holds the permissions given already.
  explicit TextListener(Ask ask, std::string folder = {}, std::set<std::string> allowed = {})
      : ask_(std::move(ask)), folder_(std::move(folder)), allowed_(std::move(allowed)) {}
  void onEvent(const agent::AgentEvent& event) override;
  std::optional<bool> allow(const agent::ToolCall& call, const std::string& question) override;
  std::optional<bool> allowPrepared(const agent::ToolCall& call, const agent::PreparedCall& prepared) override;
  agent::RecoveryChoice recover(const UnfinishedToolCall& call) override;

 private:
  void printEvent(const std::string& line);
  void endText();
  void showResult(const agent::AgentEvent& event);
  std::optional<char> choose(const std::string& question, const std::vector<std::string_view>& words);

  Ask ask_;
  MarkdownStream markdown_;
  WordWrap thinking_;
  std::string held_;  ///< The part received of an answer that will be printed when complete.
  bool inText_ = false;
  bool inThinking_ = false;
  std::string folder_;
  std::set<std::string> allowed_;     ///< Permissions that need no question any more.
  std::set<std::string> diffsShown_;  ///< Calls whose question already showed the change.
};

/// Prints every event as one line: {"schema":1,"event":…}.
class JsonListener final : public agent::Listener {
 public:
  void onEvent(const agent::AgentEvent& event) override;
  std::optional<bool> allow(const agent::ToolCall&, const std::string&) override { return std::nullopt; }
  agent::RecoveryChoice recover(const UnfinishedToolCall&) override { return {}; }
};

}  // namespace bough::cli
