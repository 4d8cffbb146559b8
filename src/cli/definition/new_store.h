// A store that a command makes for what it is about to store. When nothing gets stored, the command has failed or had
// nothing to do, and an empty store would only hide that the location was mistyped: the store is removed again.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace bough::cli {

class NewStore {
 public:
  /// To be called before a store may be made at this location; a store that is there already is left alone.
  void watch(const std::string& location);

  /// Removes the stores that were made since, with the folders made for them. A store stays that has anything in it, or
  /// that another process has open. The stores must be closed.
  void removeEmpty();

 private:
  struct Place {
    std::filesystem::path folder;
    std::vector<std::filesystem::path> missing;  // this folder and those above it that did not exist, the lowest first
  };
  std::vector<Place> places_;
};

}  // namespace bough::cli
