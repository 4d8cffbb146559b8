// A PostgreSQL server for tests: in a temporary folder, on a Unix socket, as a child of this process. It needs no
// privileges, touches no server of the system, and disappears with the object.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "support/temp_folder.h"

namespace bough {

class PostgresServer {
 public:
  /// Returns true when the server's programs are installed.
  static bool isInstalled();

  /// Creates a cluster and starts it. `settings` are lines of postgresql.conf.
  explicit PostgresServer(const std::vector<std::string>& settings = {});
  /// Copies a running server as its standby with this name, and starts the standby.
  PostgresServer(const PostgresServer& primary, const std::string& standbyName);
  ~PostgresServer();
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  /// Returns the URL of a store. `schema` lets one server have many stores.
  [[nodiscard]] std::string url(const std::string& schema = {}, const std::string& user = "postgres") const;
  [[nodiscard]] std::string socket() const { return folder_ / ("socket/.s.PGSQL." + std::to_string(kPort)); }
  [[nodiscard]] std::string socketFolder() const { return folder_ / "socket"; }
  [[nodiscard]] std::string dataFolder() const { return folder_ / "data"; }

  void start();
  void stop();     ///< A fast shutdown: aborts transactions and writes the data.
  void kill();     ///< SIGKILL for the server and all its children.
  void suspend();  ///< SIGSTOP for the server and all its children.
  void resume();
  void promote();  ///< Makes a standby the primary.
  /// Removes all ALTER SYSTEM settings from the file.
  void removeAutoSettings();
  void addSettings(const std::vector<std::string>& settings);

  static constexpr int kPort = 5432;

  /// Runs a PostgreSQL program as a user that it accepts. Returns its output; throws when it fails.
  std::string run(const std::vector<std::string>& command) const;
  /// Starts a PostgreSQL program, or any program given by its full path, as the same user. It ends with this process.
  [[nodiscard]] pid_t spawn(const std::vector<std::string>& command, const std::string& output) const;

 private:
  void prepareFolder();
  void waitUntilReady();

  TempFolder folder_;
  pid_t process_ = 0;
};

/// Runs SQL as the superuser, through psql; throws on failure. Returns the output without surrounding blanks.
std::string runSql(const PostgresServer& server, const std::string& sql);

/// Returns a server shared by all tests of a program, started at the first call.
PostgresServer& sharedServer();
/// Returns the URL of a new store on the shared server.
std::string freshStoreUrl();

}  // namespace bough
