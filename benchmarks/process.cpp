#include "process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "harness.h"

extern char** environ;

namespace bough::bench {
namespace {

pid_t start(std::vector<std::string>& words, int output) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (output < 0) posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  if (output >= 0) posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  if (output < 0) posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  if (output >= 0) posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
  pid_t child = 0;
  require(::posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), environ) == 0, words[0]);
  posix_spawn_file_actions_destroy(&actions);
  return child;
}

}  // namespace

std::string pathOf(const std::string& program) {
  std::string found;
  FILE* which = ::popen(("command -v " + program + " 2>/dev/null").c_str(), "r");
  char text[4096] = {};
  if (which != nullptr && std::fgets(text, sizeof text, which) != nullptr) found = text;
  if (which != nullptr) ::pclose(which);
  while (found.ends_with('\n')) found.pop_back();
  return found;
}

void runProcess(std::vector<std::string> words, const std::vector<int>& accepted) {
  const pid_t child = start(words, -1);
  int status = 0;
  ::waitpid(child, &status, 0);
  bool fine = false;
  for (const int code : accepted) fine = fine || (WIFEXITED(status) && WEXITSTATUS(status) == code);
  require(fine, words[0] + " " + words[1]);
}

double firstOutput(std::vector<std::string> words) {
  int ends[2];
  require(::pipe2(ends, O_CLOEXEC) == 0, "making a pipe");
  const auto begin = std::chrono::steady_clock::now();
  const pid_t child = start(words, ends[1]);
  ::close(ends[1]);
  char byte = 0;
  const bool printed = ::read(ends[0], &byte, 1) == 1;
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  require(printed, words.back() + " printed nothing");
  return seconds.count();
}

}  // namespace bough::bench
