#include "cli/names/session_id.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "base/model/uuid.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"

namespace bough::cli {

bool isMadeId(std::string_view id) {
  // Another one may go before it: of a thread of Codex, then comes that of the file that replaced the thread's first.
  id = id.substr(id.rfind('_') + 1);
  return isUuid(id) && id[14] == '7';
}

std::string exactId(std::string_view id) {
  return isMadeId(id) ? shortId(id) : std::string(id);
}

std::string shortId(std::string_view id) {
  if (isMadeId(id)) return std::string(id.substr(id.size() - kShortIdSize));
  return std::string(isUuid(id) ? id.substr(0, kShortIdSize) : id);
}

std::vector<std::string> shortIds(const std::vector<std::string>& ids) {
  // How many ids of the list a part of an id may mean: names are compared with both ends.
  std::unordered_map<std::string_view, int> uses;
  const auto beginning = [](std::string_view id) { return id.substr(0, kShortIdSize); };
  const auto end = [](std::string_view id) { return id.substr(id.size() - std::min(id.size(), kShortIdSize)); };
  for (const std::string_view id : std::set<std::string_view>(ids.begin(), ids.end())) {
    ++uses[beginning(id)];
    if (beginning(id) != end(id)) ++uses[end(id)];
  }
  std::vector<std::string> shown;
  for (const std::string& id : ids) {
    const std::string usual = shortId(id);
    const std::string_view other = usual == end(id) ? beginning(id) : end(id);
    const bool isCut = usual.size() < id.size();
    shown.push_back(!isCut || uses[usual] == 1 ? usual : std::string(uses[other] == 1 ? other : id));
  }
  return shown;
}

std::vector<std::string> shortIds(const std::vector<SessionSummary>& rows) {
  std::vector<std::string> ids;
  for (const SessionSummary& row : rows) ids.push_back(row.sessionId);
  return shortIds(ids);
}

}  // namespace bough::cli
