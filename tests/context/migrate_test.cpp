#include <array>

#include "base/bytes/sha256.h"
#include "base/json/json_scan.h"
#include "context/session.h"
#include "support/history_maker.h"
#include "support/rule_checker.h"

namespace bough::test {
namespace {

constexpr std::array<Dialect, 4> kDialects = {Dialect::Anthropic, Dialect::OpenaiChat, Dialect::OpenaiResponses,
                                              Dialect::Gemini};

struct Stored {
  std::string dialect;
  std::string message;
  std::string meta;
  std::string id;
};

class Migrate : public ContextTest {
 protected:
  // Returns the messages of the head's branch.
  std::vector<Stored> messagesOf(const std::string& session) {
    const std::string head = must(store->sessionState(session)).headId;
    std::vector<Stored> out;
    for (const Entry& entry : must(store->loadSessionEntries(session, {.branch = head}))) {
      if (entry.type != entry_type::kMessage || entry.redacted) continue;
      out.push_back({json::findString(entry.payload, "dialect").value_or(""),
                     std::string(json::findMember(entry.payload, "message").value_or("")), entry.meta, entry.id});
    }
    return out;
  }
  std::vector<std::string> bytesOf(const std::string& session, Dialect dialect) {
    std::vector<std::string> out;
    for (const Stored& each : messagesOf(session)) {
      if (each.dialect == toString(dialect)) out.push_back(each.message);
    }
    return out;
  }
  std::string to(const std::string& session, Dialect dialect) {
    return must(migrate(*store, session, dialect)).sessionId;
  }
  void append(const std::string& session, Dialect dialect, const std::vector<std::string>& messages) {
    std::vector<Entry> batch;
    for (const std::string& each : messages) {
      batch.push_back(entryOf(entry_type::kMessage,
                              R"({"dialect":")" + std::string(toString(dialect)) + R"(","message":)" + each + "}"));
    }
    must(store->appendSessionEntries(session, std::move(batch)));
  }
};

// Returns true when `all` contains all of `wanted`, in that order.
bool isSubsequence(const std::vector<std::string>& wanted, const std::vector<std::string>& all) {
  std::size_t found = 0;
  for (const std::string& each : all) {
    if (found < wanted.size() && each == wanted[found]) ++found;
  }
  return found == wanted.size();
}

TEST_F(Migrate, TheForkIsForTheNewProviderAndSaysWhereItCameFrom) {
  must(store->appendSessionEntries("s", {entryOf(entry_type::kSessionInfo, R"({"title":"a title"})")}));
  say(Dialect::Anthropic, R"({"role":"user","content":"hi"})", "u1");
  const std::string answer = R"({"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"sig"},)"
                             R"({"type":"text","text":"yo","cache_control":{"type":"ephemeral"}}]})";
  say(Dialect::Anthropic, answer, "a1");
  const auto before = must(store->loadSessionEntries("s"));
  const ProviderMigration done = must(migrate(*store, "s", Dialect::Gemini));
  EXPECT_EQ(idsOf(must(store->loadSessionEntries("s"))), idsOf(before));
  EXPECT_EQ(done.from, Dialect::Anthropic);
  EXPECT_EQ(done.sourceEntryId, "a1");
  EXPECT_EQ(must(store->sessionState(done.sessionId)).origin->sessionId, "s");
  const auto messages = messagesOf(done.sessionId);
  ASSERT_EQ(messages.size(), 2U);
  EXPECT_EQ(messages[1].dialect, "gemini");
  EXPECT_EQ(messages[1].message, R"({"role":"model","parts":[{"text":"yo"}]})");
  EXPECT_EQ(messages[1].meta, R"({"migration":{"sources":[{"entryId":"a1","sha256":")" + Sha256::of(answer) +
                                  R"("}],"writtenAs":[{"dialect":"anthropic","entryId":"a1"}],)"
                                  R"("notExpressed":["text.cache_control","thinking"]}})");
  const auto infos = must(store->loadSessionEntries(done.sessionId, {.type = "session_info"}));
  EXPECT_EQ(infos.back().payload, R"({"title":"a title","migratedFrom":"anthropic","migratedTo":"gemini",)"
                                  R"("migratedAt":")" +
                                      done.migratedAt + R"("})");
  ASSERT_EQ(done.report.signatures.size(), 1U);
  EXPECT_EQ(done.report.signatures[0].entryId, "a1");
  EXPECT_EQ(done.report.signatures[0].state, SignatureState::Carried);
}

