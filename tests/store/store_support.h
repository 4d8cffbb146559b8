// A store in a temporary folder, with access to its files.
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "support/entries.h"
#include "support/temp_folder.h"

namespace bough {

inline std::string slurp(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

inline void spill(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

class StoreTest : public testing::Test {
 protected:
  StoreTest() { store = open(); }

  [[nodiscard]] std::unique_ptr<SessionStore> open(const StoreOptions& options = {}) const {
    return must(SessionStore::open(folder.path().string(), options));
  }
  [[nodiscard]] std::string logPath(const std::string& id) const { return folder / ("sessions/" + id + ".jsonl"); }
  /// Creates a session with entries e1…en in a chain.
  void fill(const std::string& id, int count) {
    must(store->createSession({.sessionId = id}));
    std::vector<Entry> entries;
    for (int i = 1; i <= count; ++i) entries.push_back(message("m" + std::to_string(i), "e" + std::to_string(i)));
    if (count > 0) must(store->appendSessionEntries(id, std::move(entries)));
  }

  TempFolder folder;
  std::unique_ptr<SessionStore> store;
};

}  // namespace bough
