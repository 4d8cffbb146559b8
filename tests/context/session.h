// A store in memory with one session, and short functions to fill it.
#pragma once

#include <bough/context.h>

#include <string>

#include "support/entries.h"

namespace bough {

class ContextTest : public testing::Test {
 protected:
  ContextTest() {
    store = must(SessionStore::open("memory:"));
    must(store->createSession({.sessionId = "s"}));
  }

  void add(std::string_view type, const std::string& payload, const std::string& id = {}) {
    std::vector<Entry> batch;
    batch.push_back(entryOf(type, payload, id));
    must(store->appendSessionEntries("s", std::move(batch)));
  }
  void say(Dialect dialect, const std::string& message, const std::string& id = {}) {
    add(entry_type::kMessage, R"({"dialect":")" + std::string(toString(dialect)) + R"(","message":)" + message + "}",
        id);
  }
  void user(const std::string& text, const std::string& id = {}) {
    say(Dialect::Bough, R"({"role":"user","content":")" + text + R"("})", id);
  }
  void assistant(const std::string& text, const std::string& id = {}) {
    say(Dialect::Bough, R"({"role":"assistant","content":")" + text + R"("})", id);
  }
  Context build(ContextOptions options = {}) { return must(buildContext(*store, "s", options)); }
  Context build(Dialect dialect) { return must(buildContext(*store, "s", {.dialect = dialect})); }

  std::unique_ptr<SessionStore> store;
};

/// Returns true when the report has this finding for this entry.
inline bool reports(const Context& context, Change change, std::string_view entryId, std::string_view field) {
  for (const Finding& finding : context.report.findings) {
    if (finding.change == change && finding.entryId == entryId && finding.field == field) return true;
  }
  return false;
}

}  // namespace bough
