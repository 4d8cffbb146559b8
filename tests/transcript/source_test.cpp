// Sessions written from a store: entries are read when needed, and the file is the same.
#include <bough/store.h>
#include <bough/transcript.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "transcript/files.h"
#include "transcript/model/entry_list.h"

namespace bough {
namespace {

std::unique_ptr<SessionStore> newStore() {
  return std::move(*SessionStore::open("memory:"));
}

TranscriptSource opened(SessionStore& store, const std::string& sessionId, std::size_t keptBytes = 0) {
  auto source = TranscriptSource::open(store, sessionId, keptBytes);
  EXPECT_TRUE(source);
  return std::move(*source);
}

// Returns the file, or the reason why there is none.
std::string writtenFrom(const TranscriptSource& source, const WriteTranscriptOptions& options) {
  std::string bytes;
  const auto done = writeTranscript(source, options, [&](std::string_view piece) -> Result<void> {
    bytes += piece;
    return {};
  });
  return done ? fmt::format("{} {} {}\n{}", done->entries, done->verbatim, done->carried, bytes) : done.error().message;
}

std::string traceFrom(const TranscriptSource& source, std::string_view format) {
  std::string bytes;
  WriteTraceOptions options;
  options.format = format;
  options.facts.sessionId = "s";
  options.all = true;
  const auto done = writeTrace(source, options, [&](std::string_view piece) -> Result<void> {
    bytes += piece;
    return {};
  });
  return done ? done->toJson() + bytes : done.error().message;
}

// Entries in memory and entries read from the store must give the same.
void compare(SessionStore& store, const std::string& sessionId) {
  const auto entries = store.loadSessionEntries(sessionId);
  ASSERT_TRUE(entries);
  const TranscriptSource source = opened(store, sessionId);
  EXPECT_EQ(importedFacts(*entries).sessionId, importedFacts(source).sessionId);
  for (const std::string_view agent : transcriptAgents()) {
    SCOPED_TRACE(agent);
    const auto facts = factsForExport(store, sessionId, std::string(agent), *entries);
    const auto same = factsForExport(store, sessionId, std::string(agent), source);
    ASSERT_TRUE(facts && same);
    EXPECT_EQ(facts->title, same->title);
    EXPECT_EQ(facts->created, same->created);
    for (const bool clean : {false, true}) {
      const WriteTranscriptOptions options{.agent = std::string(agent), .facts = *facts, .clean = clean};
      EXPECT_TRUE(writtenFrom(*entries, options) == writtenFrom(source, options)) << "clean: " << clean;
    }
  }
  for (const std::string_view format : traceFormats()) {
    EXPECT_TRUE(traceFrom(*entries, format) == traceFrom(source, format)) << format;
  }
}

TEST(TranscriptSource, EveryFixtureIsWrittenFromAStoreAsFromMemory) {
  for (const auto& path : fixtures()) {
    SCOPED_TRACE(path.string());
    const auto store = newStore();
    const auto imported = importTranscript(*store, path);
    ASSERT_TRUE(imported) << imported.error().message;
    compare(*store, imported->sessionId);
    if (HasFailure()) return;
  }
}

// Questions, calls, results and answers of 3 KB; every hundredth turn continues from an early one.
std::vector<Entry> longBranches(std::size_t turns) {
  const std::string filler(3'000, 'x');
  std::vector<Entry> entries;
  const auto add = [&](std::string id, const std::string& parent, std::string_view dialect, const std::string& json) {
    Entry entry = rawMessage(dialect, json);
    entry.id = std::move(id);
    entry.parentId = parent;
    entries.push_back(std::move(entry));
  };
  std::string last;
  for (std::size_t i = 0; i < turns; ++i) {
    if (i % 100 == 99) last = fmt::format("a{}", i / 2);
    add(fmt::format("q{}", i), last, "anthropic", fmt::format(R"({{"role":"user","content":"{} {}"}})", i, filler));
    add(fmt::format("c{}", i), fmt::format("q{}", i), "anthropic",
        fmt::format(R"({{"role":"assistant","content":[{{"type":"tool_use","id":"t{0}","name":"ls",)"
                    R"("input":{{"path":"{0} {1}"}}}}]}})",
                    i, filler));
    add(fmt::format("r{}", i), fmt::format("c{}", i), "anthropic",
        fmt::format(
            R"({{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t{0}","content":"{0} {1}"}}]}})", i,
            filler));
    add(fmt::format("a{}", i), fmt::format("r{}", i), "anthropic",
        fmt::format(R"({{"role":"assistant","content":[{{"type":"text","text":"{} {}"}}]}})", i, filler));
    last = fmt::format("a{}", i);
  }
  return entries;
}

TEST(TranscriptSource, ALongSessionWithBranchesIsWrittenFromAStoreAsFromMemory) {
  const auto store = newStore();
  ASSERT_TRUE(store->createSession({.sessionId = "s"}));
  ASSERT_TRUE(store->appendSessionEntries("s", longBranches(900)));
  compare(*store, "s");
}

TEST(TranscriptSource, TakesTheEntriesOfATemporary) {
  const std::vector<Entry> entries = longBranches(3);
  const TranscriptSource own(longBranches(3));
  ASSERT_EQ(own.list().size(), entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) EXPECT_EQ(own.list().at(i)->payload, entries[i].payload);
}

TEST(TranscriptSource, ASessionThatGoesWhileItIsWrittenIsAnError) {
  for (const std::size_t keptBytes : {std::size_t{0}, TranscriptSource::kKeptBytes}) {
    const auto store = newStore();
    ASSERT_TRUE(store->createSession({.sessionId = "s"}));
    ASSERT_TRUE(store->appendSessionEntries("s", longBranches(3)));
    const TranscriptSource source = opened(*store, "s", keptBytes);
    ASSERT_TRUE(store->deleteSession("s"));
    std::string pieces;
    const auto out = [&](std::string_view piece) -> Result<void> {
      pieces += piece;
      return {};
    };
    const bool isKept = keptBytes > 0;
    EXPECT_EQ(writeTranscript(source, {.agent = "pi", .facts = {}}, out).has_value(), isKept);
    EXPECT_EQ(pieces.empty(), !isKept);
    EXPECT_EQ(writeTrace(source, {.format = "atif"}, out).has_value(), isKept);
    const auto begin = [](const std::vector<TranscriptFacts>&) -> Result<void> { return {}; };
    const auto add = [&](std::size_t, std::string_view piece) { return out(piece); };
    EXPECT_EQ(writeTranscriptTree(source, {.agent = "codex", .facts = {}}, {.begin = begin, .add = add}).has_value(),
              isKept);
  }
}

}  // namespace
}  // namespace bough
