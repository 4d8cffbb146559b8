#include "base/model/lineage.h"

#include <string_view>
#include <utility>

#include "base/json/json_scan.h"

namespace bough {
namespace {

// Returns the session whose history this header continues; empty when the session starts its own history.
std::string sessionBefore(std::string_view header) {
  for (const std::string_view name : {"parentSession", "detachedFrom"}) {
    const auto origin = json::findMember(header, name);
    if (!origin) continue;
    if (auto session = json::findString(*origin, "sessionId"); session && !session->empty()) return std::move(*session);
  }
  return {};
}

}  // namespace

std::string rootSession(std::string sessionId, const HeaderPayloadOf& headerOf) {
  constexpr int kMaxSteps = 1000;  // damaged headers may form a cycle
  for (int steps = 0; steps < kMaxSteps; ++steps) {
    const auto header = headerOf(sessionId);
    if (!header) break;
    if (auto root = json::findString(*header, "rootSession"); root && !root->empty()) return std::move(*root);
    std::string before = sessionBefore(*header);
    if (before.empty()) {
      auto named = json::findString(*header, "sessionId");
      return named && !named->empty() ? std::move(*named) : sessionId;
    }
    sessionId = std::move(before);
  }
  return sessionId;
}

}  // namespace bough
