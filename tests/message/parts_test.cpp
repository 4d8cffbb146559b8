// The building blocks of a conversion: the index of a JSON text, hashes, aliases, alignment.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "base/json/json_scan.h"
#include "message/json/content_hash.h"
#include "message/json/json_tree.h"
#include "message/json/node_writer.h"
#include "message/model/aliases.h"
#include "message/model/media.h"
#include "message/roundtrip/align.h"

namespace bough::message {
namespace {

std::uint64_t hashOf(std::string_view json) {
  ContentHasher hasher;
  return hasher.hash(json);
}

TEST(ContentHash, IgnoresBlanksEscapesKeyOrderAndTheSecondOfTwoEqualKeys) {
  const std::uint64_t hash = hashOf(R"({"a":[1,true,null,"é/"],"b":{"c":10}})");
  EXPECT_EQ(hashOf(R"( { "b" : { "c" : 1e1 } , "\u0061" : [ 1.0 , true , null , "\u00e9\/" ] } )"), hash);
  EXPECT_EQ(hashOf(R"({"b":{"c":10},"a":[1,true,null,"é/"],"b":0})"), hash);
}

TEST(ContentHash, SeesEveryChange) {
  std::set<std::uint64_t> hashes;
  const std::vector<std::string> different = {"{}",
                                              "[]",
                                              "\"\"",
                                              "0",
                                              "1",
                                              "true",
                                              "false",
                                              "null",
                                              R"("0")",
                                              R"({"a":1})",
                                              R"({"a":"1"})",
                                              R"({"b":1})",
                                              R"({"a":[1]})",
                                              R"({"a":[1,2]})",
                                              R"({"a":[2,1]})",
                                              R"({"a":[[1],2]})",
                                              R"({"a":[1,[2]]})",
                                              R"({"a":1,"b":2})",
                                              R"({"a":2,"b":1})",
                                              R"({"a":{"b":2}})",
                                              "12345678901234567890",
                                              "12345678901234567891",
                                              "1.5",
                                              "-1",
                                              R"("a\nb")",
                                              R"("a\\nb")",
                                              "[[]]",
                                              "[{}]",
                                              "[null]"};
  for (const std::string& json : different) EXPECT_TRUE(hashes.insert(hashOf(json)).second) << json;
}

TEST(NodeWriter, HashesWhileItWritesAsTheHasherDoesAfterwards) {
  std::string out;
  NodeWriter writer(out, Hashing::Yes);
  const TextView odd{.escaped = R"(\u00e9\/\ud800x)", .present = true, .oddEscapes = true};
  const TextView plain{.escaped = R"(line\n\"q\")", .present = true, .oddEscapes = false};
  writer.beginObject().member("a", odd).member("b", plain).member("c", std::string_view("tab\there\x01")).key("d");
  writer.raw(R"({"x" : 1.0,"x":"\udc00"})")
      .key("e")
      .beginArray()
      .boolean(true)
      .null()
      .number(7)
      .beginArray()
      .endArray();
  writer.endArray().endObject();
  EXPECT_TRUE(json::check(out)) << out;
  EXPECT_EQ(writer.lastHash(), hashOf(out));
  EXPECT_FALSE(out.contains("\\ud800"));
  EXPECT_FALSE(out.contains("\\udc00"));
}

TEST(Tree, AcceptsExactlyWhatTheStrictScannerAccepts) {
  std::mt19937 random(1);
  const std::string alphabet = "{}[]\",:\\ u01e.-tfnrualse\n\x01\xC3";
  const std::vector<std::string> seeds = {R"({"a":[1,-2.5e3,true,false,null,"x\n\u00e9"]})", "[]", "{}", "[[[]]]",
                                          R"("\ud800")"};
  for (int i = 0; i < 20000; ++i) {
    std::string text = seeds[random() % seeds.size()];
    for (auto edits = random() % 4; edits > 0; --edits) {
      const std::size_t at = random() % (text.size() + 1);
      if (random() % 2 == 0)
        text.insert(at, 1, alphabet[random() % alphabet.size()]);
      else if (at < text.size())
        text.erase(at, 1);
    }
    json::Tree tree;
    const bool good = !tree.parse(text);
    const auto end = json::skipValue(text, 0);
    const bool strict = end && text.find_first_not_of(" \t\r\n", *end) == std::string::npos;
    ASSERT_EQ(good, strict) << text;
    // Valid or not, every node is inside the text, and members come in pairs.
    for (json::Tree::Index node = 0; node < tree.size(); ++node) {
      ASSERT_LE(tree.end(node), text.size());
      ASSERT_LE(tree.next(node), tree.size());
      json::Tree::Index last = node + 1;
      for (const auto [key, value] : tree.members(node)) {
        ASSERT_TRUE(tree.isString(key));
        last = tree.next(value);
      }
      for (const auto element : tree.elements(node)) last = tree.next(element);
      ASSERT_EQ(last, tree.next(node));
    }
  }
}

TEST(Aliases, KeepLegalIdsAndMapTheOthersOneToOne) {
  Aliases ids(Aliases::Of::CallId);
  std::set<std::string> seen;
  auto view = [](std::string_view text) { return TextView{.escaped = text, .present = true, .oddEscapes = false}; };
  EXPECT_EQ(ids.inTarget(Dialect::Anthropic, view("toolu_1")).escaped, "toolu_1");
  const std::string shared(60, 'x');
  const std::vector<std::string> originals = {
      "a:b", "a/b", "a b", "", shared + ":1", shared + ":2", std::string(100, 'y'), std::string(101, 'y')};
  for (const std::string& original : originals) {
    const TextView alias = ids.inTarget(Dialect::Anthropic, view(original));
    EXPECT_TRUE(seen.insert(std::string(alias.escaped)).second);
    EXPECT_EQ(ids.original(alias).escaped, original);
    EXPECT_EQ(ids.inTarget(Dialect::Anthropic, view(original)).escaped, alias.escaped);
    EXPECT_LE(alias.escaped.size(), 40U);
  }
  EXPECT_NE(ids.inTarget(Dialect::Anthropic, view("same"), 1).escaped, "same");
}

TEST(Aliases, StepAroundATextThatLooksLikeOne) {
  auto view = [](std::string_view text) { return TextView{.escaped = text, .present = true, .oddEscapes = false}; };
  Aliases first(Aliases::Of::CallId);
  const std::string alias(first.inTarget(Dialect::Anthropic, view("a:b")).escaped);
  Aliases ids(Aliases::Of::CallId);
  ids.reserve(view(alias));
  ids.reserve(view("a:b"));
  EXPECT_EQ(ids.inTarget(Dialect::Anthropic, view(alias)).escaped, alias);
  EXPECT_NE(ids.inTarget(Dialect::Anthropic, view("a:b")).escaped, alias);
}

TEST(Aliases, LimitsAreThoseOfTheTarget) {
  auto view = [](std::string_view text) { return TextView{.escaped = text, .present = true, .oddEscapes = false}; };
  const std::string fifty(50, 'x');
  Aliases ids(Aliases::Of::CallId);
  EXPECT_EQ(ids.inTarget(Dialect::OpenaiResponses, view(fifty)).escaped, fifty);
  EXPECT_NE(ids.inTarget(Dialect::OpenaiChat, view(fifty)).escaped, fifty);
  Aliases names(Aliases::Of::ToolName);
  EXPECT_EQ(names.inTarget(Dialect::Gemini, view("mcp.server:tool")).escaped, "mcp.server:tool");
  EXPECT_NE(names.inTarget(Dialect::Anthropic, view("mcp.server:tool")).escaped, "mcp.server:tool");
  EXPECT_NE(names.inTarget(Dialect::Gemini, view("9lives")).escaped, "9lives");
  EXPECT_LE(names.inTarget(Dialect::Anthropic, view(std::string(200, '.'))).escaped.size(), 64U);
}

TEST(Align, FindsWhatIsStillTheSameInOrder) {
  const std::size_t none = kUnmatched;
  EXPECT_EQ(align(std::vector<std::uint64_t>{1, 2, 3}, std::vector<std::uint64_t>{1, 2, 3, 4}),
            (std::vector<std::size_t>{0, 1, 2, none}));
  EXPECT_EQ(align(std::vector<std::uint64_t>{1, 2, 3}, std::vector<std::uint64_t>{1, 9, 3}),
            (std::vector<std::size_t>{0, none, 2}));
  EXPECT_EQ(align(std::vector<std::uint64_t>{1, 2, 3, 4, 5}, std::vector<std::uint64_t>{9, 2, 4, 8}),
            (std::vector<std::size_t>{none, 1, 3, none}));
  // An early copy of a later value must not hide the values in between.
  EXPECT_EQ(align(std::vector<std::uint64_t>{1, 2, 3, 7, 5}, std::vector<std::uint64_t>{1, 7, 2, 3, 7, 5}),
            (std::vector<std::size_t>{0, none, 1, 2, 3, 4}));
  EXPECT_EQ(align(std::vector<std::uint64_t>{}, std::vector<std::uint64_t>{1}), (std::vector<std::size_t>{none}));
  EXPECT_EQ(align(std::vector<std::uint64_t>{1}, std::vector<std::uint64_t>{}), (std::vector<std::size_t>{}));
  // Values that occur twice are matched next to a value that occurs once, on the same side of it.
  EXPECT_EQ(align(std::vector<std::uint64_t>{8, 9, 1, 9, 7}, std::vector<std::uint64_t>{3, 1, 9, 4}),
            (std::vector<std::size_t>{none, 2, 3, none}));
  EXPECT_EQ(align(std::vector<std::uint64_t>{6, 9, 9, 1, 8}, std::vector<std::uint64_t>{5, 9, 1, 3}),
            (std::vector<std::size_t>{none, 2, 3, none}));
  // When values changed places, the longest run in the old order is kept.
  EXPECT_EQ(align(std::vector<std::uint64_t>{1, 2, 3}, std::vector<std::uint64_t>{9, 3, 1, 2, 9}),
            (std::vector<std::size_t>{none, none, 0, 1, none}));
  EXPECT_EQ(align(std::vector<std::uint64_t>{5, 6, 7}, std::vector<std::uint64_t>{7, 6, 5}),
            (std::vector<std::size_t>{none, none, 0}));
}

Block mediaBlock(BlockKind kind, MediaSource source, std::string_view text, std::string_view type = {}) {
  Block block;
  block.kind = kind;
  block.source = source;
  block.text.escaped = text;
  block.type.escaped = type;
  return block;
}

// For Anthropic, Chat, Responses, Gemini, bough: y when the target can hold the block.
std::string takersOf(const Block& block, Role role = Role::User, Dialect from = Dialect::OpenaiChat) {
  std::string out;
  for (const Dialect target :
       {Dialect::Anthropic, Dialect::OpenaiChat, Dialect::OpenaiResponses, Dialect::Gemini, Dialect::Bough}) {
    out += canHoldMedia(target, role, block, from) ? 'y' : 'n';
  }
  return out;
}

TEST(Media, EachTargetTakesWhatItsApiTakes) {
  const auto image = [](std::string_view type, std::string_view data = "QUJD") {
    return mediaBlock(BlockKind::Image, MediaSource::Base64, data, type);
  };
  const auto document = [](std::string_view type) {
    return mediaBlock(BlockKind::Document, MediaSource::Base64, "QUJD", type);
  };
  for (const char* type : {"image/png", "image/jpeg", "image/gif", "image/webp"}) {
    EXPECT_EQ(takersOf(image(type)), "yyyyy") << type;
  }
  EXPECT_EQ(takersOf(image("image/bmp")), "nyyyy");
  EXPECT_EQ(takersOf(document("application/pdf")), "yyyyy");
  EXPECT_EQ(takersOf(document("text/csv")), "nyyyy");
  EXPECT_EQ(takersOf(document("audio/wav")), "nynyy");
  EXPECT_EQ(takersOf(document("audio/mp3")), "nynyy");
  EXPECT_EQ(takersOf(document("audio/ogg")), "nnnyy");
  EXPECT_EQ(takersOf(document("video/mp4")), "nnnyy");
  for (const char* data : {"", "QUJ", "QUJD=", "Q===", "QU-D", "====", "QU=D"}) {
    EXPECT_EQ(takersOf(image("image/png", data)), "nnnny") << data;
  }
  for (const char* data : {"QUI=", "QQ==", "+/+/"}) EXPECT_EQ(takersOf(image("image/png", data)), "yyyyy") << data;
  const auto link = [](BlockKind kind, std::string_view address) {
    return mediaBlock(kind, MediaSource::Url, address);
  };
  EXPECT_EQ(takersOf(link(BlockKind::Image, "https://e.org/a.png")), "yyyyy");
  EXPECT_EQ(takersOf(link(BlockKind::Image, "http://e.org/a.png")), "yyyyy");
  EXPECT_EQ(takersOf(link(BlockKind::Image, "gs://e.org/a.png")), "nnnny");
  EXPECT_EQ(takersOf(link(BlockKind::Document, "https://e.org/a.pdf")), "ynyyy");
  const auto file = [](BlockKind kind) { return mediaBlock(kind, MediaSource::FileId, "file-1"); };
  EXPECT_EQ(takersOf(file(BlockKind::Document)), "nyyny");
  EXPECT_EQ(takersOf(file(BlockKind::Image)), "nnyny");
  EXPECT_EQ(takersOf(file(BlockKind::Image), Role::User, Dialect::Anthropic), "nnnny");
  EXPECT_EQ(takersOf(image("image/png"), Role::Assistant), "nnnyy");
  EXPECT_EQ(takersOf(image("image/png"), Role::System), "nnnny");
}

TEST(Media, TheTypeIsWhatTheBlockSaysOrItsNameEndsWith) {
  EXPECT_EQ(mediaTypeOf(mediaBlock(BlockKind::Image, MediaSource::Base64, "", "image/bmp")), "image/bmp");
  EXPECT_EQ(mediaTypeOf(mediaBlock(BlockKind::Image, MediaSource::Base64, "", R"(image\/png)")), "image/png");
  EXPECT_EQ(mediaTypeOf(mediaBlock(BlockKind::Image, MediaSource::Url, "https://e.org/a.png?x=1#y")), "image/png");
  EXPECT_EQ(mediaTypeOf(mediaBlock(BlockKind::Image, MediaSource::Url, "https://e.org/a")), "image/jpeg");
  EXPECT_EQ(mediaTypeOf(mediaBlock(BlockKind::Document, MediaSource::Url, "https://e.org/a")), "application/pdf");
  Block named = mediaBlock(BlockKind::Document, MediaSource::Base64, "a.png");
  named.name.escaped = "table.csv";
  EXPECT_EQ(mediaTypeOf(named), "text/csv");
}

}  // namespace
}  // namespace bough::message
