// A catalog that was updated while a call failed: after the next catch-up at the latest, it equals a newly built
// catalog.

#include "bough/catalog.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ledger.h"
#include "support/entries.h"
#include "support/sim_file_system.h"

namespace bough {
namespace {

Entry asked(const std::string& text, const std::string& id) {
  return entryOf(
      entry_type::kMessage,
      R"({"dialect":"bough","message":{"role":"user","content":[{"type":"text","text":")" + text + R"("}]}})", id);
}

// An answer without a provider's id: it is identified by the session in which its history began.
Entry paid(const std::string& id, int input) {
  return entryOf(entry_type::kMessage,
                 fmt::format(R"({{"dialect":"anthropic","message":{{"role":"assistant","model":"m","content":[],)"
                             R"("usage":{{"input_tokens":{},"output_tokens":1}}}}}})",
                             input),
                 id);
}

// The output of lists, sums and searches.
std::string said(Catalog& catalog) {
  std::string text;
  for (const SessionSummary& row : must(catalog.list({}))) {
    text +=
        fmt::format("{} {} {} {} {}\n", row.sessionId, row.title, row.entries, toString(row.condition), row.problem);
  }
  const UsageRow total = must(catalog.usage()).total;
  text += fmt::format("{} answers, {} tokens\n", total.messages, total.tokens.inputTokens);
  std::vector<std::string> hits;
  for (const SearchHit& hit : must(catalog.search("secret"))) hits.push_back(hit.sessionId + "/" + hit.entryId);
  std::ranges::sort(hits);
  for (const std::string& hit : hits) text += hit + "\n";
  return text;
}

std::unique_ptr<Catalog> inMemory(World& world) {
  return must(Catalog::open(world.store(), {.inMemory = true}));
}

void failEachCallOfACatchUp(SimFileSystem& stored, int error, const std::function<void(const std::string&)>& check) {
  std::uint64_t calls = 0;
  std::string truth;
  for (std::uint64_t call = 0; call <= calls; ++call) {
    const auto files = stored.processCrash();
    World world(*files);
    const auto catalog = inMemory(world);
    const std::uint64_t before = files->callCount();
    if (call > 0) files->failOperation(before + call, error);
    const auto first = catalog->catchUp({.search = true});
    if (call == 0) calls = files->callCount() - before;
    files->clearFaults();
    if (call > 0 && !first) continue;  // the caller got an error
    must(catalog->catchUp({.search = true}));
    const std::string now = said(*catalog);
    if (call == 0) check(truth = now);
    ASSERT_EQ(now, truth) << "call " << call << " failed: " << files->callName(before + call);
  }
}

// Copies of an answer count as one answer, whichever header could not be read when it was taken in.
TEST(FailedCatchUp, WhatWasPaidOnceIsCountedOnce) {
  SimFileSystem files;
  {
    World world(files);
    must(world->createSession({.sessionId = "s"}));
    must(world->appendSessionEntries("s", {asked("hello", "u"), paid("a", 10)}));
    must(world->branchFromEntry("s", "a", {.sessionId = "fork"}));
    must(world->appendSessionEntries("fork", {paid("b", 100)}));
    must(world->branchFromEntry("fork", "b", {.sessionId = "deep"}));
    must(world->appendSessionEntries("deep", {paid("c", 1000)}));
    must(world->maintenance().detach("deep"));
  }
  for (const int error : {EIO, EMFILE}) {
    failEachCallOfACatchUp(files, error, [](const std::string& truth) {
      EXPECT_NE(truth.find("3 answers, 1110 tokens"), std::string::npos) << truth;
    });
  }
}

// An entry that was redacted by its place, because it was unreadable, stays hidden when it becomes readable.
TEST(FailedCatchUp, WhatWasRedactedByItsPlaceStaysHidden) {
  const std::string log = kStore + "/sessions/s.jsonl";
  SimFileSystem files;
  std::string good;
  {
    World world(files);
    must(world->createSession({.sessionId = "s"}));
    must(world->appendSessionEntries("s", {asked("a secret", "u")}));
    must(world->appendSessionEntries("s", {asked("more", "v")}));
    good = files.contents(log).value_or("");
  }
  const std::size_t at = good.find(R"({"id":"u")");
  ASSERT_NE(at, std::string::npos);
  std::string damaged = good;
  damaged[at + 1] = '#';
  files.put(log, damaged);
  {
    World world(files, {}, 2);
    must(world->redactEntry("s", fmt::format("unreadable:{}", at), "me", "a password"));
  }
  const std::string after = files.contents(log).value_or("");
  files.put(log, good + after.substr(good.size()));
  failEachCallOfACatchUp(files, EIO, [](const std::string& truth) {
    EXPECT_EQ(truth.find("secret"), std::string::npos) << truth;
    EXPECT_NE(truth.find("s more 4 "), std::string::npos) << truth;
  });
}

}  // namespace
}  // namespace bough
