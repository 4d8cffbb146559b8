// Erased content is in no file of the store any more, and everything else is unchanged.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <functional>
#include <tuple>

#include "base/bytes/sha256.h"
#include "base/json/json_scan.h"
#include "base/model/unreadable.h"
#include "bough/catalog.h"
#include "store_support.h"

namespace bough {
namespace {

const std::string kSecret = "the number of the customer's card is 4111-1111-1111-1111";

class EraseTest : public StoreTest {
 protected:
  // Returns every file of the store that contains the secret, including compressed files.
  [[nodiscard]] std::vector<std::string> filesWithSecret(const std::string& secret = kSecret) const {
    std::vector<std::string> found;
    for (const auto& each : std::filesystem::recursive_directory_iterator(folder.path())) {
      if (each.is_regular_file() && slurp(each.path().string()).contains(secret)) found.push_back(each.path().string());
    }
    for (const std::string& id : must(store->listSessions())) {
      must(must(store->session(id)).exportLines([&](std::string_view line) {
        if (line.contains(secret)) found.push_back("a line of " + id);
        return true;
      }));
    }
    for (const TrashedSession& each : must(store->listTrash())) {
      must(store->maintenance().exportTrashed(each.trashId, [&](std::string_view line) {
        if (line.contains(secret)) found.push_back("a line of " + each.trashId);
        return true;
      }));
    }
    return found;
  }
  Result<ErasureReport> erase(const std::string& id, std::vector<std::string> entries) {
    return store->maintenance().erase(
        {.sessionId = id, .entryIds = std::move(entries), .by = "me", .reason = "a request"});
  }
  // Creates a session s of four entries, the second of which contains the secret.
  void fillWithSecret() {
    must(store->createSession({.sessionId = "s"}));
    must(store->appendSessionEntries("s", {message("one", "e1"), message(kSecret, "e2"), message("three", "e3")}));
    must(store->appendSessionEntries("s", {message("four", "e4")}));
  }
};

TEST_F(EraseTest, TheTreeStaysAndAReceiptTakesThePayloadsPlace) {
  fillWithSecret();
  must(store->moveHead("s", "e3"));
  const auto before = must(store->loadSessionEntries("s"));
  const std::string payload = message(kSecret).payload;
  const auto report = must(erase("s", {"e2"}));
  ASSERT_EQ(report.entries.size(), 1U);
  std::string digest = Sha256::of(payload);
  for (char& c : digest) c = static_cast<char>(std::toupper(c));
  EXPECT_EQ(report.entries[0].sha256, digest);
  EXPECT_EQ(report.entries[0].bytes, payload.size());
  EXPECT_EQ(report.rewritten, (Ids{"s"}));

  const auto after = must(store->loadSessionEntries("s"));
  ASSERT_EQ(after.size(), before.size() + 1);
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(after[i].id, before[i].id);
    EXPECT_EQ(after[i].parentId, before[i].parentId);
    EXPECT_EQ(after[i].type, before[i].type);
    EXPECT_EQ(after[i].timestamp, before[i].timestamp);
    if (after[i].id != "e2") {
      EXPECT_EQ(after[i].payload, before[i].payload);
    }
  }
  const Entry erased = must(store->loadEntry("s", "e2"));
  EXPECT_TRUE(erased.redacted);
  const Entry& receipt = after.back();
  EXPECT_EQ(receipt.id, report.entries[0].receiptId);
  EXPECT_EQ(receipt.type, "redaction");
  EXPECT_EQ(receipt.payload, R"({"entryId":"e2","by":"me","reason":"a request","erased":{"sha256":")" + digest +
                                 R"(","bytes":)" + std::to_string(payload.size()) + "}}");
  EXPECT_EQ(must(store->sessionState("s")).headId, "e3");
  EXPECT_EQ(must(store->verifySession("s")).problemCount, 0U);
  EXPECT_EQ(must(store->verifySession("s")).noteCount, 0U);
  EXPECT_TRUE(filesWithSecret().empty());
  must(store->appendSessionEntries("s", {message("five", "e5")}));
  EXPECT_EQ(*must(store->loadEntry("s", "e5")).parentId, "e3");
}

