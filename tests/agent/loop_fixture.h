// A session, a folder and a loop for tests.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "agent/chat/turn_lock.h"
#include "agent/loop/journal.h"
#include "agent/parts/json_parts.h"
#include "agent/providers/http_provider.h"
#include "agent/providers/offline.h"
#include "agent/scenario.h"
#include "base/model/payloads.h"
#include "bough/agent/chat.h"
#include "support/temp_folder.h"

namespace bough::agent {

/// The `meta` of entries that the loop itself stores.
inline constexpr const char* kOwn = R"({"agent":"bough"})";

class LoopTest : public ::testing::Test {
 protected:
  LoopTest() {
    std::filesystem::create_directories(work());
    store_ = std::move(*SessionStore::open(folder_ / "store"));
    sessionId_ = store_->createSession({.key = "main:cli:user"})->sessionId;
    environment_ = std::make_unique<ToolEnvironment>(
        ToolEnvironment{.folder = *WorkingFolder::open(work()), .limits = {}, .secrets = {}, .allowedCommands = {}});
  }

  [[nodiscard]] std::string work() const { return folder_ / "work"; }
  [[nodiscard]] std::string get(const std::string& name) const {
    std::ifstream file(work() + "/" + name, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
  Agent agent(Listener& listener) {
    return {.store = *store_,
            .provider = *provider_,
            .tools = tools_,
            .environment = *environment_,
            .listener = listener,
            .cancel = cancel_,
            .options = options_};
  }
  Agent agent() { return agent(listener_); }
  StartingPoint here() { return *startingPoint(*store_, sessionId_); }
  std::vector<Entry> entries() { return *store_->loadSessionEntries(sessionId_); }
  std::string append(const std::string& type, const std::string& payload, const std::string& meta = {}) {
    Entry entry;
    entry.type = type;
    entry.payload = payload;
    entry.meta = meta;
    return store_->appendSessionEntries(sessionId_, {entry})->lastAppendedEntryId;
  }
  // Appends an answer with these calls, as a crash would leave it.
  void appendCalls(const std::string& calls) {
    append("message", userPayload("do it"), kOwn);
    append("message", messagePayload(Dialect::Bough, R"({"role":"assistant","content":[)" + calls + "]}"), kOwn);
  }
  std::vector<std::string> typesOf() {
    std::vector<std::string> types;
    for (const Entry& entry : entries()) types.push_back(entry.type);
    return types;
  }

  TempFolder folder_;
  std::unique_ptr<SessionStore> store_;
  std::string sessionId_;
  std::unique_ptr<ToolEnvironment> environment_;
  std::unique_ptr<Provider> provider_ = makeOfflineProvider();
  std::vector<Tool> tools_ = builtInTools();
  RecordingListener listener_;
  CancelToken cancel_;
  LoopOptions options_{.systemPrompt = "Be brief."};
};

}  // namespace bough::agent
