// A conversation with two branches: adds messages, shows the history, goes back to the second message and continues
// from there on a new branch, lists both branches, and draws them.
#include <bough/bough.h>

#include <cstdio>
#include <string>

namespace {

using bough::Entry;
using bough::Result;
using bough::SessionStore;

void print(const std::string& line) {
  std::puts(line.c_str());
}

// Makes a typed message. It names no parent, so it continues from the session's head.
Entry message(const std::string& role, const std::string& text) {
  Entry entry;
  entry.type = bough::entry_type::kMessage;
  entry.payload = R"({"dialect":"bough","message":{"role":")" + role + R"(","content":")" + text + R"("}})";
  return entry;
}

Result<void> demonstrate(SessionStore& store) {
  auto session = store.createSession({.title = "Branching"});
  if (!session) return std::unexpected(session.error());
  const std::string& id = session->sessionId;

  print("=== Adding messages ===");
  auto appended = store.appendSessionEntries(
      id, {message("user", "Hello, how are you?"), message("assistant", "I am doing well, thank you!"),
           message("user", "Can you help me with a task?"), message("assistant", "Of course! What do you need?")});
  if (!appended) return std::unexpected(appended.error());
  print(std::to_string(appended->appendedCount) + " messages stored");

  print("\n=== Current history ===");
  auto history = store.buildConversationHistory(id);
  if (!history) return std::unexpected(history.error());
  for (const Entry& entry : *history) {
    const auto summary = bough::summarizeEntry(entry, 80);
    print("[" + summary.speaker + "] " + summary.text);
  }

  print("\n=== Creating branch ===");
  // The head is durable, so another process would also continue from the second message.
  if (auto moved = store.moveHead(id, history->at(1).id); !moved) return std::unexpected(moved.error());
  appended = store.appendSessionEntries(
      id, {message("user", "Tell me a joke instead"), message("assistant", "Why did the chicken cross the road?")});
  if (!appended) return std::unexpected(appended.error());
  print("branched from the second message");

  print("\n=== All branches ===");
  auto branches = bough::listBranches(store, id);
  if (!branches) return std::unexpected(branches.error());
  for (std::size_t i = 0; i < branches->size(); ++i) {
    const auto& branch = branches->at(i);
    print("Branch " + std::to_string(i + 1) + ": " + std::to_string(branch.length) + " messages, ends with \"" +
          branch.lastMessage + "\"");
  }

  print("\n=== Branch tree ===");
  auto tree = store.loadTree(id);
  if (!tree) return std::unexpected(tree.error());
  return bough::drawTree(*tree, bough::describeEntries(store, id), {}, [](std::string_view line) {
    print(std::string(line));
    return true;
  });
}

}  // namespace

// branching [FOLDER]: keeps the session in a store at FOLDER; without FOLDER only in memory.
int main(int argc, char** argv) {
  auto store = SessionStore::open(argc > 1 ? argv[1] : "memory:");
  Result<void> done = store ? demonstrate(**store) : std::unexpected(store.error());
  if (done) return 0;
  std::fprintf(stderr, "branching: %s\n", done.error().message.c_str());
  return 1;
}
