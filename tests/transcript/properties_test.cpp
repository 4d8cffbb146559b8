// Each property of a session, through the file of each agent: it arrives, or the report names it and it comes back.
#include <bough/message.h>
#include <bough/store.h>
#include <bough/transcript.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>

#include "base/json/json_scan.h"
#include "support/temp_folder.h"
#include "transcript/files.h"

namespace bough {
namespace {

constexpr std::string_view kAgents[] = {"claude-code", "claw0", "codex", "gemini-cli",
                                        "myagents",    "pi",    "plain", "openclaw"};
constexpr std::string_view kId = "the-bridge";

Entry entryOf(std::string_view id, std::string_view type, std::string_view payload, std::string_view parent) {
  Entry entry;
  entry.id = id;
  entry.type = type;
  entry.timestamp = "2026-01-02T03:04:05.678Z";
  entry.payload = payload;
  if (!isControlType(type)) entry.parentId = std::string(parent);
  return entry;
}

// A session that has every property.
void makeSession(SessionStore& store) {
  ASSERT_TRUE(store.createSession({.sessionId = std::string(kId),
                                   .key = "main:cli:ada",
                                   .cwd = "/home/ada/bridge",
                                   .title = "Building the bridge"}));
  std::vector<Entry> entries = {
      entryOf("i0", "runtime_init",
              R"({"systemPrompt":"be brief","model":"claude-opus-4","provider":"anthropic","thinkingLevel":"high",)"
              R"("tools":[{"name":"bash","input_schema":{"type":"object"}}]})",
              ""),
      entryOf("q1", "message",
              R"({"dialect":"anthropic","message":{"role":"user","content":[{"type":"text","text":"hello"},)"
              R"({"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGVsbG8="}}]}})",
              "i0"),
      entryOf("m1", "model_change", R"({"model":"claude-opus-4","provider":"anthropic"})", "q1"),
      entryOf("t1", "thinking_level_change", R"({"thinkingLevel":"low"})", "m1"),
      entryOf("p1", "system_prompt_override", R"({"systemPrompt":"be long"})", "t1"),
      entryOf("a1", "message",
              R"({"dialect":"anthropic","message":{"id":"msg_1","role":"assistant","model":"claude-opus-4",)"
              R"("content":[{"type":"thinking","thinking":"hm","signature":"c2ln"},{"type":"text","text":"hi"},)"
              R"({"type":"tool_use","id":"k1","name":"bash","input":{"c":1}}],"stop_reason":"tool_use",)"
              R"("usage":{"input_tokens":5,"output_tokens":7,"cache_read_input_tokens":3,)"
              R"("cache_creation_input_tokens":2}}})",
              "p1"),
      entryOf("s1", "tool_start", R"({"toolCallId":"k1","name":"bash"})", "a1"),
      entryOf("r1", "message",
              R"({"dialect":"anthropic","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"k1",)"
              R"("content":[{"type":"text","text":""},{"type":"text","text":"boom"}],"is_error":true}]}})",
              "s1"),
      entryOf("c1", "custom", R"({"anything":[1,2]})", "r1"),
      entryOf("x1", "message", R"({"dialect":"anthropic","message":{"role":"user","content":"beside"}})", "q1"),
      entryOf("a2", "message",
              R"({"dialect":"anthropic","message":{"id":"msg_2","role":"assistant","content":"done"}})", "c1"),
      entryOf("l1", "label", R"({"name":"good","entryId":"a1"})", ""),
      entryOf("o1", "session_info", R"({"pinned":true})", ""),
      entryOf("o2", "session_info", R"({"timeToLiveMs":86400000})", ""),
  };
  entries[5].runId = "run-7";
  entries[5].meta = R"({"by":"test"})";
  ASSERT_TRUE(store.appendSessionEntries(std::string(kId), std::move(entries)));
}

// What a fresh store has after importing the file.
struct Arrived {
  std::unique_ptr<SessionStore> store;
  std::string id;
  std::vector<Entry> entries;
  [[nodiscard]] std::string header(std::string_view name) const {
    for (const Entry& entry : entries) {
      if (entry.type == entry_type::kSessionHeader) return json::findString(entry.payload, name).value_or("");
    }
    return {};
  }
  // The last value of a member of the session_info entries.
  [[nodiscard]] std::string info(std::string_view name) const {
    std::string value;
    for (const Entry& entry : entries) {
      if (entry.type != entry_type::kSessionInfo) continue;
      if (const auto member = json::findMember(entry.payload, name)) value = *member;
    }
    return value;
  }
  // Payload members of the conversation's entries of a type, joined.
  [[nodiscard]] std::string all(std::string_view type, std::string_view name) const {
    std::string values;
    for (const Entry& entry : entries) {
      if (entry.type == type) values += std::string(json::findMember(entry.payload, name).value_or("")) + ";";
    }
    return values;
  }
  // What `use` says about each message, joined.
  [[nodiscard]] std::string messages(const std::function<std::string(const Entry&, const Message&)>& use) const {
    std::string values;
    for (const Entry& entry : entries) {
      if (!holdsMessage(entry)) continue;
      if (const auto message = normalizeEntry(entry)) values += use(entry, *message);
    }
    return values;
  }
};

struct Property {
  std::string_view name;
  std::string_view reported;  // how the report names it
  std::function<std::string(const Arrived&)> value;
};

std::string blocksOf(const Message& message, BlockKind kind) {
  std::string out;
  for (const Block& block : message.blocks) {
    if (block.kind == kind) out += block.text.decode() + ";";
  }
  return out;
}

std::vector<Property> properties() {
  const auto type = [](std::string_view name, std::string_view member) {
    return [=](const Arrived& arrived) { return arrived.all(name, member); };
  };
  return {
      {"id", "session.id", [](const Arrived& arrived) { return arrived.id; }},
      {"key", "session.key", [](const Arrived& arrived) { return arrived.header("key"); }},
      {"cwd", "session.cwd", [](const Arrived& arrived) { return arrived.header("cwd"); }},
      {"title", "session.title", [](const Arrived& arrived) { return arrived.info("title"); }},
      {"pinned", "session.pinned", [](const Arrived& arrived) { return arrived.info("pinned"); }},
      {"time to live", "session.timeToLiveMs", [](const Arrived& arrived) { return arrived.info("timeToLiveMs"); }},
      {"label", "label",
       [](const Arrived& arrived) {
         const auto labels = arrived.store->labels(arrived.id);
         return labels && !labels->empty() ? labels->front().name : std::string();
       }},
      {"branch", "branch",
       [](const Arrived& arrived) {
         return std::string(
             arrived.messages([](const Entry&, const Message& message) { return blocksOf(message, BlockKind::Text); })
                     .contains("beside")
                 ? "there"
                 : "");
       }},
      {"head", "",
       [](const Arrived& arrived) {
         const auto state = arrived.store->sessionState(arrived.id);
         const std::string told = state ? story(arrived.entries, state->headId) : std::string();
         return told.ends_with("assistant: done\n") ? std::string("done") : told;
       }},
      {"system prompt", "runtime_init", type("runtime_init", "systemPrompt")},
      {"tools", "runtime_init", type("runtime_init", "tools")},
      {"model change", "model_change", type("model_change", "model")},
      {"thinking level", "thinking_level_change",
       [](const Arrived& arrived) {
         const std::string level = arrived.all("thinking_level_change", "thinkingLevel");
         return level == ";" ? arrived.all("thinking_level_change", "level") : level;
       }},
      {"later system prompt", "system_prompt_override", type("system_prompt_override", "systemPrompt")},
      {"tool start", "tool_start", type("tool_start", "toolCallId")},
      {"custom entry", "custom", type("custom", "anything")},
      {"usage", "assistant.usage",
       [](const Arrived& arrived) {
         return arrived.messages([](const Entry&, const Message& message) {
           const Usage usage = message.usage.value_or(Usage());
           return usage.outputTokens == 0 ? std::string()
                                          : fmt::format("{}+{}+{}+{};", usage.inputTokens, usage.outputTokens,
                                                        usage.cacheReadTokens, usage.cacheWriteTokens);
         });
       }},
      {"model of an answer", "assistant.model",
       [](const Arrived& arrived) {
         return arrived.messages([](const Entry&, const Message& message) { return message.model.decode() + ";"; })
                        .contains("claude-opus-4")
                    ? std::string("claude-opus-4")
                    : std::string();
       }},
      {"stop reason", "assistant.stop_reason",
       [](const Arrived& arrived) {
         const std::string reasons =
             arrived.messages([](const Entry&, const Message& message) { return message.stopReason.decode(); });
         return reasons.empty() ? reasons : std::string("tool use");
       }},
      {"thinking", "thinking",
       [](const Arrived& arrived) {
         return arrived.messages(
             [](const Entry&, const Message& message) { return blocksOf(message, BlockKind::Thinking); });
       }},
      {"image", "image",
       [](const Arrived& arrived) {
         return arrived.messages([](const Entry&, const Message& message) {
           return std::string(std::ranges::count(message.blocks, BlockKind::Image, &Block::kind) > 0 ? "image;" : "");
         });
       }},
      {"error flag", "tool_result.is_error",
       [](const Arrived& arrived) {
         return arrived.messages([](const Entry&, const Message& message) {
           return std::string(std::ranges::any_of(message.blocks, &Block::isError) ? "error;" : "");
         });
       }},
      {"texts of a result", "tool_result.texts",
       [](const Arrived& arrived) {
         return arrived.messages([](const Entry&, const Message& message) {
           std::string texts;
           for (const Block& block : message.blocks) {
             for (const Block& part : block.content) texts += "[" + part.text.decode() + "]";
           }
           return texts;
         });
       }},
      {"time", "",
       [](const Arrived& arrived) {
         return arrived.messages([](const Entry& entry, const Message& message) {
           return blocksOf(message, BlockKind::Text).contains("hi") ? entry.timestamp : std::string();
         });
       }},
      {"run", "runId",
       [](const Arrived& arrived) {
         return arrived.messages([](const Entry& entry, const Message&) { return entry.runId; });
       }},
      {"meta", "meta",
       [](const Arrived& arrived) {
         return arrived.messages([](const Entry& entry, const Message&) { return entry.meta; });
       }},
  };
}

Arrived importFresh(const std::string& path) {
  Arrived arrived{.store = memoryStore(), .id = {}, .entries = {}};
  arrived.id = import(*arrived.store, path).sessionId;
  auto entries = arrived.store->loadSessionEntries(arrived.id);
  EXPECT_TRUE(entries);
  if (entries) arrived.entries = std::move(*entries);
  return arrived;
}

// The report of writing the session as a file at `path`.
CompatibilityReport writeFile(SessionStore& store, std::string_view agent, const std::string& path, bool bare) {
  const auto entries = store.loadSessionEntries(std::string(kId));
  EXPECT_TRUE(entries);
  const auto facts = factsForExport(store, std::string(kId), std::string(agent), *entries);
  EXPECT_TRUE(facts);
  WriteTranscriptOptions options{.agent = std::string(agent), .facts = *facts};
  options.bare = bare;
  std::string bytes;
  const auto written = writeTranscript(*entries, options, [&](std::string_view piece) -> Result<void> {
    bytes += piece;
    return {};
  });
  EXPECT_TRUE(written);
  writeBytes(path, bytes);
  return written ? written->report : CompatibilityReport();
}

bool isNamed(const CompatibilityReport& report, std::string_view name) {
  return std::ranges::any_of(report.lossyFields, [&](const std::string& field) {
    return field == name || field.ends_with("." + std::string(name)) || field.starts_with(std::string(name) + ".");
  });
}

TEST(Properties, EachArrivesOrIsNamedAndComesBack) {
  TempFolder folder;
  Arrived original{.store = memoryStore(), .id = std::string(kId), .entries = {}};
  makeSession(*original.store);
  original.entries = *original.store->loadSessionEntries(original.id);
  for (const std::string_view agent : kAgents) {
    const std::string path = fmt::format("{}/{}.jsonl", folder.path().string(), agent);
    (void)writeFile(*original.store, agent, path, /*bare=*/true);
    const Arrived bare = importFresh(path);
    const CompatibilityReport report = writeFile(*original.store, agent, path, /*bare=*/false);
    const Arrived whole = importFresh(path);
    for (const Property& property : properties()) {
      SCOPED_TRACE(fmt::format("{} through {}", property.name, agent));
      const std::string value = property.value(original);
      ASSERT_FALSE(value.empty());
      EXPECT_EQ(property.value(whole), value);
      if (property.value(bare) != value) {
        EXPECT_TRUE(isNamed(report, property.reported)) << property.value(bare) << "\n" << report.toJson();
      } else {
        EXPECT_FALSE(property.reported.starts_with("session.") && isNamed(report, property.reported));
      }
    }
  }
}

TEST(Properties, AFileThatComesBackContinuesItsSession) {
  TempFolder folder;
  const auto store = memoryStore();
  makeSession(*store);
  for (const std::string_view agent : kAgents) {
    SCOPED_TRACE(agent);
    const std::string path = fmt::format("{}/{}.jsonl", folder.path().string(), agent);
    (void)writeFile(*store, agent, path, /*bare=*/false);
    EXPECT_EQ(import(*store, path).sessionId, kId);
    const auto state = store->sessionState(std::string(kId));
    ASSERT_TRUE(state);
    EXPECT_EQ(state->headId, "a2");
  }
}

TEST(Properties, WhatComesBackThroughTwoAgentsIsTheSame) {
  TempFolder folder;
  Arrived original{.store = memoryStore(), .id = std::string(kId), .entries = {}};
  makeSession(*original.store);
  original.entries = *original.store->loadSessionEntries(original.id);
  for (const std::string_view first : kAgents) {
    const std::string path = fmt::format("{}/first-{}.jsonl", folder.path().string(), first);
    (void)writeFile(*original.store, first, path, /*bare=*/false);
    const Arrived between = importFresh(path);
    for (const std::string_view second : kAgents) {
      if (second == first) continue;
      const std::string next = fmt::format("{}/second-{}-{}.jsonl", folder.path().string(), first, second);
      (void)writeFile(*between.store, second, next, /*bare=*/false);
      const Arrived there = importFresh(next);
      for (const Property& property : properties()) {
        SCOPED_TRACE(fmt::format("{} through {} and {}", property.name, first, second));
        EXPECT_EQ(property.value(there), property.value(original));
      }
    }
  }
}

}  // namespace
}  // namespace bough
