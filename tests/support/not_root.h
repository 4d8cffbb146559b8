// Makes tests of permissions work when they run as root, who may do everything.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

namespace bough {

/// For its scope, root acts as the user nobody, and the folder with all its contents belongs to nobody.
class NotRoot {
 public:
  explicit NotRoot(const std::filesystem::path& folder) : isRoot_(::geteuid() == 0) {
    if (!isRoot_) return;
    give(folder);
    for (const auto& each : std::filesystem::recursive_directory_iterator(folder)) give(each.path());
    if (::seteuid(kNobody) != 0) throw std::system_error(errno, std::generic_category(), "seteuid");
  }
  NotRoot(const NotRoot&) = delete;
  NotRoot& operator=(const NotRoot&) = delete;
  ~NotRoot() {
    if (isRoot_ && ::seteuid(0) != 0) std::terminate();
  }

 private:
  static constexpr uid_t kNobody = 65534;

  static void give(const std::filesystem::path& path) {
    if (::lchown(path.c_str(), kNobody, static_cast<gid_t>(-1)) != 0) {
      throw std::system_error(errno, std::generic_category(), path.string());
    }
  }

  bool isRoot_;
};

}  // namespace bough