TEST_F(EraseTest, NoFileOfTheStoreHoldsItAnyMore) {
  fillWithSecret();
  const std::string line = slurp(logPath("s"));
  must(store->branchFromEntry("s", "e3", {.sessionId = "fork"}));
  must(store->appendSessionEntries("fork", {message("own", "f1")}));
  for (const std::string id : {"detached", "archived", "thrown"}) {
    must(store->branchFromEntry("s", "e4", {.sessionId = id}));
    must(store->maintenance().detach(id));
  }
  must(store->archiveSession("archived"));
  must(store->trashSession("thrown"));
  spill(folder / "sessions/s.v0", line);
  // Torn bytes: the complete line, its beginning, and its middle after a hole.
  const std::size_t at = line.find(R"({"id":"e2")");
  const std::string torn = line.substr(at, line.find('\n', at) - at);
  spill(folder / "sessions/other.torn", "{\"torn\":{}}\n" + torn + "\n" + torn.substr(0, torn.size() - 30) + "\n" +
                                            std::string(20, '\0') + torn.substr(40) + "\n\nkept\n");
  auto catalog = must(Catalog::open(*store, {}));
  must(catalog->catchUp({.search = true}));
  EXPECT_EQ(must(catalog->search("customer")).size(), 3U);
  catalog.reset();
  ASSERT_GE(filesWithSecret().size(), 5U);

  must(erase("fork", {"e2"}));
  EXPECT_EQ(filesWithSecret(), Ids{});
  EXPECT_EQ(filesWithSecret("4111-1111"), Ids{});
  for (const std::string id : {"s", "fork", "detached", "archived"}) {
    EXPECT_TRUE(must(store->loadEntry(id, "e2")).redacted) << id;
    EXPECT_EQ(must(store->verifySession(id)).problemCount, 0U) << id;
  }
  EXPECT_TRUE(must(store->sessionState("archived")).archived);
  EXPECT_TRUE(slurp(folder / "sessions/other.torn").contains("kept"));
  const auto trash = must(store->listTrash());
  must(store->restoreSession(trash.at(0).trashId));
  EXPECT_TRUE(must(store->loadEntry("thrown", "e2")).redacted);
  catalog = must(Catalog::open(*store, {}));
  must(catalog->catchUp({.search = true}));
  EXPECT_TRUE(must(catalog->search("customer")).empty());
  EXPECT_EQ(must(catalog->search("three")).size(), 4U);
}

TEST_F(EraseTest, AnAttachmentGoesUnlessOthersUseIt) {
  const std::string large = std::string(300'000, 'x') + kSecret;
  must(store->createSession({.sessionId = "s"}));
  must(store->appendSessionEntries("s", {message(large, "e1"), message(large, "e2")}));
  ASSERT_FALSE(filesWithSecret().empty());
  const auto first = must(erase("s", {"e1"}));
  EXPECT_EQ(first.removedAttachments, 0U);
  EXPECT_EQ(first.keptAttachments.size(), 1U);
  EXPECT_EQ(first.entries[0].bytes, message(large).payload.size());
  const auto second = must(erase("s", {"e2"}));
  EXPECT_EQ(second.removedAttachments, 1U);
  EXPECT_EQ(second.entries[0].sha256, first.entries[0].sha256);
  EXPECT_EQ(filesWithSecret(), Ids{});
  EXPECT_TRUE(must(store->findUnusedAttachments()).empty());
  EXPECT_EQ(must(store->verifySession("s")).problemCount, 0U);
}

TEST_F(EraseTest, WhatWasConvertedFromItGoesToo) {
  fillWithSecret();
  must(store->createSession({.sessionId = "m"}));
  const std::string wayBack = must(store->putAttachment(R"({"entries":[{"entryId":"e2","raw":")" + kSecret + "\"}]}"));
  Entry converted = message("converted: " + kSecret, "c1");
  converted.meta = R"({"migration":{"sources":[{"entryId":"e2"}]}})";
  must(store->appendSessionEntries(
      "m", {entryOf("custom", R"({"kind":"provider_migration","wayBack":")" + wayBack + "\"}", "marker"), converted,
            message("other", "c2")}));
  const auto report = must(erase("s", {"e2"}));
  EXPECT_EQ(report.entries.size(), 2U);
  EXPECT_EQ(filesWithSecret(), Ids{});
  EXPECT_TRUE(must(store->loadEntry("m", "c1")).redacted);
  EXPECT_FALSE(must(store->loadEntry("m", "c2")).redacted);
}

