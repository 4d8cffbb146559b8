// Which message gives the title of a session, and what is read to find it.
#include <atomic>

#include "catalog_support.h"

namespace bough {
namespace {

// Counts the entries that are read.
class CountingSerializer final : public EntrySerializer {
 public:
  [[nodiscard]] int schemaVersion() const override { return jsonEntrySerializer().schemaVersion(); }
  Result<void> encode(const Entry& entry, std::string& out) const override {
    return jsonEntrySerializer().encode(entry, out);
  }
  [[nodiscard]] Result<Entry> decode(std::string_view text) const override {
    ++count_;
    return jsonEntrySerializer().decode(text);
  }
  int takeCount() { return count_.exchange(0); }

 private:
  mutable std::atomic<int> count_ = 0;
};

std::string minute(int number) {
  return std::string("2026-01-01T10:") + (number < 10 ? "0" : "") + std::to_string(number) + ":00.000Z";
}

class TitleTest : public CatalogTest {
 protected:
  // Returns the title, which must be the same in the existing catalog and in a new one.
  std::string title() {
    std::string known = row("s").title;
    auto anew = must(Catalog::open(*store, {.inMemory = true}));
    must(anew->catchUp());
    EXPECT_EQ(known, must(anew->session("s")).title);
    return known;
  }
};

TEST_F(TitleTest, AMessageAfterATimeToComeIsReadAlone) {
  make({.sessionId = "s"}, {said("user", "the first", "a", minute(1))});
  std::vector<Entry> many;
  for (int i = 0; i < 500; ++i) many.push_back(said("user", "more", "", minute(2)));
  append("s", std::move(many));
  append("s", {said("assistant", "from a wrong clock", "", "2099-01-01T00:00:00.000Z")});
  EXPECT_EQ(row("s").title, "the first");
  append("s", {said("user", "as ever", "", minute(3))});
  CountingSerializer serializer;
  const bool isFolder = location == folder.path();
  auto mine = must(SessionStore::open({.backend = must(isFolder ? makeFileBackend(location, {}, serializer)
                                                                : makePostgresBackend(location, {}, serializer))}));
  auto catalog = must(Catalog::open(*mine));
  must(catalog->catchUp());
  const SessionSummary found = must(catalog->session("s"));
  EXPECT_EQ(found.userMessages, 502U);
  EXPECT_EQ(found.title, "the first");
  EXPECT_LT(serializer.takeCount(), 100);
}

TEST_F(TitleTest, WhatWasSaidBeforeItMakesTheTitleWheneverItArrives) {
  make({.sessionId = "s"}, {said("assistant", "before", "", minute(10)), said("user", "tenth", "a", minute(20)),
                            said("user", "later", "", minute(40))});
  EXPECT_EQ(title(), "tenth");
  append("s", {said("user", "not as late", "", minute(30))});
  EXPECT_EQ(title(), "tenth");
  append("s", {said("user", "at the same time", "", minute(20))});
  EXPECT_EQ(title(), "tenth");
  append("s", {said("user", "before that", "b", minute(15))});
  EXPECT_EQ(title(), "before that");
  append("s", {said("user", "between", "", minute(17))});
  EXPECT_EQ(title(), "before that");
  append("s", {said("user", "both", "", minute(16)), said("user", "first of all", "c", minute(5))});
  EXPECT_EQ(title(), "first of all");
  must(store->redactEntry("s", "c", "me", "why"));
  append("s", {said("user", "not this", "", minute(16))});
  EXPECT_EQ(title(), "before that");
}

}  // namespace
}  // namespace bough
