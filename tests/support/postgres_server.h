// A PostgreSQL server of the test's own: in a temporary folder, on a unix socket, as a child of this process. It needs
// no rights, touches no server of the system, and is gone with the object.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "support/temp_folder.h"

namespace bough {

class PostgresServer {
 public:
  /// Whether the server's programs are installed.
  static bool isInstalled();

  /// Creates a cluster and starts it. `settings` are lines of postgresql.conf.
  explicit PostgresServer(const std::vector<std::string>& settings = {});
  /// Copies a running server as its standby of this name, and starts it.
  PostgresServer(const PostgresServer& primary, const std::string& standbyName);
  ~PostgresServer();
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  /// `name`: a schema, so that many stores fit into one server.
  [[nodiscard]] std::string url(const std::string& schema = {}, const std::string& user = "postgres") const;
  [[nodiscard]] std::string socket() const { return folder_ / ("socket/.s.PGSQL." + std::to_string(kPort)); }
  [[nodiscard]] std::string socketFolder() const { return folder_ / "socket"; }
  [[nodiscard]] std::string dataFolder() const { return folder_ / "data"; }

  void start();
  void stop();     ///< As an administrator would: transactions are cut off, data is written.
  void kill();     ///< SIGKILL of the server and all its children.
  void suspend();  ///< SIGSTOP of all of them.
  void resume();
  void promote();  ///< A standby becomes the primary.
  /// Forgets what ALTER SYSTEM has set, in the file.
  void removeAutoSettings();
  void addSettings(const std::vector<std::string>& settings);

  static constexpr int kPort = 5432;

  /// Runs a program of PostgreSQL, as a user that it accepts; returns its output and throws when it fails.
  std::string run(const std::vector<std::string>& command) const;
  /// Starts a program of PostgreSQL, or one that is named by its whole path, as the same user. It ends with this
  /// process.
  [[nodiscard]] pid_t spawn(const std::vector<std::string>& command, const std::string& output) const;

 private:
  void prepareFolder();
  void waitUntilReady();

  TempFolder folder_;
  pid_t process_ = 0;
};

/// Runs SQL as the superuser, through psql; throws when that fails. Returns what it prints, without blanks around.
std::string runSql(const PostgresServer& server, const std::string& sql);

/// A server for all tests of a program, started with the first.
PostgresServer& sharedServer();
/// A URL of a store on it that no other test uses.
std::string freshStoreUrl();

}  // namespace bough
