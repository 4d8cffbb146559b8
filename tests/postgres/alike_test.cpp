// The same random calls, valid and invalid, on every kind of store: each call has the same answer, and the stores have
// the same contents afterwards.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <random>
#include <regex>

#include "base/json/json_write.h"
#include "support/entries.h"
#include "support/postgres_server.h"
#include "support/temp_folder.h"

namespace bough {
namespace {

// The location of the store differs.
std::string told(Error error) {
  if (error.message.starts_with("there is no session ")) error.message.resize(error.message.find(" in "));
  return fmt::format("{}: {} (entry {}, tail {})", toString(error.code), error.message, error.batchPlace,
                     error.actualTail);
}

std::string told(const std::vector<Entry>& entries) {
  std::string text;
  for (const Entry& entry : entries) {
    text += fmt::format("{}|{}|{}|{}|{}|{}|{}|{}\n", entry.id, entry.parentId.value_or("-"), entry.type,
                        entry.timestamp, entry.runId, entry.payload.substr(0, 300), entry.meta, entry.extra);
  }
  return text;
}

std::string told(const AppendResult& result) {
  return fmt::format("{} {}+{}", result.lastAppendedEntryId, result.appendedCount, result.duplicateCount);
}
std::string told(const SessionHandle& handle) {
  return handle.sessionId;
}
std::string told(const std::vector<std::string>& texts) {
  return fmt::format("{}", fmt::join(texts, " "));
}
std::string told(const SessionState& state) {
  return fmt::format("{} tail {} head {} origin {} lost {}", state.entryCount, state.tailId, state.headId,
                     state.origin ? state.origin->sessionId + " " + state.origin->entryId : "", state.lostSession);
}
std::string told(const SessionTree& tree) {
  std::string text = fmt::format("head {} problems {}\n", tree.head(), tree.problems().size());
  for (Sequence node = 0; node < tree.entryCount(); ++node) {
    if (!tree.isNode(node)) continue;
    text += fmt::format("{} {} {} {}\n", node, static_cast<int>(tree.kind(node)), tree.parent(node), tree.depth(node));
  }
  for (const TreeLabel& label : tree.labels()) text += fmt::format("{} {}\n", label.name, label.node);
  return text;
}
std::string told(const std::vector<SessionLabel>& labels) {
  std::string text;
  for (const SessionLabel& each : labels) text += fmt::format("{} {} {}\n", each.name, each.entryId, each.sessionId);
  return text;
}

template <typename T>
std::string told(const Result<T>& result) {
  if (!result) return told(result.error());
  if constexpr (std::is_void_v<T>) {
    return "done";
  } else {
    return told(*result);
  }
}

class Calls {
 public:
  Calls(std::uint64_t seed, std::vector<std::pair<std::string, std::string>> places) : random_(seed) {
    for (const auto& [name, location] : places) stores_.emplace_back(name, must(StoreSide::open(location)));
  }

  void run(int count) {
    for (int i = 0; i < count && !testing::Test::HasFailure(); ++i) {
      time_ = i;
      call();
    }
    for (const std::string& session : sessions_) compare(session);
  }

 private:
  using Call = std::function<std::string(SessionStore&)>;

  std::uint64_t chance(std::uint64_t of) { return random_() % of; }
  const std::string& any(const std::vector<std::string>& of) { return of[chance(of.size())]; }

  // Chooses from few ids, so that calls meet; some are not ids of any entry, or are not ids at all.
  std::string id() {
    static const std::vector<std::string> kOdd{"",    "bough:the-head-of-the-session", "no such", "nowhere", "\xff",
                                               "a\"b"};
    return chance(15) == 0 ? any(kOdd) : fmt::format("e{}", chance(40));
  }
  std::string session() {
    static const std::vector<std::string> kOdd{"", "missing", "..", "a/b"};
    return chance(40) == 0 || sessions_.empty() ? any(kOdd) : any(sessions_);
  }

