#include "base/model/ids.h"

#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "support/sim_environment.h"

namespace bough {
namespace {

// A clock that returns given times.
class ScriptedClock final : public Clock {
 public:
  explicit ScriptedClock(std::vector<std::uint64_t> times) : times_(std::move(times)) {}
  std::uint64_t nowMs() override { return times_[std::min(at_++, times_.size() - 1)]; }

 private:
  std::vector<std::uint64_t> times_;
  std::size_t at_ = 0;
};

std::uint64_t timeOf(const std::string& id) {
  return std::stoull(id.substr(0, 8) + id.substr(9, 4), nullptr, 16);
}

TEST(IdGenerator, MakesUuidsOfVersion7) {
  const std::regex shape("[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}");
  SimClock clock;
  SimRandom random;
  IdGenerator ids(clock, random);
  for (int i = 0; i < 1000; ++i) {
    const std::string id = ids.next();
    ASSERT_TRUE(std::regex_match(id, shape)) << id;
    ASSERT_TRUE(isEntryId(id));
    ASSERT_TRUE(isSessionId(id));
    ASSERT_EQ(timeOf(id), SimClock::kStartMs + static_cast<std::uint64_t>(i));
  }
}

TEST(IdGenerator, WritesAllRandomBitsItMay) {
  class Fixed final : public Random {
   public:
    explicit Fixed(std::uint64_t bits) : bits_(bits) {}
    std::uint64_t next() override { return bits_; }

   private:
    std::uint64_t bits_;
  };
  ScriptedClock clock({0x0123456789ABULL});
  Fixed zeros(0);
  Fixed ones(~std::uint64_t{0});
  EXPECT_EQ(IdGenerator(clock, zeros).next(), "01234567-89ab-7000-8000-000000000000");
  EXPECT_EQ(IdGenerator(clock, ones).next(), "01234567-89ab-7000-bfff-ffffffffffff");
}

TEST(IdGenerator, AscendsWhileTheClockStandsStill) {
  ScriptedClock clock({SimClock::kStartMs});
  SimRandom random;
  IdGenerator ids(clock, random);
  std::string last;
  for (int i = 0; i < 10'000; ++i) {  // more than twice the 4096 that fit into a millisecond
    const std::string id = ids.next();
    ASSERT_LT(last, id);
    last = id;
  }
  EXPECT_EQ(timeOf(last), SimClock::kStartMs + 2);
}

TEST(IdGenerator, AscendsWhenTheClockStepsBack) {
  ScriptedClock clock({5000, 4000, 1, 4999, 5000, 5001, 3, 6000});
  SimRandom random;
  IdGenerator ids(clock, random);
  std::string last;
  for (int i = 0; i < 8; ++i) {
    const std::string id = ids.next();
    ASSERT_LT(last, id);
    last = id;
  }
  EXPECT_EQ(timeOf(last), 6000U);
}

TEST(IdGenerator, DiffersBetweenGeneratorsOfOneMillisecond) {
  ScriptedClock clock({SimClock::kStartMs});
  std::set<std::string> seen;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    SimRandom random(seed);
    EXPECT_TRUE(seen.insert(IdGenerator(clock, random).next()).second);
  }
}

TEST(EntryIds, AreOfAllowedCharactersAndLength) {
  for (const std::string& id : {std::string("a"), std::string("A.b_c:d-9"), std::string("..."), std::string(":"),
                                std::string("msg_01X"), std::string(128, 'x')}) {
    EXPECT_TRUE(isEntryId(id)) << id;
  }
  for (const std::string& id : {std::string(), std::string(129, 'x'), std::string("a b"), std::string("a/b"),
                                std::string("a\nb"), std::string("é"), std::string("a\"b"), std::string("a\0b", 3),
                                std::string("a\\b"), std::string("@"), std::string("["), std::string("`")}) {
    EXPECT_FALSE(isEntryId(id)) << id;
  }
}

TEST(EntryIds, AllowExactlyTheDocumentedBytes) {
  for (int c = 0; c < 256; ++c) {
    const bool allowed =
        c < 128 && (std::isalnum(c) != 0 || (c != 0 && std::string("._:-").contains(static_cast<char>(c))));
    EXPECT_EQ(isEntryId(std::string(1, static_cast<char>(c))), allowed) << c;
    EXPECT_EQ(isSessionId("a" + std::string(1, static_cast<char>(c))), allowed && c != ':') << c;
  }
}

TEST(EntryIds, AWrongByteIsFoundAtEveryPlace) {
  for (std::size_t length = 1; length <= 128; ++length) {
    for (std::size_t at = 0; at < length; ++at) {
      std::string id(length, 'z');
      for (const char wrong : {'/', ';', '@', '[', '`', '{', '\x1F', '\x80', '\xFF', ' '}) {
        id[at] = wrong;
        ASSERT_FALSE(isEntryId(id)) << length << ' ' << at;
      }
      for (const char good : {'0', '9', 'A', 'Z', 'a', '.', '_', '-', ':'}) {
        id[at] = good;
        ASSERT_TRUE(isEntryId(id)) << length << ' ' << at;
      }
    }
  }
}

TEST(IdGenerator, IdsOfABatchAscendAndStandBetweenThoseBeforeAndBehind) {
  ScriptedClock clock({SimClock::kStartMs});
  SimRandom random;
  IdGenerator generator(clock, random);
  std::string last = generator.next();
  IdGenerator::Batch batch(generator, 10'000);
  for (int i = 0; i < 10'000; ++i) {
    std::string id;
    batch.next(id, SimClock::kStartMs);
    ASSERT_LT(last, id);
    last = id;
  }
  EXPECT_LT(last, generator.next());
}

TEST(SessionIds, AreSafeFileNames) {
  for (const std::string& id :
       {std::string("a"), std::string("a.b"), std::string("-"), std::string("_x"), std::string(100, 'x')}) {
    EXPECT_TRUE(isSessionId(id)) << id;
  }
  for (const std::string& id :
       {std::string(), std::string("."), std::string(".."), std::string(".hidden"), std::string(101, 'x'),
        std::string("a:b"), std::string("../a"), std::string("a/b"), std::string("a\0", 2), std::string("a b")}) {
    EXPECT_FALSE(isSessionId(id)) << id;
  }
}

TEST(SessionKeys, AreShortTextWithoutControlCharacters) {
  for (const std::string& key :
       {std::string("main:cli:user"), std::string("a b/c"), std::string("Grüße 🌳"), std::string(512, 'x')}) {
    EXPECT_TRUE(isSessionKey(key)) << key;
  }
  for (const std::string& key : {std::string(), std::string(513, 'x'), std::string("a\nb"), std::string("a\0b", 3),
                                 std::string("\x7F"), std::string("a\x1F")}) {
    EXPECT_FALSE(isSessionKey(key)) << key;
  }
}

TEST(SessionKeys, MustBeUtf8) {
  EXPECT_FALSE(isSessionKey("\xFF"));
  EXPECT_FALSE(isSessionKey("a\xC3"));
  EXPECT_FALSE(isSessionKey("\xED\xA0\x80"));
  EXPECT_FALSE(isSessionKey("\xC0\xAF"));
}

}  // namespace
}  // namespace bough
