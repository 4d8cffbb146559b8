// SIGKILL at every step of a run of twenty tool calls: before and after each append, before and after each tool, at
// each chunk of a stream. Then the run is resumed and must end as if it had not been interrupted.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "agent/parts/json_parts.h"
#include "agent/providers/http_provider.h"
#include "agent/scenario.h"
#include "support/rule_checker.h"
#include "support/temp_folder.h"

namespace bough::agent {
namespace {

constexpr const char* kPrompt = "Do all twenty.";

// Twenty calls in eleven answers. Commands are not safe to repeat, and count how often they ran.
const std::vector<ScriptedAnswer>& answers() {
  static const std::vector<ScriptedAnswer> kAnswers = [] {
    int number = 0;
    const auto count = [&] {
      return ScriptedCall{"bash", R"({"command":"echo )" + std::to_string(++number) + R"( >> counter.txt"})"};
    };
    const ScriptedCall write{"write", R"({"path":"w.txt","content":"w"})"};
    const ScriptedCall read{"read", R"({"path":"w.txt"})"};
    std::vector<ScriptedAnswer> all = {
        {"Begin.", "One", {count()}},
        {"", "Two", {write, count()}},
        {"Hm.", "Three", {read}},
        {"", "Four", {count(), count()}},
        {"", "", {count()}},
        {"", "Six", {write, read, count()}},
        {"", "Seven", {count(), count()}},
        {"", "Eight", {read, count(), write}},
        {"So.", "Nine", {count(), count()}},
        {"", "Ten", {count(), write, count()}},
        {"", "All twenty are done.", {}},
    };
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!all[i].text.empty()) all[i].text += " [step " + std::to_string(i + 1) + "]";
    }
    return all;
  }();
  return kAnswers;
}

// Counts steps, and kills the process at one of them.
class Killer {
 public:
  explicit Killer(int at) : at_(at) {}
  void step() {
    if (++count_ == at_) ::kill(::getpid(), SIGKILL);
  }
  [[nodiscard]] int count() const { return count_; }

 private:
  int at_;
  std::atomic<int> count_{0};
};

class KilledListener final : public Listener {
 public:
  KilledListener(Killer& killer, const std::string& acksPath)
      : killer_(killer), acks_(::open(acksPath.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) {}
  void onEvent(const AgentEvent& event) override {
    if (!event.entryId.empty()) {
      const std::string line = event.entryId + "\n";
      (void)!::write(acks_, line.data(), line.size());
    }
    killer_.step();
  }
  std::optional<bool> allow(const ToolCall&, const std::string&) override { return true; }
  RecoveryChoice recover(const UnfinishedToolCall&) override { return {}; }

 private:
  Killer& killer_;
  int acks_;
};

// Also kills the process between the end of the stream and the append of the answer.
class KilledProvider final : public Provider {
 public:
  KilledProvider(std::unique_ptr<Provider> inner, Killer& killer) : inner_(std::move(inner)), killer_(killer) {}
  [[nodiscard]] std::string name() const override { return inner_->name(); }
  [[nodiscard]] Dialect dialect() const override { return inner_->dialect(); }
  Result<Answer> stream(const ModelRequest& request, const StreamEvents& events, const CancelToken& cancel) override {
    killer_.step();
    auto answer = inner_->stream(request, events, cancel);
    killer_.step();
    return answer;
  }

 private:
  std::unique_ptr<Provider> inner_;
  Killer& killer_;
};

std::vector<Tool> killedTools(Killer& killer) {
  std::vector<Tool> tools = builtInTools();
  for (Tool& tool : tools) {
    tool.prepare = [&killer, prepare = tool.prepare](const std::string& arguments, const ToolEnvironment& environment) {
      PreparedCall prepared = prepare(arguments, environment);
      prepared.run = [&killer, run = std::move(prepared.run)](const CancelToken& cancel) {
        killer.step();
        ToolOutcome outcome = run(cancel);
        killer.step();
        return outcome;
      };
      return prepared;
    };
  }
  return tools;
}

struct Place {
  std::string folder;
  std::string url;
  Dialect dialect = Dialect::Anthropic;
};

// Starts or resumes the run, and dies at a step. Returns the number of steps.
int runUntil(const Place& place, int killAt) {
  Killer killer(killAt);
  auto store = SessionStore::open(place.folder + "/store");
  if (!store) return -1;
  if ((*store)->listSessions()->empty() && !(*store)->createSession({.sessionId = "s"})) return -1;
  Endpoint endpoint{.provider = "x", .model = "m", .dialect = place.dialect, .baseUrl = place.url, .key = "k"};
  if (place.dialect == Dialect::Gemini) endpoint.model = "gemini-3-x";
  KilledProvider provider(makeHttpProvider(endpoint, {}), killer);
  KilledListener listener(killer, place.folder + "/acks");
  const ToolEnvironment environment{
      .folder = *WorkingFolder::open(place.folder + "/place"), .limits = {}, .secrets = {}, .allowedCommands = {}};
  const std::vector<Tool> tools = killedTools(killer);
  CancelToken cancel;
  const Agent agent{.store = **store,
                    .provider = provider,
                    .tools = tools,
                    .environment = environment,
                    .listener = listener,
                    .cancel = cancel,
                    .options = {.systemPrompt = "Be brief."}};
  const auto start = startingPoint(**store, "s");
  const auto report = start->headId.empty() ? runTurn(agent, *start, kPrompt) : resumeTurn(agent, *start);
  return report && !report->aborted ? killer.count() : -1;
}

// Runs this program again as a child, so that only the child is killed. Returns the number of steps; -9 when it was
// killed.
int runInAnotherProcess(const Place& place, int killAt) {
  const std::string number = std::to_string(killAt);
  const std::string dialect(toString(place.dialect));
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl("/proc/self/exe", "agent_test", "--role", place.folder.c_str(), place.url.c_str(), dialect.c_str(),
            number.c_str(), nullptr);
    ::_exit(127);
  }
  int status = 0;
  (void)::waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) return -WTERMSIG(status);
  return WEXITSTATUS(status) == 0 ? 0 : -1;
}