// A session imported from another agent's file: the agent's line for the message is stored in another entry.
const Entry kCarrier = entryOf("session_info",
                               R"({"transcript":{"agent":"codex","at":7,"line":["{\"text\":\")" + kSecret +
                                   R"(\"}"],"carries":["e1","e2"],"own":1}})",
                               "carrier");

TEST_F(EraseTest, TheLineThatAnotherAgentHasOfItGoesToo) {
  fillWithSecret();
  must(store->appendSessionEntries("s", {kCarrier}));
  EXPECT_EQ(must(erase("s", {"e2"})).entries.size(), 2U);
  EXPECT_EQ(filesWithSecret(), Ids{});
}

// Several entries from one line: the first one stores the line.
TEST_F(EraseTest, TheEntryThatHasTheLineItCameFromGoesToo) {
  must(store->createSession({.sessionId = "s"}));
  const auto imported = [](std::string_view says, const std::string& line, const std::string& id, int at) {
    return entryOf("message",
                   fmt::format(R"({{"says":"{}","transcript":{{"agent":"gemini-cli","at":{}{}}}}})", says, at, line),
                   id);
  };
  must(store->appendSessionEntries(
      "s", {imported("before", R"(,"line":["before"])", "e0", 0),
            imported("call", R"(,"line":[")" + kSecret + "\"]", "e1", 9), imported("other result", "", "e2", 9),
            imported(kSecret, "", "e3", 9), imported("after", R"(,"line":["x"])", "e4", 50)}));
  EXPECT_EQ(must(erase("s", {"e3"})).entries.size(), 2U);
  EXPECT_EQ(filesWithSecret(), Ids{});
  for (const std::string id : {"e0", "e2", "e4"}) EXPECT_FALSE(must(store->loadEntry("s", id)).redacted) << id;
}

TEST_F(EraseTest, ADamagedCopyGoesAndStaysDamage) {
  fillWithSecret();
  must(store->branchFromEntry("s", "e4", {.sessionId = "d"}));
  must(store->maintenance().detach("d"));
  store.reset();
  std::string bytes = slurp(logPath("d"));
  const std::size_t at = bytes.find("\"timestamp\"", bytes.find(R"({"id":"e2")"));
  bytes[at + 3] = '#';
  spill(logPath("d"), bytes);
  store = open();
  ASSERT_EQ(must(store->verifySession("d")).problemCount, 1U);
  must(erase("s", {"e2"}));
  EXPECT_EQ(filesWithSecret(), Ids{});
  EXPECT_EQ(must(store->verifySession("d")).problemCount, 1U);
  EXPECT_EQ(must(store->loadEntry("d", "e3")).payload, message("three").payload);
}

// An unreadable entry is erased by its position: an erased entry replaces it, and a receipt records that.
class EraseDamaged : public EraseTest {
 protected:
  // Changes bytes in the log of s, whose e2 contains the secret. `knownBefore` says whether a catalog had read the log
  // before.
  void damage(const std::function<void(std::string& log)>& change, bool knownBefore) {
    fillWithSecret();
    if (knownBefore) (void)must(Catalog::open(*store, {}))->catchUp();
    store.reset();
    std::string log = slurp(logPath("s"));
    change(log);
    spill(logPath("s"), log);
    if (!knownBefore) std::filesystem::remove(folder / "sessions/s.idx");
    store = open();
  }
  std::string lostId() {
    for (const Entry& entry : must(store->loadSessionEntries("s"))) {
      if (entry.type == "unreadable") return entry.id;
    }
    return {};
  }
  void expectErased(const std::string& id, std::uint64_t bytes) {
    const auto report = must(erase("s", {id}));
    EXPECT_EQ(filesWithSecret(), Ids{});
    ASSERT_EQ(report.entries.size(), 1U);
    EXPECT_EQ(report.entries[0].bytes, bytes);
    EXPECT_EQ(must(store->loadEntry("s", report.entries[0].receiptId)).type, "redaction");
    EXPECT_TRUE(must(store->loadEntry("s", id)).redacted);
    EXPECT_EQ(refused(erase("s", {id})).code, ErrorCode::InvalidArgument);
    EXPECT_EQ(must(store->verifySession("s")).problemCount, 0U);
    const auto messages = idsOf(*store, "s", {.type = "message"});
    EXPECT_EQ(messages, (Ids{"e1", "e3", "e4"}));
    EXPECT_EQ(must(store->loadEntry("s", "e3")).parentId, id);
    must(store->appendSessionEntries("s", {message("five", "e5")}));
    EXPECT_EQ(must(store->verifySession("s")).problemCount, 0U);
  }
};

