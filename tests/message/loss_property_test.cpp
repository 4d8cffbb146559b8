// Random histories in every other dialect: every part of a message that is missing in the converted document is named
// in the report.
#include <bough/convert.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "message/request/request_frame.h"
#include "support/history_maker.h"

namespace bough::test {
namespace {

constexpr std::array<Dialect, 4> kEach = {Dialect::Anthropic, Dialect::OpenaiChat, Dialect::OpenaiResponses,
                                          Dialect::Gemini};

std::vector<std::string> messagesOf(Dialect dialect, const std::string& document) {
  json::Tree tree;
  EXPECT_FALSE(tree.parse(document)) << document;
  const auto parts = message::splitDocument(tree, dialect);
  std::vector<std::string> out;
  for (const auto element : parts->elements) out.emplace_back(tree.raw(element));
  return out;
}

// Returns true when a finding about the message at this place of the document names a loss.
bool tells(const CompatibilityReport& report, std::size_t place) {
  const std::string index = fmt::format("[{}]", place);
  return std::ranges::any_of(report.findings, [&](const Finding& finding) {
    const std::size_t at = finding.path.find('[');
    return at != std::string::npos && finding.path.substr(at).starts_with(index) &&
           (finding.change == Change::Carried || finding.change == Change::LeftOut ||
            finding.change == Change::Altered);
  });
}

TEST(LossProperty, WhatIsNotInTheConvertedDocumentIsNamed) {
  std::uint64_t losses = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    for (const Dialect from : kEach) {
      HistoryMaker maker(seed + 600000);
      const std::string document = maker.document(from, 3);
      const std::vector<std::string> messages = messagesOf(from, document);
      for (const Dialect to : kEach) {
        if (to == from) continue;
        const auto there = convertHistory(document, from, to);
        ASSERT_TRUE(there);
        for (std::size_t i = 0; i < messages.size(); ++i) {
          for (const std::string_view name : {"x_new", "future", "empty"}) {
            if (!messages[i].contains(fmt::format("\"{}\"", name))) continue;
            ++losses;
            EXPECT_TRUE(tells(there->report, i)) << messages[i];
            EXPECT_TRUE(std::ranges::any_of(there->report.lossyFields, [&](const std::string& field) {
              return field.ends_with(std::string(".") + std::string(name));
            })) << name;
          }
          for (std::size_t at = messages[i].find("\"text "); at != std::string::npos;
               at = messages[i].find("\"text ", at + 1)) {
            const std::string text = messages[i].substr(at + 1, messages[i].find('"', at + 1) - at - 1);
            if (there->document.contains(text)) continue;
            ++losses;
            EXPECT_TRUE(tells(there->report, i)) << text << " of " << messages[i];
          }
        }
        ASSERT_FALSE(HasFailure()) << "seed " << seed << ' ' << toString(from) << " to " << toString(to) << '\n'
                                   << document << '\n'
                                   << there->document << '\n'
                                   << there->report.toJson();
      }
    }
  }
  EXPECT_GT(losses, 500U);
}

}  // namespace
}  // namespace bough::test