std::vector<std::string> linesOf(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

// Checks the final state, which must be valid whenever the run was killed.
void check(const Place& place, int killAt) {
  auto store = SessionStore::open(place.folder + "/store");
  ASSERT_TRUE(store.has_value());
  const auto entries = (*store)->loadSessionEntries("s");
  ASSERT_TRUE(entries.has_value());
  EXPECT_TRUE((*store)->verifySession("s")->problems.empty());
  std::set<std::string> ids;
  std::size_t unknown = 0;
  bool finished = false;
  for (const Entry& entry : *entries) {
    ids.insert(entry.id);
    if (entry.payload.find("The outcome is unknown") != std::string::npos) ++unknown;
    finished = finished || entry.payload.find("All twenty are done.") != std::string::npos;
  }
  EXPECT_TRUE(finished) << killAt;
  for (const std::string& acknowledged : linesOf(place.folder + "/acks")) {
    EXPECT_TRUE(ids.contains(acknowledged)) << acknowledged << " is lost, killed at " << killAt;
  }
  std::map<std::string, int> runs;
  for (const std::string& line : linesOf(place.folder + "/place/counter.txt")) ++runs[line];
  for (const auto& [number, times] : runs) EXPECT_EQ(times, 1) << number << " ran twice, killed at " << killAt;
  // A call that was running when the program died ran once or not at all; every other call ran.
  EXPECT_GE(runs.size() + unknown, 12U) << killAt;
  EXPECT_LE(unknown, 3U) << killAt;
}

std::string fastFolder() {
  return std::filesystem::exists("/dev/shm") ? "/dev/shm" : std::filesystem::temp_directory_path().string();
}

class CrashFolder {
 public:
  CrashFolder() : path_(fastFolder() + "/bough-crash-XXXXXX") {
    if (::mkdtemp(path_.data()) == nullptr) std::abort();
    std::filesystem::create_directories(path_ + "/place");
  }
  CrashFolder(const CrashFolder&) = delete;
  CrashFolder& operator=(const CrashFolder&) = delete;
  ~CrashFolder() { std::filesystem::remove_all(path_); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Saves the request right after a restart, and the last request of the resumed run.
void dumpTakenUp(const std::vector<HttpIn>& requests, std::size_t before) {
  if (requests.size() > before) dumpRequests({requests[before], requests.back()});
}

void killEverywhere(Dialect dialect) {
  LoopbackServer server(playScenario(answers()));
  int steps = 0;
  {
    CrashFolder folder;
    steps = runUntil({folder.path(), server.url(), dialect}, 0);
    check({folder.path(), server.url(), dialect}, 0);
  }
  ASSERT_GT(steps, 100);
  for (int killAt = 1; killAt <= steps; ++killAt) {
    CrashFolder folder;
    const Place place{folder.path(), server.url(), dialect};
    EXPECT_EQ(runInAnotherProcess(place, killAt), -SIGKILL) << killAt;
    const std::size_t before = server.requests().size();
    EXPECT_GE(runUntil(place, 0), 0) << killAt;
    check(place, killAt);
    dumpTakenUp(server.requests(), before);
    if (::testing::Test::HasFailure()) return;
  }
  for (const HttpIn& request : server.requests()) {
    const auto broken = test::brokenRules(dialect, request.body);
    ASSERT_TRUE(broken.empty()) << broken.front() << "\n" << request.body;
  }
}

TEST(Crash, AnthropicGoesOnAfterAKillAtAnyStep) {
  killEverywhere(Dialect::Anthropic);
}
TEST(Crash, OpenaiChatGoesOnAfterAKillAtAnyStep) {
  killEverywhere(Dialect::OpenaiChat);
}
TEST(Crash, OpenaiResponsesGoesOnAfterAKillAtAnyStep) {
  killEverywhere(Dialect::OpenaiResponses);
}
TEST(Crash, GeminiGoesOnAfterAKillAtAnyStep) {
  killEverywhere(Dialect::Gemini);
}

// The disk becomes full in the middle of a turn: the session stays valid, the error names the cause, and with free
// space the turn is finished.
TEST(Crash, FullDiskInTheMiddleOfATurnLosesNothing) {
  LoopbackServer server(playScenario(answers()));
  CrashFolder folder;
  const Place place{folder.path(), server.url(), Dialect::Anthropic};
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl("/proc/self/exe", "agent_test", "--role", place.folder.c_str(), place.url.c_str(), "anthropic", "full",
            nullptr);
    ::_exit(127);
  }
  int status = 0;
  (void)::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_GE(runUntil(place, 0), 0);
  check(place, 0);
}

int playRole(char** words) {
  const Place place{words[0], words[1], *parseDialect(words[2])};
  if (std::string_view(words[3]) == "full") {
    // Limits the size of files, so that writes fail as on a full disk.
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{.rlim_cur = 6'000, .rlim_max = 6'000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  return runUntil(place, std::atoi(words[3])) >= 0 ? 0 : 1;
}

}  // namespace
}  // namespace bough::agent

int main(int argc, char** argv) {
  if (argc == 6 && std::string_view(argv[1]) == "--role") return bough::agent::playRole(argv + 2);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
