// Conversion of random histories: nothing is lost, and nothing is rejected.
#include <bough/convert.h>
#include <gtest/gtest.h>

#include <array>

#include "message/request/request_frame.h"
#include "support/history_maker.h"
#include "support/rule_checker.h"

namespace bough::test {
namespace {

constexpr std::array<Dialect, 4> kDialects = {Dialect::Anthropic, Dialect::OpenaiChat, Dialect::OpenaiResponses,
                                              Dialect::Gemini};

// Returns the raw elements of a document's list of messages.
std::vector<std::string> elementsOf(Dialect dialect, const std::string& document) {
  json::Tree tree;
  EXPECT_FALSE(tree.parse(document)) << document;
  const auto parts = message::splitDocument(tree, dialect);
  std::vector<std::string> out;
  if (!parts) return out;
  for (const auto element : parts->elements) out.emplace_back(tree.raw(element));
  return out;
}

std::string withTurn(Dialect dialect, const std::string& document, const std::vector<std::string>& messages) {
  json::Tree tree;
  EXPECT_FALSE(tree.parse(document));
  const auto parts = message::splitDocument(tree, dialect);
  std::string added;
  for (const std::string& message : messages) added += "," + message;
  const std::size_t end = parts->restOffset;
  if (parts->elements.empty()) added.erase(0, 1);
  return document.substr(0, end) + added + document.substr(end);
}

// Returns true when `all` contains all of `wanted`, in that order.
bool isSubsequence(const std::vector<std::string>& wanted, const std::vector<std::string>& all) {
  std::size_t found = 0;
  for (const std::string& each : all) {
    if (found < wanted.size() && each == wanted[found]) ++found;
  }
  return found == wanted.size();
}

void expectValid(Dialect dialect, const std::string& document) {
  for (const std::string& rule : brokenRules(dialect, document))
    ADD_FAILURE() << toString(dialect) << ' ' << rule << '\n' << document;
}

TEST(Conversion, EveryPairOfDialectsHasAnExactWayBack) {
  for (std::uint64_t seed = 0; seed < rounds(150); ++seed) {
    for (const Dialect from : kDialects) {
      HistoryMaker maker(seed);
      const std::string document = maker.document(from, 1 + static_cast<int>(seed % 6));
      ASSERT_TRUE(brokenRules(from, document).empty()) << brokenRules(from, document).front() << document;
      for (const Dialect to : kDialects) {
        const auto there = convertHistory(document, from, to);
        ASSERT_TRUE(there) << there.error().message;
        if (from != to) expectValid(to, there->document);
        const auto back = convertHistory(there->document, to, from, {}, &there->wayBack);
        ASSERT_TRUE(back) << back.error().message;
        ASSERT_EQ(back->document, document) << "seed " << seed << ' ' << toString(from) << " over " << toString(to);
        if (HasFailure()) return;
      }
    }
  }
}

TEST(Conversion, ChainsWithTurnsAddedInBetweenKeepEveryMessageAsItsAuthorWroteIt) {
  for (std::uint64_t seed = 0; seed < rounds(300); ++seed) {
    HistoryMaker maker(seed + 1000);
    Dialect at = kDialects[maker.below(4)];
    const Dialect first = at;
    const std::string original = maker.document(at, 1 + static_cast<int>(maker.below(4)));
    std::string document = original;
    std::array<std::vector<std::string>, 4> authored;
    authored[static_cast<std::size_t>(at)] = elementsOf(at, document);
    WayBack wayBack;
    const auto steps = 2 + maker.below(5);
    std::string trail(toString(at));
    for (std::uint64_t step = 0; step <= steps; ++step) {
      const Dialect to = step == steps ? first : kDialects[maker.below(4)];
      const auto next = convertHistory(document, at, to, {}, wayBack.json.empty() ? nullptr : &wayBack);
      ASSERT_TRUE(next) << next.error().message;
      trail += " > " + std::string(toString(to));
      document = next->document;
      wayBack = next->wayBack;
      at = to;
      const auto& wanted = authored[static_cast<std::size_t>(at)];
      ASSERT_TRUE(isSubsequence(wanted, elementsOf(at, document))) << "seed " << seed << ' ' << trail << '\n'
                                                                   << document;
      if (step > 0 || at != first) expectValid(at, document);
      ASSERT_FALSE(HasFailure()) << "seed " << seed << ' ' << trail;
      if (maker.chance(50) && step < steps) {
        const auto turn = maker.turn(at);
        document = withTurn(at, document, turn);
        for (const std::string& message : turn) authored[static_cast<std::size_t>(at)].push_back(message);
        trail += "+";
      }
    }
    // The result equals the first document up to its last message, including the bytes between messages.
    json::Tree tree;
    ASSERT_FALSE(tree.parse(original));
    const std::size_t end = message::splitDocument(tree, first)->restOffset;
    // Gemini's list has no place for system messages that others added.
    if (first == Dialect::Gemini && document.contains("systemInstruction")) continue;
    ASSERT_EQ(document.substr(0, end), original.substr(0, end)) << "seed " << seed << ' ' << trail;
  }
}

// Returns the texts "text 123" that occur exactly once in both documents.
std::vector<std::string> sharedTexts(const std::string& one, const std::string& other) {
  std::vector<std::string> texts;
  for (std::size_t at = one.find("\"text "); at != std::string::npos; at = one.find("\"text ", at + 1)) {
    const std::string text = one.substr(at, one.find('"', at + 1) + 1 - at);
    const bool once = one.find(text) == one.rfind(text) && other.find(text) == other.rfind(text);
    if (once && other.contains(text)) texts.push_back(text);
  }
  return texts;
}

TEST(Conversion, AnEditTouchesOnlyTheMessageItWasMadeIn) {
  for (std::uint64_t seed = 0; seed < rounds(100); ++seed) {
    HistoryMaker maker(seed + 20000);
    const Dialect from = kDialects[maker.below(4)];
    const Dialect to = kDialects[(static_cast<std::size_t>(from) + 1 + maker.below(3)) % 4];
    const std::string document = maker.document(from, 5);
    const auto there = convertHistory(document, from, to);
    ASSERT_TRUE(there);
    for (const std::string& text : sharedTexts(document, there->document)) {
      std::string edited = there->document;
      edited.replace(edited.find(text), text.size(), "\"edited\"");
      const auto back = convertHistory(edited, to, from, {}, &there->wayBack);
      ASSERT_TRUE(back);
      std::vector<std::string> untouched = elementsOf(from, document);
      std::erase_if(untouched, [&](const std::string& message) { return message.contains(text); });
      ASSERT_TRUE(isSubsequence(untouched, elementsOf(from, back->document)))
          << "seed " << seed << ' ' << toString(from) << " over " << toString(to) << ' ' << text << '\n'
          << document << '\n'
          << edited << '\n'
          << back->document;
      EXPECT_TRUE(back->document.contains("edited"));
      expectValid(from, back->document);
      ASSERT_FALSE(HasFailure()) << "seed " << seed << ' ' << toString(to) << ' ' << text << '\n' << edited;
    }
  }
}

TEST(Conversion, WhatIsLeftAfterMessagesWereRemovedIsAsItWas) {
  for (std::uint64_t seed = 0; seed < rounds(150); ++seed) {
    HistoryMaker maker(seed + 30000);
    const Dialect from = kDialects[maker.below(4)];
    const Dialect to = kDialects[(static_cast<std::size_t>(from) + 1 + maker.below(3)) % 4];
    const std::string document = maker.document(from, 4);
    const auto there = convertHistory(document, from, to);
    ASSERT_TRUE(there);
    // Cuts the history at some message.
    json::Tree tree;
    ASSERT_FALSE(tree.parse(there->document));
    const auto parts = message::splitDocument(tree, to);
    const std::size_t kept = maker.below(parts->elements.size()) + 1;
    std::string cut = there->document;
    const std::size_t end = tree.end(parts->elements[kept - 1]);
    cut.erase(end, parts->restOffset - end);
    const auto back = convertHistory(cut, to, from, {}, &there->wayBack);
    ASSERT_TRUE(back);
    const auto before = elementsOf(from, document);
    const auto after = elementsOf(from, back->document);
    // The result is the beginning of the history, except for system prompts and the turn at the cut, whose calls need
    // results.
    std::size_t same = 0;
    while (same < after.size() && same < before.size() && after[same] == before[same]) ++same;
    EXPECT_LE(after.size(), same + 8) << "seed " << seed << '\n' << document << '\n' << cut << '\n' << back->document;
    EXPECT_LE(after.size(), before.size() + 3);
    ASSERT_FALSE(HasFailure());
  }
}

TEST(Conversion, IsTheSameEveryTime) {
  for (const Dialect from : kDialects) {
    HistoryMaker maker(7);
    const std::string document = maker.document(from, 5);
    for (const Dialect to : kDialects) {
      const auto once = convertHistory(document, from, to);
      const auto again = convertHistory(document, from, to);
      EXPECT_EQ(once->document, again->document);
      EXPECT_EQ(once->wayBack.json, again->wayBack.json);
      EXPECT_EQ(once->report.toJson(), again->report.toJson());
    }
  }
}

TEST(Conversion, ThroughTheNormalizedFormAndBackIsExact) {
  for (std::uint64_t seed = 0; seed < rounds(60); ++seed) {
    for (const Dialect from : kDialects) {
      HistoryMaker maker(seed + 5000);
      const std::string document = maker.document(from, 3);
      const auto there = convertHistory(document, from, Dialect::Bough);
      ASSERT_TRUE(there) << there.error().message;
      const auto back = convertHistory(there->document, Dialect::Bough, from, {}, &there->wayBack);
      ASSERT_TRUE(back) << back.error().message;
      ASSERT_EQ(back->document, document);
    }
  }
}

TEST(Normalize, SameDialectReturnsTheSameBytes) {
  for (std::uint64_t seed = 0; seed < rounds(100); ++seed) {
    for (const Dialect dialect : kDialects) {
      HistoryMaker maker(seed + 9000);
      for (const std::string& stored : maker.turn(dialect)) {
        const auto message = normalize(stored, dialect);
        ASSERT_TRUE(message) << message.error().message << stored;
        const auto written = denormalize(*message, dialect);
        ASSERT_TRUE(written);
        EXPECT_EQ(written->messages, std::vector<std::string>{stored});
      }
    }
  }
}

TEST(Normalize, EveryMessageCanBeWrittenInEveryDialect) {
  for (std::uint64_t seed = 0; seed < rounds(60); ++seed) {
    for (const Dialect from : kDialects) {
      HistoryMaker maker(seed + 12000);
      for (const std::string& stored : maker.turn(from)) {
        const auto message = normalize(stored, from);
        ASSERT_TRUE(message);
        for (const Dialect to :
             {Dialect::Anthropic, Dialect::OpenaiChat, Dialect::OpenaiResponses, Dialect::Gemini, Dialect::Bough}) {
          const auto written = denormalize(*message, to);
          ASSERT_TRUE(written);
          for (const std::string& each : written->messages) {
            const auto again = normalize(each, to);
            EXPECT_TRUE(again) << again.error().message << '\n' << each;
          }
          EXPECT_TRUE(!written->messages.empty() || !written->leftOut.empty() || message->blocks.empty()) << stored;
        }
      }
    }
  }
}

}  // namespace
}  // namespace bough::test