struct DamageCase {
  const char* name;
  std::function<void(std::string& line)> change;
};

class EraseDamagedLine : public EraseDamaged, public testing::WithParamInterface<std::tuple<int, bool>> {};

const DamageCase kDamages[] = {
    {"InItsPayload", [](std::string& line) { line[line.find("4111")] = '#'; }},
    {"InItsId", [](std::string& line) { line[line.find("e2")] = 'f'; }},
    {"AtItsBeginning", [](std::string& line) { line[0] = '#'; }},
    {"AsHalfOfZeros", [](std::string& line) { std::fill_n(line.begin(), 60, '\0'); }},
    {"InItsSeal", [](std::string& line) { line[line.size() - 4] = line[line.size() - 4] == '0' ? '1' : '0'; }},
    {"InItsPayloadAndItsSeal",
     [](std::string& line) {
       line[line.find("4111")] = '\0';
       line[line.rfind("\"seal\"") + 8] = 'x';
     }},
};

TEST_P(EraseDamagedLine, BecomesAnErasedEntry) {
  const auto& [number, knownBefore] = GetParam();
  std::size_t bytes = 0;
  damage(
      [&](std::string& log) {
        const std::size_t begin = log.find(R"({"id":"e2")");
        const std::size_t end = log.find('\n', begin);
        std::string line = log.substr(begin, end - begin);
        bytes = line.size();
        kDamages[number].change(line);
        log.replace(begin, end - begin, line);
      },
      knownBefore);
  const std::string id = lostId();
  ASSERT_FALSE(id.empty());
  expectErased(id, bytes);
}

INSTANTIATE_TEST_SUITE_P(All, EraseDamagedLine,
                         testing::Combine(testing::Range(0, static_cast<int>(std::size(kDamages))), testing::Bool()),
                         [](const auto& each) {
                           return std::string(kDamages[std::get<0>(each.param)].name) +
                                  (std::get<1>(each.param) ? "KnownBefore" : "Unknown");
                         });

// Without the line end before or after it, two entries are unreadable. The other one is not erased.
TEST_F(EraseDamaged, TheFirstOfTwoLinesInOne) {
  damage([](std::string& log) { log[log.find('\n', log.find(R"({"id":"e2")"))] = '#'; }, true);
  const auto report = must(erase("s", {"e2"}));
  EXPECT_EQ(report.entries.size(), 1U);
  EXPECT_EQ(filesWithSecret(), Ids{});
  EXPECT_EQ(must(store->loadEntry("s", "e3")).payload, message("three").payload);
  EXPECT_EQ(must(store->verifySession("s")).problemCount, 0U);
}

TEST_F(EraseDamaged, TheSecondOfTwoLinesInOne) {
  damage([](std::string& log) { log[log.find('\n', log.find(R"({"id":"e1")"))] = '#'; }, true);
  const auto report = must(erase("s", {"e2"}));
  EXPECT_EQ(report.entries.size(), 1U);
  EXPECT_EQ(filesWithSecret(), Ids{});
  EXPECT_TRUE(slurp(logPath("s")).contains("one"));
  EXPECT_EQ(must(store->loadEntry("s", "e3")).payload, message("three").payload);
  EXPECT_TRUE(must(store->loadEntry("s", report.entries[0].receiptId)).payload.contains("a request"));
}

// Reports an unreadable copy that contains the erased short text.
TEST_F(EraseDamaged, ADamagedCopyOfAShortTextIsNamed) {
  must(store->createSession({.sessionId = "s"}));
  must(store->appendSessionEntries("s", {message("one", "e1"), message("hunter1", "e2"), message("three", "e3")}));
  must(store->branchFromEntry("s", "e3", {.sessionId = "d"}));
  must(store->maintenance().detach("d"));
  store.reset();
  std::string log = slurp(logPath("d"));
  log[log.find("\"e2\"") + 1] = 'f';
  spill(logPath("d"), log);
  store = open();
  const auto report = must(erase("s", {"e2"}));
  ASSERT_EQ(report.unreached.size(), 1U);
  EXPECT_TRUE(report.unreached[0].contains("sessions/d.jsonl")) << report.unreached[0];
}

