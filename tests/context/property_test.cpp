// Contexts of random sessions: mixed dialects, calls without results, results without calls, shuffled or stored twice,
// with summaries and redactions in between.
#include <algorithm>
#include <array>

#include "base/json/json_scan.h"
#include "context/compatibility.h"
#include "context/session.h"
#include "support/history_maker.h"
#include "support/rule_checker.h"

namespace bough::test {
namespace {

constexpr std::array<Dialect, 4> kDialects = {Dialect::Anthropic, Dialect::OpenaiChat, Dialect::OpenaiResponses,
                                              Dialect::Gemini};

struct Made {
  Dialect dialect;
  std::string json;
};

// Changes a history as crashes, retries and late tools would.
void disturb(HistoryMaker& maker, std::vector<Made>& messages) {
  for (std::uint64_t i = 0; i < maker.below(4) && messages.size() > 1; ++i) {
    const std::size_t at = maker.below(messages.size());
    const auto place = messages.begin() + static_cast<std::ptrdiff_t>(at);
    switch (maker.below(4)) {
      case 0: messages.erase(place); break;
      case 1: messages.insert(place, Made(messages[at])); break;
      case 2:
        if (at + 1 < messages.size()) std::swap(messages[at], messages[at + 1]);
        break;
      default: messages.insert(place, {Dialect::Bough, R"({"role":"user","content":"in between"})"});
    }
  }
}

class ContextProperty : public ContextTest {
 protected:
  std::string makeSession(std::uint64_t seed) {
    HistoryMaker maker(seed);
    const std::string id = "p" + std::to_string(seed);
    must(store->createSession({.sessionId = id}));
    std::vector<Made> messages;
    const bool mixed = maker.chance(50);
    Dialect dialect = kDialects[maker.below(4)];
    for (std::uint64_t turn = 0; turn < 1 + maker.below(6); ++turn) {
      if (mixed) dialect = kDialects[maker.below(4)];
      for (std::string& each : maker.turn(dialect)) messages.push_back({dialect, std::move(each)});
    }
    if (maker.chance(60)) disturb(maker, messages);
    std::vector<Entry> batch;
    if (maker.chance(50)) batch.push_back(entryOf(entry_type::kRuntimeInit, R"({"systemPrompt":"be brief"})"));
    int made = 0;
    for (const Made& each : messages) {
      const std::string payload =
          R"({"dialect":")" + std::string(toString(each.dialect)) + R"(","message":)" + each.json + "}";
      batch.push_back(entryOf(entry_type::kMessage, payload, "e" + std::to_string(made++)));
      if (maker.chance(4) && made > 1) {
        const std::string kept = std::to_string(maker.below(static_cast<std::uint64_t>(made)));
        batch.push_back(
            entryOf(entry_type::kCompactionSummary, R"({"summary":"sum","firstKeptEntryId":"e)" + kept + R"("})"));
      }
    }
    must(store->appendSessionEntries(id, std::move(batch)));
    if (made > 0 && maker.chance(20)) {
      must(store->redactEntry(id, "e" + std::to_string(maker.below(static_cast<std::uint64_t>(made))), "me", "why"));
    }
    return id;
  }

  // Returns the context of a session that consists of the messages of a context.
  std::string arrangedAgain(const Context& context) {
    const std::string id = "again" + std::to_string(++again_);
    must(store->createSession({.sessionId = id}));
    std::vector<Entry> batch;
    for (json::ArrayReader list(context.messages); const auto each = list.next();) {
      batch.push_back(entryOf(entry_type::kMessage, R"({"dialect":")" + std::string(toString(context.dialect)) +
                                                        R"(","message":)" + std::string(*each) + "}"));
    }
    if (batch.empty()) return context.messages;
    must(store->appendSessionEntries(id, std::move(batch)));
    return must(buildContext(*store, id, {.dialect = context.dialect})).messages;
  }

