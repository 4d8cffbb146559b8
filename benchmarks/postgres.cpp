// A store in PostgreSQL compared with plain single-row INSERTs through the same client library, in the same run.

#include <fmt/format.h>

#include <atomic>
#include <thread>

#include "bough/store.h"
#include "harness.h"
#include "store/postgres/client/connection.h"
#include "store/postgres/postgres_backend.h"
#include "store/postgres/schema/schema.h"
#include "support/postgres_server.h"

namespace bough::bench {
namespace {

constexpr int kClients = 8;
constexpr std::size_t kSessions = 32;  // per client, for combined appends
constexpr std::size_t kPayloadBytes = 1000;
constexpr int kRounds = 15;

Entry entryOf1Kb() {
  Entry entry;
  entry.type = "message";
  entry.payload = R"({"text":")" + std::string(kPayloadBytes - 11, 'x') + R"("})";
  return entry;
}

// One client: its own connections, its own sessions, and one connection for plain statements.
class Client {
 public:
  Client(const std::string& url, int number) : location_(*postgres::parseLocation(url)) {
    backend_ = *postgres::PostgresBackend::open(url, {}, jsonEntrySerializer(), systemEnvironment());
    auto opened = SessionStore::open({.backend = backend_, .options = {}});
    require(opened.has_value(), "opening a store");
    store_ = std::move(*opened);
    for (std::size_t i = 0; i < kSessions; ++i) {
      const std::string id = fmt::format("session-of-client-{}-number-{}", number, i);
      require(store_->createSession({.sessionId = id}).has_value(), "creating a session");
      auto session = backend_->open(id);
      require(session.has_value(), "opening a session");
      sessions_.push_back(*session);
    }
    auto connection = postgres::Connection::open(location_, deadline());
    require(connection.has_value(), "connecting");
    plain_ = std::move(*connection);
  }

  void insert() {
    postgres::Call call{.name = "plain", .sql = "INSERT INTO plain (body) VALUES ($1)"};
    call.parameters.bytes(body_);
    require(plain_->run(std::span(&call, 1), true, deadline()).has_value(), "INSERT");
  }
  void append(std::size_t count) {
    AppendRequest request;
    request.entries.assign(count, entryOf1Kb());
    require(sessions_.front()->append(request).has_value(), "append");
  }
  void appendToAll() {
    std::vector<AppendRequest> requests(kSessions);
    std::vector<StorageBackend::SessionAppend> batches;
    for (std::size_t i = 0; i < kSessions; ++i) {
      requests[i].entries.push_back(entryOf1Kb());
      batches.push_back({.session = sessions_[i].get(), .request = &requests[i]});
    }
    for (const auto& result : backend_->append(batches)) require(result.has_value(), "combined append");
  }

 private:
  static postgres::Deadline deadline() { return std::chrono::steady_clock::now() + std::chrono::seconds(60); }