// A sound copy in another session cannot be compared with the damaged entry here, so the copy is reported.
TEST_F(EraseDamaged, ASoundCopyElsewhereIsNamed) {
  fillWithSecret();
  must(store->branchFromEntry("s", "e4", {.sessionId = "d"}));
  must(store->maintenance().detach("d"));
  store.reset();
  std::string log = slurp(logPath("s"));
  log[log.find("4111")] = '#';
  spill(logPath("s"), log);
  store = open();
  const auto report = must(erase("s", {"e2"}));
  ASSERT_EQ(report.unreached.size(), 1U);
  EXPECT_TRUE(report.unreached[0].contains("sessions/d.jsonl")) << report.unreached[0];
}

// Redacted or not, the placeholder says where the bytes are.
TEST_F(EraseDamaged, RedactedStaysAPlaceholder) {
  damage([](std::string& log) { log[log.find("4111")] = '#'; }, false);
  must(store->redactEntry("s", "e2", "me", "a request"));
  const Entry entry = must(store->loadEntry("s", "e2"));
  EXPECT_TRUE(entry.redacted);
  EXPECT_TRUE(unreadableText(entry).ends_with(", redacted]")) << unreadableText(entry);
  EXPECT_FALSE(unreadableText(entry).contains('?')) << unreadableText(entry);
}

TEST_F(EraseTest, AnotherEntryOfTheSameIdStays) {
  fillWithSecret();
  fill("t", 3);
  must(erase("s", {"e2"}));
  EXPECT_EQ(must(store->loadEntry("t", "e2")).payload, message("m2").payload);
  EXPECT_FALSE(must(store->loadEntry("t", "e2")).redacted);
}

TEST_F(EraseTest, TornBytesOfTheLogAreNotLost) {
  fillWithSecret();
  store.reset();
  const std::string bytes = slurp(logPath("s"));
  spill(logPath("s"), bytes + R"({"id":"late","parentId":"e4","type":"message","timest)");
  store = open();
  must(erase("s", {"e2"}));
  EXPECT_TRUE(slurp(folder / "sessions/s.torn").contains("\"late\""));
  EXPECT_EQ(must(store->verifySession("s")).problemCount, 0U);
}

TEST_F(EraseTest, RefusesWhatCannotBeErased) {
  fillWithSecret();
  const std::string header = must(store->loadSessionEntries("s")).front().id;
  EXPECT_EQ(refused(erase("s", {header})).code, ErrorCode::InvalidArgument);
  EXPECT_EQ(refused(erase("s", {"e2", "nobody"})).code, ErrorCode::NotFound);
  EXPECT_EQ(refused(erase("nowhere", {"e2"})).code, ErrorCode::NotFound);
  EXPECT_EQ(refused(erase("s", {})).code, ErrorCode::InvalidArgument);
  EXPECT_EQ(refused(store->maintenance().erase({.sessionId = "s", .entryIds = {"e2"}, .by = "me"})).code,
            ErrorCode::InvalidArgument);
  EXPECT_EQ(must(store->loadEntry("s", "e2")).payload, message(kSecret).payload);
  must(erase("s", {"e2"}));
  EXPECT_EQ(refused(erase("s", {"e2"})).code, ErrorCode::InvalidArgument);
  EXPECT_FALSE(std::filesystem::exists(folder / "erasure.json"));
}

// References to entries by their position must be updated to the new positions.
TEST_F(EraseTest, MorePlacesAreNamedThanCanBeFollowed) {
  fillWithSecret();
  const std::string other = folder / "sessions/other.jsonl";
  const auto nameThousand = [&](std::size_t from) {
    std::string line = "[0";
    for (std::size_t at = from; at < from + 1000; ++at) line += fmt::format(R"(,"unreadable:{}")", at);
    return line + "]\n";
  };
  std::string names;
  for (std::size_t at = 0; at < 1'000'000; at += 1000) names += nameThousand(at);
  std::ofstream(other, std::ios::binary) << names << nameThousand(1'000'000);
  const Error error = refused(erase("s", {"e2"}));
  EXPECT_NE(error.message.find(other), std::string::npos) << error.message;
  EXPECT_EQ(filesWithSecret().size(), 2U) << "nothing is erased";
  std::ofstream(other, std::ios::binary) << names;
  must(erase("s", {"e2"}));
}

