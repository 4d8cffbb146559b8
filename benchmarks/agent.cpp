// What the agent adds to a turn beyond the provider's own time, how fast it passes on words, and how fast it starts.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>

#include "agent/loopback.h"
#include "agent/providers/http_provider.h"
#include "bough/agent/loop.h"
#include "conversation.h"
#include "generate.h"
#include "harness.h"

namespace bough::bench {
namespace {

using Clock = std::chrono::steady_clock;
using namespace bough::agent;

double millisecondsBetween(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double, std::milli>(end - begin).count();
}

// Answers at once and measures its own time; the rest of a turn is the agent's time.
class InstantProvider final : public Provider {
 public:
  [[nodiscard]] std::string name() const override { return "bench/instant"; }
  [[nodiscard]] Dialect dialect() const override { return Dialect::Anthropic; }
  Result<Answer> stream(const ModelRequest&, const StreamEvents& events, const CancelToken&) override {
    if (events.onDelta) events.onDelta({.kind = DeltaKind::Text, .text = "Yes."});
    Answer answer;
    answer.message =
        R"({"id":"m","type":"message","role":"assistant","model":"x","content":[{"type":"text","text":"Yes."}],)"
        R"("stop_reason":"end_turn","usage":{"input_tokens":20,"output_tokens":2}})";
    return answer;
  }
};

class Silent : public Listener {
 public:
  void onEvent(const AgentEvent&) override {}
  std::optional<bool> allow(const ToolCall&, const std::string&) override { return true; }
  RecoveryChoice recover(const UnfinishedToolCall&) override { return {}; }
};

// Makes a long conversation as the agent leaves it: compacted, with about two hundred messages in the context.
void makeLongSession(SessionStore& store, const std::string& sessionId, std::uint64_t entries) {
  constexpr std::uint64_t kKept = 200;
  require(store.createSession({.sessionId = sessionId}).has_value(), "make a session");
  Generator generator(7);
  std::string firstKept;
  for (std::uint64_t done = 0; done < entries;) {
    std::vector<Entry> batch;
    for (int i = 0; i < 1'000 && done < entries; ++i, ++done) {
      batch.push_back(generator.message(300));
      if (done + kKept == entries) {
        batch.back().id = "first-kept";
        firstKept = batch.back().id;
      }
    }
    require(store.appendSessionEntries(sessionId, std::move(batch)).has_value(), "append");
  }
  Entry summary;
  summary.type = entry_type::kCompactionSummary;
  summary.payload = fmt::format(R"({{"summary":"All went well.","firstKeptEntryId":"{}"}})", firstKept);
  require(store.appendSessionEntries(sessionId, {summary}).has_value(), "append");
}

std::vector<Row> turnOverhead() {
  constexpr int kTurns = 60;
  const std::string folder = workFolder() + "/turns";
  auto store = SessionStore::open(folder);
  require(store.has_value(), "open a store");
  makeLongSession(**store, "long", 100'000);
  store = SessionStore::open(folder);  // as a new process sees it
  require(store.has_value(), "open the store again");
  InstantProvider provider;
  Silent listener;
  CancelToken cancel;
  const ToolEnvironment environment{
      .folder = *WorkingFolder::open(workFolder()), .limits = {}, .secrets = {}, .allowedCommands = {}};
  const Agent agent{.store = **store,
                    .provider = provider,
                    .tools = builtInTools(),
                    .environment = environment,
                    .listener = listener,
                    .cancel = cancel,
                    .options = {.systemPrompt = "Be brief."}};
  auto at = *startingPoint(**store, "long");
  std::vector<double> times;
  for (int turn = 0; turn < kTurns; ++turn) {
    const auto begin = Clock::now();
    auto report = runTurn(agent, at, "Is it so?");
    times.push_back(millisecondsBetween(begin, Clock::now()));
    require(report.has_value(), "run a turn");
    at = report->end;
  }
  return {{.name = "a turn beyond the provider's own time, durable, at 100,000 entries, p50 / 1 ms",
           .ours = median(times),
           .floor = 1,
           .unit = "ms",
           .bound = 2}};
}

std::vector<Row> firstToken() {
  constexpr int kRounds = 50;
  std::atomic<Clock::rep> sent{0};
  LoopbackServer server([&](const HttpIn&, Reply& reply) {
    reply.begin(200, "text/event-stream");
    const std::string first =
        "data: "
        "{\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"Hi\"},\"finish_reason\":null}]}"
        "\n\n";
    sent = Clock::now().time_since_epoch().count();
    reply.send(first);
    reply.send("data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n");
  });
  const auto provider = makeHttpProvider(
      {.provider = "x", .model = "m", .dialect = Dialect::OpenaiChat, .baseUrl = server.url(), .key = {}}, {});
  CancelToken cancel;
  std::vector<double> times;
  for (int round = 0; round < kRounds; ++round) {
    Clock::time_point arrived;
    const auto onDelta = [&](const Delta&) {
      if (arrived == Clock::time_point()) arrived = Clock::now();
    };
    auto answer = provider->stream({.context = R"({"messages":[]})", .thinkingLevel = {}},
                                   {.onDelta = onDelta, .onRetry = {}}, cancel);
    require(answer.has_value(), "stream an answer");
    times.push_back(millisecondsBetween(Clock::time_point(Clock::duration(sent.load())), arrived));
  }
  return {{.name = "first word passed on after its arrival, p50 / 1 ms",
           .ours = median(times),
           .floor = 1,
           .unit = "ms",
           .bound = 1}};
}

// Starts a chat on a new terminal and waits for the prompt. Returns milliseconds.
double timeToPrompt(const std::string& store) {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  require(terminal >= 0 && ::grantpt(terminal) == 0 && ::unlockpt(terminal) == 0, "make a terminal");
  const std::string name = ::ptsname(terminal);
  const auto begin = Clock::now();
  const pid_t child = ::fork();
  if (child == 0) {
    ::setsid();
    const int side = ::open(name.c_str(), O_RDWR);
    for (const int number : {0, 1, 2}) ::dup2(side, number);
    ::setenv("TERM", "xterm", 1);
    ::execl(BOUGH_COMMAND, "bough", "--store", store.c_str(), "chat", "--session", "large", nullptr);
    ::_exit(127);
  }
  std::string screen;
  double time = 0;
  while (time == 0) {
    pollfd ready{.fd = terminal, .events = POLLIN, .revents = 0};
    require(::poll(&ready, 1, 60'000) > 0, "see the prompt");
    std::array<char, 4096> bytes{};
    const ssize_t got = ::read(terminal, bytes.data(), bytes.size());
    require(got > 0, "read from the chat: " + screen);
    screen.append(bytes.data(), static_cast<std::size_t>(got));
    if (screen.find("› ") != std::string::npos) time = millisecondsBetween(begin, Clock::now());
  }
  ::kill(child, SIGKILL);
  (void)::waitpid(child, nullptr, 0);
  ::close(terminal);
  return time;
}

std::vector<Row> startOfChat() {
  constexpr int kRounds = 15;
  const std::string folder = workFolder() + "/start";
  writeManySessions(folder, 100'000);
  writeSession(folder, "large", std::uint64_t{1} << 30);
  timeToPrompt(folder);  // so that the catalog is up to date
  std::vector<double> times;
  for (int round = 0; round < kRounds; ++round) times.push_back(timeToPrompt(folder));
  std::filesystem::remove_all(folder);
  return {{.name = "`bough chat` to the prompt, 100,000 sessions, in a session of 1 GB / 1 ms",
           .ours = median(times),
           .floor = 1,
           .unit = "ms",
           .bound = 50}};
}

}  // namespace

std::vector<Benchmark> agentBenchmarks() {
  return {{.name = "turn", .run = turnOverhead},
          {.name = "first-token", .run = firstToken},
          {.name = "chat-start", .run = startOfChat}};
}

}  // namespace bough::bench
