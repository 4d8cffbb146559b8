// Other stores beside ours in the table, each a target of its own that is built where its library is installed.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace bough::bench {

struct Peer {
  std::string name;
  std::function<void()> append;  ///< One durable append of the batch.
};

/// One transaction a batch, in WAL with synchronous=FULL. Its target is bench_sqlite.
Peer sqlitePeer(const std::string& folder, std::size_t lineBytes, std::size_t count);

/// One synced write batch. Its target is bench_rocksdb.
Peer rocksdbPeer(const std::string& folder, std::size_t lineBytes, std::size_t count);

using PeerMaker = std::function<Peer(const std::string& folder, std::size_t lineBytes, std::size_t linesPerBatch)>;

/// Those of them that were built. Making one fails when its store cannot be opened.
std::vector<PeerMaker> durablePeers();

}  // namespace bough::bench