// Typed text is the same in every dialect. Calls and results are not: each API has its own form.
TEST_F(Migrate, BoughsOwnCallsAndResultsBecomeTheProviders) {
  user("hi", "u1");
  say(Dialect::Bough, R"({"role":"assistant","content":[{"type":"tool_call","id":"t","name":"f","input":{"n":1}}]})",
      "c1");
  say(Dialect::Bough, R"({"role":"tool","content":[{"type":"tool_result","id":"t","content":"one"}]})", "r1");
  assistant("done", "a1");
  const auto messages = messagesOf(to("s", Dialect::Anthropic));
  ASSERT_EQ(messages.size(), 4U);
  EXPECT_EQ(messages[0].dialect, "bough");
  EXPECT_EQ(messages[1].dialect, "anthropic");
  EXPECT_EQ(messages[1].message,
            R"({"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{"n":1}}]})");
  EXPECT_EQ(messages[2].dialect, "anthropic");
  EXPECT_EQ(messages[2].message,
            R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"one"}]})");
  EXPECT_EQ(messages[3].dialect, "bough");
}

TEST_F(Migrate, TheWayBackIsExactForAllPairsAndChainsWithTurnsAddedInBetween) {
  for (std::uint64_t seed = 0; seed < rounds(60); ++seed) {
    HistoryMaker maker(seed + 300);
    Dialect at = kDialects[seed % 4];
    const Dialect first = at;
    std::string session = must(store->createSession({.sessionId = "w" + std::to_string(seed)})).sessionId;
    std::array<std::vector<std::string>, 4> authored;
    std::string trail(toString(at));
    const auto grow = [&] {
      const auto turn = maker.turn(at);
      append(session, at, turn);
      auto& mine = authored[static_cast<std::size_t>(at)];
      mine.insert(mine.end(), turn.begin(), turn.end());
      trail += '+';
    };
    for (std::uint64_t i = 0; i <= maker.below(3); ++i) grow();
    const std::uint64_t steps = 1 + maker.below(4);
    for (std::uint64_t step = 0; step <= steps; ++step) {
      const Dialect next = step == steps ? first : kDialects[(seed / 4 + step) % 4];
      session = to(session, next);
      at = next;
      trail += " > " + std::string(toString(at));
      ASSERT_TRUE(isSubsequence(authored[static_cast<std::size_t>(at)], bytesOf(session, at))) << seed << ' ' << trail;
      const Context context = must(buildContext(*store, session, {.dialect = at}));
      for (const std::string& rule : brokenRules(at, context.requestJson())) ADD_FAILURE() << rule;
      ASSERT_FALSE(HasFailure()) << "seed " << seed << ' ' << trail << '\n' << context.messages;
      if (step < steps && maker.chance(60)) grow();
    }
    // When no other provider added turns, the result is exactly the messages of the first session.
    bool othersAdded = false;
    for (const Dialect dialect : kDialects) {
      othersAdded |= dialect != first && !authored[static_cast<std::size_t>(dialect)].empty();
    }
    if (!othersAdded) {
      ASSERT_EQ(bytesOf(session, first), authored[static_cast<std::size_t>(first)]) << "seed " << seed << ' ' << trail;
    }
  }
}

