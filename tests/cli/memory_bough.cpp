// `bough` with a store in memory, for the golden scripts: memory_bough SOCKET runs command lines one after another in a
// single process. A client sends its standard descriptors, then its folder, environment and arguments as NUL-terminated
// texts: "folder", "NAME=value"…, "", argument…. It receives the exit code as one byte.

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "bough/store.h"
#include "cli/app.h"

namespace {

constexpr std::size_t kMaxBytes = std::size_t{1} << 20;
using Descriptors = std::array<int, 3>;

// The first bytes arrive with the descriptors.
std::string receive(int client, Descriptors& descriptors) {
  std::string text(kMaxBytes, '\0');
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(Descriptors))> control{};
  iovec part{.iov_base = text.data(), .iov_len = text.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t got = ::recvmsg(client, &message, 0);
  if (got <= 0) return {};
  std::memcpy(descriptors.data(), CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(Descriptors));
  text.resize(static_cast<std::size_t>(got));
  std::array<char, 4096> more{};
  while (!text.ends_with(std::string_view("\0\0\0", 3))) {
    const ssize_t count = ::read(client, more.data(), more.size());
    if (count <= 0) return {};
    text.append(more.data(), static_cast<std::size_t>(count));
  }
  text.resize(text.size() - 2);
  return text;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\0', begin);
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

int runFor(int client, const std::shared_ptr<bough::StorageBackend>& backend) {
  Descriptors descriptors{};
  const std::vector<std::string> parts = split(receive(client, descriptors));
  if (parts.empty() || ::chdir(parts.front().c_str()) != 0) return 99;
  ::clearenv();
  std::size_t place = 1;
  for (; place < parts.size() && !parts[place].empty(); ++place) {
    ::putenv(::strdup(parts[place].c_str()));  // the environment keeps the pointer
  }
  std::vector<std::string> words{"bough"};
  for (++place; place < parts.size(); ++place) words.push_back(parts[place]);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  for (int i = 0; i < 3; ++i) {
    ::dup2(descriptors[static_cast<std::size_t>(i)], i);
    ::close(descriptors[static_cast<std::size_t>(i)]);
  }
  return bough::cli::run(static_cast<int>(words.size()), arguments.data(), backend);
}

}  // namespace

int main(int, char** argv) {
  const auto backend = bough::makeMemoryBackend();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, argv[1], sizeof(address.sun_path) - 1);
  const int nowhere = ::open("/dev/null", O_RDWR);
  const int listener = ::socket(AF_UNIX, SOCK_STREAM, 0);
  if (::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) return 1;
  if (::listen(listener, 16) != 0) return 1;
  for (;;) {
    const int client = ::accept(listener, nullptr, nullptr);
    const char code = static_cast<char>(runFor(client, backend));
    for (const int standard : {0, 1, 2}) ::dup2(nowhere, standard);
    if (::write(client, &code, 1) != 1) std::perror("memory_bough");
    ::close(client);
  }
}
