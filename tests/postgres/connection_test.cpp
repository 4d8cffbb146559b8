// The layer over libpq: connections, pool, errors.

#include <endian.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <thread>
#include <vector>

#include "store/postgres/client/connection.h"
#include "store/postgres/client/pool.h"
#include "store/postgres/schema/schema.h"
#include "support/postgres_server.h"
#include "support/temp_folder.h"

namespace bough {
namespace {

using namespace postgres;

class PostgresConnection : public testing::Test {
 protected:
  void SetUp() override {
    if (!PostgresServer::isInstalled()) GTEST_SKIP() << "PostgreSQL is not installed";
  }
};

Location locate(const std::string& url) {
  return *parseLocation(url);
}

TEST_F(PostgresConnection, ManyStatementsAreOneTransaction) {
  Pool pool(locate(sharedServer().url()));
  ASSERT_TRUE(pool.run({.sql = "CREATE TABLE one (a int PRIMARY KEY)"}));
  std::vector<Call> calls;
  calls.push_back({.sql = "INSERT INTO one VALUES (1)"});
  calls.push_back({.sql = "INSERT INTO one VALUES (1)"});
  EXPECT_FALSE(pool.run(calls));
  EXPECT_EQ(pool.run({.sql = "SELECT count(*) FROM one"})->number(0, 0), 0);
}

TEST_F(PostgresConnection, ValuesComeBackAsTheyWent) {
  Pool pool(locate(sharedServer().url()));
  const std::string bytes("\0\xff'\\\n", 5);
  Call call{.name = "echo",
            .sql = "SELECT $1::text, $2::bytea, $3::bigint, $4::boolean, $5::text[], $6::bigint[], $7::text"};
  const std::vector<std::string> texts{"a", "", "ü\"{}"};
  const std::vector<std::int64_t> numbers{-1, 0, INT64_MAX};
  call.parameters.text("x'y").bytes(bytes).number(-5).truth(true).texts(texts).numbers(numbers).nothing();
  for (int i = 0; i < 2; ++i) {  // the first time it is prepared, the second time reused
    const auto rows = pool.run(call);
    ASSERT_TRUE(rows) << rows.error().message;
    EXPECT_EQ(rows->text(0, 0), "x'y");
    EXPECT_EQ(rows->text(0, 1), bytes);
    EXPECT_EQ(rows->number(0, 2), -5);
    EXPECT_TRUE(rows->truth(0, 3));
    EXPECT_EQ(rows->texts(0, 4), texts);
    EXPECT_EQ(rows->numbers(0, 5), numbers);
    EXPECT_TRUE(rows->isNull(0, 6));
  }
}

// In transaction mode, a pooler assigns another server connection to each transaction: a prepared statement may be
// missing, or another client may have prepared a statement with that name.
TEST_F(PostgresConnection, BehindAPoolerThatForgetsStatementsTheyAreSentWhole) {
  const auto ask = [](Pool& pool) {
    Call call{.name = "pooled", .sql = "SELECT $1::bigint + 1"};
    call.parameters.number(41);
    const auto rows = pool.run(call);
    EXPECT_TRUE(rows) << rows.error().message;
    return rows ? rows->number(0, 0) : 0;
  };
  Pool forgetful(locate(sharedServer().url()));
  EXPECT_EQ(ask(forgetful), 42);
  EXPECT_TRUE(forgetful.prepares());
  ASSERT_TRUE(forgetful.run({.sql = "DEALLOCATE ALL"}));
  EXPECT_EQ(ask(forgetful), 42);
  EXPECT_FALSE(forgetful.prepares());
  Pool shared(locate(sharedServer().url()));
  ASSERT_TRUE(shared.run({.sql = "PREPARE pooled AS SELECT 7::bigint"}));
  EXPECT_EQ(ask(shared), 42);
}

TEST_F(PostgresConnection, OfSeveralHostsTheOneThatAnswersIsUsed) {
  std::string url = sharedServer().url() + "?target_session_attrs=read-write";
  url.insert(url.find('@') + 1, "127.0.0.1:1,");
  Pool pool(locate(url));
  const auto found = pool.run({.sql = "SELECT 7::bigint"});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->number(0, 0), 7);
  // A connection in replication mode would reject this statement; this option of the URL is ignored.
  Pool standby(locate(sharedServer().url() + "?replication=true"));
  EXPECT_TRUE(standby.run({.sql = "SELECT 1"}));
}

// libpq would print it into the program's output.
TEST_F(PostgresConnection, WhatAServerSaysWhileItIsConnectedToIsNotPrinted) {
  Pool admin(locate(sharedServer().url()));
  for (const char* const each : {"CREATE ROLE gone", "CREATE ROLE warned LOGIN SUPERUSER",
                                 "ALTER ROLE warned SET role = 'gone'", "DROP ROLE gone"}) {
    ASSERT_TRUE(admin.run({.sql = each}));
  }
  testing::internal::CaptureStderr();
  Pool pool(locate(sharedServer().url("", "warned")));
  const auto rows = pool.run({.sql = "SELECT session_user::text"});
  const std::string printed = testing::internal::GetCapturedStderr();
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_EQ(rows->text(0, 0), "warned");
  EXPECT_EQ(printed, "");
}

TEST_F(PostgresConnection, AServerThatStartedAgainIsFoundAgain) {
  PostgresServer server({"fsync = off"});
  Pool pool(locate(server.url()));
  ASSERT_TRUE(pool.run({.sql = "SELECT 1"}));
  server.stop();
  server.start();
  EXPECT_TRUE(pool.run({.sql = "SELECT 1"}));
}

TEST_F(PostgresConnection, TheChildOfAForkLeavesTheParentsConnectionAlone) {
  Pool pool(locate(sharedServer().url()));
  const auto backend = [&] { return pool.run({.sql = "SELECT pg_backend_pid()"})->number(0, 0); };
  const std::int64_t before = backend();
  const pid_t child = ::fork();
  if (child == 0) ::_exit(backend() == before ? 1 : 0);
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(backend(), before);
}

TEST_F(PostgresConnection, ErrorsSayWhatToDoAndKeepSecrets) {
  const auto error = [](const std::string& url, std::chrono::milliseconds timeout = std::chrono::milliseconds(300)) {
    auto location = parseLocation(url);
    if (!location) return location.error();
    Pool pool(*location, {.timeout = timeout});
    return pool.run({.sql = "SELECT 1"}).error();
  };
  const Error unreachable = error("postgresql://me:topsecret@127.0.0.1:1/db");
  EXPECT_EQ(unreachable.code, ErrorCode::Unavailable);
  EXPECT_TRUE(unreachable.retryable);
  EXPECT_FALSE(unreachable.message.contains("topsecret")) << unreachable.message;
  EXPECT_TRUE(unreachable.message.contains("postgresql://me@127.0.0.1:1/db")) << unreachable.message;

  const Error several = error("postgresql://me:topsecret@127.0.0.1:1,127.0.0.1:2/db");
  EXPECT_TRUE(several.message.contains("postgresql://me@127.0.0.1:1,127.0.0.1:2/db")) << several.message;
  EXPECT_TRUE(error("postgresql://a,b/db?port=5&sslmode=sure").message.contains("postgresql://a:5,b:5/db"));
  // The address that is shown can be used: characters that would end a part of it are encoded.
  for (const char* const shown : {"postgresql://a%40b@%2Frun%2Fpostgresql:6001/my%20%2F%3F%25db?schema=s",
                                  "postgresql://me@[::1]:1/db", "postgresql://me@%2Frun,db.example:5/数据"}) {
    EXPECT_EQ(parseLocation(shown).value().shown, shown);
  }
  EXPECT_EQ(parseLocation("postgresql://me@/db?host=/run/sockets&port=7").value().shown,
            "postgresql://me@%2Frun%2Fsockets:7/db");
  const Error standby = error(sharedServer().url() + "?target_session_attrs=standby");
  EXPECT_EQ(standby.code, ErrorCode::Unavailable);
  EXPECT_TRUE(standby.hint.contains("target_session_attrs")) << standby.hint;

  std::string missing = sharedServer().url();
  missing.replace(missing.rfind("/postgres"), 9, "/nothere");
  EXPECT_EQ(error(missing).code, ErrorCode::NotFound);
  EXPECT_EQ(error(sharedServer().url("", "nobody")).code, ErrorCode::InvalidArgument);

  const Error bad = error("postgresql://me:topsecret@host/db?nosuchoption=topsecret");
  EXPECT_EQ(bad.code, ErrorCode::InvalidArgument);
  EXPECT_FALSE(bad.message.contains("topsecret")) << bad.message;
  EXPECT_TRUE(bad.message.contains("unknown option: nosuchoption")) << bad.message;
  for (const char* broken : {"?=topsecret", "?topsecret", "?sslmode=%zztopsecret", "?sslmode=a=topsecret"}) {
    const Error other = error("postgresql://me:topsecret@host/db" + std::string(broken));
    EXPECT_EQ(other.code, ErrorCode::InvalidArgument);
    EXPECT_FALSE(other.message.contains("topsecret")) << other.message;
  }
  const Error cut = error("postgresql://me:p@ss/w?topsecret@host/db?sslmode=require");
  EXPECT_EQ(cut.code, ErrorCode::InvalidArgument);
  EXPECT_FALSE(cut.message.contains("topsecret")) << cut.message;
  EXPECT_EQ(error("postgresql://host/db?schema=A;DROP").code, ErrorCode::InvalidArgument);
}

// A server that uses another language and refuses connections.
class RefusingServer {
 public:
  explicit RefusingServer(const std::string& state)
      : answer_(fmt::format("SFATAL{0}C{1}{0}MDas geht so nicht{0}{0}", '\0', state)) {
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    std::ranges::copy(folder_ / ".s.PGSQL.5432", address.sun_path);
    if (::bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(socket_, 9) != 0) {
      throw std::runtime_error("bind");
    }
    thread_ = std::thread([this] { serve(); });
  }
  ~RefusingServer() {
    ::shutdown(socket_, SHUT_RDWR);
    thread_.join();
    ::close(socket_);
  }
  [[nodiscard]] std::string url() const { return "postgresql://me@/db?host=" + folder_.path().string(); }