  const postgres::Location location_;
  const std::string body_ = std::string(kPayloadBytes, 'x');
  std::shared_ptr<StorageBackend> backend_;
  std::unique_ptr<SessionStore> store_;
  std::vector<std::shared_ptr<StoredSession>> sessions_;
  std::unique_ptr<postgres::Connection> plain_;
};

// Returns how many operations per second all clients do together.
double rate(std::vector<std::unique_ptr<Client>>& clients, const std::function<void(Client&)>& work) {
  constexpr std::chrono::milliseconds kSlice{200};
  std::atomic<bool> over = false;
  std::atomic<std::uint64_t> count = 0;
  std::vector<std::thread> threads;
  const double seconds = timed([&] {
    for (const auto& client : clients) {
      threads.emplace_back([&, each = client.get()] {
        for (; !over; ++count) work(*each);
      });
    }
    std::this_thread::sleep_for(kSlice);
    over = true;
    for (std::thread& thread : threads) thread.join();
  });
  return static_cast<double>(count) / seconds;
}

// A server that has run for a while writes its log into recycled files. A new server must create each file first, which
// costs as much as writing it, and matters most when many bytes are written.
void makeLogFiles(postgres::Pool& pool) {
  constexpr int kFiles = 48;  // of 16 MB each
  for (int i = 0; i < kFiles; ++i) {
    require(pool.run({.sql = "SELECT pg_logical_emit_message(false, 'bench', 'x')"}).has_value(), "writing to the log");
    require(pool.run({.sql = "SELECT pg_switch_wal()"}).has_value(), "pg_switch_wal");
  }
  require(pool.run({.sql = "CHECKPOINT"}).has_value(), "CHECKPOINT");
}

std::vector<Row> appendRates() {
  if (!PostgresServer::isInstalled()) {
    fmt::print("PostgreSQL is not installed: its rows are left out\n");
    return {};
  }
  const PostgresServer server(
      {"shared_buffers = 256MB", "min_wal_size = 1GB", "max_wal_size = 4GB", "wal_keep_size = 0"});
  const std::string url = server.url("bench");
  auto location = postgres::parseLocation(url);
  postgres::Pool pool(*location);
  require(postgres::initSchema(pool).has_value(), "creating the schema");
  makeLogFiles(pool);
  require(pool.run({.sql = "CREATE TABLE plain (id bigserial PRIMARY KEY, body bytea)"}).has_value(), "CREATE TABLE");
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < kClients; ++i) clients.push_back(std::make_unique<Client>(url, i));
  std::vector<double> plain;
  std::vector<double> one;
  std::vector<double> ten;
  std::vector<double> combined;
  for (int round = 0; round < kRounds; ++round) {
    plain.push_back(rate(clients, [](Client& client) { client.insert(); }));
    one.push_back(rate(clients, [](Client& client) { client.append(1); }));
    ten.push_back(10 * rate(clients, [](Client& client) { client.append(10); }));
    combined.push_back(kSessions * rate(clients, [](Client& client) { client.appendToAll(); }));
  }
  // Use the ratio of each round, because the speed of the machine varies between rounds; then take the median.
  const double floor = median(plain);
  for (std::vector<double>* each : {&one, &ten, &combined}) {
    for (std::size_t i = 0; i < plain.size(); ++i) (*each)[i] *= floor / plain[i];
  }
  return {{.name = "PostgreSQL, 8 clients: append of one entry / INSERT of one row",
           .ours = median(one),
           .floor = floor,
           .unit = "1/s",
           .bound = 0.5,
           .atLeast = true},
          {.name = "PostgreSQL, 8 clients: entries of appends of ten / INSERT of one row",
           .ours = median(ten),
           .floor = floor,
           .unit = "1/s",
           .bound = 3.5,
           .atLeast = true},
          {.name = "PostgreSQL, 8 clients: appends of many sessions combined / INSERT of one row",
           .ours = median(combined),
           .floor = floor,
           .unit = "1/s",
           .bound = 1.9,
           .atLeast = true}};
}

std::vector<Row> loadTimes() {
  constexpr std::size_t kEntries = 100'000;
  if (!PostgresServer::isInstalled()) return {};
  const PostgresServer server({"shared_buffers = 256MB", "fsync = off"});
  const std::string url = server.url("bench");
  const auto location = postgres::parseLocation(url);
  postgres::Pool pool(*location);
  require(postgres::initSchema(pool).has_value(), "creating the schema");
  auto opened = SessionStore::open(
      {.backend = *postgres::PostgresBackend::open(url, {}, jsonEntrySerializer(), systemEnvironment())});
  require(opened.has_value(), "opening a store");
  SessionStore& store = **opened;
  require(store.createSession({.sessionId = "s"}).has_value(), "creating a session");
  for (std::size_t i = 0; i < kEntries; i += 1000) {
    require(store.appendSessionEntries("s", std::vector<Entry>(1000, entryOf1Kb())).has_value(), "append");
  }
  require(pool.run({.sql = "ANALYZE"}).has_value(), "ANALYZE");
  const std::string sql =
      "SELECT entry_id, parent_id, body FROM bench.entries WHERE session_id = 's' ORDER BY session_id, seq";
  const auto times = interleaved(5, {[&] {
                                       const auto loaded = store.loadSessionEntries("s");
                                       require(loaded && loaded->size() == kEntries + 1, "load");
                                     },
                                     [&] {
                                       const auto rows = pool.run({.name = "rows", .sql = sql});
                                       require(rows && rows->size() == static_cast<int>(kEntries) + 1, "SELECT");
                                     }});
  return {{.name = "PostgreSQL: loading a session of 100,000 entries / SELECT of its rows by libpq",
           .ours = times[0] * 1000,
           .floor = times[1] * 1000,
           .unit = "ms",
           .bound = 1.2}};
}

}  // namespace

std::vector<Benchmark> postgresBenchmarks() {
  return {{"postgres_append", appendRates}, {"postgres_load", loadTimes}};
}

}  // namespace bough::bench
