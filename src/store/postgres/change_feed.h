// Live follow. A process that appended says so after the commit, on a connection of its own and for many appends at
// once: a notification inside the transaction would make all commits of the database wait for one another. Who follows
// a session listens, and looks every two seconds all the same; a lost notification costs time and nothing else.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "bough/storage_backend.h"
#include "store/postgres/schema/database.h"

namespace bough::postgres {

class ChangeHub {
 public:
  explicit ChangeHub(Database& database);
  /// Says what waits to be said.
  ~ChangeHub();
  ChangeHub(const ChangeHub&) = delete;
  ChangeHub& operator=(const ChangeHub&) = delete;

  /// A session has changed. Returns at once.
  void note(const std::string& sessionId);
  /// Watches these sessions; all when there are none.
  Result<std::unique_ptr<ChangeWatcher>> watch(const std::vector<std::string>& sessionIds);

 private:
  class Watcher;
  struct Watched;
  void noteGuarded(const std::string& sessionId);
  void speak();
  void tell(std::unique_lock<std::mutex>& lock);
  void listen();
  Exchange<void> listenOn(Connection& connection);
  void wakeAll();
  void stop();

  Database& database_;
  const std::string channel_;
  pid_t process_;

  std::mutex mutex_;
  std::condition_variable noted_;
  std::set<std::string> waiting_;  // sessions that were changed and not told of
  bool stopping_ = false;
  std::jthread speaker_;
  std::jthread listener_;
  int wakeRead_ = -1;  // a pipe that ends the listener's wait
  int wakeWrite_ = -1;

  std::shared_ptr<Watched> watched_;
};

}  // namespace bough::postgres
