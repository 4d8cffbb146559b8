// The work of the child processes. They report every violated expectation as "bad …".

#include <random>
#include <set>
#include <thread>

#include "processes/helper.h"
#include "processes/roles.h"
#include "support/entries.h"

namespace bough {
namespace {

struct ProcessRole {
  std::string store;
  std::string session;
  std::string name;
  unsigned seed;
};

std::unique_ptr<SessionStore> openStore(const ProcessRole& role) {
  auto store = SessionStore::open(role.store);
  if (!store) {
    report("bad open: " + store.error().message);
    ::_exit(1);
  }
  return std::move(*store);
}

// Appends batches until it is killed: `<name>-<number>-<place>-of-<count>`, each reported right after its
// acknowledgement.
void write(const ProcessRole& role) {
  auto store = openStore(role);
  std::mt19937 random(role.seed);
  for (int number = 0;; ++number) {
    const std::size_t count = 1 + random() % 5;
    const std::string batch = role.name + "-" + std::to_string(number);
    std::vector<Entry> entries;
    for (std::size_t i = 1; i <= count; ++i) {
      entries.push_back(
          message(std::string(random() % 3000, 'w'), batch + "-" + std::to_string(i) + "-of-" + std::to_string(count)));
    }
    auto result = store->appendSessionEntries(role.session, entries);
    while (!result && result.error().code == ErrorCode::Busy) {
      result = store->appendSessionEntries(role.session, entries);
    }
    if (!result) return report("bad append: " + result.error().message);
    if (result->appendedCount != count) return report("bad count");
    report("ack " + batch + " " + std::to_string(count));
  }
}

// Performs all operations on a few sessions until it is killed: append, fork, archive, trash, label, redact.
// Acknowledged operations are reported as `did <what> <session> <id>`.
class Storm {
 public:
  explicit Storm(const ProcessRole& role) : role_(role), store_(openStore(role)), random_(role.seed) {}

  void run() {
    for (number_ = 0;; ++number_) {
      const std::string session = "s" + std::to_string(random_() % kStormSessions);
      const auto what = random_() % 20;
      if (what < 12) append(session);
      if (what == 12 || what == 13) fork(session);
      if (what == 14 || what == 15) archive(session);
      if (what == 16) throwAway(session);
      if (what == 17) label(session);
      if (what >= 18) redact(session);
    }
  }

 private:
  // Other processes trash, archive and fork the same sessions meanwhile.
  static bool isExpected(const Error& error) {
    return error.retryable || error.code == ErrorCode::NotFound || error.code == ErrorCode::Busy ||
           error.code == ErrorCode::HasForks || error.code == ErrorCode::Conflict ||
           error.code == ErrorCode::AlreadyExists;
  }
  template <typename T>
  bool went(const Result<T>& result, const std::string& what, const std::string& session, const std::string& id) {
    if (!result && !isExpected(result.error())) report("bad " + what + " " + session + ": " + result.error().message);
    if (result) report("did " + what + " " + session + " " + id);
    return result.has_value();
  }
  [[nodiscard]] std::string name(const char* kind) const { return role_.name + "." + kind + std::to_string(number_); }

  void append(const std::string& session) {
    const std::size_t count = 1 + random_() % 4;
    std::vector<Entry> entries;
    for (std::size_t i = 1; i <= count; ++i) {
      entries.push_back(message(std::string(random_() % 2000, 'w'), name("m") + "-" + std::to_string(i)));
    }
    went(store_->appendSessionEntries(session, entries), "append", session, name("m") + "-" + std::to_string(count));
  }
  void fork(const std::string& session) {
    const auto state = store_->sessionState(session);
    if (!state || state->headId.empty()) return;
    const auto made =
        store_->branchFromEntry(session, state->headId, {.sessionId = role_.name + "-f" + std::to_string(number_)});
    went(made, "fork", made ? made->sessionId : session, state->headId);
  }
  void archive(const std::string& session) { went(store_->archiveSession(session), "archive", session, "-"); }
  void throwAway(const std::string& session) {
    const auto thrown = store_->trashSession(session);
    if (!went(thrown, "trash", session, "-")) return;
    went(store_->maintenance().restore(thrown->trashId), "restore", session, "-");
  }
  void label(const std::string& session) {
    const auto state = store_->sessionState(session);
    if (!state || state->headId.empty()) return;
    went(store_->labelEntry(session, state->headId, name("label")), "label", session, name("label"));
  }
  void redact(const std::string& session) {
    const auto state = store_->sessionState(session);
    if (!state || state->headId.empty()) return;
    went(store_->redactEntry(session, state->headId, "storm", "test"), "redact", session, state->headId);
  }

