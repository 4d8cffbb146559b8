#include <sqlite3.h>

#include <memory>

#include "harness.h"
#include "peers.h"

namespace bough::bench {

Peer sqlitePeer(const std::string& folder, std::size_t lineBytes, std::size_t count) {
  sqlite3* raw = nullptr;
  require(sqlite3_open((folder + "/peer-" + std::to_string(count) + ".db").c_str(), &raw) == SQLITE_OK, "sqlite3_open");
  std::shared_ptr<sqlite3> database(raw, [](sqlite3* open) { sqlite3_close_v2(open); });
  const auto run = [raw](const char* sql) {
    require(sqlite3_exec(raw, sql, nullptr, nullptr, nullptr) == SQLITE_OK, sql);
  };
  run("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE entries(seq INTEGER PRIMARY KEY, line TEXT)");
  sqlite3_stmt* prepared = nullptr;
  require(sqlite3_prepare_v2(raw, "INSERT INTO entries(line) VALUES(?)", -1, &prepared, nullptr) == SQLITE_OK,
          "prepare");
  std::shared_ptr<sqlite3_stmt> insert(prepared, [database](sqlite3_stmt* open) { sqlite3_finalize(open); });
  const std::string line(lineBytes, 'x');
  return {.name = "SQLite (WAL, FULL)", .append = [run, insert, line, count] {
            run("BEGIN");
            for (std::size_t i = 0; i < count; ++i) {
              sqlite3_bind_text(insert.get(), 1, line.data(), static_cast<int>(line.size()), SQLITE_STATIC);
              require(sqlite3_step(insert.get()) == SQLITE_DONE, "INSERT");
              sqlite3_reset(insert.get());
            }
            run("COMMIT");
          }};
}

}  // namespace bough::bench
