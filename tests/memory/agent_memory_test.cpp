// Memory that runs out while an agent works: in its turn, in the threads of its tools, in the lease of a turn, in a
// chat. The call throws std::bad_alloc or returns an error, no tool runs twice, and the next call works.
#include <sys/wait.h>

#include <map>

#include "agent/loop_fixture.h"
#include "memory/failing_memory.h"
#include "support/entries.h"

namespace bough::agent {
namespace {

// Runs `work` without failing allocations.
template <typename Work>
auto undisturbedByAll(Work work) {
  const long left = allocationsLeftOfAll.exchange(-1);
  auto result = work();
  allocationsLeftOfAll = left;
  return result;
}

class AgentMemory : public LoopTest {
 protected:
  AgentMemory() { store_ = must(SessionStore::open("memory:")); }  // without waits for the disk
  bool startSession() {
    std::filesystem::remove(work() + "/n.txt");
    sessionId_ = must(store_->createSession()).sessionId;
    listener_.choice = {.action = RecoveryChoice::Action::Skip};
    return true;
  }
  // Each call has exactly one result.
  void expectOneResultForEachCall() {
    std::map<std::string, int> results;
    for (const Entry& entry : entries()) {
      const auto message = holdsMessage(entry) ? normalizeEntry(entry) : Result<Message>(fail(ErrorCode::NotFound, ""));
      if (!message) continue;
      for (const Block& block : message->blocks) {
        if (block.kind == BlockKind::ToolCall) results[block.id.decode()] += 0;
        if (block.kind == BlockKind::ToolResult) ++results[block.id.decode()];
      }
    }
    for (const auto& [id, count] : results) EXPECT_EQ(count, 1) << id;
  }
};

TEST_F(AgentMemory, ATurnWithSeveralCallsIsFinishedByTheNextOne) {
  bool ended = false;
  failEachOfAll([&](bool mayFail) {
    if (mayFail) {
      ended = false;
      undisturbedByAll([&] { return startSession(); });
      ended = runTurn(agent(), here(), "bash echo x >> n.txt\nls\nbash true").has_value();
      return;
    }
    if (must(isInterrupted(*store_, here()))) must(resumeTurn(agent(), here()));
    must(runTurn(agent(), here(), "hello"));
    expectOneResultForEachCall();
    EXPECT_TRUE(get("n.txt") == "x\n" || (get("n.txt").empty() && !ended)) << get("n.txt");
    EXPECT_EQ(must(store_->verifySession(sessionId_)).problemCount, 0U);
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a process of a tool was left";
  });
}

// Whatever happens to the call that writes a file, the file is complete, old or new, and the change can be undone.
TEST_F(AgentMemory, AFileIsWrittenWholeOrNotAtAll) {
  failEachOfAll([&](bool mayFail) {
    if (mayFail) {
      undisturbedByAll([&] {
        std::ofstream(work() + "/a.txt") << "old";
        return startSession();
      });
      (void)runTurn(agent(), here(), "write a.txt: new");
      return;
    }
    EXPECT_TRUE(get("a.txt") == "old" || get("a.txt").starts_with("new")) << get("a.txt");
    std::size_t files = 0;
    for (const auto& each : std::filesystem::directory_iterator(work())) {
      EXPECT_FALSE(each.path().string().ends_with(".tmp")) << each.path();
      ++files;
    }
    EXPECT_EQ(files, 1U);
    if (must(isInterrupted(*store_, here()))) must(resumeTurn(agent(), here()));
    expectOneResultForEachCall();
  });
}

TEST_F(AgentMemory, TheLeaseOfATurnIsTakenOrNotAndEnds) {
  const std::string id = must(store_->createSession()).sessionId;
  failEachOfAll([&](bool mayFail) {
    const auto lock = TurnLock::take(*store_, "", id);
    // Immediately, not after the ten seconds until a lost lease expires.
    EXPECT_TRUE(lock || mayFail);
  });
}

TEST_F(AgentMemory, AChatGoesOnAfterWhatFailed) {
  failEachOfAll([&](bool mayFail) {
    const auto chat =
        Chat::make(*store_, listener_, cancel_,
                   {.model = "offline/echo", .folder = work(), .userInstructions = {}, .allowedCommands = {}});
    const bool ready = chat && (*chat)->startNew();
    const bool said = ready && (*chat)->say("hello").has_value();
    const bool again = ready && (*chat)->reload() && (*chat)->say("bash true").has_value();
    if (!ready || !said || !again) {
      ASSERT_TRUE(mayFail);
      return;
    }
    EXPECT_EQ(must(store_->verifySession((*chat)->sessionId())).problemCount, 0U);
  });
}

}  // namespace
}  // namespace bough::agent