  ProcessRole role_;
  std::unique_ptr<SessionStore> store_;
  std::mt19937 random_;
  int number_ = 0;
};

// Takes the ids of a log in order, and checks that each batch occurs once, complete and contiguous.
class BatchOrder {
 public:
  // Returns what is wrong; empty when nothing is.
  std::string take(const std::string& id) {
    const std::size_t of = id.find("-of-");
    if (of == std::string::npos) return isWhole() ? "" : "half a batch before " + id;
    const std::size_t at = id.rfind('-', of - 1);
    const std::size_t place = std::stoul(id.substr(at + 1, of - at - 1));
    if (isWhole()) {
      batch_ = id.substr(0, at);
      count_ = std::stoul(id.substr(of + 4));
      place_ = 0;
      if (!seen_.insert(batch_).second) return "twice: " + id;
    }
    if (id.substr(0, at) != batch_ || place != ++place_) return "half a batch before " + id;
    return "";
  }
  [[nodiscard]] bool isWhole() const { return place_ == count_; }

 private:
  std::string batch_;
  std::size_t place_ = 0;
  std::size_t count_ = 0;
  std::set<std::string> seen_;
};

// Reads everything after each change: no errors, no incomplete batch, nothing twice, nothing lost.
void read(const ProcessRole& role) {
  auto store = openStore(role);
  std::string position;
  BatchOrder followed;
  std::size_t seen = 0;
  for (;;) {
    auto follower = store->follow(role.session, position);
    if (!follower) return report("bad follow: " + follower.error().message);
    for (int round = 0; round < 20; ++round) {
      const auto fresh = follower->next(1000);
      if (!fresh) return report("bad follow: " + fresh.error().message);
      for (const Entry& entry : *fresh) {
        if (const std::string wrong = followed.take(entry.id); !wrong.empty()) return report("bad follow: " + wrong);
      }
    }
    position = follower->position();
    store = openStore(role);
    const auto entries = store->loadSessionEntries(role.session);
    if (!entries) return report("bad read: " + entries.error().message);
    if (entries->size() < seen) return report("bad read: entries went away");
    seen = entries->size();
    BatchOrder order;
    for (const Entry& entry : *entries) {
      if (const std::string wrong = order.take(entry.id); !wrong.empty()) return report("bad read: " + wrong);
    }
    if (!order.isWhole()) return report("bad read: half a batch at the end: " + entries->back().id);
    report("read " + std::to_string(seen));
  }
}

// Reads the tail, appends after it, and reports whether this process won.
void race(const ProcessRole& role) {
  auto store = openStore(role);
  for (int won = 0; won < 25;) {
    const auto state = store->sessionState(role.session);
    if (!state) return report("bad state: " + state.error().message);
    const std::string id = role.name + "-" + std::to_string(won);
    const auto result = store->appendSessionEntries(role.session, {message("x", id)}, {.expectedTail = state->tailId});
    if (result) {
      report("won " + state->tailId + " " + id);
      ++won;
    } else if (result.error().code != ErrorCode::Conflict) {
      return report("bad race: " + result.error().message);
    } else if (result.error().actualTail.empty()) {
      return report("bad race: no tail");
    }
  }
  report("done");
}

// Archives the session whenever it is not archived.
void archive(const ProcessRole& role) {
  auto store = openStore(role);
  for (;;) {
    const auto result = store->archiveSession(role.session);
    if (!result && !result.error().retryable) return report("bad archive: " + result.error().message);
    report("archived");
  }
}

// Appends one entry after a line on standard input.
void appendOne(const ProcessRole& role) {
  auto store = openStore(role);
  const auto result = store->appendSessionEntries(role.session, {message("x", role.name)});
  report(result ? "ack" : "bad append: " + result.error().message);
}

}  // namespace

int runRole(const std::vector<std::string>& arguments) {
  const ProcessRole role{.store = arguments.at(1),
                         .session = arguments.at(2),
                         .name = arguments.at(3),
                         .seed = static_cast<unsigned>(std::stoul(arguments.at(4)))};
  const std::string& name = arguments.at(0);
  if (name == "write") write(role);
  if (name == "read") read(role);
  if (name == "race") race(role);
  if (name == "archive") archive(role);
  if (name == "append") appendOne(role);
  if (name == "storm") Storm(role).run();
  return 0;
}

}  // namespace bough