  Entry entry() {
    static const std::vector<std::string> kTypes{"message",        "custom",     "own_type",
                                                 "head",           "label",      "label",
                                                 "head",           "message",    "compaction_summary",
                                                 "branch_summary", "redaction",  "session_info",
                                                 "session_header", "unreadable", "no type"};
    Entry entry;
    entry.type = kTypes[chance(chance(3) == 0 ? kTypes.size() : 3)];
    if (chance(3) == 0) entry.id = id();
    if (entry.id.empty()) entry.id = fmt::format("n{}", next_++);  // ids made by a store differ
    if (chance(2) == 0) entry.parentId = id();
    entry.timestamp = fmt::format("2026-01-01T00:{:02}:{:02}.000Z", time_ / 60 % 60, time_ % 60);
    if (chance(60) == 0) entry.timestamp = "yesterday";
    static const std::vector<std::string> kPayloads{
        R"({"text":"a"})", R"({"text": "b", "x":1.0e5 })", "{}", "[]", "no json",
        R"({"title":5})",  R"({"text":"\u0000"})"};
    entry.payload = chance(6) == 0 ? any(kPayloads) : fmt::format(R"({{"text":"{}"}})", chance(3));
    if (isControlType(entry.type) && chance(8) != 0) {
      const std::string named = chance(8) == 0 ? "null" : json::quoted(id());
      entry.payload = fmt::format(R"({{"entryId":{},"name":"l{}","by":"me","reason":"why"}})", named, chance(3));
    }
    if (entry.type == "session_info" && chance(2) == 0) entry.payload = R"({"title":"title"})";
    if (chance(10) == 0) entry.payload = fmt::format(R"({{"text":"{}"}})", std::string(300'000, 'x'));
    if (chance(8) == 0) entry.meta = R"({"m":1})";
    if (chance(8) == 0) entry.runId = "run";
    if (chance(8) == 0) entry.extra = R"("own":[1, 2])";
    return entry;
  }

  void call() {
    const std::string on = session();
    const std::string at = id();
    const std::string made = fmt::format("{}{}", chance(2) == 0 ? "s" : "f", chance(6));
    const std::string name = fmt::format("l{}", chance(3));
    switch (chance(12)) {
      case 0:
        return all("create", [&](SessionStore& store) { return told(store.createSession({.sessionId = made})); }, made);
      case 1:
        return all(
            "fork", [&](SessionStore& store) { return told(store.branchFromEntry(on, at, {.sessionId = made})); },
            made);
      case 2:
        return all("erase", [&](SessionStore& store) {
          return outcome(store.maintenance().erase({.sessionId = on, .entryIds = {at}, .by = "me", .reason = "why"}));
        });
      case 3: return all("title", [&](SessionStore& store) { return outcome(store.setTitle(on, at)); });
      case 4: return all("label", [&](SessionStore& store) { return outcome(store.labelEntry(on, at, name)); });
      case 5: return all("no label", [&](SessionStore& store) { return outcome(store.removeLabel(on, name)); });
      case 6: return all("head", [&](SessionStore& store) { return outcome(store.moveHead(on, at)); });
      case 7: return read(on, at);
      default: return append(on);
    }
  }

  template <typename T>
  static std::string outcome(const Result<T>& result) {
    return result ? "done" : told(result.error());
  }

  void read(const std::string& on, const std::string& at) {
    const LoadOptions options{.fromSequence = chance(4), .last = chance(5), .branch = at};
    all("load", [&](SessionStore& store) { return told(store.loadSessionEntries(on, options)); });
    all("load all", [&](SessionStore& store) { return told(store.loadSessionEntries(on, {.limit = 3, .type = at})); });
    LoadOptions part{.fromSequence = chance(20), .limit = 1 + chance(4)};
    if (chance(2) == 0) part.limitBytes = 1 + chance(100);
    all("part", [&](SessionStore& store) { return told(store.loadSessionEntries(on, part)); });
    part.branch = at;
    all("part of a branch", [&](SessionStore& store) { return told(store.loadSessionEntries(on, part)); });
    const std::vector<Sequence> places{static_cast<Sequence>(chance(30)), static_cast<Sequence>(chance(10))};
    all("entries of the tree", [&](SessionStore& store) { return told(store.loadEntriesAt(on, places)); });
    all("entry", [&](SessionStore& store) {
      const auto found = store.loadEntry(on, at);
      return found ? told(std::vector{*found}) : told(found.error());
    });
    all("sequence", [&](SessionStore& store) {
      const auto found = store.sequenceOf(on, at);
      return found ? std::to_string(*found) : told(found.error());
    });
    all("entries at", [&](SessionStore& store) { return told(store.loadEntriesAt(on, {0, 3, 1, 2, 4})); });
    all("cursor", [&](SessionStore& store) {
      auto cursor = store.openCursor(on, at);
      return cursor ? told(cursor->next(4)) : told(cursor.error());
    });
    all("follow", [&](SessionStore& store) {
      auto follower = store.follow(on, at);
      return follower ? told(follower->next(0)) : told(follower.error());
    });
    all("find", [&](SessionStore& store) { return told(store.findEntryIds(on, at, 5)); });
    all("history", [&](SessionStore& store) { return told(store.buildConversationHistory(on, at)); });
    all("own", [&](SessionStore& store) {
      std::vector<Entry> entries;
      const auto read = store.readOwnEntries(on, 2, 3, [&](std::uint64_t, Entry& entry) { entries.push_back(entry); });
      return outcome(read) + told(entries);
    });
    all("attachment", [&](SessionStore& store) { return outcome(store.readAttachment(at)); });
    all("restore", [&](SessionStore& store) { return outcome(store.restoreSession(at)); });
    compare(on);
  }

  void append(const std::string& on) {
    std::vector<Entry> batch;
    if (last_.empty() || chance(8) != 0) {
      for (std::uint64_t count = chance(30) == 0 ? 0 : 1 + chance(3); batch.size() < count;) batch.push_back(entry());
    } else {
      batch = last_;  // repeats the last batch, completely or in part
      if (chance(2) == 0) batch.push_back(entry());
      if (chance(4) == 0) batch.erase(batch.begin());
    }
    last_ = batch;
    AppendOptions options;
    if (chance(6) == 0) options.expectedTail = id();
    all("append", [&](SessionStore& store) { return told(store.appendSessionEntries(on, batch, options)); });
  }

  void all(const std::string& what, const Call& call, const std::string& made = {}) {
    std::string first;
    for (auto& [name, side] : stores_) {
      // Headers and receipts of erasures have different ids and times in each store.
      static const std::regex kMade(R"([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|20\d\d-(?!01-01)[-0-9T:.]*Z)");
      const std::string answer = std::regex_replace(call(*side.store), kMade, "made");
      if (&side == &stores_.front().second) first = answer;
      ASSERT_EQ(answer, first) << what << " on " << name << " after " << time_ << " calls; the last batch:\n"
                               << told(last_);
    }
    if (!made.empty() && first == made) sessions_.push_back(made);
  }

  void compare(const std::string& session) {
    all("state", [&](SessionStore& store) { return told(store.sessionState(session)); });
    all("entries", [&](SessionStore& store) { return told(store.loadSessionEntries(session)); });
    all("tree", [&](SessionStore& store) { return told(store.loadTree(session)); });
    all("stamp", [&](SessionStore& store) { return outcome(store.sessionStamp(session)); });
    all("labels", [&](SessionStore& store) { return told(store.labels(session)); });
    all("forks", [&](SessionStore& store) { return told(store.forksOf(session)); });
    all("history", [&](SessionStore& store) { return told(store.buildConversationHistory(session)); });
    all("verify", [&](SessionStore& store) {
      const auto report = store.verifySession(session);
      return report ? fmt::format("{} {}", report->entries, report->problemCount) : told(report.error());
    });
  }

  std::mt19937_64 random_;
  std::vector<std::pair<std::string, StoreSide>> stores_;
  std::vector<std::string> sessions_;
  std::vector<Entry> last_;
  int next_ = 0;
  int time_ = 0;
};

TEST(StoresAlike, TheSameCallsHaveTheSameAnswers) {
  if (!PostgresServer::isInstalled()) GTEST_SKIP() << "PostgreSQL is not installed";
  const char* const asked = std::getenv("BOUGH_SEEDS");
  const int seeds = asked != nullptr ? std::atoi(asked) : 2;
  for (int seed = 0; seed < seeds && !HasFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const TempFolder folder;
    std::vector<std::pair<std::string, std::string>> places{{"files", folder / "store"}, {"memory", "memory:"}};
    for (const std::string form : {"", "&append=function", "&append=statement"}) {
      const std::string url = freshStoreUrl();
      must(initPostgresStore(url));
      places.emplace_back("database" + form, url + form);
    }
    Calls(static_cast<std::uint64_t>(seed), places).run(300);
  }
}

TEST(StoresAlike, NumbersBeyondEveryEntryFindNothing) {
  if (!PostgresServer::isInstalled()) GTEST_SKIP() << "PostgreSQL is not installed";
  const TempFolder folder;
  const std::string url = freshStoreUrl();
  must(initPostgresStore(url));
  for (const std::string& location : {folder / "store", std::string("memory:"), url}) {
    auto side = must(StoreSide::open(location));
    must(side.store->createSession({.sessionId = "s"}));
    for (const char* id : {"a", "b"}) must(side.store->appendSessionEntries("s", {entryOf("message", "{}", id)}));
    must(side.store->branchFromEntry("s", "b", {.sessionId = "f"}));
    must(side.store->appendSessionEntries("f", {entryOf("message", "{}", "c")}));
    for (const std::uint64_t number : {std::uint64_t{INT32_MAX}, std::uint64_t{1} << 31, std::uint64_t{1} << 53,
                                       std::uint64_t{INT64_MAX}, std::uint64_t{1} << 63, UINT64_MAX}) {
      for (const char* session : {"s", "f"}) {
        for (const std::optional<std::string>& branch :
             {std::optional<std::string>(), std::optional<std::string>("")}) {
          const auto load = [&](LoadOptions options) {
            options.branch = branch;
            const auto found = side.store->loadSessionEntries(session, options);
            return found ? found->size() : 1000;
          };
          const std::size_t all = load({});
          const std::string what = fmt::format("{} {} {} {}", location, number, session, branch.value_or("all"));
          EXPECT_EQ(load({.fromSequence = number}), 0U) << what;
          EXPECT_EQ(load({.fromSequence = number, .limit = 5}), 0U) << what;
          EXPECT_EQ(load({.fromSequence = number, .last = 2}), 0U) << what;
          EXPECT_EQ(load({.fromSequence = number, .type = "message"}), 0U) << what;
          EXPECT_EQ(load({.fromSequence = 1, .limit = number, .limitBytes = number}), all - 1) << what;
          EXPECT_EQ(load({.last = number}), all) << what;
        }
      }
    }
  }
}

}  // namespace
}  // namespace bough
