#include <string>

#include "base/user_folders.h"
#include "bough/store.h"

namespace bough {

Result<std::string> defaultLocation() {
  if (auto location = environmentVariable("BOUGH_STORE"); !location.empty()) return location;
  if (const auto data = userFolder(UserFolder::Data); !data.empty()) return data + "/bough";
  return fail(ErrorCode::NotFound, "cannot tell where the store is: HOME is not set to an absolute path",
              "set HOME, or name a store with --store or BOUGH_STORE");
}

}  // namespace bough