 private:
  void serve() {
    std::uint32_t length = htobe32(static_cast<std::uint32_t>(answer_.size() + sizeof length));
    const std::string message = "E" + std::string(reinterpret_cast<const char*>(&length), sizeof length) + answer_;
    for (int client = 0; (client = ::accept(socket_, nullptr, nullptr)) >= 0; ::close(client)) {
      std::array<char, 1000> startup{};
      (void)!::read(client, startup.data(), startup.size());
      (void)!::write(client, message.data(), message.size());
    }
  }

  const TempFolder folder_;
  const std::string answer_;
  const int socket_ = ::socket(AF_UNIX, SOCK_STREAM, 0);
  std::thread thread_;
};

TEST_F(PostgresConnection, ARefusalIsUnderstoodInAnyLanguage) {
  const auto error = [](const std::string& state) {
    const RefusingServer server(state);
    Pool pool(locate(server.url()), {.timeout = std::chrono::milliseconds(300)});
    Error refused = pool.run({.sql = "SELECT 1"}).error();
    EXPECT_TRUE(refused.message.contains("Das geht so nicht")) << refused.message;
    return refused;
  };
  for (const auto& [state, code, hint] : std::vector<std::tuple<std::string, ErrorCode, std::string>>{
           {"28P01", ErrorCode::InvalidArgument, "password"},
           {"28000", ErrorCode::InvalidArgument, "password"},
           {"3D000", ErrorCode::NotFound, "createdb"},
           {"42501", ErrorCode::InvalidArgument, "GRANT CONNECT"},
           {"53300", ErrorCode::Unavailable, "max_connections"},
           {"57P03", ErrorCode::Unavailable, "retry"}}) {
    const Error refused = error(state);
    EXPECT_EQ(refused.code, code) << state << ": " << refused.message;
    EXPECT_TRUE(refused.hint.contains(hint)) << state << ": " << refused.hint;
  }
}

// Accepts what is sent, but is too slow to answer.
class SilentServer {
 public:
  SilentServer() {
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    std::ranges::copy(folder_ / ".s.PGSQL.5432", address.sun_path);
    if (::bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(socket_, 9) != 0) {
      throw std::runtime_error("bind");
    }
    thread_ = std::thread([this] {
      for (int client = 0; (client = ::accept(socket_, nullptr, nullptr)) >= 0;) clients_.push_back(client);
    });
  }
  ~SilentServer() {
    if (thread_.joinable()) (void)stop();
    ::close(socket_);
  }
  [[nodiscard]] std::string folder() const { return folder_.path().string(); }
  // Returns how many connections were made.
  std::size_t stop() {
    ::shutdown(socket_, SHUT_RDWR);
    thread_.join();
    for (const int client : clients_) ::close(client);
    return clients_.size();
  }

