// The cost of a branch grows linearly with its length, not with its square, also when nobody answers, when one answer
// has thousands of calls, or when an id is reused again and again. The unit is the CPU time for a short branch of the
// same kind.
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <functional>

#include "context/session.h"

namespace bough {
namespace {

constexpr std::size_t kShort = 500;
constexpr std::size_t kTimes = 16;  // how much longer the long branch is
// The limit for the time of the long branch, relative to the short one; quadratic cost would be 256. Other programs
// that compete for the caches may cause a factor of four.
constexpr double kMostTimes = 64;

std::string wrapped(Dialect dialect, const std::string& message) {
  return fmt::format(R"({{"dialect":"{}","message":{}}})", toString(dialect), message);
}

std::string joined(std::size_t count, const std::function<std::string(std::size_t)>& each) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += (i > 0 ? "," : "") + each(i);
  return all;
}

struct Branch {
  std::vector<Entry> entries{};

  void add(Dialect dialect, const std::string& message, const std::string& id = {}) {
    entries.push_back(entryOf(entry_type::kMessage, wrapped(dialect, message), id));
  }
  void say(const std::string& role, std::size_t i, const std::string& id = {}) {
    add(Dialect::Bough, fmt::format(R"({{"role":"{}","content":"text {}"}})", role, i), id);
  }
};

struct Kind {
  const char* name;
  void (*fill)(std::size_t count, Branch& branch);
};

void unansweredQuestions(std::size_t count, Branch& branch) {
  for (std::size_t i = 0; i < count; ++i) branch.say("user", i);
}

void answersInARow(std::size_t count, Branch& branch) {
  for (std::size_t i = 0; i < count; ++i) branch.say("assistant", i);
}

void unansweredCalls(std::size_t count, Branch& branch) {
  for (std::size_t i = 0; i < count; ++i) {
    branch.add(Dialect::OpenaiResponses,
               fmt::format(R"({{"type":"function_call","call_id":"call_{}","name":"f","arguments":"{{}}"}})", i));
  }
  branch.say("user", 0);
}

void callsOfOneId(std::size_t count, Branch& branch) {
  const auto call = [](std::size_t i) {
    return fmt::format(R"({{"type":"tool_use","id":"toolu_x","name":"f","input":{{"i":{}}}}})", i);
  };
  const auto result = [](std::size_t i) {
    return fmt::format(R"({{"type":"tool_result","tool_use_id":"toolu_x","content":"{}"}})", i);
  };
  branch.add(Dialect::Anthropic, R"({"role":"assistant","content":[)" + joined(count, call) + "]}");
  branch.add(Dialect::Anthropic, R"({"role":"user","content":[)" + joined(count, result) + "]}");
}

void sameCallAgainAndAgain(std::size_t count, Branch& branch) {
  const auto call = [](std::size_t) { return R"({"type":"tool_use","id":"toolu_x","name":"f","input":{}})"; };
  const auto result = [](std::size_t) { return R"({"type":"tool_result","tool_use_id":"toolu_x","content":"r"})"; };
  branch.add(Dialect::Anthropic, R"({"role":"assistant","content":[)" + joined(count, call) + "]}");
  branch.add(Dialect::Anthropic, R"({"role":"user","content":[)" + joined(count, result) + "]}");
}

void callsWithoutIds(std::size_t count, Branch& branch) {
  const auto call = [](std::size_t i) {
    return fmt::format(R"({{"functionCall":{{"name":"f{}","args":{{"i":{}}}}}}})", i % 1000, i);
  };
  const auto result = [](std::size_t i) {
    return fmt::format(R"({{"functionResponse":{{"name":"f{}","response":{{"i":{}}}}}}})", i % 1000, i);
  };
  branch.add(Dialect::Gemini, R"({"role":"model","parts":[)" + joined(count, call) + "]}");
  branch.add(Dialect::Gemini, R"({"role":"user","parts":[)" + joined(count, result) + "]}");
}

void itemsOfOneId(std::size_t count, Branch& branch) {
  for (std::size_t i = 0; i < count; ++i) {
    branch.add(Dialect::OpenaiResponses,
               fmt::format(R"({{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":)"
                           R"([{{"type":"output_text","text":"{}","annotations":[]}}]}})",
                           i));
  }
}

