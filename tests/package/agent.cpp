// Another project's program that embeds the agent.
#include <bough/agent/chat.h>

#include <cstdio>
#include <utility>

namespace {

// Arguments that are kept as pointers must not be temporaries.
template <typename Tools, typename Environment>
concept Prepares = requires(Tools&& tools, Environment&& environment) {
  bough::agent::prepareCall(tools, bough::agent::ToolCall(), std::forward<Environment>(environment));
  bough::agent::findTool(std::forward<Tools>(tools), "read");
};
using Tools = std::vector<bough::agent::Tool>;
using Environment = bough::agent::ToolEnvironment;
static_assert(Prepares<const Tools&, const Environment&>);
static_assert(!Prepares<const Tools&, Environment> && !Prepares<Tools, const Environment&>);

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