TEST_F(Migrate, EveryPairComesBackWithNothingAddedAndNothingMissing) {
  int made = 0;
  for (const Dialect from : kDialects) {
    for (const Dialect other : kDialects) {
      if (from == other) continue;
      HistoryMaker maker(static_cast<std::uint64_t>(++made));
      const std::string session = must(store->createSession({.sessionId = "x" + std::to_string(made)})).sessionId;
      std::vector<std::string> all;
      for (int i = 0; i < 5; ++i) {
        const auto turn = maker.turn(from);
        append(session, from, turn);
        all.insert(all.end(), turn.begin(), turn.end());
      }
      const std::string back = to(to(session, other), from);
      ASSERT_EQ(bytesOf(back, from), all) << toString(from) << " over " << toString(other);
      ASSERT_EQ(messagesOf(back).size(), all.size());
    }
  }
}

TEST_F(Migrate, AnEditedTurnIsConvertedAndReportedAndTheOthersComeBack) {
  say(Dialect::Anthropic, R"({"role":"user","content":"one"})");
  say(Dialect::Anthropic, R"({"role":"assistant","content":[{"type":"text","text":"1","x":1}]})");
  say(Dialect::Anthropic, R"({"role":"user","content":"two"})");
  const std::string fork = to("s", Dialect::Gemini);
  const auto messages = messagesOf(fork);
  ASSERT_EQ(messages.size(), 3U);
  // An edit is another entry instead of the message, followed by the later messages again.
  must(store->moveHead(fork, messages[0].id));
  append(fork, Dialect::Gemini, {R"({"role":"model","parts":[{"text":"ONE"}]})", messages[2].message});
  const ProviderMigration back = must(migrate(*store, fork, Dialect::Anthropic));
  EXPECT_EQ(bytesOf(back.sessionId, Dialect::Anthropic),
            (std::vector<std::string>{R"({"role":"user","content":"one"})", R"({"role":"assistant","content":"ONE"})",
                                      R"({"role":"user","content":"two"})"}));
  bool edited = false;
  for (const Finding& finding : back.report.findings) edited |= finding.change == Change::Edited;
  EXPECT_TRUE(edited);
}

TEST_F(Migrate, SyntheticNodesAreMarkedAndDisappear) {
  say(Dialect::OpenaiChat, R"({"role":"user","content":"go"})");
  say(Dialect::OpenaiChat, R"({"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function",)"
                           R"("function":{"name":"f","arguments":"{\"a\":"}}]})");
  say(Dialect::OpenaiChat, R"({"role":"user","content":"never mind"})");
  const std::string fork = to("s", Dialect::Anthropic);
  const auto messages = messagesOf(fork);
  ASSERT_EQ(messages.size(), 3U);
  EXPECT_EQ(must(migrate(*store, "s", Dialect::Gemini)).synthetic, 1U);
  EXPECT_NE(messages[2].message.find("No result"), std::string::npos);
  EXPECT_EQ(bytesOf(to(fork, Dialect::OpenaiChat), Dialect::OpenaiChat), bytesOf("s", Dialect::OpenaiChat));
}

TEST_F(Migrate, WhatIsNoMessageComesAlongAtItsPlaceAndPointsToWhatItPointedTo) {
  add(entry_type::kRuntimeInit, R"({"systemPrompt":"be kind"})");
  user("one");
  say(Dialect::Anthropic, R"({"role":"assistant","content":"1"})");
  user("two", "u2");
  add(entry_type::kModelChange, R"({"model":"m2"})");
  add(entry_type::kCompactionSummary, R"({"summary":"sum","firstKeptEntryId":"u2"})");
  user("three");
  const std::string fork = to("s", Dialect::OpenaiResponses);
  const Context context = must(buildContext(*store, fork, {.dialect = Dialect::OpenaiResponses}));
  EXPECT_EQ(context.model, "m2");
  EXPECT_EQ(context.system, R"("be kind")");
  EXPECT_NE(context.messages.find("two"), std::string::npos);
  EXPECT_EQ(context.messages.find("one"), std::string::npos);
  EXPECT_EQ(must(buildContext(*store, to(fork, Dialect::Anthropic))).messages, build().messages);
}

