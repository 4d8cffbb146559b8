// TLS options in a store's URL are passed to libpq.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "bough/store.h"
#include "support/entries.h"
#include "support/postgres_server.h"

namespace bough {
namespace {

constexpr const char* kAddress = "127.231.19.7";  // a loopback address that no other program uses

// Creates a certificate for the server's address in two files: `path` with .crt and .key.
bool makeCertificate(const std::string& path) {
  const std::string command =
      "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=bough -addext subjectAltName=IP:" +
      std::string(kAddress) + " -keyout " + path + ".key -out " + path + ".crt >/dev/null 2>&1";
  return std::system(command.c_str()) == 0;
}

TEST(PostgresTls, OptionsOfTheUrlAreObeyed) {
  if (!PostgresServer::isInstalled()) GTEST_SKIP() << "PostgreSQL is not installed";
  const TempFolder folder;
  if (!makeCertificate(folder / "server") || !makeCertificate(folder / "other")) GTEST_SKIP() << "openssl is missing";
  PostgresServer server({"fsync = off"});
  struct stat owner{};
  ASSERT_EQ(::stat(server.dataFolder().c_str(), &owner), 0);
  for (const std::string name : {"server.crt", "server.key"}) {
    const std::string copy = server.dataFolder() + "/" + name;
    std::filesystem::copy_file(folder / name, copy);
    ASSERT_EQ(::chown(copy.c_str(), owner.st_uid, owner.st_gid), 0);
    ASSERT_EQ(::chmod(copy.c_str(), 0600), 0);
  }
  server.addSettings({"ssl = on", "listen_addresses = '" + std::string(kAddress) + "'"});
  std::ofstream(server.dataFolder() + "/pg_hba.conf") << "local all all trust\nhostssl all all 127.0.0.0/8 trust\n";
  server.stop();
  server.start();
  must(initPostgresStore(server.url("tls")));
  const auto url = [&](const std::string& certificate) {
    return "postgresql://postgres@" + std::string(kAddress) +
           "/postgres?schema=tls&sslmode=verify-full&sslrootcert=" + certificate;
  };
  StoreOptions options;
  options.lockTimeoutMs = 2000;
  auto store = must(SessionStore::open(url(folder / "server.crt"), options));
  must(store->createSession({.sessionId = "s"}));
  EXPECT_EQ(runSql(server, "SELECT count(*) > 0 FROM pg_stat_ssl WHERE ssl"), "t");
  const Error other = refused(SessionStore::open(url(folder / "other.crt"), options));
  EXPECT_EQ(other.code, ErrorCode::Unavailable);
  EXPECT_TRUE(other.message.contains("certificate")) << other.message;
  EXPECT_TRUE(other.hint.contains("sslrootcert")) << other.hint;
}

}  // namespace
}  // namespace bough