 private:
  int again_ = 0;
};

TEST_F(ContextProperty, EveryContextIsValidForItsApiAndArrangingItAgainChangesNothing) {
  for (std::uint64_t seed = 0; seed < rounds(250); ++seed) {
    const std::string session = makeSession(seed);
    for (const Dialect dialect : kDialects) {
      const Context context = must(buildContext(*store, session, {.dialect = dialect}));
      const std::string request = context.requestJson();
      for (const std::string& rule : brokenRules(dialect, request)) {
        if (context.messages != "[]") ADD_FAILURE() << rule;
      }
      EXPECT_EQ(arrangedAgain(context), context.messages);
      EXPECT_EQ(must(buildContext(*store, session, {.dialect = dialect})).requestJson(), request);
      ASSERT_FALSE(HasFailure()) << "seed " << seed << ' ' << toString(dialect) << '\n' << request;
    }
  }
}

bool isThinking(const Block& block) {
  return block.kind == BlockKind::Thinking || block.kind == BlockKind::RedactedThinking;
}

// When the bytes before the new turn differ, users pay for the whole context again.
TEST_F(ContextProperty, EveryRequestBeginsWithTheBytesOfTheOneBeforeIt) {
  std::uint64_t compared = 0;
  for (std::uint64_t seed = 0; seed < rounds(80); ++seed) {
    HistoryMaker maker(seed + 70000);
    const std::string id = "prefix" + std::to_string(seed);
    must(store->createSession({.sessionId = id}));
    std::vector<Entry> batch;
    std::vector<std::string> requests;  // the last entries of requests; an answer follows each
    Dialect dialect = kDialects[maker.below(4)];
    const bool mixed = maker.chance(50);
    bool asked = false;
    bool onlyThinks = false;  // some answer has nothing that another provider gets
    for (std::uint64_t turn = 0; turn < 2 + maker.below(4); ++turn) {
      if (mixed) dialect = kDialects[maker.below(4)];
      for (const std::string& json : maker.turn(dialect)) {
        const auto message = must(normalize(json, dialect));
        const Role role = message.role;
        const bool answer = role == Role::Assistant;
        onlyThinks |= answer && std::ranges::all_of(message.blocks, isThinking);
        if (answer && asked) requests.push_back(batch.back().id);
        asked = role == Role::User || role == Role::Tool;
        const std::string payload = R"({"dialect":")" + std::string(toString(dialect)) + R"(","message":)" + json + "}";
        batch.push_back(entryOf(entry_type::kMessage, payload, "e" + std::to_string(batch.size())));
      }
    }
    must(store->appendSessionEntries(id, std::move(batch)));
    for (const Dialect target : kDialects) {
      std::string before;
      for (const std::string& at : requests) {
        const Context context = must(buildContext(*store, id, {.dialect = target, .at = at}));
        const std::string now = context.messages.substr(0, context.messages.size() - 1);
        // When a whole message is left out, such as an empty one, its neighbours are joined.
        const bool leavesOut = std::ranges::any_of(
            context.report.findings, [](const Finding& finding) { return finding.change == Change::LeftOut; });
        if (leavesOut || onlyThinks) break;
        ASSERT_TRUE(now.starts_with(before)) << "seed " << seed << ' ' << toString(target) << '\n'
                                             << before << '\n'
                                             << now;
        before = now;
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 200U);
}

// Returns a report as lines; their order does not matter, because parts report their findings one after another.
std::vector<std::string> linesOf(CompatibilityReport report) {
  std::vector<std::string> lines = report.warnings;
  for (const SignatureStatus& each : report.signatures) {
    lines.push_back(each.entryId + std::string(toString(each.state)) + each.path + each.reason);
  }
  for (const Finding& each : report.findings) {
    lines.push_back(each.entryId + std::string(toString(each.change)) + each.path + each.field + each.reason);
  }
  for (std::size_t i = 0; i < report.lossyFields.size(); ++i) {
    lines.push_back(report.lossyFields[i] + std::to_string(report.lossyCounts[i]));
  }
  lines.push_back(std::to_string(report.messages) + (report.compatible ? " compatible" : " not compatible"));
  std::ranges::sort(lines);
  return lines;
}

TEST_F(ContextProperty, AReportInPartsSaysWhatTheReportOfTheWholeSays) {
  for (std::uint64_t seed = 0; seed < rounds(250); ++seed) {
    const std::string session = makeSession(seed + 20000);
    for (const Dialect dialect : kDialects) {
      const auto whole = linesOf(must(context::reportWhole(*store, session, dialect, "")));
      const auto parts = must(context::reportInParts(*store, session, dialect, "", 1));
      ASSERT_TRUE(parts);
      ASSERT_EQ(linesOf(*parts), whole) << "seed " << seed << ' ' << toString(dialect);
    }
  }
}

TEST_F(ContextProperty, TheBudgetIsNeverExceededAndEveryCutIsValid) {
  std::uint64_t cuts = 0;
  for (std::uint64_t seed = 0; seed < rounds(250); ++seed) {
    const std::string session = makeSession(seed + 5000);
    HistoryMaker maker(seed);
    const Dialect dialect = kDialects[seed % 4];
    const Context whole = must(buildContext(*store, session, {.dialect = dialect}));
    const std::uint64_t budget = maker.below(whole.tokens + 10);
    const auto context = buildContext(*store, session, {.dialect = dialect, .budgetTokens = budget});
    if (!context) {
      EXPECT_EQ(context.error().code, ErrorCode::InvalidArgument);
      continue;
    }
    EXPECT_LE(context->tokens, budget);
    EXPECT_EQ(context->summaryEntryId, whole.summaryEntryId);
    EXPECT_EQ(context->requestJson().contains("be brief"), whole.requestJson().contains("be brief"));
    for (const std::string& rule : brokenRules(dialect, context->requestJson())) {
      if (context->messages != "[]") ADD_FAILURE() << rule;
    }
    // A cut must not create results without calls or calls without results.
    const auto count = [](const Context& each, Change change, std::string_view field) {
      return std::ranges::count_if(each.report.findings, [&](const Finding& finding) {
        return finding.change == change && finding.field == field;
      });
    };
    EXPECT_LE(count(*context, Change::Synthetic, "tool_result"), count(whole, Change::Synthetic, "tool_result"));
    EXPECT_LE(count(*context, Change::LeftOut, "tool_result"), count(whole, Change::LeftOut, "tool_result"));
    if (context->turnsLeftOut > 0) ++cuts;
    ASSERT_FALSE(HasFailure()) << "seed " << seed << ' ' << toString(dialect) << '\n' << context->requestJson();
  }
  EXPECT_GT(cuts, 10U);
}

}  // namespace
}  // namespace bough::test