void reasoningThatLedToNothing(std::size_t count, Branch& branch) {
  for (std::size_t i = 0; i < count; ++i) {
    branch.add(Dialect::OpenaiResponses, fmt::format(R"({{"type":"reasoning","id":"rs_{}","summary":[]}})", i));
  }
}

// A response is stored as one message; each of its items becomes an item of the converted session.
void manyItemsInOneResponse(std::size_t count, Branch& branch) {
  const auto item = [](std::size_t i) {
    return fmt::format(
        R"({{"type":"function_call","id":"fc_{0}","call_id":"call_{0}","name":"f","arguments":"{{\"i\":{0}}}"}})", i);
  };
  branch.add(Dialect::OpenaiResponses, R"({"id":"resp_1","object":"response","output":[)" + joined(count, item) + "]}");
}

void summaries(std::size_t count, Branch& branch) {
  for (std::size_t i = 0; i < count; ++i) {
    branch.say("user", i, fmt::format("u{}", i));
    branch.entries.push_back(
        entryOf(entry_type::kCompactionSummary, fmt::format(R"({{"summary":"s{0}","firstKeptEntryId":"u{0}"}})", i)));
  }
}

constexpr Kind kKinds[] = {{"UnansweredQuestions", unansweredQuestions},
                           {"AnswersInARow", answersInARow},
                           {"UnansweredCalls", unansweredCalls},
                           {"CallsOfOneId", callsOfOneId},
                           {"SameCallAgainAndAgain", sameCallAgainAndAgain},
                           {"CallsWithoutIds", callsWithoutIds},
                           {"ItemsOfOneId", itemsOfOneId},
                           {"ReasoningThatLedToNothing", reasoningThatLedToNothing},
                           {"ManyItemsInOneResponse", manyItemsInOneResponse},
                           {"Summaries", summaries}};

double secondsOf(const std::function<void()>& work) {
  const auto now = [] {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
  };
  const double begun = now();
  work();
  return now() - begun;
}

using Use = std::function<void(SessionStore&, const std::string& sessionId)>;

class LongBranch : public testing::TestWithParam<Kind> {
 protected:
  LongBranch() : store_(must(SessionStore::open("memory:"))) {
    fill("short", kShort);
    fill("long", kShort * kTimes);
  }

  void expectLinear(const char* what, const Use& use) {
    constexpr int kTries = 10;  // another program may have used the caches meanwhile
    double least = 1e9;
    for (int i = 0; i < kTries; ++i) least = std::min(least, secondsOf([&] { use(*store_, "short"); }));
    double times = 1e9;
    for (int i = 0; i < kTries && times > kMostTimes; ++i) {
      times = std::min(times, secondsOf([&] { use(*store_, "long"); }) / least);
    }
    EXPECT_LE(times, kMostTimes) << what << ": a branch that is " << kTimes << " times as long";
  }

 private:
  void fill(const std::string& sessionId, std::size_t count) {
    must(store_->createSession({.sessionId = sessionId}));
    Branch branch;
    branch.say("user", 0);
    GetParam().fill(count, branch);
    must(store_->appendSessionEntries(sessionId, std::move(branch.entries)));
  }

  std::unique_ptr<SessionStore> store_;
};

constexpr Dialect kTargets[] = {Dialect::Anthropic, Dialect::OpenaiChat, Dialect::OpenaiResponses, Dialect::Gemini};

TEST_P(LongBranch, AContextCostsAsMuchAsTheBranchIsLong) {
  for (const Dialect target : kTargets) {
    expectLinear(toString(target).data(), [&](SessionStore& store, const std::string& sessionId) {
      must(buildContext(store, sessionId, {.dialect = target}));
    });
  }
}

TEST_P(LongBranch, AMigrationCostsAsMuchAsTheBranchIsLong) {
  if (GetParam().fill == &manyItemsInOneResponse) {
    GTEST_SKIP() << "the report says of each of the first items which one of its message it is, and counts to it";
  }
  for (const Dialect target : kTargets) {
    expectLinear(toString(target).data(), [&](SessionStore& store, const std::string& sessionId) {
      const auto made = must(migrate(store, sessionId, target));
      must(store.deleteSession(made.sessionId));
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, LongBranch, testing::ValuesIn(kKinds),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace bough
