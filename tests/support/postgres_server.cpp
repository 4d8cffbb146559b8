#include "support/postgres_server.h"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <ranges>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace bough {
namespace {

namespace fs = std::filesystem;

// Returns the folder of the newest installed PostgreSQL; empty when none is installed.
std::string programFolder() {
  std::string found;
  std::error_code ignored;
  for (const auto& version : fs::directory_iterator("/usr/lib/postgresql", ignored)) {
    const fs::path folder = version.path() / "bin";
    if (fs::exists(folder / "initdb") && folder.string() > found) found = folder.string();
  }
  return found;
}

struct Owner {
  uid_t user;
  gid_t group;
};

Owner lookUpOwner() {
  if (::geteuid() != 0) return {.user = ::geteuid(), .group = ::getegid()};
  const passwd* const entry = ::getpwnam("postgres");
  if (entry == nullptr) throw std::runtime_error("there is no user postgres");
  return {.user = entry->pw_uid, .group = entry->pw_gid};
}

// PostgreSQL refuses to run as root. Looked up only once, because getpwnam is not thread-safe.
Owner owner() {
  static const Owner found = lookUpOwner();
  return found;
}

std::vector<pid_t> childrenOf(pid_t parent) {
  std::vector<pid_t> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
    std::ifstream stat(entry.path() / "stat");
    std::string line;
    if (!std::getline(stat, line)) continue;
    std::istringstream rest(line.substr(line.rfind(')') + 1));
    char state = 0;
    pid_t itsParent = 0;
    rest >> state >> itsParent;
    if (itsParent == parent) found.push_back(static_cast<pid_t>(std::stol(entry.path().filename().string())));
  }
  return found;
}

bool isRunning(pid_t process) {
  std::ifstream stat("/proc/" + std::to_string(process) + "/stat");
  std::string line;
  if (!std::getline(stat, line)) return false;
  const std::size_t name = line.rfind(')');
  return name == std::string::npos || name + 2 >= line.size() || (line[name + 2] != 'Z' && line[name + 2] != 'X');
}

