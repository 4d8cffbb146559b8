#include <gtest/gtest.h>
#include "bough/store.h"
#include "support/temp_folder.h"
namespace bough { namespace {
Entry message(std::string text) { Entry e; e.type = entry_type::kMessage; e.payload = "{\"dialect\":\"bough\",\"message\":{\"role\":\"user\",\"content\":\"" + text + "\"}}"; return e; }
TEST(Smoke, All) {
  TempFolder folder;
  auto store = SessionStore::open(folder.path()); ASSERT_TRUE(store) << store.error().message;
  auto s = (*store)->createSession({.key="main:cli:user", .title="hi"}); ASSERT_TRUE(s) << s.error().message;
  auto r = (*store)->appendSessionEntries(s->sessionId, {message("a"), message("b")}); ASSERT_TRUE(r) << r.error().message;
  auto mid = r->lastAppendedEntryId;
  for (int i=0;i<100;i++) { r = (*store)->appendSessionEntries(s->sessionId, {message("x"+std::to_string(i))}); ASSERT_TRUE(r) << r.error().message; }
  auto all = (*store)->loadSessionEntries(s->sessionId); ASSERT_TRUE(all) << all.error().message; EXPECT_EQ(all->size(), 104u);
  auto f = (*store)->branchFromEntry(s->sessionId, mid); ASSERT_TRUE(f) << f.error().message;
  r = (*store)->appendSessionEntries(f->sessionId, {message("fork")}); ASSERT_TRUE(r) << r.error().message;
  all = (*store)->loadSessionEntries(f->sessionId); ASSERT_TRUE(all) << all.error().message; EXPECT_EQ(all->size(), 4u);
  for (auto& e : *all) printf("%s %s %s\n", e.type.c_str(), e.parentId->c_str(), e.payload.c_str());
  auto big = message(std::string(300000,'y'));
  r = (*store)->appendSessionEntries(f->sessionId, {big}); ASSERT_TRUE(r) << r.error().message;
  auto e = (*store)->loadEntry(f->sessionId, r->lastAppendedEntryId); ASSERT_TRUE(e); EXPECT_EQ(e->payload, big.payload);
  auto d = (*store)->deleteSession(s->sessionId); EXPECT_FALSE(d); printf("%s\n", d.error().message.c_str());
  auto v = (*store)->verifySession(f->sessionId); ASSERT_TRUE(v); for (auto&p: v->problems) printf("%s %s\n", std::string(toString(p.kind)).c_str(), p.message.c_str()); EXPECT_EQ(v->problemCount, 0u);
  auto a = (*store)->archiveSession(s->sessionId); ASSERT_TRUE(a) << a.error().message;
  all = (*store)->loadSessionEntries(s->sessionId); ASSERT_TRUE(all) << all.error().message; EXPECT_EQ(all->size(), 104u);
  r = (*store)->appendSessionEntries(s->sessionId, {message("back")}); ASSERT_TRUE(r) << r.error().message;
  d = (*store)->deleteSession(s->sessionId, {.detachForks=true}); ASSERT_TRUE(d) << d.error().message;
  all = (*store)->loadSessionEntries(f->sessionId); ASSERT_TRUE(all) << all.error().message; EXPECT_EQ(all->size(), 6u);
  for (int i=0;i<10;i++) { r = (*store)->appendSessionEntries(f->sessionId, {message("buf")}, {.durability=Durability::Buffered}); ASSERT_TRUE(r) << r.error().message; }
  all = (*store)->loadSessionEntries(f->sessionId); ASSERT_TRUE(all) << all.error().message; EXPECT_EQ(all->size(), 16u);
}
}}
