#include "agent/chat/instructions.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <set>

#include "agent/parts/json_parts.h"
#include "base/text/text.h"
#include "bough/agent/working_folder.h"

namespace bough::agent {
namespace {

constexpr std::size_t kFileBytes = std::size_t{64} << 10;
constexpr std::size_t kAllBytes = std::size_t{256} << 10;

class InstructionReader {
 public:
  explicit InstructionReader(const std::string& folder) {
    struct stat info{};
    folderOwner_ = ::stat(folder.c_str(), &info) == 0 ? info.st_uid : ::geteuid();
  }

  void add(const std::string& path) {
    const auto bytes = read(path);
    if (!bytes || bytes->find_first_not_of(" \t\r\n") == std::string::npos || !seen_.insert(*bytes).second) return;
    if (!json::check(json::quoted(*bytes))) return addNotice(path, "it is not valid UTF-8");
    if (found_.text.size() + bytes->size() > kAllBytes) {
      return addNotice(path, fmt::format("all such files together would have more than {} KiB", kAllBytes >> 10));
    }
    found_.text += fmt::format("\n\n# Instructions from {}\n\n{}", path, *bytes);
    found_.files.push_back(path);
  }

  Instructions take() { return std::move(found_); }

 private:
  void addNotice(const std::string& path, const std::string& why) {
    found_.notices.push_back(fmt::format("{} is left out: {}", path, why));
  }

  // Returns std::nullopt when the file does not exist or must not be read.
  std::optional<std::string> read(const std::string& path) {
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!file.isOpen()) {
      if (errno != ENOENT && errno != ENOTDIR) addNotice(path, std::strerror(errno));
      return std::nullopt;
    }
    struct stat info{};
    if (::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
    if (info.st_uid != ::geteuid() && info.st_uid != 0 && info.st_uid != folderOwner_) {
      addNotice(path, "it belongs to another user");
      return std::nullopt;
    }
    std::string bytes(kFileBytes + 1, '\0');
    std::size_t size = 0;
    while (size < bytes.size()) {
      const ssize_t got = ::read(file.get(), bytes.data() + size, bytes.size() - size);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) {
        addNotice(path, std::strerror(errno));
        return std::nullopt;
      }
      if (got == 0) break;
      size += static_cast<std::size_t>(got);
    }
    bytes.resize(size);
    if (size > kFileBytes) {
      addNotice(path, fmt::format("it is larger than {} KiB", kFileBytes >> 10));
      return std::nullopt;
    }
    return bytes;
  }

  Instructions found_;
  std::set<std::string> seen_;
  uid_t folderOwner_ = 0;
};

}  // namespace

Instructions readInstructions(const std::string& folder, const std::vector<std::string>& userFiles) {
  InstructionReader reader(folder);
  for (const std::string& path : userFiles) reader.add(path);
  for (std::size_t end = 0;; end = folder.find('/', end + 1)) {
    // "", "/home", "/home/me": each prefix that ends before a slash, then the whole path.
    const std::string parent = folder == "/" ? "" : folder.substr(0, end);
    for (const char* name : {"AGENTS.md", "CLAUDE.md"}) reader.add(fmt::format("{}/{}", parent, name));
    if (end == std::string::npos || folder == "/") break;
  }
  return reader.take();
}

}  // namespace bough::agent
