// Two stores to copy between, and functions that show their contents.
#pragma once

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bough/store.h"

namespace bough {

// Differs from message() in support/entries.h: each test file has its own version.
[[maybe_unused]] static Entry message(const std::string& id, const std::string& text = "hello") {
  Entry entry;
  entry.id = id;
  entry.type = "message";
  entry.payload = R"({"text":")" + text + R"("})";
  return entry;
}

template <typename T>
[[maybe_unused]] static T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return std::move(*result);
}

inline StoreSide openSide(const std::string& location) {
  return must(StoreSide::open(location));
}

inline std::vector<std::string> lines(StoreSide& side, const std::string& session) {
  std::vector<std::string> found;
  const auto entries = side.store->loadSessionEntries(session, {.showRedacted = true});
  EXPECT_TRUE(entries) << entries.error().message;
  for (const Entry& entry : *entries) {
    found.push_back(entry.id + " " + entry.parentId.value_or("") + " " + entry.type + " " + entry.timestamp + " " +
                    entry.payload);
  }
  return found;
}

}  // namespace bough
