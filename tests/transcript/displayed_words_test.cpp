// Text that Codex's files contain only as displayed events: it is read once, and never sent to a model.
#include "base/model/shown.h"

#include "support/temp_folder.h"
#include "transcript/files.h"

namespace bough {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kThread = "01a1dc74-8eea-7b72-9f3d-0753167100aa";

std::string line(std::string_view type, std::string_view payload) {
  return fmt::format(R"({{"timestamp":"2026-01-02T03:04:05.000Z","type":"{}","payload":{}}})"
                     "\n",
                     type, payload);
}
std::string meta() {
  return line("session_meta",
              fmt::format(R"({{"id":"{}","timestamp":"2026-01-02T03:04:05.000Z","cwd":"/tmp"}})", kThread));
}
std::string event(std::string_view type, std::string_view text) {
  return line("event_msg",
              fmt::format(R"({{"type":"{}","{}":"{}"}})", type, type == "agent_reasoning" ? "text" : "message", text));
}
std::string item(std::string_view role, std::string_view text) {
  return line("response_item",
              fmt::format(R"({{"type":"message","role":"{}","content":[{{"type":"{}","text":"{}"}}]}})", role,
                          role == "user" ? "input_text" : "output_text", text));
}

// Returns the head's branch. Text that was only displayed is marked with a star.
std::string told(const std::vector<Entry>& entries, std::string head) {
  std::map<std::string, const Entry*> byId;
  for (const Entry& entry : entries) byId[entry.id] = &entry;
  std::string out;
  for (; byId.contains(head); head = byId[head]->parentId.value_or("")) {
    const Entry& entry = *byId[head];
    const EntryView view = viewEntry(entry);
    for (const EntryPart& part : view.parts) out = fmt::format("{}{};", shownText(entry) ? "*" : "", part.text) + out;
  }
  return out;
}

std::string pathIn(const TempFolder& folder) {
  return (fs::path(folder.path()) / fmt::format("rollout-2026-01-02T03-04-05-{}.jsonl", kThread)).string();
}

TEST(DisplayedWords, WordsOfEventsAreToldWhereNoItemHoldsThem) {
  const std::string aborted = line("event_msg", R"({"type":"turn_aborted"})");
  struct Case {
    std::string bytes;
    std::string told;
  };
  const std::vector<Case> cases = {
      {item("user", "ask") + event("user_message", "ask") + event("agent_message", "say") + item("assistant", "say"),
       "ask;say;"},
      // Older versions wrote the items of an answer after all its events.
      {item("user", "ask") + event("agent_reasoning", "hm") + event("agent_message", "say") +
           line("response_item", R"({"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}]})") +
           item("assistant", "say"),
       "ask;hm;say;"},
      {item("user", "# Context\\n## My request:\\nask this") + event("user_message", "ask this") + aborted,
       "# Context\n## My request:\nask this;"},
      {item("user", "ask") + event("agent_message", "lost") + aborted, "ask;*lost;"},
      {item("user", "ask") + event("agent_message", "lost") + item("user", "again") + item("assistant", "say"),
       "ask;*lost;again;say;"},
      {item("user", "ask") + event("agent_message", "lost") +
           line("event_msg", R"({"type":"task_complete","last_agent_message":"lost"})"),
       "ask;*lost;"},
      {item("user", "ask") +
           line(
               "event_msg",
               R"({"type":"item_completed","item":{"type":"AgentMessage","content":[{"type":"Text","text":"lost"}]}})") +
           aborted,
       "ask;*lost;"},
      // Text that Codex sends to the model, unless an event displays it as the user's.
      {item("user", "<environment_context>x") + item("user", "ask") + event("user_message", "ask"), "ask;"},
      {item("user", "<environment_context>x") + event("user_message", "x") + item("user", "x"), "x;"},
      {item("user", "<environment_context>x") + event("user_message", "<environment_context>x") +
           item("assistant", "say"),
       "<environment_context>x;say;"},
      {event("user_message", "<environment_context>x") + item("user", "<environment_context>x") +
           item("assistant", "say"),
       "<environment_context>x;say;"},
      // Only events.
      {event("user_message", "ask") + event("agent_message", "say"), "*ask;*say;"},
      // The item may still come.
      {item("user", "ask") + event("agent_message", "say"), "ask;"},
  };
  for (const Case& each : cases) {
    TempFolder folder;
    const std::string path = pathIn(folder);
    writeBytes(path, meta() + each.bytes);
    const ReadFile file = readAll(path);
    EXPECT_EQ(told(file.entries, file.report.headId), each.told) << each.bytes;
    EXPECT_EQ(file.report.recovered + file.report.unreadable, 0U) << each.bytes;
    EXPECT_EQ(writeAll(file.entries, {.agent = "codex", .facts = file.report.facts}), meta() + each.bytes);
  }
}

TEST(DisplayedWords, AFileThatIsImportedLineByLineTellsTheSameAsOneThatIsImportedAtOnce) {
  const std::string aborted = line("event_msg", R"({"type":"turn_aborted"})");
  const std::vector<std::string> lines = {
      meta(),
      item("user", "one"),
      event("user_message", "one"),
      event("agent_reasoning", "hm"),
      line("response_item", R"({"type":"reasoning","summary":[],"encrypted_content":"x"})"),
      event("agent_message", "two"),
      item("assistant", "two"),
      event("user_message", "three"),
      event("agent_message", "four"),
      aborted,
      item("user", "five"),
      event("user_message", "five"),
      event("agent_message", "six"),
      item("user", "seven")};
  TempFolder folder;
  const std::string path = pathIn(folder);
  const auto grown = memoryStore();
  std::string bytes;
  for (const std::string& each : lines) {
    bytes += each;
    writeBytes(path, bytes);
    import(*grown, path);
  }
  const auto whole = memoryStore();
  import(*whole, path);
  const auto tell = [&](SessionStore& store) {
    const auto head = store.sessionState(std::string(kThread));
    const auto entries = store.loadSessionEntries(std::string(kThread));
    EXPECT_TRUE(head && entries);
    return told(*entries, head->headId);
  };
  EXPECT_EQ(tell(*whole), "one;[thinking that only its provider can read];two;*hm;*three;*four;five;*six;seven;");
  EXPECT_EQ(tell(*grown), tell(*whole));
  for (SessionStore* store : {grown.get(), whole.get()}) {
    EXPECT_EQ(exported(*store, std::string(kThread), "codex"), bytes);
  }
}

}  // namespace
}  // namespace bough