 private:
  const TempFolder folder_;
  const int socket_ = ::socket(AF_UNIX, SOCK_STREAM, 0);
  std::vector<int> clients_;
  std::thread thread_;
};

TEST_F(PostgresConnection, TheOnlyServerIsNotAskedTwiceBecauseItIsSlow) {
  SilentServer server;
  const auto location = locate("postgresql://me@/db?connect_timeout=3&host=" + server.folder());
  const auto made = Connection::open(location, std::chrono::steady_clock::now() + std::chrono::seconds(3));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().error.code, ErrorCode::Unavailable);
  EXPECT_TRUE(made.error().error.message.contains("timeout expired")) << made.error().error.message;
  EXPECT_EQ(server.stop(), 1U);
}

TEST_F(PostgresConnection, OfSeveralHostsTheOneThatAnswersIsUsedWhenTheFirstIsSilent) {
  SilentServer server;
  std::string url = sharedServer().url();
  url += fmt::format("{}connect_timeout=2", url.contains('?') ? '&' : '?');
  std::string host = server.folder() + ":5432,";
  for (std::size_t at = 0; (at = host.find('/')) != std::string::npos;) host.replace(at, 1, "%2F");
  url.insert(url.find('@') + 1, host);
  Pool pool(locate(url));
  const auto found = pool.run({.sql = "SELECT 7::bigint"});
  ASSERT_TRUE(found) << found.error().message;
}

