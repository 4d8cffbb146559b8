// Other stores beside ours in the table, where their libraries are installed.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace bough::bench {

struct Peer {
  std::string name;
  std::function<void()> append;  ///< One durable append of the batch.
};

/// What this build has of: SQLite (WAL, synchronous=FULL, one transaction a batch), RocksDB (synced write batch).
std::vector<Peer> durablePeers(const std::string& folder, std::size_t lineBytes, std::size_t linesPerBatch);

}  // namespace bough::bench
