// Trees of stored sessions on both backends: the index, combined with the history that forks share.

#include <gtest/gtest.h>

#include <random>

#include "store/store_support.h"

namespace bough {
namespace {

// Runs on both backends through the same calls of the store.
class TreeStoreTest : public testing::TestWithParam<bool> {
 protected:
  TreeStoreTest() { store = must(SessionStore::open(GetParam() ? folder.path().string() : "memory:")); }

  // Returns the tree as text: each node with its parent, by ids, in order.
  std::string drawn(const std::string& sessionId) {
    const auto tree = must(store->loadTree(sessionId));
    std::string text;
    for (Sequence i = 0; i < tree.entryCount(); ++i) {
      if (!tree.isNode(i)) continue;
      const Sequence parent = tree.parent(i);
      const auto entries = must(store->loadEntriesAt(sessionId, {i, parent == kNoSequence ? i : parent}));
      text += entries[0].id + "<" + (parent == kNoSequence ? "" : entries[1].id);
      if (tree.head() == i) text += "*";
      for (const auto name : tree.labelsOf(i)) text.append("#").append(name);
      text += " ";
    }
    return text;
  }

  TempFolder folder;
  std::unique_ptr<SessionStore> store;
};

INSTANTIATE_TEST_SUITE_P(Backends, TreeStoreTest, testing::Bool(),
                         [](const auto& test) { return test.param ? "Files" : "Memory"; });

TEST_P(TreeStoreTest, ATreeIsWhatWasAppended) {
  must(store->createSession({.sessionId = "s"}));
  must(store->appendSessionEntries("s", {message("1", "a"), message("2", "b"), message("3", "c")}));
  must(store->moveHead("s", "a"));
  must(store->appendSessionEntries("s", {message("4", "d"), message("5", "e", "")}));
  must(store->labelEntry("s", "b", "second"));
  must(store->moveHead("s", "d"));
  EXPECT_EQ(drawn("s"), "a< b<a#second c<b d<a* e< ");
  EXPECT_EQ(must(store->sequenceOf("s", "a")), 1u);
  EXPECT_EQ(refused(store->sequenceOf("s", "x")).code, ErrorCode::NotFound);
  EXPECT_EQ(idsOf(must(store->buildConversationHistory("s"))), (Ids{"a", "d"}));
  EXPECT_EQ(idsOf(must(store->buildConversationHistory("s", "c"))), (Ids{"a", "b", "c"}));
  must(store->moveHead("s", ""));
  EXPECT_TRUE(must(store->buildConversationHistory("s")).empty());
}

TEST_P(TreeStoreTest, AForksTreeBeginsWithWhatItShares) {
  must(store->createSession({.sessionId = "s"}));
  must(store->appendSessionEntries("s", {message("1", "a"), message("2", "b"), message("3", "c")}));
  must(store->appendSessionEntries("s", {message("side", "side", "a")}));
  must(store->branchFromEntry("s", "b", {.sessionId = "f", .title = "fork"}));
  EXPECT_EQ(drawn("f"), "a< b<a* ");
  must(store->appendSessionEntries("f", {message("4", "d"), message("5", "e", "a"), message("6", "g", "")}));
  EXPECT_EQ(drawn("f"), "a< b<a d<b e<a g<* ");
  must(store->moveHead("f", "a"));
  EXPECT_EQ(drawn("f"), "a<* b<a d<b e<a g< ");
  must(store->branchFromEntry("f", "d", {.sessionId = "g"}));
  must(store->appendSessionEntries("g", {message("7", "h")}));
  EXPECT_EQ(drawn("g"), "a< b<a d<b h<d* ");
  EXPECT_EQ(must(store->findEntryIds("g", "", 10)).size(), 5u) << "its header, three shared ones and its own";
  EXPECT_EQ(must(store->findEntryIds("g", "si", 10)).size(), 0u);
}

TEST_P(TreeStoreTest, LabelsAreDurableMoveAndGo) {
  must(store->createSession({.sessionId = "s"}));
  must(store->appendSessionEntries("s", {message("1", "a"), message("2", "b")}));
  must(store->labelEntry("s", "a", "start"));
  must(store->labelEntry("s", "b", "Zwischenstand 世界"));
  must(store->labelEntry("s", "b", "start"));
  if (GetParam()) store = must(SessionStore::open(folder.path().string()));
  auto labels = must(store->labels("s"));
  ASSERT_EQ(labels.size(), 2u);
  EXPECT_EQ(labels[0].name, "Zwischenstand 世界");
  EXPECT_EQ(labels[1].entryId, "b");
  must(store->removeLabel("s", "start"));
  EXPECT_EQ(must(store->labels("s")).size(), 1u);
  EXPECT_EQ(refused(store->removeLabel("s", "start")).code, ErrorCode::NotFound);
  EXPECT_EQ(refused(store->restoreLabel("s", "start")).code, ErrorCode::NotFound);
  must(store->labelEntry("s", "a", "again"));
  must(store->restoreLabel("s", "again"));
  EXPECT_EQ(must(store->sessionState("s")).headId, "a");
}

TEST_P(TreeStoreTest, ALabelThatCouldMeanSomethingElseIsRefused) {
  must(store->createSession({.sessionId = "s"}));
  must(store->appendSessionEntries("s", {message("1", "a")}));
  for (const std::string name : {"", "@head", "a~1", " a", "a ", "two\nlines", "\x1B[0m", "\xFF", "\u202Ex"}) {
    EXPECT_EQ(refused(store->labelEntry("s", "a", name)).code, ErrorCode::InvalidArgument) << name;
  }
  EXPECT_EQ(refused(store->labelEntry("s", "a", std::string(129, 'x'))).code, ErrorCode::InvalidArgument);
  EXPECT_EQ(refused(store->labelEntry("s", "missing", "x")).code, ErrorCode::NotFound);
  const auto header = must(store->loadSessionEntries("s", {.limit = 1}));
  EXPECT_EQ(refused(store->labelEntry("s", header[0].id, "x")).code, ErrorCode::InvalidArgument);
}

TEST_P(TreeStoreTest, AForkCarriesTheLabelsOfWhatItShares) {
  must(store->createSession({.sessionId = "s"}));
  must(store->appendSessionEntries("s", {message("1", "a"), message("2", "b"), message("3", "c")}));
  must(store->labelEntry("s", "a", "first"));
  must(store->labelEntry("s", "b", "gone"));
  must(store->labelEntry("s", "c", "beyond"));
  must(store->removeLabel("s", "gone"));
  must(store->branchFromEntry("s", "b", {.sessionId = "f"}));
  EXPECT_EQ(drawn("f"), "a<#first b<a* ");
  must(store->labelEntry("f", "b", "own"));
  must(store->labelEntry("s", "b", "own"));
  must(store->labelEntry("s", "b", "two"));
  EXPECT_EQ(drawn("f"), "a<#first b<a*#own#two ");
  must(store->removeLabel("s", "own"));
  must(store->removeLabel("f", "two"));
  EXPECT_EQ(drawn("f"), "a<#first b<a*#own ");
  EXPECT_EQ(drawn("s"), "a<#first b<a#two c<b*#beyond ");
  must(store->branchFromEntry("f", "a", {.sessionId = "g"}));
  EXPECT_EQ(drawn("g"), "a<*#first ");
  must(store->labelEntry("s", "c", "first"));
  EXPECT_EQ(drawn("g"), "a<* ") << "it has moved to where the fork cannot see it";
  must(store->labelEntry("s", "a", "first"));
  must(store->restoreLabel("f", "first"));
  must(store->deleteSession("g"));
  must(store->deleteSession("s", {.detachForks = true}));
  EXPECT_EQ(drawn("f"), "a<*#first b<a#own ") << "a copy keeps them";
}

TEST_P(TreeStoreTest, TitlesAndSummariesOfBranchesAreEntries) {
  must(store->createSession({.sessionId = "s"}));
  must(store->appendSessionEntries("s", {message("1", "a"), message("2", "b")}));
  must(store->setTitle("s", "A \"title\""));
  const auto info = must(store->loadSessionEntries("s", {.last = 1, .type = "session_info"}));
  EXPECT_EQ(info.at(0).payload, R"({"title":"A \"title\""})");
  must(store->moveHead("s", "a"));
  must(store->appendBranchSummary("s", {.sourceSessionId = "s", .sourceEntryId = "b", .summary = "b said no"}));
  const auto tree = must(store->loadTree("s"));
  EXPECT_EQ(tree.kind(tree.head()), EntryKind::BranchSummary);
  EXPECT_EQ(must(store->loadEntriesAt("s", {tree.head()})).at(0).payload,
            R"({"sourceSessionId":"s","sourceEntryId":"b","summary":"b said no"})");
}

TEST_P(TreeStoreTest, IdsAreFoundByTheirBeginning) {
  must(store->createSession({.sessionId = "s"}));
  std::vector<Entry> entries;
  for (int i = 0; i < 300; ++i)
    entries.push_back(message(std::string(i % 40 == 0 ? 20'000 : 10, 'x'), "id-" + std::to_string(i)));
  must(store->appendSessionEntries("s", std::move(entries)));
  EXPECT_EQ(must(store->findEntryIds("s", "id-29", 100)).size(), 11u);
  EXPECT_EQ(must(store->findEntryIds("s", "id-299", 100)), Ids{"id-299"});
  EXPECT_EQ(must(store->findEntryIds("s", "id-", 7)).size(), 7u);
  EXPECT_EQ(must(store->findEntryIds("s", "x", 7)).size(), 0u);
}

// Random sessions and forks: the tree must agree with the parents that the entries name.
TEST_P(TreeStoreTest, RandomSessionsAndForksAgreeWithTheirEntries) {
  std::mt19937_64 random(11);
  Ids sessions = {"s0"};
  must(store->createSession({.sessionId = "s0"}));
  for (int step = 0; step < 150; ++step) {
    const std::string session = sessions[random() % sessions.size()];
    const Ids known = idsOf(must(store->loadSessionEntries(session, {.type = "message"})));
    const std::string parent = known.empty() || random() % 15 == 0 ? "" : known[random() % known.size()];
    if (random() % 8 == 0 && !parent.empty()) {
      sessions.push_back("s" + std::to_string(sessions.size()));
      must(store->branchFromEntry(session, parent, {.sessionId = sessions.back()}));
    } else if (random() % 4 == 0) {
      must(store->moveHead(session, parent));
    } else {
      const std::string id = "e" + std::to_string(step);
      must(store->appendSessionEntries(session, {random() % 2 == 0 ? message("m", id) : message("m", id, parent)}));
    }
  }
  EXPECT_GT(sessions.size(), 5u);
  for (const std::string& session : sessions) {
    const auto tree = must(store->loadTree(session));
    const auto entries = must(store->loadSessionEntries(session));
    ASSERT_EQ(tree.entryCount(), entries.size());
    EXPECT_TRUE(tree.problems().empty());
    for (Sequence i = 0; i < entries.size(); ++i) {
      ASSERT_EQ(tree.isNode(i), entries[i].type == "message");
      ASSERT_EQ(must(store->sequenceOf(session, entries[i].id)), i);
      if (!tree.isNode(i)) continue;
      const std::string parent = entries[i].parentId.value_or("");
      ASSERT_EQ(tree.parent(i) == kNoSequence ? "" : entries[tree.parent(i)].id, parent) << session << " " << i;
    }
    const std::string head = must(store->sessionState(session)).headId;
    ASSERT_EQ(tree.head() == kNoSequence ? "" : entries[tree.head()].id, head) << session;
  }
}

TEST_F(StoreTest, OrphansAndCyclesOfAHandMadeFileAreReportedAndShown) {
  const auto line = [](const std::string& id, const std::string& parent) {
    return R"({"id":")" + id + R"(","parentId":")" + parent +
           R"(","type":"message","timestamp":"2026-01-01T00:00:00Z","payload":{}})" + "\n";
  };
  fill("s", 2);
  must(store->close());
  spill(logPath("s"), slurp(logPath("s")) + line("lost", "nowhere") + line("lost2", "lost") + line("x", "y") +
                          line("y", "x") + line("self", "self") + line("early", "late") + line("late", "e1"));
  store = open();
  const auto tree = must(store->loadTree("s"));
  Ids found;
  for (const TreeProblem& problem : tree.problems()) {
    const auto entry = must(store->loadEntriesAt("s", {problem.node})).at(0);
    found.push_back(entry.id + " " + std::string(toString(problem.kind)));
  }
  EXPECT_EQ(found, (Ids{"lost orphan", "x cycle", "self cycle", "early orphan"}));
  EXPECT_EQ(tree.branches().size(), 6u);
  EXPECT_EQ(tree.path(must(store->sequenceOf("s", "y"))).size(), 2u);
}

TEST_F(StoreTest, ATreeNeedsTheIndexFileAndNothingElse) {
  fill("s", 0);
  std::vector<Entry> entries;
  for (int i = 0; i < 3000; ++i) entries.push_back(message(std::string(200, 'x'), "e" + std::to_string(i)));
  must(store->appendSessionEntries("s", std::move(entries)));
  must(store->appendSessionEntries("s", {message("side", "side", "e7")}));
  must(open()->loadTree("s"));
  ASSERT_TRUE(std::filesystem::exists(folder / "sessions/s.idx"));
  store = open();
  auto tree = must(store->loadTree("s"));
  EXPECT_EQ(tree.nodeCount(), 3001u);
  EXPECT_EQ(tree.branches().size(), 2u);
  // A damaged block of the index: the log is read instead.
  std::string index = slurp(folder / "sessions/s.idx");
  index[4096 * 3 + 100] = static_cast<char>(index[4096 * 3 + 100] ^ 1);
  spill(folder / "sessions/s.idx", index);
  store = open();
  tree = must(store->loadTree("s"));
  EXPECT_EQ(tree.nodeCount(), 3001u);
  EXPECT_EQ(tree.branches().size(), 2u);
}

}  // namespace
}  // namespace bough
