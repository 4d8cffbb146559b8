// Removes a new store in which nothing was stored. If a command created a store but then failed or had nothing to do,
// an empty store would only hide that the location was mistyped.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace bough::cli {

class NewStore {
 public:
  /// Call this before a store may be created at this location. An existing store is left alone.
  void watch(const std::string& location);

  /// Removes the stores created since watch(), with the folders created for them. Keeps a store that has any content or
  /// that another process has open. The stores must be closed.
  void removeEmpty();

 private:
  struct Place {
    std::filesystem::path folder;
    std::vector<std::filesystem::path> missing;  // the folders that did not exist: this one and its parents, the
                                                 // deepest first
  };
  std::vector<Place> places_;
};

}  // namespace bough::cli
