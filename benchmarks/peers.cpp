#include "peers.h"

namespace bough::bench {

std::vector<PeerMaker> durablePeers() {
  std::vector<PeerMaker> peers;
#ifdef BOUGH_BENCH_SQLITE
  peers.emplace_back(sqlitePeer);
#endif
#ifdef BOUGH_BENCH_ROCKSDB
  peers.emplace_back(rocksdbPeer);
#endif
  return peers;
}

}  // namespace bough::bench
