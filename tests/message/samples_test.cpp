// Sample histories of all dialects, converted to all others: valid there, and identical after the way back.
//
// Good samples are accepted by the API. Bad samples are not, but nothing of them may be lost either. The samples are
// also the corpus of the fuzz targets. With BOUGH_MESSAGE_DUMP=DIR, every converted good sample is written to
// DIR/DIALECT/ for tests/message/oracles.sh.
#include <bough/convert.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "../../fuzz/message_fuzz.h"
#include "base/json/json_scan.h"
#include "message/json/json_tree.h"
#include "support/rule_checker.h"

namespace bough::test {
namespace {

namespace fs = std::filesystem;

constexpr Dialect kDialects[] = {Dialect::Anthropic, Dialect::OpenaiChat, Dialect::OpenaiResponses, Dialect::Gemini};

struct Sample {
  fs::path path;
  Dialect dialect;
  std::string text;
};

std::string contentOf(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<Sample> samplesIn(const fs::path& root, std::string_view below) {
  std::vector<Sample> samples;
  for (const Dialect dialect : kDialects) {
    const fs::path folder = root / toString(dialect) / below;
    if (!fs::exists(folder)) continue;
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() == ".json") samples.push_back({entry.path(), dialect, contentOf(entry.path())});
    }
  }
  return samples;
}

const fs::path kOwn = fs::path(BOUGH_TESTS_DIR) / "message" / "samples";
const fs::path kShared = fs::path(BOUGH_TESTS_DIR) / "../../shared/samples/providers";

void dump(const Sample& sample, Dialect to, const std::string& document) {
  const char* folder = std::getenv("BOUGH_MESSAGE_DUMP");
  if (folder == nullptr) return;
  const fs::path target = fs::path(folder) / toString(to);
  fs::create_directories(target);
  std::ofstream(target / (std::string(toString(sample.dialect)) + "_" + sample.path.filename().string())) << document;
}

json::Tree treeOf(const std::string& text) {
  json::Tree tree;
  EXPECT_FALSE(tree.parse(text));
  return tree;
}

// Returns the types of a provider's own blocks, which the normalized view keeps as unknown.
std::set<std::string> blockTypesIn(const json::Tree& tree) {
  std::set<std::string> types;
  for (json::Tree::Index i = 0; i + 1 < tree.size(); ++i) {
    if (!tree.stringIs(i, "type") || !tree.isString(i + 1)) continue;
    const std::string type(tree.body(i + 1));
    const bool hosted = type.ends_with("_call") || type.starts_with("mcp_") || type.ends_with("_tool_result") ||
                        type == "server_tool_use" || type == "container_upload" || type.starts_with("compaction") ||
                        type == "item_reference" || type.starts_with("program") || type == "additional_tools";
    if (hosted) types.insert(type);
  }
  return types;
}

// Function calls and their results exist in every dialect.
bool isExpressed(const std::string& type) {
  return type == "function_call" || type == "custom_tool_call";
}

void expectGood(const Sample& sample) {
  for (const Dialect to : kDialects) {
    if (to == sample.dialect) continue;
    const auto there = convertHistory(sample.text, sample.dialect, to, {.strict = true, .keepPendingCalls = false});
    ASSERT_TRUE(there) << sample.path << ": " << there.error().message;
    for (const std::string& rule : brokenRules(to, there->document)) {
      ADD_FAILURE() << sample.path << " as " << toString(to) << ": " << rule << '\n' << there->document;
    }
    dump(sample, to, there->document);
    const auto back = convertHistory(there->document, to, sample.dialect, {}, &there->wayBack);
    ASSERT_TRUE(back);
    EXPECT_EQ(back->document, sample.text) << sample.path << " over " << toString(to);
  }
}

TEST(Samples, GoodOnesAreAcceptedEverywhereAndComeBack) {
  const auto samples = samplesIn(kOwn, "good");
  ASSERT_GE(samples.size(), 16U);
  for (const Sample& sample : samples) expectGood(sample);
}

TEST(Samples, SharedOnesToo) {
  const auto samples = samplesIn(kShared, "");
  if (samples.empty()) GTEST_SKIP() << "no shared samples here";
  for (const Sample& sample : samples) expectGood(sample);
}

TEST(Samples, BadOnesAreNamedMadeAcceptableAndComeBack) {
  const auto samples = samplesIn(kOwn, "bad");
  ASSERT_GE(samples.size(), 5U);
  for (const Sample& sample : samples) {
    for (const Dialect to : kDialects) {
      if (to == sample.dialect) continue;
      const auto there = convertHistory(sample.text, sample.dialect, to);
      ASSERT_TRUE(there) << sample.path;
      EXPECT_FALSE(there->report.compatible) << sample.path;
      for (const std::string& rule : brokenRules(to, there->document)) {
        ADD_FAILURE() << sample.path << " as " << toString(to) << ": " << rule << '\n' << there->document;
      }
      const auto back = convertHistory(there->document, to, sample.dialect, {}, &there->wayBack);
      ASSERT_TRUE(back);
      EXPECT_EQ(back->document, sample.text) << sample.path << " over " << toString(to);
    }
  }
}

// For every rule, a history that violates it and one that obeys it, in files named after the rule. Some rules can be
// checked only by the server, or are only advice: A02, A04, A14, A18, R07, G07, G08.
TEST(Samples, EveryRuleIsSeenWhereItIsBrokenAndKeptInEveryOtherDialect) {
  const std::string unseen = "A02 A04 A14 A18 R07 G07 G08";
  const auto samples = samplesIn(kOwn, "rules");
  ASSERT_GE(samples.size(), 90U);
  for (const Sample& sample : samples) {
    const std::string name = sample.path.stem().string();
    const std::string rule = name.substr(0, 3);
    const auto broken = brokenRules(sample.dialect, sample.text);
    const bool seen = std::ranges::any_of(broken, [&](const std::string& each) { return each.starts_with(rule); });
    if (unseen.find(rule) == std::string::npos) {
      EXPECT_EQ(seen, name.ends_with("-bad")) << sample.path;
    }
    const bool good = name.ends_with("-good");
    EXPECT_TRUE(!good || broken.empty()) << sample.path << ": " << (broken.empty() ? "" : broken.front());
    for (const Dialect to : kDialects) {
      if (to == sample.dialect) continue;
      const auto there = convertHistory(sample.text, sample.dialect, to);
      ASSERT_TRUE(there) << sample.path;
      for (const std::string& each : brokenRules(to, there->document)) {
        ADD_FAILURE() << sample.path << " as " << toString(to) << ": " << each << '\n' << there->document;
      }
      dump(sample, to, there->document);
      const auto back = convertHistory(there->document, to, sample.dialect, {}, &there->wayBack);
      ASSERT_TRUE(back);
      EXPECT_EQ(back->document, sample.text) << sample.path << " over " << toString(to);
    }
  }
}

// Every block type is represented in a target, or carried along and reported.
TEST(Samples, NothingIsLeftOutWithoutBeingNamed) {
  for (const Sample& sample : samplesIn(kOwn, "good")) {
    for (const Dialect to : kDialects) {
      if (to == sample.dialect) continue;
      const auto there = convertHistory(sample.text, sample.dialect, to);
      ASSERT_TRUE(there) << sample.path;
      const json::Tree tree = treeOf(sample.text);
      for (const std::string& type : blockTypesIn(tree)) {
        const bool known = there->document.find('"' + type + '"') != std::string::npos || isExpressed(type);
        const auto& fields = there->report.lossyFields;
        EXPECT_TRUE(known || std::ranges::find(fields, type) != fields.end())
            << sample.path << " as " << toString(to) << ": " << type;
      }
    }
  }
}

TEST(Samples, TheFuzzTargetsTakeTheirCorpusInEveryDialectAndCutAnywhere) {
  for (const std::string_view below : {"good", "bad", "rules"}) {
    for (const Sample& sample : samplesIn(kOwn, below)) {
      for (const Dialect dialect : {Dialect::Anthropic, Dialect::OpenaiChat, Dialect::OpenaiResponses, Dialect::Gemini,
                                    Dialect::Plain, Dialect::Bough}) {
        fuzz::readDialect(dialect, sample.text);
      }
      for (std::size_t size = 0; size < sample.text.size(); size += 7) {
        fuzz::readDialect(sample.dialect, std::string_view(sample.text).substr(0, size));
      }
    }
  }
}

}  // namespace
}  // namespace bough::test