TEST_F(PostgresConnection, NoPartOfAPasswordThatIsNotEncodedIsShown) {
  for (const char* const password : {"top@secret", "top/secret", "top/sec?ret", "top/sec?ret=", "t@op/secret",
                                     "secret@", "/secret", "5432/secret", "a:1,b/secret", "top%zzsecret"}) {
    const auto location = parseLocation(fmt::format("postgresql://me:{}@host.example/db?schema=s", password));
    ASSERT_FALSE(location) << password;
    const Error& error = location.error();
    EXPECT_EQ(error.code, ErrorCode::InvalidArgument);
    for (const char* const part : {"top", "sec", "ret"}) EXPECT_FALSE(error.message.contains(part)) << error.message;
    EXPECT_TRUE(error.hint.contains("%40")) << error.hint;
  }
  for (const char* const password : {"top?secret", "top#secret", "top:secret", "t o p", "top%40%2Fsecret", "a=b&c"}) {
    const auto location = parseLocation(fmt::format("postgresql://me:{}@host.example/db?schema=s", password));
    ASSERT_TRUE(location) << password << location.error().message;
    EXPECT_EQ(location->shown, "postgresql://me@host.example/db?schema=s");
  }
  EXPECT_EQ(parseLocation("postgresql:///db?user=me@cloud&host=/run").value().shown,
            "postgresql://me%40cloud@%2Frun/db");
  // A mistyped address is not taken for a folder, whose name would show the password.
  for (const char* const mistyped :
       {" postgresql://me:secret@host/db", "postgresql:/me:secret@host/db", "postgres:me:secret@host/db"}) {
    EXPECT_TRUE(isDatabaseUrl(mistyped)) << mistyped;
    EXPECT_FALSE(parseLocation(mistyped).error().message.contains("secret"));
  }
}

TEST_F(PostgresConnection, AStatementThatTakesTooLongEndsWithTheDeadline) {
  Pool pool(locate(sharedServer().url()), {.timeout = std::chrono::milliseconds(100)});
  const auto late = pool.run({.sql = "SELECT pg_sleep(20)"});
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::OutcomeUnknown);
  EXPECT_TRUE(pool.run({.sql = "SELECT 1"}));
}

TEST_F(PostgresConnection, MoreThanAMessageHoldsIsToldAndNotRepeated) {
  Pool pool(locate(sharedServer().url()));
  Call call{.sql = "SELECT length($1)"};
  call.parameters.bytes(std::string(1'000'000'001, 'x'));
  const auto large = pool.run(call);
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().code, ErrorCode::InvalidArgument) << large.error().message;
  EXPECT_TRUE(large.error().hint.contains("fewer entries")) << large.error().hint;
  EXPECT_FALSE(large.error().retryable);
  EXPECT_TRUE(pool.run({.sql = "SELECT 1"}));
}

TEST_F(PostgresConnection, TheSchemaIsCreatedOnceAndANewerOneIsRefused) {
  Pool pool(locate(freshStoreUrl()));
  EXPECT_EQ(checkSchema(pool).error().code, ErrorCode::NotFound);
  const auto first = initSchema(pool);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->before, 0);
  EXPECT_TRUE(checkSchema(pool));
  const auto second = initSchema(pool);
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(second->before, kSchemaVersion);
  ASSERT_TRUE(pool.run({.sql = inSchema("UPDATE @.settings SET value = '99'", pool.location().schema)}));
  EXPECT_EQ(checkSchema(pool).error().code, ErrorCode::NewerFormat);
  EXPECT_EQ(initSchema(pool).error().code, ErrorCode::NewerFormat);
}

}  // namespace
}  // namespace bough
