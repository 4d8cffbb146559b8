// Short functions for entries and results in tests.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "bough/store.h"

namespace bough {

inline Entry message(const std::string& text, const std::string& id = {}) {
  Entry entry;
  entry.id = id;
  entry.type = entry_type::kMessage;
  entry.payload = R"({"text":")" + text + R"("})";
  return entry;
}

inline Entry message(const std::string& text, const std::string& id, const std::string& parentId) {
  Entry entry = message(text, id);
  entry.parentId = parentId;
  return entry;
}

inline Entry entryOf(std::string_view type, const std::string& payload, const std::string& id = {}) {
  Entry entry;
  entry.id = id;
  entry.type = type;
  entry.payload = payload;
  return entry;
}

/// Returns the value; on an error, fails the test and returns an empty value.
template <typename T>
T must(Result<T> result) {
  if (!result) {
    ADD_FAILURE() << toString(result.error().code) << ": " << result.error().message;
    if constexpr (std::is_default_constructible_v<T>) return T();
    std::abort();
  }
  return std::move(*result);
}
inline void must(const Result<void>& result) {
  if (!result) ADD_FAILURE() << toString(result.error().code) << ": " << result.error().message;
}

/// Returns the error; without one, fails the test and returns an empty error.
template <typename T>
Error refused(const Result<T>& result) {
  if (!result) return result.error();
  ADD_FAILURE() << "was not refused";
  return {};
}

inline std::vector<std::string> idsOf(const std::vector<Entry>& entries) {
  std::vector<std::string> ids;
  for (const Entry& entry : entries) ids.push_back(entry.id);
  return ids;
}

/// Returns the ids of all entries except the header.
inline std::vector<std::string> idsOf(SessionStore& store, const std::string& sessionId,
                                      const LoadOptions& options = {}) {
  auto entries = must(store.loadSessionEntries(sessionId, options));
  std::erase_if(entries, [](const Entry& entry) { return entry.type == entry_type::kSessionHeader; });
  return idsOf(entries);
}

using Ids = std::vector<std::string>;

}  // namespace bough
