// The server's disk is full: an append that does not fit returns an error and leaves nothing behind.

#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "bough/store.h"
#include "support/entries.h"
#include "support/postgres_server.h"

namespace bough {
namespace {

std::unique_ptr<SessionStore> openStore(const std::string& url) {
  StoreOptions options;
  options.lockTimeoutMs = 60'000;
  return must(SessionStore::open(url, options));
}

// Returns the ids without that of the header.
std::vector<std::string> storedIds(SessionStore& store) {
  std::vector<std::string> ids = idsOf(must(store.loadSessionEntries("s")));
  ids.erase(ids.begin());
  return ids;
}

// A file system of 24 MB in a folder. Creating one may need privileges.
class SmallDisk {
 public:
  SmallDisk(const PostgresServer& server, std::string folder) : folder_(std::move(folder)) {
    ::mkdir(folder_.c_str(), 0777);
    mounted_ = ::mount("tmpfs", folder_.c_str(), "tmpfs", 0, "size=24m") == 0;
    struct stat owner{};  // the server must own it
    mounted_ = mounted_ && ::stat(server.dataFolder().c_str(), &owner) == 0 &&
               ::chown(folder_.c_str(), owner.st_uid, owner.st_gid) == 0;
  }
  ~SmallDisk() {
    if (mounted_) ::umount2(folder_.c_str(), MNT_DETACH);
  }
  [[nodiscard]] bool isMounted() const { return mounted_; }

 private:
  std::string folder_;
  bool mounted_ = false;
};

TEST(PostgresDisk, AFullDiskIsToldAndNothingIsHalfDone) {
  if (!PostgresServer::isInstalled()) GTEST_SKIP() << "PostgreSQL is not installed";
  const TempFolder folder;
  ::chmod(folder.path().c_str(), 0755);
  PostgresServer server({"fsync = off"});
  const SmallDisk disk(server, folder / "disk");
  if (!disk.isMounted()) GTEST_SKIP() << "a small file system cannot be mounted here";
  server.run({"psql", "-h", server.socketFolder(), "-U", "postgres", "-c",
              "CREATE TABLESPACE small LOCATION '" + (folder / "disk") + "'"});
  std::ofstream(folder / "disk/ballast") << std::string(4 << 20, 'x');
  runSql(server, "ALTER ROLE postgres SET default_tablespace = 'small'");
  ASSERT_TRUE(initPostgresStore(server.url("trouble")));
  auto store = openStore(server.url("trouble"));
  ASSERT_TRUE(store->createSession({.sessionId = "s"}));
  std::vector<std::string> expected;
  std::string noise;  // incompressible
  for (int i = 0; noise.size() < 100'000; ++i) noise += std::to_string(std::hash<int>()(i) * 2654435761U);
  Result<AppendResult> last;
  int number = 0;
  for (; number < 1000; ++number) {
    const std::string id = "e" + std::to_string(number);
    last = store->appendSessionEntries("s", {message(noise, id + "a"), message(noise, id + "b")});
    if (!last) break;
    expected.push_back(id + "a");
    expected.push_back(id + "b");
  }
  ASSERT_FALSE(last) << "the disk was not filled";
  EXPECT_EQ(last.error().code, ErrorCode::NoSpace) << last.error().message;
  EXPECT_FALSE(last.error().hint.empty());
  EXPECT_EQ(storedIds(*store), expected);
  ::unlink((folder / "disk/ballast").c_str());
  const std::string id = "e" + std::to_string(number);
  const auto again = store->appendSessionEntries("s", {message(noise, id + "a"), message(noise, id + "b")});
  ASSERT_TRUE(again) << again.error().message;
  expected.push_back(id + "a");
  expected.push_back(id + "b");
  EXPECT_EQ(storedIds(*store), expected);
  EXPECT_EQ(store->verifySession("s")->problemCount, 0U);
}

}  // namespace
}  // namespace bough