TEST_F(EraseTest, ASessionThatIsOpenElsewhereGoesOn) {
  fillWithSecret();
  const auto other = open();
  ASSERT_EQ(must(other->loadEntry("s", "e2")).payload, message(kSecret).payload);
  must(other->appendSessionEntries("s", {message("five", "e5")}));
  must(erase("s", {"e2"}));
  EXPECT_TRUE(must(other->loadEntry("s", "e2")).redacted);
  must(other->appendSessionEntries("s", {message("six", "e6")}));
  EXPECT_EQ(must(store->loadEntry("s", "e6")).payload, message("six").payload);
  EXPECT_EQ(must(store->verifySession("s")).problemCount, 0U);
}

TEST_F(EraseTest, ACatalogThatIsOpenElsewhereGoesOn) {
  fillWithSecret();
  const auto catalog = must(Catalog::open(*store, {}));
  must(catalog->catchUp({.search = true}));
  must(erase("s", {"e2"}));
  must(store->appendSessionEntries("s", {message("five", "e5")}));
  must(catalog->catchUp({.search = true}));
  EXPECT_TRUE(must(catalog->search("customer")).empty());
  EXPECT_EQ(must(catalog->search("five")).size(), 1U);
  EXPECT_EQ(filesWithSecret(), Ids{});
}

TEST_F(EraseTest, ALogThatIsReadMeanwhileIsReadToItsEnd) {
  fillWithSecret();
  const auto other = open();
  const std::size_t count = must(store->sessionState("s")).entryCount;
  std::size_t lines = 0;
  must(store->exportSession("s", [&](std::string_view) {
    if (++lines == 1) {
      must(other->maintenance().erase({.sessionId = "s", .entryIds = {"e2"}, .by = "me", .reason = "a request"}));
    }
    return true;
  }));
  EXPECT_EQ(lines, count);
}

// A process that still has a removed catalog file open would apply its WAL to the new file of that name and overwrite
// its pages.
TEST_F(EraseTest, TheCatalogIsEmptiedWhereItIs) {
  fillWithSecret();
  const auto open = must(Catalog::open(*store, {}));
  must(open->catchUp({.search = true}));
  const auto inode = [&] {
    struct stat info{};
    EXPECT_EQ(stat((folder / "catalog.db").c_str(), &info), 0);
    return info.st_ino;
  };
  const auto before = inode();
  must(erase("s", {"e2"}));
  EXPECT_EQ(inode(), before);
  EXPECT_EQ(filesWithSecret(), Ids{});
  // Without catching up first.
  EXPECT_TRUE(must(open->search("customer")).empty());
  EXPECT_EQ(must(open->count()), must(store->listSessions()).size());
  EXPECT_TRUE(must(open->check(/*deep=*/true)).empty());
}

TEST(EraseInMemory, TheTreeStaysAndThePayloadGoes) {
  auto store = must(SessionStore::open("memory:"));
  must(store->createSession({.sessionId = "s"}));
  must(store->appendSessionEntries("s", {message("one", "e1"), message(kSecret, "e2"), message("three", "e3")}));
  must(store->createSession({.sessionId = "back"}));
  must(store->appendSessionEntries("back", {kCarrier}));
  must(store->branchFromEntry("s", "e3", {.sessionId = "d"}));
  must(store->maintenance().detach("d"));
  must(store->branchFromEntry("s", "e3", {.sessionId = "thrown"}));
  must(store->maintenance().detach("thrown"));
  const std::string trashId = must(store->trashSession("thrown")).trashId;
  const auto report =
      must(store->maintenance().erase({.sessionId = "s", .entryIds = {"e2"}, .by = "me", .reason = "a request"}));
  EXPECT_EQ(report.entries.size(), 2U);
  EXPECT_EQ(report.rewritten.size(), 4U);
  must(store->restoreSession(trashId));
  for (const std::string id : {"s", "d", "thrown", "back"}) {
    if (id != "back") {
      EXPECT_TRUE(must(store->loadEntry(id, "e2")).redacted) << id;
    }
    must(must(store->session(id)).exportLines([&](std::string_view line) {
      EXPECT_FALSE(line.contains(kSecret)) << id;
      return true;
    }));
  }
  EXPECT_EQ(idsOf(*store, "s", {.type = "message"}), (Ids{"e1", "e2", "e3"}));
}

}  // namespace
}  // namespace bough
