// Other stores to compare with. Each is a separate target that is built when its library is installed.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace bough::bench {

struct Peer {
  std::string name;
  std::function<void()> append;  ///< One durable append of the batch.
};

/// One transaction per batch, in WAL mode with synchronous=FULL. Its target is bench_sqlite.
Peer sqlitePeer(const std::string& folder, std::size_t lineBytes, std::size_t count);

/// One synced write batch per append. Its target is bench_rocksdb.
Peer rocksdbPeer(const std::string& folder, std::size_t lineBytes, std::size_t count);

using PeerMaker = std::function<Peer(const std::string& folder, std::size_t lineBytes, std::size_t linesPerBatch)>;

/// Returns the peers that were built. Making a peer fails when its store cannot be opened.
std::vector<PeerMaker> durablePeers();

}  // namespace bough::bench