TEST_F(Migrate, ACallThatWasStartedIsStillOpenUnderItsNewId) {
  user("go");
  say(Dialect::OpenaiResponses, R"({"type":"function_call","call_id":"a:b","name":"f","arguments":"{}"})");
  add(entry_type::kToolStart, R"({"toolCallId":"a:b","name":"f"})");
  const std::string fork = to("s", Dialect::Anthropic);
  const auto open = must(unfinishedToolCalls(*store, fork));
  ASSERT_EQ(open.size(), 1U);
  EXPECT_NE(open[0].toolCallId, "a:b");
  EXPECT_TRUE(open[0].started);
  const auto back = must(unfinishedToolCalls(*store, to(fork, Dialect::OpenaiResponses)));
  ASSERT_EQ(back.size(), 1U);
  EXPECT_EQ(back[0].toolCallId, "a:b");
  EXPECT_TRUE(back[0].started);
}

TEST_F(Migrate, TypedTextStaysAsItIsInEveryDialect) {
  user("typed", "u1");
  say(Dialect::Anthropic, R"({"role":"assistant","content":"1"})");
  const std::string fork = to("s", Dialect::Gemini);
  EXPECT_EQ(messagesOf(fork)[0].dialect, "bough");
  EXPECT_EQ(messagesOf(to(fork, Dialect::Anthropic))[0].message, R"({"role":"user","content":"typed"})");
  EXPECT_EQ(must(buildContext(*store, fork, {.dialect = Dialect::Gemini})).messages,
            R"([{"role":"user","parts":[{"text":"typed"}]},{"role":"model","parts":[{"text":"1"}]}])");
}

TEST_F(Migrate, ARedactionInTheSourceHoldsForWhatWasConvertedFromIt) {
  say(Dialect::Anthropic, R"({"role":"user","content":"one"})", "u1");
  say(Dialect::Anthropic, R"({"role":"assistant","content":"secret"})", "a1");
  say(Dialect::Anthropic, R"({"role":"user","content":"two"})", "u2");
  const std::string fork = to("s", Dialect::Gemini);
  must(store->redactEntry("s", "a1", "me", "why"));
  EXPECT_EQ(must(buildContext(*store, fork, {.dialect = Dialect::Gemini})).messages.find("secret"), std::string::npos);
  const std::string back = to(fork, Dialect::Anthropic);
  EXPECT_EQ(must(buildContext(*store, back)).messages.find("secret"), std::string::npos);
  EXPECT_EQ(bytesOf(back, Dialect::Anthropic).size(), 2U);
}

TEST_F(Migrate, ABadMessageIsNamedComesBackAtItsPlaceAndStrictStops) {
  say(Dialect::Anthropic, R"({"role":"user","content":"one"})");
  say(Dialect::Anthropic, R"({"role":"nobody"})", "bad");
  say(Dialect::Anthropic, R"({"role":"user","content":"two"})");
  EXPECT_EQ(refused(migrate(*store, "s", Dialect::Gemini, {.strict = true})).message,
            "entry bad: the role is none of user, assistant, system");
  const ProviderMigration done = must(migrate(*store, "s", Dialect::Gemini));
  EXPECT_FALSE(done.report.compatible);
  EXPECT_EQ(bytesOf(to(done.sessionId, Dialect::Anthropic), Dialect::Anthropic), bytesOf("s", Dialect::Anthropic));
}

