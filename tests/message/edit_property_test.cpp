// Random edits at the end of every chain of dialects: what was not edited comes back or its loss is reported, and the
// API accepts the result.
#include <bough/convert.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "base/json/json_write.h"
#include "message/request/request_frame.h"
#include "support/history_maker.h"
#include "support/rule_checker.h"

namespace bough::test {
namespace {

constexpr std::array<Dialect, 4> kAll = {Dialect::Anthropic, Dialect::OpenaiChat, Dialect::OpenaiResponses,
                                         Dialect::Gemini};

// A document that was converted from its author's dialect through one or two others.
struct Chain {
  std::string original;
  std::string trail;
  Dialect from;
  Dialect at;
  Conversion last;
};

Chain chainOf(HistoryMaker& maker, int turns) {
  const Dialect from = kAll[maker.below(4)];
  Chain chain{.original = maker.document(from, turns),
              .trail = std::string(toString(from)),
              .from = from,
              .at = from,
              .last = {}};
  std::string document = chain.original;
  for (std::uint64_t hops = 1 + maker.below(2); hops > 0; --hops) {
    Dialect next = kAll[maker.below(4)];
    while (next == chain.at || (hops == 1 && next == from)) next = kAll[maker.below(4)];
    auto converted = convertHistory(document, chain.at, next, {}, chain.at == from ? nullptr : &chain.last.wayBack);
    EXPECT_TRUE(converted);
    chain.last = std::move(*converted);
    document = chain.last.document;
    chain.at = next;
    chain.trail += " > " + std::string(toString(next));
  }
  return chain;
}

std::vector<std::string> elementsIn(Dialect dialect, const std::string& document) {
  json::Tree tree;
  EXPECT_FALSE(tree.parse(document)) << document;
  const auto parts = message::splitDocument(tree, dialect);
  std::vector<std::string> out;
  if (!parts) return out;
  for (const auto element : parts->elements) out.emplace_back(tree.raw(element));
  return out;
}

// Returns the texts "text 123" that occur exactly once in both documents.
std::vector<std::string> textsOfBoth(const std::string& one, const std::string& other) {
  std::vector<std::string> texts;
  for (std::size_t at = one.find("\"text "); at != std::string::npos; at = one.find("\"text ", at + 1)) {
    const std::string text = one.substr(at, one.find('"', at + 1) + 1 - at);
    const bool once = one.find(text) == one.rfind(text) && other.find(text) == other.rfind(text);
    if (once && other.contains(text)) texts.push_back(text);
  }
  return texts;
}

bool names(const CompatibilityReport& report, std::string_view field) {
  return std::ranges::any_of(report.lossyFields, [&](const std::string& each) {
    return each == field || each.starts_with(std::string(field) + ".");
  });
}

// Every block beside the edited text is in the result as it was written, or the report names it. Text that was a string
// and is now part of a list may be encoded differently.
void expectBlocks(const Chain& chain, const std::string& element, const std::string& text, const Conversion& back) {
  const auto message = normalize(element, chain.from);
  ASSERT_TRUE(message) << element;
  for (const Block& block : message->blocks) {
    if (block.raw.empty() || block.raw.contains(text) || back.document.contains(block.raw)) continue;
    const bool spelled = block.kind == BlockKind::Text && back.document.contains(json::quoted(block.text.decode()));
    if (spelled) continue;
    const std::string_view kind = block.kind == BlockKind::Unknown ? block.type.escaped : toString(block.kind);
    EXPECT_TRUE(names(back.report, kind) || names(back.report, toString(block.kind)))
        << "lost: " << block.raw << " (" << kind << ")";
  }
}

TEST(EditProperty, WhatIsBesideAnEditedTextComesBackOrIsNamed) {
  std::uint64_t edits = 0;
  for (std::uint64_t seed = 0; seed < rounds(250); ++seed) {
    HistoryMaker maker(seed + 300000);
    const Chain chain = chainOf(maker, 3);
    for (const std::string& text : textsOfBoth(chain.original, chain.last.document)) {
      std::string edited = chain.last.document;
      edited.replace(edited.find(text), text.size(), "\"edited\"");
      const auto back = convertHistory(edited, chain.at, chain.from, {}, &chain.last.wayBack);
      ASSERT_TRUE(back);
      ++edits;
      EXPECT_TRUE(back->document.contains("edited"));
      for (const std::string& element : elementsIn(chain.from, chain.original)) {
        if (element.contains(text)) {
          expectBlocks(chain, element, text, *back);
        } else {
          EXPECT_TRUE(back->document.contains(element)) << element;
        }
      }
      for (const std::string& rule : brokenRules(chain.from, back->document)) ADD_FAILURE() << rule;
      ASSERT_FALSE(HasFailure()) << "seed " << seed << ' ' << chain.trail << ' ' << text << '\n'
                                 << chain.original << '\n'
                                 << edited << '\n'
                                 << back->document << '\n'
                                 << back->report.toJson();
    }
  }
  EXPECT_GT(edits, 300U);
}

TEST(EditProperty, AnEditedSystemPromptIsTheSystemPrompt) {
  std::uint64_t edits = 0;
  for (std::uint64_t seed = 0; seed < rounds(400); ++seed) {
    HistoryMaker maker(seed + 400000);
    const Chain chain = chainOf(maker, 2);
    static const std::string kPrompt = "Be brief.";
    const std::string& there = chain.last.document;
    if (!chain.original.contains(kPrompt) || there.find(kPrompt) != there.rfind(kPrompt)) continue;
    std::string edited = there;
    edited.replace(edited.find(kPrompt), kPrompt.size(), "Be edited.");
    const auto back = convertHistory(edited, chain.at, chain.from, {}, &chain.last.wayBack);
    ASSERT_TRUE(back);
    ++edits;
    std::string expected = chain.original;
    expected.replace(expected.find(kPrompt), kPrompt.size(), "Be edited.");
    ASSERT_EQ(back->document, expected) << "seed " << seed << ' ' << chain.trail << '\n' << edited;
  }
  EXPECT_GT(edits, 30U);
}

// Randomly removes an element of a list, duplicates it, swaps it with the next one, or inserts others after it.
std::string shuffled(HistoryMaker& maker, const std::string& document, const json::Tree& tree,
                     const std::vector<json::Tree::Index>& list, const std::vector<std::string>& others) {
  const std::size_t at = maker.below(list.size());
  const std::size_t begin = tree.begin(list[at]);
  const std::size_t end = tree.end(list[at]);
  const std::string element = document.substr(begin, end - begin);
  const bool last = at + 1 == list.size();
  switch (maker.below(last ? 3 : 4)) {
    case 0:
      if (list.size() == 1) return document;
      if (last) return document.substr(0, tree.end(list[at - 1])) + document.substr(end);
      return document.substr(0, begin) + document.substr(tree.begin(list[at + 1]));
    case 1: return document.substr(0, end) + "," + element + document.substr(end);
    case 2: {
      std::string added;
      for (const std::string& other : others) added += "," + other;
      return document.substr(0, end) + added + document.substr(end);
    }
    default: {
      const std::size_t next = tree.begin(list[at + 1]);
      const std::size_t nextEnd = tree.end(list[at + 1]);
      return document.substr(0, begin) + document.substr(next, nextEnd - next) + document.substr(end, next - end) +
             element + document.substr(nextEnd);
    }
  }
}

// Returns the blocks or calls of a message; empty when the dialect has them as messages.
std::vector<json::Tree::Index> blocksIn(const json::Tree& tree, json::Tree::Index message) {
  for (const std::string_view name : {"tool_calls", "parts", "content"}) {
    const auto list = tree.find(message, name);
    if (list == json::Tree::kNone || !tree.isArray(list)) continue;
    std::vector<json::Tree::Index> blocks;
    for (const auto each : tree.elements(list)) blocks.push_back(each);
    if (!blocks.empty()) return blocks;
  }
  return {};
}

// Changes the list of messages, or the list of one message's blocks.
std::string shuffled(HistoryMaker& maker, Dialect dialect, const std::string& document) {
  json::Tree tree;
  EXPECT_FALSE(tree.parse(document));
  const auto parts = message::splitDocument(tree, dialect);
  if (parts->elements.empty()) return document;
  if (maker.chance(50)) return shuffled(maker, document, tree, parts->elements, maker.turn(dialect));
  const auto blocks = blocksIn(tree, parts->elements[maker.below(parts->elements.size())]);
  return blocks.empty() ? document : shuffled(maker, document, tree, blocks, {});
}

// Changes the arguments of one call.
std::string withOtherArguments(HistoryMaker& maker, Dialect dialect, const std::string& document) {
  json::Tree tree;
  EXPECT_FALSE(tree.parse(document));
  const auto parts = message::splitDocument(tree, dialect);
  std::vector<json::Tree::Index> arguments;
  const auto collect = [&](json::Tree::Index call) {
    for (const std::string_view inner : {"", "function", "custom", "functionCall"}) {
      const auto holder = inner.empty() ? call : tree.find(call, inner);
      if (holder == json::Tree::kNone || tree.find(holder, "name") == json::Tree::kNone) continue;
      for (const std::string_view name : {"arguments", "input", "args"}) {
        const auto found = tree.find(holder, name);
        if (found != json::Tree::kNone) arguments.push_back(found);
      }
    }
  };
  for (const auto element : parts->elements) {
    collect(element);
    for (const auto block : blocksIn(tree, element)) collect(block);
  }
  if (arguments.empty()) return document;
  const auto chosen = arguments[maker.below(arguments.size())];
  const std::string other = R"({"edited":)" + std::to_string(maker.below(3)) + "}";
  const bool isText = tree.raw(chosen).starts_with('"');
  return document.substr(0, tree.begin(chosen)) + (isText ? json::quoted(other) : other) +
         document.substr(tree.end(chosen));
}

TEST(EditProperty, WhateverWasDoneToTheMessagesTheApiTakesWhatComesBack) {
  for (std::uint64_t seed = 0; seed < rounds(1000); ++seed) {
    HistoryMaker maker(seed + 500000);
    const Chain chain = chainOf(maker, 3);
    std::string edited = chain.last.document;
    for (std::uint64_t changes = 1 + maker.below(6); changes > 0; --changes) {
      edited = maker.chance(50) ? shuffled(maker, chain.at, edited) : withOtherArguments(maker, chain.at, edited);
    }
    const auto back = convertHistory(edited, chain.at, chain.from, {}, &chain.last.wayBack);
    ASSERT_TRUE(back);
    for (const std::string& rule : brokenRules(chain.from, back->document)) ADD_FAILURE() << rule;
    ASSERT_FALSE(HasFailure()) << "seed " << seed << ' ' << chain.trail << '\n'
                               << chain.original << '\n'
                               << chain.last.document << '\n'
                               << edited << '\n'
                               << back->document;
  }
}

}  // namespace
}  // namespace bough::test
