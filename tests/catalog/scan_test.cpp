// A search without the index reads the sessions' files and finds the same as the index.
#include <random>

#include "catalog/search/byte_sieve.h"
#include "catalog/search/line_filter.h"
#include "catalog/session_scan.h"
#include "catalog_support.h"
#include "support/counting_backend.h"

namespace bough {
namespace {

using catalog::AnchorForm;
using catalog::LineFilter;

bool isCandidate(const std::string& anchor, AnchorForm form, const std::string& line) {
  return LineFilter({anchor}, form).find(line, 0) != std::string::npos;
}

// Over a network, each call is a round trip.
TEST(SessionScanTest, LoadsNoEntryWhoseLineDoesNotMatch) {
  const auto backend = std::make_shared<CountingBackend>(makeMemoryBackend());
  const auto store = must(SessionStore::open({.backend = backend, .options = {}}));
  const Session session = must(store->create({.sessionId = "a"}));
  must(session.append(std::vector<Entry>(300, userText("hay"))));
  must(session.append({userText("needle")}));
  backend->takeCount();
  const catalog::ScanQuery query{.matcher = [] {
    return Result<catalog::ExcerptOf>([](std::string_view text) -> Result<std::optional<std::string>> {
      return text == "needle" ? std::optional(std::string(text)) : std::nullopt;
    });
  }};
  int found = 0;
  catalog::scanSessions(
      *store, {"a"}, query, {}, [&](SearchHit&) { return ++found > 0; },
      [](const std::string&, const Error& error) { ADD_FAILURE() << error.message; });
  EXPECT_EQ(found, 1);
  EXPECT_LE(backend->takeCount(), 5);
}

TEST(LineFilterTest, FindsAnAnchorAtEveryPlaceOfALine) {
  const std::vector<std::string> anchors = {"q", "ab", "needle", "a longer text with blanks in it", "aaaa"};
  for (const std::string& anchor : anchors) {
    for (std::size_t before = 0; before < 70; ++before) {
      for (const std::size_t after : {0U, 1U, 15U, 16U, 40U}) {
        const std::string line = std::string(before, 'x') + anchor + std::string(after, 'x');
        EXPECT_TRUE(isCandidate(anchor, AnchorForm::Bytes, line)) << anchor << " at " << before;
        EXPECT_FALSE(isCandidate(anchor, AnchorForm::Bytes, std::string(before + after, 'x')));
      }
    }
  }
}

// The wider instructions of the processor must stop at the same positions.
TEST(ByteSieveTest, WiderInstructionsFindWhatTheOthersFind) {
  using catalog::ByteSieve;
  using catalog::SieveWidth;
  std::mt19937_64 random(20261116);
  for (const auto letters : {catalog::LetterBytes::None, catalog::LetterBytes::Folding, catalog::LetterBytes::All}) {
    for (const std::vector<std::string>& anchors :
         {std::vector<std::string>{"needle"}, {}, {"q"}, {"Zug", "longer than that"}, {"a", "b", "c", "d", "e"}}) {
      const bool exact = letters == catalog::LetterBytes::None && anchors.size() == 1;
      std::vector<ByteSieve> sieves;
      for (const auto width : {SieveWidth::Sixteen, SieveWidth::ThirtyTwo, SieveWidth::SixtyFour}) {
        if (width > catalog::widestSieve()) break;
        sieves.emplace_back(exact ? 0 : 0x20, letters, width);
        for (const std::string& anchor : anchors) sieves.back().addAnchor(anchor);
      }
      std::string bytes;
      for (int i = 0; i < 20'000; ++i) bytes += static_cast<char>(random() % 8 == 0 ? random() % 256 : 'x');
      for (std::size_t at = 100; at + 20 < bytes.size(); at += 997) bytes.replace(at, 6, "nEedle");
      for (std::size_t at = 200; at + 20 < bytes.size(); at += 997) bytes.replace(at, 8, "needleZu");
      const std::size_t end = bytes.size() - sieves.front().reach();
      for (std::size_t at = 0; at < end; ++at) {
        const std::size_t found = std::min(sieves.front().find(bytes.data(), at, end), end);
        for (const ByteSieve& sieve : sieves) ASSERT_EQ(std::min(sieve.find(bytes.data(), at, end), end), found) << at;
        at = found;
      }
    }
  }
}

TEST(LineFilterTest, CaseCountsOnlyWhereItIsAskedFor) {
  EXPECT_FALSE(isCandidate("needle", AnchorForm::Bytes, R"({"text":"a NeedLE here"})"));
  EXPECT_TRUE(isCandidate("needle", AnchorForm::AnyCase, R"({"text":"a NeedLE here"})"));
  EXPECT_TRUE(isCandidate("needle", AnchorForm::Word, R"({"text":"a NeedLE here"})"));
  EXPECT_FALSE(isCandidate("e1", AnchorForm::AnyCase, "e\x11 E\x11"));
}

TEST(LineFilterTest, EscapesAndAttachmentsMayBeAnything) {
  EXPECT_TRUE(isCandidate("needle", AnchorForm::Bytes, R"({"text":"\u006eeedle"})"));
  EXPECT_TRUE(isCandidate("needle", AnchorForm::Word, R"({"text":"\u4e2d"})"));
  EXPECT_TRUE(isCandidate("needle", AnchorForm::Bytes, R"({"$attachment":"sha256"})"));
  // Terminal colors are not letters.
  EXPECT_FALSE(isCandidate("needle", AnchorForm::Bytes, R"({"text":"\u001b[31mred\u001b[0m"})"));
  EXPECT_FALSE(isCandidate("needle", AnchorForm::Word, R"({"text":"\u001b[31mred\u001b[0m"})"));
}

TEST(LineFilterTest, LettersThatFoldToAnAnchorAreFound) {
  for (const std::string text : {"cr\u00e8me", "CR\u00c8ME", "cre\u0300me", "\uff43\uff52\uff45\uff4d\uff45",
                                 "cr\u0113m\u0113 br\u00fbl\u00e9e"}) {
    EXPECT_TRUE(isCandidate("creme", AnchorForm::Word, "{\"text\":\"" + text + "\"}")) << text;
    EXPECT_FALSE(isCandidate("crone", AnchorForm::Word, "{\"text\":\"" + text + "\"}")) << text;
  }
  EXPECT_TRUE(isCandidate("office", AnchorForm::Word, "o\ufb03ce"));
  EXPECT_TRUE(isCandidate("strasse", AnchorForm::Word, "Stra\u00dfe"));
  EXPECT_TRUE(isCandidate("москва", AnchorForm::Word, "nach МОСКВА"));
  EXPECT_FALSE(isCandidate("москва", AnchorForm::Word, "nach МОСТ"));
  EXPECT_TRUE(isCandidate("xмос", AnchorForm::Word, "ein XМОСТ"));
  EXPECT_TRUE(isCandidate("москва", AnchorForm::Word, "Мо\u0301сква"));
  EXPECT_TRUE(isCandidate("京", AnchorForm::Word, "東京"));
  EXPECT_FALSE(isCandidate("京", AnchorForm::Word, "東西"));
  EXPECT_TRUE(isCandidate("会社", AnchorForm::Word, "東京の会社です"));
  EXPECT_TRUE(isCandidate("車", AnchorForm::Word, "\uf902"));  // a compatibility form
}

TEST(LineFilterTest, AnAnchorOfATextIsInEveryMatch) {
  EXPECT_EQ(catalog::anchorOfText("say \"hello there\" now"), "hello there");
  EXPECT_EQ(catalog::anchorOfText("a/path/to.c"), "path");
  EXPECT_EQ(catalog::anchorOfText("\"\\/"), "");
}

class ScanTest : public CatalogTest {
 protected:
  static std::string slurpFile(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::vector<SearchHit> scan(const std::string& query, std::size_t limit = 100) {
    std::vector<SearchHit> hits;
    catalog::scanSessions(
        *store, must(catalog::sessionsByFile(*store, {})), must(catalog::scanForWords(query)), {},
        [&](SearchHit& hit) {
          hits.push_back(hit);
          return hits.size() < limit;
        },
        [&](const std::string& id, const Error& error) {
          if (named_ == nullptr) ADD_FAILURE() << id << ": " << error.message;
          if (named_ != nullptr) named_->push_back(id + ": " + error.message);
        });
    return hits;
  }

  std::vector<std::string>* named_ = nullptr;  // receives the problems of a scan; null: there must be none
};

TEST_F(ScanTest, TheNewestComesFirstAndTheLimitEndsIt) {
  make({.sessionId = "old"}, {said("user", "needle 1", "1"), said("user", "needle 2", "2")});
  make({.sessionId = "new"}, {said("user", "needle 3", "3"), said("user", "hay", "4"), said("user", "needle 5", "5")});
  std::filesystem::last_write_time(folder.path() / "sessions/old.jsonl",
                                   std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  Ids ids;
  for (const SearchHit& hit : scan("needle", 3)) ids.push_back(hit.entryId);
  EXPECT_EQ(ids, (Ids{"5", "3", "2"}));
}

// Lines that cross the border of two parts, end with a part, or are longer than a part are scanned once.
TEST_F(ScanTest, ALargeFileIsSearchedInPartsFromItsEnd) {
  make({.sessionId = "a"});
  std::mt19937_64 random(17);
  Ids expected;
  for (int batch = 0; batch < 12; ++batch) {
    std::vector<Entry> entries;
    for (int i = 0; i < 40; ++i) {
      const std::string id = "e" + std::to_string(batch) + "-" + std::to_string(i);
      const std::string filler(random() % 80'000, 'x');
      entries.push_back(said("user", "needle " + filler + " end", id));
      expected.insert(expected.begin(), id);
    }
    append("a", std::move(entries));
  }
  ASSERT_GT(std::filesystem::file_size(folder / "sessions/a.jsonl"), 16'000'000u);
  for (const char* word : {"needle", "end"}) {
    Ids ids;
    for (const SearchHit& hit : scan(word, 10'000)) ids.push_back(hit.entryId);
    EXPECT_EQ(ids, expected) << word;
  }
  // Sizes around the border of two parts: a line ends just before, at, or just after it.
  const std::string log = slurpFile(folder / "sessions/a.jsonl");
  for (const std::size_t extra : {0U, 1U, 2U, 3U}) {
    const std::string line(std::string("{\"id\":\"p\",\"type\":\"custom\",\"payload\":{\"x\":\"") +
                           std::string(4'194'304 - 44 + extra, 'y') + "\"}}\n");
    std::ofstream(folder / "sessions/a.jsonl", std::ios::binary | std::ios::trunc) << log << line;
    EXPECT_EQ(scan("needle", 10'000).size(), expected.size()) << extra;
  }
}

TEST_F(ScanTest, ExcerptsAreThoseOfTheIndex) {
  make({.sessionId = "a"}, {said("user", "first words. a b c needle d e f \"quoted\"\nnext line", "1")});
  EXPECT_EQ(scan("needle").at(0).excerpt, must(open(true)->search("needle")).at(0).excerpt);
}

TEST_F(ScanTest, OnlyTheTitleThatCountsIsFound) {
  make({.sessionId = "a", .title = "first name"}, {said("user", "hello", "1")});
  must(appendSessionInfo(*store, "a", {.title = "second name"}));
  EXPECT_TRUE(scan("first").empty());
  EXPECT_EQ(scan("second").at(0).role, "title");
  EXPECT_EQ(scan("second").at(0).entryId, "");
  EXPECT_EQ(must(catalog::readTitle(*store, "a")), "second name");
}

TEST_F(ScanTest, ARedactedMessageMakesNoTitle) {
  make({.sessionId = "a"}, {said("user", "secret plan", "1"), said("user", "other plan", "2")});
  must(store->redactEntry("a", "1", "me", "secret"));
  EXPECT_EQ(must(catalog::readTitle(*store, "a")), "other plan");
}

TEST_F(ScanTest, ATornLineIsNotFoundAndNamed) {
  make({.sessionId = "a"}, {said("user", "needle", "1")});
  std::ofstream(folder.path() / "sessions/a.jsonl", std::ios::app)
      << R"({"id":"torn","parentId":"1","type":"message","timestamp":"2030-01-01T00:00:00.000Z","payload":{"needle)";
  std::vector<std::string> named;
  named_ = &named;
  const auto hits = scan("needle");
  ASSERT_EQ(hits.size(), 1u);
  EXPECT_EQ(hits.at(0).entryId, "1");
  EXPECT_EQ(named, std::vector<std::string>{"a: a line that matches is damaged or incomplete"});
}

TEST_F(ScanTest, CatchingUpSaysFirstHowMuchThereIs) {
  make({.sessionId = "a"}, {said("user", std::string(5000, 'x'), "1")});
  auto catalog = must(Catalog::open(*store));
  std::vector<std::uint64_t> totals;
  must(catalog->catchUp({.search = true, .progress = [&](const CatchUpProgress& at) {
                           totals.push_back(at.totalBytes);
                           return false;
                         }}));
  ASSERT_EQ(totals.size(), 1u);
  EXPECT_EQ(totals[0], std::filesystem::file_size(folder.path() / "sessions/a.jsonl"));
  EXPECT_EQ(must(catalog->count()), 0u) << "nothing was taken in";
  must(catalog->catchUp({.search = true}));
  // Entries that were taken in before do not count again.
  const auto before = std::filesystem::file_size(folder.path() / "sessions/a.jsonl");
  append("a", {said("user", "more", "2")});
  totals.clear();
  must(catalog->catchUp({.search = true, .progress = [&](const CatchUpProgress& at) {
                           totals.push_back(at.totalBytes);
                           return true;
                         }}));
  EXPECT_EQ(totals.at(0), std::filesystem::file_size(folder.path() / "sessions/a.jsonl") - before);
}

}  // namespace
}  // namespace bough
