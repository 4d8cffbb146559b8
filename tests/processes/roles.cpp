// What the child processes do. Everything they hold to be true and see broken they report as "bad …".

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

// Appends batches until it is killed: `<name>-<number>-<place>-of-<count>`, reported as soon as it is acknowledged.
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

// Takes the ids of a log in order: each batch comes once, whole, and by itself.
class BatchOrder {
 public:
  // What is wrong with it; empty when nothing is.
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

// Reads all whenever there is more: no error, no half batch, nothing twice, nothing that was there gone.
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

// Takes the tail, appends behind it, says who won.
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

// Archives the session whenever it is not.
void archive(const ProcessRole& role) {
  auto store = openStore(role);
  for (;;) {
    const auto result = store->archiveSession(role.session);
    if (!result && !result.error().retryable) return report("bad archive: " + result.error().message);
    report("archived");
  }
}

// Appends one entry, once a line arrives that says so.
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
  return 0;
}

}  // namespace bough
