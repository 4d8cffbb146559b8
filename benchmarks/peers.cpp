#include "peers.h"

namespace bough::bench {

std::vector<Peer> durablePeers([[maybe_unused]] const std::string& folder, [[maybe_unused]] std::size_t lineBytes,
                               [[maybe_unused]] std::size_t linesPerBatch) {
  std::vector<Peer> peers;
#ifdef BOUGH_BENCH_SQLITE
  peers.push_back(sqlitePeer(folder, lineBytes, linesPerBatch));
#endif
#ifdef BOUGH_BENCH_ROCKSDB
  peers.push_back(rocksdbPeer(folder, lineBytes, linesPerBatch));
#endif
  return peers;
}

}  // namespace bough::bench
