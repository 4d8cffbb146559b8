// Patience alignment: first equal ends, then values that occur once in both lists, then equal values next to those.
#include "message/roundtrip/align.h"

#include <algorithm>
#include <unordered_map>

namespace bough::message {
namespace {

struct Anchor {
  std::size_t before;
  std::size_t now;
};

// Returns the longest sequence of anchors that keeps the order of both lists; `anchors` is ordered by `now`.
std::vector<Anchor> longestIncreasing(const std::vector<Anchor>& anchors) {
  std::vector<std::size_t> tails;
  std::vector<std::size_t> previous(anchors.size(), kUnmatched);
  for (std::size_t i = 0; i < anchors.size(); ++i) {
    const auto at =
        std::ranges::lower_bound(tails, anchors[i].before, {}, [&](std::size_t k) { return anchors[k].before; });
    if (at != tails.begin()) previous[i] = *(at - 1);
    if (at == tails.end()) {
      tails.push_back(i);
    } else {
      *at = i;
    }
  }
  std::vector<Anchor> chain;
  for (std::size_t i = tails.empty() ? kUnmatched : tails.back(); i != kUnmatched; i = previous[i]) {
    chain.push_back(anchors[i]);
  }
  std::ranges::reverse(chain);
  return chain;
}

struct Range {
  std::size_t beforeBegin, beforeEnd, nowBegin, nowEnd;
};

// Matches equal values at both ends of the ranges and returns what remains between them.
Range matchEnds(std::span<const std::uint64_t> before, std::span<const std::uint64_t> now, Range range,
                std::vector<std::size_t>& matches) {
  while (range.beforeBegin < range.beforeEnd && range.nowBegin < range.nowEnd &&
         before[range.beforeBegin] == now[range.nowBegin]) {
    matches[range.nowBegin++] = range.beforeBegin++;
  }
  while (range.beforeBegin < range.beforeEnd && range.nowBegin < range.nowEnd &&
         before[range.beforeEnd - 1] == now[range.nowEnd - 1]) {
    matches[--range.nowEnd] = --range.beforeEnd;
  }
  return range;
}

}  // namespace

std::vector<std::size_t> align(std::span<const std::uint64_t> before, std::span<const std::uint64_t> now) {
  std::vector<std::size_t> matches(now.size(), kUnmatched);
  const Range middle = matchEnds(before, now, {0, before.size(), 0, now.size()}, matches);
  if (middle.beforeBegin == middle.beforeEnd || middle.nowBegin == middle.nowEnd) return matches;
  struct Seen {
    std::size_t countBefore = 0, countNow = 0, before = 0, now = 0;
  };
  std::unordered_map<std::uint64_t, Seen> seen;
  for (std::size_t i = middle.beforeBegin; i < middle.beforeEnd; ++i) {
    Seen& each = seen[before[i]];
    ++each.countBefore;
    each.before = i;
  }
  for (std::size_t i = middle.nowBegin; i < middle.nowEnd; ++i) {
    Seen& each = seen[now[i]];
    ++each.countNow;
    each.now = i;
  }
  std::vector<Anchor> unique;
  for (std::size_t i = middle.nowBegin; i < middle.nowEnd; ++i) {
    const Seen& each = seen[now[i]];
    if (each.countBefore == 1 && each.countNow == 1) unique.push_back({.before = each.before, .now = i});
  }
  Range gap{middle.beforeBegin, middle.beforeBegin, middle.nowBegin, middle.nowBegin};
  for (const Anchor& anchor : longestIncreasing(unique)) {
    matches[anchor.now] = anchor.before;
    matchEnds(before, now, {gap.beforeEnd, anchor.before, gap.nowEnd, anchor.now}, matches);
    gap.beforeEnd = anchor.before + 1;
    gap.nowEnd = anchor.now + 1;
  }
  matchEnds(before, now, {gap.beforeEnd, middle.beforeEnd, gap.nowEnd, middle.nowEnd}, matches);
  return matches;
}

}  // namespace bough::message
