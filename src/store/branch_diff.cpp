// Two branches side by side: first by which entries they are, then by what these say.

#include <fmt/format.h>

#include <algorithm>

#include "store/session_store_impl.h"

namespace bough {
namespace {

// Which entry of which session stands at a place; shared history is the other session's.
class Origins {
 public:
  Origins(const std::string& sessionId, const ForkHistory& history) : sessionId_(sessionId) {
    for (const ForkHistory::Part& part : history.parts()) {
      for (const std::uint64_t sequence : part.sequences) shared_.emplace_back(&part.sessionId, sequence);
    }
  }

  [[nodiscard]] std::pair<std::string_view, std::uint64_t> of(TreeNode place) const {
    if (place == 0 || place > shared_.size()) return {sessionId_, place == 0 ? 0 : place - shared_.size()};
    return {*shared_[place - 1].first, shared_[place - 1].second};
  }

 private:
  const std::string& sessionId_;
  std::vector<std::pair<const std::string*, std::uint64_t>> shared_;
};

struct Side {
  std::string sessionId;
  ForkHistory history;
  std::vector<TreeNode> path;
};

bool isSameContent(const Entry& left, const Entry& right) {
  return left.type == right.type && left.payload == right.payload;
}

}  // namespace

Result<BranchDiff> SessionStore::diffBranches(const BranchEnd& left, const BranchEnd& right) {
  const auto load = [&](const BranchEnd& end) -> Result<Side> {
    auto tree = loadTree(end.sessionId);
    if (!tree) return std::unexpected(tree.error());
    TreeNode leaf = tree->head();
    if (!end.entryId.empty()) {
      auto named = sequenceOf(end.sessionId, end.entryId);
      if (!named) return std::unexpected(named.error());
      leaf = *named;
    }
    if (!end.entryId.empty() && !tree->isNode(leaf)) {
      return fail(ErrorCode::InvalidArgument, fmt::format("entry {} is no part of the conversation", end.entryId),
                  "name a message");
    }
    auto history = impl_->historyOf(end.sessionId);
    if (!history) return std::unexpected(history.error());
    return Side{.sessionId = end.sessionId,
                .history = **history,
                .path = leaf == kNoNode ? std::vector<TreeNode>() : tree->path(leaf)};
  };
  auto one = load(left);
  if (!one) return std::unexpected(one.error());
  auto other = load(right);
  if (!other) return std::unexpected(other.error());

  const Origins leftOrigins(one->sessionId, one->history);
  const Origins rightOrigins(other->sessionId, other->history);
  const std::size_t most = std::min(one->path.size(), other->path.size());
  std::size_t same = 0;
  while (same < most && leftOrigins.of(one->path[same]) == rightOrigins.of(other->path[same])) ++same;

  constexpr std::size_t kPart = 256;
  std::size_t equal = same;
  // Branches of one session that part do so for good: an equal entry behind that is another one.
  for (bool going = one->sessionId != other->sessionId; going && equal < most;) {
    const auto part = [&](const Side& side) {
      const auto begin = side.path.begin() + static_cast<std::ptrdiff_t>(equal);
      return loadEntriesAt(side.sessionId, {begin, begin + static_cast<std::ptrdiff_t>(std::min(kPart, most - equal))});
    };
    auto ours = part(*one);
    if (!ours) return std::unexpected(ours.error());
    auto theirs = part(*other);
    if (!theirs) return std::unexpected(theirs.error());
    const auto [end, unused] = std::ranges::mismatch(*ours, *theirs, isSameContent);
    equal += static_cast<std::size_t>(end - ours->begin());
    going = end == ours->end();
  }
  const auto slice = [](const std::vector<TreeNode>& path, std::size_t from, std::size_t end) {
    return std::vector<TreeNode>(path.begin() + static_cast<std::ptrdiff_t>(from),
                                 path.begin() + static_cast<std::ptrdiff_t>(end));
  };
  return BranchDiff{.common = slice(one->path, 0, equal),
                    .sameEntries = same,
                    .left = slice(one->path, equal, one->path.size()),
                    .right = slice(other->path, equal, other->path.size())};
}

}  // namespace bough
