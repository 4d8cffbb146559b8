// A program of somebody else's that embeds the agent.
#include <bough/agent/chat.h>

#include <cstdio>

namespace {

class Quiet final : public bough::agent::Listener {
 public:
  void onEvent(const bough::agent::AgentEvent&) override {}
  std::optional<bool> allow(const bough::agent::ToolCall&, const std::string&) override { return std::nullopt; }
  bough::agent::RecoveryChoice recover(const bough::UnfinishedToolCall&) override { return {}; }
};

}  // namespace

int main(int, char** argv) {
  auto store = bough::SessionStore::open("memory:");
  if (!store) return 1;
  Quiet listener;
  const bough::agent::CancelToken cancel;
  auto chat = bough::agent::Chat::make(**store, listener, cancel, {.model = "offline/echo", .folder = argv[1]});
  if (!chat || !(*chat)->startNew()) return 2;
  const auto report = (*chat)->say("hello");
  if (!report) return 3;
  const std::size_t at = report->text.find("You said: ");
  if (at == std::string::npos) return 4;
  std::printf("%s\n", report->text.substr(at, report->text.find('\n', at) - at).c_str());
  return 0;
}
