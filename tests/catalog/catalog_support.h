// A store with a catalog, and short functions for messages of every kind.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "base/json/json_write.h"
#include "bough/catalog.h"
#include "support/entries.h"
#include "support/postgres_server.h"
#include "support/temp_folder.h"

namespace bough {

inline Entry said(const std::string& role, const std::string& text, const std::string& id = {},
                  const std::string& time = {}) {
  Entry entry = entryOf(entry_type::kMessage,
                        R"({"dialect":"bough","message":{"role":")" + role + R"(","content":[{"type":"text","text":)" +
                            json::quoted(text) + "}]}}",
                        id);
  entry.timestamp = time;
  return entry;
}

/// Returns an Anthropic answer with usage; `blocks` is its content.
inline Entry answered(const std::string& blocks, const std::string& id = {}, const std::string& messageId = "",
                      const std::string& model = "claude-sonnet-4-5", int input = 10, int output = 5,
                      const std::string& time = {}) {
  Entry entry =
      entryOf(entry_type::kMessage,
              R"({"dialect":"anthropic","message":{"id":")" + messageId + R"(","role":"assistant","model":")" + model +
                  R"(","content":[)" + blocks + R"(],"usage":{"input_tokens":)" + std::to_string(input) +
                  R"(,"output_tokens":)" + std::to_string(output) +
                  R"(,"cache_read_input_tokens":100,"cache_creation_input_tokens":20}}})",
              id);
  entry.timestamp = time;
  return entry;
}

inline std::string textBlock(const std::string& text) {
  return R"({"type":"text","text":)" + json::quoted(text) + "}";
}

inline std::string callBlock(const std::string& id, const std::string& command) {
  return R"({"type":"tool_use","id":")" + id + R"(","name":"bash","input":{"command":)" + json::quoted(command) + "}}";
}

inline Entry resulted(const std::string& callId, const std::string& text, bool failed = false,
                      const std::string& id = {}) {
  return entryOf(entry_type::kMessage,
                 R"({"dialect":"anthropic","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":")" +
                     callId + R"(","content":)" + json::quoted(text) + R"(,"is_error":)" + (failed ? "true" : "false") +
                     "}]}}",
                 id);
}

class CatalogTest : public testing::Test {
 protected:
  CatalogTest() { store = must(SessionStore::open(location)); }

  // Returns a folder. With BOUGH_TEST_STORE=postgres it is a database, for which everything not about files must be the
  // same.
  [[nodiscard]] std::string makeLocation() const {
    const char* const kind = std::getenv("BOUGH_TEST_STORE");
    if (kind == nullptr || std::string_view(kind) != "postgres") return folder.path().string();
    std::string url = freshStoreUrl();
    must(initPostgresStore(url));
    return url;
  }

  std::string make(const NewSession& session, std::vector<Entry> entries = {}) {
    const std::string id = must(store->createSession(session)).sessionId;
    if (!entries.empty()) append(id, std::move(entries));
    return id;
  }
  AppendResult append(const std::string& id, std::vector<Entry> entries) {
    return must(store->appendSessionEntries(id, std::move(entries)));
  }
  /// Returns the catalog, up to date.
  std::unique_ptr<Catalog> open(bool search = false) {
    auto catalog = must(Catalog::open(*store));
    must(catalog->catchUp({.search = search}));
    return catalog;
  }
  SessionSummary row(const std::string& id) { return must(open()->session(id)); }

  TempFolder folder;
  const std::string location = makeLocation();
  std::unique_ptr<SessionStore> store;
};

inline Ids idsOf(const std::vector<SessionSummary>& sessions) {
  Ids ids;
  for (const SessionSummary& session : sessions) ids.push_back(session.sessionId);
  return ids;
}

}  // namespace bough
