#include "agent/tools/tool_variables.h"

#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "agent/tools/credentials.h"
#include "base/text/address.h"
#include "bough/agent/tools.h"

namespace bough::agent {

ToolVariables::ToolVariables() {
  const std::vector<std::string> keys = Secrets::variables();
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view entry(*each);
    const std::string_view name = entry.substr(0, entry.find('='));
    if (std::ranges::find(keys, name) != keys.end()) continue;
    const bool isAddress = name.size() < entry.size() && mayHoldPassword(name);
    if (isAddress) changed_.push_back(std::string(name) + "=" + text::withoutPasswords(entry.substr(name.size() + 1)));
    pointers_.push_back(isAddress ? changed_.back().data() : *each);
  }
  pointers_.push_back(nullptr);
}

}  // namespace bough::agent
