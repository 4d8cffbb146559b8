#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include <memory>

#include "harness.h"
#include "peers.h"

namespace bough::bench {

Peer rocksdbPeer(const std::string& folder, std::size_t lineBytes, std::size_t count) {
  rocksdb::Options options;
  options.create_if_missing = true;
  rocksdb::DB* raw = nullptr;
  require(rocksdb::DB::Open(options, folder + "/peer-rocksdb-" + std::to_string(count), &raw).ok(), "rocksdb");
  std::shared_ptr<rocksdb::DB> database(raw);
  const std::string line(lineBytes, 'x');
  auto sequence = std::make_shared<std::uint64_t>(0);
  return {.name = "RocksDB (sync)", .append = [database, line, count, sequence] {
            rocksdb::WriteBatch batch;
            for (std::size_t i = 0; i < count; ++i) batch.Put(std::to_string((*sequence)++), line);
            rocksdb::WriteOptions durable;
            durable.sync = true;
            require(database->Write(durable, &batch).ok(), "rocksdb write");
          }};
}

}  // namespace bough::bench