TEST_F(Migrate, WithoutItsOriginASessionIsConvertedAnewAndThatIsSaid) {
  say(Dialect::Anthropic, R"({"role":"user","content":[{"type":"text","text":"one","x":1}]})");
  const std::string fork = to("s", Dialect::Gemini);
  const auto messages = messagesOf(fork);
  must(store->moveHead(fork, ""));
  append(fork, Dialect::Gemini, {messages[0].message});
  const ProviderMigration back = must(migrate(*store, fork, Dialect::Anthropic));
  EXPECT_EQ(bytesOf(back.sessionId, Dialect::Anthropic),
            std::vector<std::string>{R"({"role":"user","content":"one"})"});
}

TEST_F(Migrate, NothingIsMigratedFromAnEmptySessionOrToNobody) {
  EXPECT_EQ(refused(migrate(*store, "s", Dialect::Gemini)).code, ErrorCode::InvalidArgument);
  user("one");
  EXPECT_EQ(refused(migrate(*store, "s", Dialect::Plain)).code, ErrorCode::Unsupported);
  EXPECT_EQ(must(store->listSessions()).size(), 1U);
}

using CheckCompatibility = Migrate;

TEST_F(CheckCompatibility, NamesEntriesAndWhatBreaksASignature) {
  add(entry_type::kRuntimeInit, R"({"systemPrompt":"first"})");
  say(Dialect::Anthropic, R"({"role":"user","content":"one"})");
  say(Dialect::Anthropic,
      R"({"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s"},)"
      R"({"type":"text","text":"1"}]})",
      "a1");
  const CompatibilityReport there = must(checkCompatibility(*store, "s", Dialect::OpenaiChat));
  EXPECT_EQ(there.lossyFields, std::vector<std::string>{"thinking"});
  ASSERT_EQ(there.findings.size(), 1U);
  EXPECT_EQ(there.findings[0].entryId, "a1");
  const std::string fork = to("s", Dialect::OpenaiChat);
  const CompatibilityReport back = must(checkCompatibility(*store, fork, Dialect::Anthropic));
  ASSERT_EQ(back.signatures.size(), 1U);
  EXPECT_EQ(back.signatures[0].state, SignatureState::Valid);
  must(store->appendSessionEntries(fork, {entryOf(entry_type::kSystemPromptOverride, R"({"systemPrompt":"second"})")}));
  const CompatibilityReport changed = must(checkCompatibility(*store, fork, Dialect::Anthropic));
  ASSERT_EQ(changed.signatures.size(), 1U);
  EXPECT_EQ(changed.signatures[0].state, SignatureState::Invalid);
  EXPECT_EQ(changed.signatures[0].reason, "the system prompt before it changed");
}

// A message becomes several entries in Responses; in Anthropic, messages of the same role would be joined with it.
TEST_F(Migrate, AnEditHoldsForWhatItsMessageBecame) {
  say(Dialect::Bough, R"({"role":"user","content":"first"})", "u1");
  say(Dialect::Bough, R"({"role":"user","content":"second"})", "u2");
  say(Dialect::Bough, R"({"role":"user","content":"third"})", "u3");
  say(Dialect::Bough,
      R"({"role":"assistant","content":[{"type":"text","text":"long"},{"type":"tool_call","id":"c1","name":"f","input":{}}]})",
      "a1");
  add(entry_type::kCustom, R"({"kind":"edit","entryId":"u2","content":[{"type":"text","text":"[cut]"}]})");
  add(entry_type::kCustom, R"({"kind":"edit","entryId":"a1","content":[{"type":"text","text":"short"}]})");
  for (const Dialect target : kDialects) {
    const std::string migrated = to("s", target);
    std::vector<std::string> sessions = {migrated};
    for (const Dialect next : kDialects) sessions.push_back(to(migrated, next));
    for (const std::string& session : sessions) {
      EXPECT_EQ(must(buildContext(*store, session, {.dialect = Dialect::OpenaiChat})).messages,
                R"([{"role":"user","content":"first"},{"role":"user","content":"[cut]"},)"
                R"({"role":"user","content":"third"},{"role":"assistant","content":"short"}])")
          << toString(target);
    }
  }
}

}  // namespace
}  // namespace bough::test