void reap(pid_t process) {
  while (::waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace

bool PostgresServer::isInstalled() {
  return !programFolder().empty();
}

void PostgresServer::prepareFolder() {
  const Owner own = owner();
  fs::create_directory(folder_ / "socket");
  for (const std::string& path : {folder_.path().string(), folder_ / "socket"}) {
    if (::chown(path.c_str(), own.user, own.group) != 0) throw std::runtime_error("chown " + path);
    ::chmod(path.c_str(), 0711);
  }
}

PostgresServer::PostgresServer(const std::vector<std::string>& settings) {
  prepareFolder();
  run({"initdb", "-D", dataFolder(), "-A", "trust", "-U", "postgres", "--no-locale", "-E", "UTF8", "-N"});
  addSettings({"listen_addresses = ''", "unix_socket_directories = '" + socketFolder() + "'", "max_connections = 100",
               "wal_level = replica", "wal_log_hints = on", "wal_keep_size = 256MB", "max_wal_senders = 4",
               "shared_buffers = 32MB", "autovacuum = off", "logging_collector = off"});
  addSettings(settings);
  start();
}

PostgresServer::PostgresServer(const PostgresServer& primary, const std::string& standbyName) {
  prepareFolder();
  run({"pg_basebackup", "-h", primary.socketFolder(), "-p", std::to_string(kPort), "-U", "postgres", "-D", dataFolder(),
       "-c", "fast", "-X", "stream", "-N"});
  addSettings({"unix_socket_directories = '" + socketFolder() + "'",
               "primary_conninfo = 'host=" + primary.socketFolder() + " port=" + std::to_string(kPort) +
                   " user=postgres application_name=" + standbyName + "'"});
  std::ofstream(dataFolder() + "/standby.signal");
  const Owner own = owner();
  if (::chown((dataFolder() + "/standby.signal").c_str(), own.user, own.group) != 0) throw std::runtime_error("chown");
  start();
}

PostgresServer::~PostgresServer() {
  stop();
}

std::string PostgresServer::url(const std::string& schema, const std::string& user) const {
  std::string host;
  for (const char c : socketFolder()) host += c == '/' ? "%2F" : std::string(1, c);
  return "postgresql://" + user + "@" + host + ":" + std::to_string(kPort) + "/postgres" +
         (schema.empty() ? "" : "?schema=" + schema);
}

void PostgresServer::addSettings(const std::vector<std::string>& settings) {
  std::ofstream file(dataFolder() + "/postgresql.conf", std::ios::app);
  for (const std::string& line : settings) file << line << '\n';
}

pid_t PostgresServer::spawn(const std::vector<std::string>& command, const std::string& output) const {
  const Owner own = owner();
  const bool ofPostgres = !command.front().starts_with('/');
  const std::string program = ofPostgres ? programFolder() + "/" + command.front() : command.front();
  // A PostgreSQL program finds the others through the folder in its own name.
  std::vector<char*> words{const_cast<char*>(program.c_str())};
  for (const std::string& word : command | std::views::drop(1)) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("fork");
  if (child > 0) return child;
  if (::geteuid() == 0 && (::setgroups(0, nullptr) != 0 || ::setgid(own.group) != 0 || ::setuid(own.user) != 0)) {
    ::_exit(126);
  }
  // No server may survive when the test is killed.
  ::prctl(PR_SET_PDEATHSIG, SIGQUIT);
  if (::getppid() != parent || ::chdir("/") != 0) ::_exit(126);
  ::setpgid(0, 0);
  const int file = ::open(output.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  ::dup2(file, 1);
  ::dup2(file, 2);
  ::execv(program.c_str(), words.data());
  ::_exit(127);
}

std::string PostgresServer::run(const std::vector<std::string>& command) const {
  static std::atomic<int> number = 0;
  const std::string output = folder_ / ("output." + std::to_string(++number));
  const pid_t child = spawn(command, output);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  std::ostringstream words;
  words << std::ifstream(output).rdbuf();
  if (status != 0) throw std::runtime_error(command.front() + " failed: " + words.str());
  return words.str();
}

void PostgresServer::start() {
  if (process_ != 0) return;
  // Left by a server that was killed.
  std::error_code ignored;
  fs::remove(dataFolder() + "/postmaster.pid", ignored);
  fs::remove(socket(), ignored);
  fs::remove(socket() + ".lock", ignored);
  process_ = spawn({"postgres", "-D", dataFolder()}, folder_ / "output");
  waitUntilReady();
}

void PostgresServer::waitUntilReady() {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (std::chrono::steady_clock::now() < end) {
    std::ifstream file(dataFolder() + "/postmaster.pid");
    std::string line;
    while (std::getline(file, line)) {
      if (line.starts_with("ready") || line.starts_with("standby")) return;
    }
    if (::waitpid(process_, nullptr, WNOHANG) == process_) {
      process_ = 0;
      std::ostringstream words;
      words << std::ifstream(folder_ / "output").rdbuf();
      throw std::runtime_error("postgres does not start: " + words.str());
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  throw std::runtime_error("postgres does not get ready");
}

void PostgresServer::stop() {
  if (process_ == 0) return;
  ::kill(process_, SIGCONT);
  for (const pid_t child : childrenOf(process_)) ::kill(child, SIGCONT);
  ::kill(process_, SIGINT);
  reap(process_);
  process_ = 0;
}

void PostgresServer::kill() {
  if (process_ == 0) return;
  // A stopped server cannot create children after they were counted.
  ::kill(process_, SIGSTOP);
  int status = 0;
  ::waitpid(process_, &status, WUNTRACED);
  const std::vector<pid_t> children = childrenOf(process_);
  for (const pid_t child : children) ::kill(child, SIGKILL);
  ::kill(process_, SIGKILL);
  reap(process_);
  process_ = 0;
  // The next server refuses to start while a child still has the shared memory.
  for (const pid_t child : children) {
    while (isRunning(child)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void PostgresServer::suspend() {
  const std::vector<pid_t> children = childrenOf(process_);
  ::kill(process_, SIGSTOP);
  for (const pid_t child : children) ::kill(child, SIGSTOP);
}

void PostgresServer::resume() {
  ::kill(process_, SIGCONT);
  for (const pid_t child : childrenOf(process_)) ::kill(child, SIGCONT);
}

void PostgresServer::removeAutoSettings() {
  std::ofstream(dataFolder() + "/postgresql.auto.conf", std::ios::trunc);
}

void PostgresServer::promote() {
  run({"pg_ctl", "-D", dataFolder(), "-w", "promote"});
}

std::string runSql(const PostgresServer& server, const std::string& sql) {
  std::string out = server.run({"psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", server.socketFolder(),
                                "-p", std::to_string(PostgresServer::kPort), "-U", "postgres", "-c", sql, "postgres"});
  while (!out.empty() && out.back() == '\n') out.pop_back();
  return out;
}

PostgresServer& sharedServer() {
  static PostgresServer server({"fsync = off", "full_page_writes = off"});
  return server;
}

std::string freshStoreUrl() {
  static std::atomic<int> number = 0;
  return sharedServer().url("store_" + std::to_string(++number));
}

}  // namespace bough
