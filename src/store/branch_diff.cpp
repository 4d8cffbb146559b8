// Compares two branches: first by the identity of their entries, then by their content.

#include <fmt/format.h>

#include <algorithm>

#include "base/try.h"
#include "store/session_store_impl.h"

namespace bough {
namespace {

// One of the two branches.
struct ComparedBranch {
  const Session* session = nullptr;
  SessionShape shape;
  std::vector<Sequence> path;

  // Returns the session and the own sequence of the entry at a sequence. An entry of shared history belongs to the
  // other session.
  [[nodiscard]] std::pair<std::string_view, std::uint64_t> originOf(Sequence sequence) const {
    std::uint64_t before = 1;
    for (const SessionShape::SharedPart& part : shape.shared) {
      if (sequence >= before && sequence - before < part.sequences.size()) {
        return {part.sessionId, part.sequences[sequence - before]};
      }
      before += part.sequences.size();
    }
    return {session->id(), sequence == 0 ? 0 : sequence - (before - 1)};
  }
};

bool isSameContent(const Entry& left, const Entry& right) {
  return left.type == right.type && left.payload == right.payload;
}

}  // namespace

Result<BranchDiff> Session::diff(const std::string& entryId, const Session& other,
                                 const std::string& otherEntryId) const {
  const auto load = [](const Session& session, const std::string& leafId) -> Result<ComparedBranch> {
    BOUGH_TRY(session.state_->ready());
    ComparedBranch side{.session = &session};
    BOUGH_TRY(side.shape, session.state_->stored->shape());
    const SessionTree tree(side.shape.outline);
    Sequence leaf = tree.head();
    if (!leafId.empty()) {
      BOUGH_TRY(leaf, session.sequenceOf(leafId));
      if (!tree.isNode(leaf)) {
        return fail(ErrorCode::InvalidArgument, fmt::format("entry {} is not part of the conversation", leafId),
                    "name a message");
      }
    }
    if (leaf != kNoSequence) side.path = tree.path(leaf);
    return side;
  };
  BOUGH_TRY(const ComparedBranch left, load(*this, entryId));
  BOUGH_TRY(const ComparedBranch right, load(other, otherEntryId));
  const std::size_t most = std::min(left.path.size(), right.path.size());
  std::size_t same = 0;
  // A session of another store may be a copy that was continued differently: there only the content of entries is
  // compared.
  const bool isOneStore = state_->store == other.state_->store;
  while (isOneStore && same < most && left.originOf(left.path[same]) == right.originOf(right.path[same])) ++same;

  constexpr std::size_t kPart = 32;  // entries of each branch that are in memory at a time
  std::size_t equal = same;
  // Two branches of one session never share an entry again after they part: an equal entry after that is a different
  // entry.
  for (bool going = !isOneStore || id() != other.id(); going && equal < most;) {
    const auto part = [&](const ComparedBranch& side) {
      const auto begin = side.path.begin() + static_cast<std::ptrdiff_t>(equal);
      return side.session->entriesAt({begin, begin + static_cast<std::ptrdiff_t>(std::min(kPart, most - equal))});
    };
    BOUGH_TRY(const auto ours, part(left));
    BOUGH_TRY(const auto theirs, part(right));
    const auto [end, unused] = std::ranges::mismatch(ours, theirs, isSameContent);
    equal += static_cast<std::size_t>(end - ours.begin());
    going = end == ours.end();
  }
  const auto slice = [](const std::vector<Sequence>& path, std::size_t from, std::size_t end) {
    return std::vector<Sequence>(path.begin() + static_cast<std::ptrdiff_t>(from),
                                 path.begin() + static_cast<std::ptrdiff_t>(end));
  };
  return BranchDiff{.common = slice(left.path, 0, equal),
                    .sameEntries = same,
                    .left = slice(left.path, equal, left.path.size()),
                    .right = slice(right.path, equal, right.path.size())};
}

}  // namespace bough
