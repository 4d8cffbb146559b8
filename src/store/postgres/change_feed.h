// Live follow. A process that has appended sends a notification after the commit, on a separate connection and for many
// appends at once: notifications inside the transactions would make all commits of the database wait for each other. A
// follower listens, and also looks every two seconds, so a lost notification only costs time.
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
  /// Sends the notifications that are still waiting.
  ~ChangeHub();
  ChangeHub(const ChangeHub&) = delete;
  ChangeHub& operator=(const ChangeHub&) = delete;

  /// Records that a session has changed. Returns at once.
  void note(const std::string& sessionId);
  /// Watches these sessions; all sessions when the list is empty.
  Result<std::unique_ptr<ChangeWatcher>> watch(const std::vector<std::string>& sessionIds);

 private:
  class Watcher;
  struct Watched;
  void noteGuarded(const std::string& sessionId);
  void announceLoop();
  void announce(std::unique_lock<std::mutex>& lock);
  void listenLoop();
  Exchange<void> listenOn(Connection& connection);
  void wakeAll();
  void stop();

  Database& database_;
  const std::string channel_;
  pid_t process_;

  std::mutex mutex_;
  std::condition_variable noted_;
  std::set<std::string> waiting_;  // changed sessions that were not announced yet
  bool stopping_ = false;
  std::jthread announcer_;
  std::jthread listener_;
  int wakeRead_ = -1;  // a pipe that ends the listener's wait
  int wakeWrite_ = -1;

  std::shared_ptr<Watched> watched_;
};

}  // namespace bough::postgres
