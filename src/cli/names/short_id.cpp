#include "cli/names/short_id.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/model/uuid.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"

namespace bough::cli {
namespace {

constexpr std::size_t kMostIds = 2'000;

using Texts = std::vector<std::string>;

std::size_t commonPrefixSize(std::string_view one, std::string_view other) {
  return static_cast<std::size_t>(std::ranges::mismatch(one, other).in1 - one.begin());
}

// Returns the length of the shortest prefix of `text` that no other text in the sorted list has; the whole size if none
// is unique.
std::size_t uniquePrefixSize(const Texts& sorted, std::string_view text) {
  const auto isBefore = [&](std::string_view each) { return each.substr(0, text.size()) < text; };
  const auto first = std::ranges::partition_point(sorted, isBefore);
  const auto after =
      std::ranges::find_if_not(first, sorted.end(), [&](std::string_view each) { return each.starts_with(text); });
  if (after - first > 1) return text.size();
  std::size_t same = 0;
  if (first != sorted.begin()) same = std::max(same, commonPrefixSize(text, *std::prev(first)));
  if (after != sorted.end()) same = std::max(same, commonPrefixSize(text, *after));
  return std::min(same + 1, text.size());
}

bool hasPrefix(const Texts& sorted, std::string_view text) {
  const auto place = std::ranges::lower_bound(sorted, text);
  return place != sorted.end() && place->starts_with(text);
}

std::string reversed(std::string text) {
  std::ranges::reverse(text);
  return text;
}

IdPainter prefixPainter(Texts ids) {
  Texts ends(ids.size());
  std::ranges::transform(ids, ends.begin(), reversed);
  std::ranges::sort(ids);
  std::ranges::sort(ends);
  return [begins = std::move(ids), ends = std::move(ends)](const std::string& id) {
    const bool isBegin = hasPrefix(begins, id);
    if (!isBegin && !hasPrefix(ends, reversed(id))) return id;
    const std::size_t size = isBegin ? uniquePrefixSize(begins, id) : uniquePrefixSize(ends, reversed(id));
    const std::size_t from = isBegin ? 0 : id.size() - size;
    const auto dim = [](const std::string& part) { return part.empty() ? part : styled(Style::Dim, part); };
    return dim(id.substr(0, from)) + styled(Style::Bold, id.substr(from, size)) + dim(id.substr(from + size));
  };
}

// When there are more ids than a list can wait for, the whole id stands out.
IdPainter painterFor(Texts ids) {
  if (!ids.empty() && ids.size() <= kMostIds) return prefixPainter(std::move(ids));
  return [](const std::string& id) { return styled(Style::Bold, id); };
}

}  // namespace

bool isBoughId(std::string_view id) {
  // A prefix may precede the id: Codex puts the thread's id before the id of a file that replaced the thread's first
  // file.
  id = id.substr(id.rfind('_') + 1);
  return isUuid(id) && id[14] == '7';
}

std::string exactName(std::string_view id) {
  return isBoughId(id) ? shortId(id) : std::string(id);
}

std::string shortId(std::string_view id) {
  if (isBoughId(id)) return std::string(id.substr(id.size() - kShortIdSize));
  return std::string(isUuid(id) ? id.substr(0, kShortIdSize) : id);
}

std::vector<std::string> shortIds(const std::vector<std::string>& ids) {
  // How many ids of the list each part of an id may mean; names are compared with both ends.
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

IdPainter sessionIdPainter(Catalog& catalog) {
  if (!colorsAreUsed()) return {};
  Texts ids;
  if (const auto sessions = catalog.list({.limit = kMostIds + 1, .models = false})) {
    for (const SessionSummary& each : *sessions) ids.push_back(each.sessionId);
  }
  return painterFor(std::move(ids));
}

IdPainter entryIdPainter(SessionStore& store, const std::string& sessionId) {
  if (!colorsAreUsed()) return {};
  return painterFor(store.findEntryIds(sessionId, "", kMostIds + 1).value_or(Texts()));
}

}  // namespace bough::cli
