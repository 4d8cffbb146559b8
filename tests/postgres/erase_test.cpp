// Erased content is in no row of the database any more, and everything else is unchanged.

#include <gtest/gtest.h>

#include "bough/catalog.h"
#include "postgres/fresh_store.h"
#include "support/entries.h"

namespace bough {
namespace {

using Ids = std::vector<std::string>;
const std::string kSecret = "cardnumber41111111";

// Returns a message whose words are in the catalog.
Entry said(const std::string& text, const std::string& id) {
  return entryOf(
      "message",
      R"({"dialect":"bough","message":{"role":"user","content":[{"type":"text","text":")" + text + R"("}]}})", id);
}

class PostgresErase : public FreshPostgresStore {
 protected:
  void SetUp() override {
    FreshPostgresStore::SetUp();
    if (IsSkipped()) return;
    store_ = must(SessionStore::open(url_));
    must(store_->createSession({.sessionId = "s"}));
    must(store_->appendSessionEntries("s", {said("one", "e1"), said(kSecret, "e2"), said("three", "e3")}));
  }
  Result<ErasureReport> erase(Ids entries, SessionStore* store = nullptr) {
    return (store == nullptr ? *store_ : *store)
        .maintenance()
        .erase({.sessionId = "s", .entryIds = std::move(entries), .by = "me", .reason = "a request"});
  }
  // Returns the tables with a row that contains the secret.
  std::string tablesWithSecret() {
    std::string found;
    for (const std::string table :
         {"sessions", "entries", "attachments", "settings", "catalog_sessions", "catalog_answers", "catalog_texts"}) {
      // In a row converted to text, bytea is shown as hex digits.
      std::string hex;
      for (const char c : kSecret) {
        constexpr std::string_view kDigits = "0123456789abcdef";
        hex += kDigits[static_cast<unsigned char>(c) >> 4];
        hex += kDigits[static_cast<unsigned char>(c) & 15];
      }
      const std::string count =
          runSql(sharedServer(), "SELECT count(*) FROM " + schema_ + "." + table + " t WHERE t::text LIKE '%" +
                                     kSecret + "%' OR t::text LIKE '%" + hex + "%'");
      if (count != "0") found += table + " ";
    }
    return found;
  }

  std::unique_ptr<SessionStore> store_;
};

TEST_F(PostgresErase, NoTableHoldsItAnyMoreAndTheTreeStays) {
  must(store_->branchFromEntry("s", "e3", {.sessionId = "fork"}));
  must(store_->branchFromEntry("s", "e3", {.sessionId = "copy"}));
  must(store_->maintenance().detach("copy"));
  must(store_->branchFromEntry("s", "e3", {.sessionId = "gone"}));
  must(store_->maintenance().detach("gone"));
  const auto trashed = must(store_->trashSession("gone"));
  auto catalog = must(Catalog::open(*store_));
  must(catalog->catchUp({.search = true}));
  EXPECT_FALSE(must(catalog->search(kSecret)).empty());
  ASSERT_EQ(tablesWithSecret(), "entries catalog_texts ");
  const auto before = must(store_->loadSessionEntries("s"));

  const auto report = must(erase({"e2"}));
  EXPECT_EQ(tablesWithSecret(), "");
  ASSERT_EQ(report.entries.size(), 1U);
  EXPECT_EQ(report.rewritten, (Ids{"copy", trashed.trashId, "s"}));
  const auto after = must(store_->loadSessionEntries("s"));
  ASSERT_EQ(after.size(), before.size() + 1);
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(after[i].id, before[i].id);
    EXPECT_EQ(after[i].parentId, before[i].parentId);
    EXPECT_EQ(after[i].timestamp, before[i].timestamp);
    if (after[i].id != "e2") {
      EXPECT_EQ(after[i].payload, before[i].payload);
    }
  }
  EXPECT_EQ(after.back().id, report.entries[0].receiptId);
  EXPECT_EQ(must(store_->sessionState("s")).headId, "e3");
  must(store_->restoreSession(trashed.trashId));
  for (const char* const id : {"s", "fork", "copy", "gone"}) {
    EXPECT_TRUE(must(store_->loadEntry(id, "e2")).redacted) << id;
    EXPECT_EQ(must(store_->verifySession(id)).problemCount, 0U) << id;
    must(store_->appendSessionEntries(id, {said("more", std::string("more-") + id)}));
    EXPECT_EQ(must(store_->verifySession(id)).problemCount, 0U) << id;
  }
  must(catalog->catchUp({.search = true}));
  EXPECT_TRUE(must(catalog->search(kSecret)).empty());
  EXPECT_EQ(must(catalog->search("three")).size(), 3U);
}

TEST_F(PostgresErase, AttachmentsAndWhatWasConvertedGoToo) {
  must(store_->appendSessionEntries("s", {said(std::string(300'000, 'x') + kSecret, "large")}));
  must(store_->createSession({.sessionId = "m"}));
  const std::string wayBack = must(store_->putAttachment(R"({"entries":[{"entryId":"e2","raw":")" + kSecret + "\"}]}"));
  Entry converted = said("converted " + kSecret, "c1");
  converted.meta = R"({"migration":{"sources":[{"entryId":"e2"}]}})";
  must(store_->appendSessionEntries(
      "m", {entryOf("custom", R"({"kind":"provider_migration","wayBack":")" + wayBack + "\"}", "marker"), converted,
            said("other", "c2"),
            entryOf("session_info",
                    R"({"transcript":{"agent":"codex","at":7,"line":[")" + kSecret + R"("],"carries":["e2"]}})",
                    "carrier")}));
  ASSERT_EQ(tablesWithSecret(), "entries attachments ");
  const auto report = must(erase({"e2", "large"}));
  EXPECT_EQ(report.entries.size(), 4U);
  EXPECT_EQ(report.removedAttachments, 2U);
  EXPECT_EQ(tablesWithSecret(), "");
  EXPECT_TRUE(must(store_->loadEntry("m", "c1")).redacted);
  EXPECT_FALSE(must(store_->loadEntry("m", "c2")).redacted);
}

TEST_F(PostgresErase, OnlyAKeeperErases) {
  for (const std::string rights : {"writer", "keeper"}) {
    const std::string role = rights + "_of_" + schema_;
    runSql(sharedServer(), "CREATE ROLE " + role + " LOGIN");
    must(grantPostgresStore(url_, role, rights));
    auto store = must(SessionStore::open(sharedServer().url(schema_, role)));
    if (rights == "keeper") {
      must(erase({"e2"}, store.get()));
      break;
    }
    const Error error = refused(erase({"e2"}, store.get()));
    EXPECT_EQ(error.code, ErrorCode::ReadOnly) << error.message;
    EXPECT_TRUE(error.hint.contains("docs/scale.md")) << error.hint;
    EXPECT_EQ(tablesWithSecret(), "entries ");
  }
  EXPECT_EQ(tablesWithSecret(), "");
}

}  // namespace
}  // namespace bough
