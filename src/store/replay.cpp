#include "bough/tree.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/system/file_io.h"
#include "base/text/timestamp.h"
#include "base/try.h"
#include "bough/message.h"

#include "bough/store.h"

namespace bough {
namespace {

constexpr std::size_t kEntriesAtATime = 64;

std::uint64_t between(const std::optional<std::uint64_t>& from, const std::optional<std::uint64_t>& to) {
  return from && to && *to > *from ? *to - *from : 0;
}

}  // namespace

SessionReplay::SessionReplay(SessionStore& store, std::string sessionId, std::vector<Sequence> path)
    : store_(&store), sessionId_(std::move(sessionId)), path_(std::move(path)) {}

Result<SessionReplay> SessionReplay::open(SessionStore& store, const std::string& sessionId,
                                          const ReplayOptions& options) {
  BOUGH_TRY(auto tree, store.loadTree(sessionId));
  Sequence leaf = tree.head();
  if (!options.to.empty()) {
    BOUGH_TRY(auto named, store.sequenceOf(sessionId, options.to));
    leaf = named;
  }
  const auto notOn = [&](const std::string& entry) {
    return fail(ErrorCode::InvalidArgument, fmt::format("entry {} is not on the branch that is replayed", entry),
                "`bough tree` shows which branch it is on; --at names another branch");
  };
  if (!options.to.empty() && !tree.isNode(leaf)) return notOn(options.to);
  SessionReplay replay(store, sessionId, leaf == kNoSequence ? std::vector<Sequence>() : tree.path(leaf));
  if (!replay.path_.empty()) {
    BOUGH_TRY(auto first, store.loadEntriesAt(sessionId, {replay.path_.front()}));
    replay.startMs_ = parseTimestamp(first.front().timestamp);
    replay.previousMs_ = replay.startMs_;
  }
  if (options.after.empty()) return replay;
  BOUGH_TRY(auto after, store.loadEntry(sessionId, options.after));
  BOUGH_TRY(auto place, store.sequenceOf(sessionId, options.after));
  const auto found = std::ranges::find(replay.path_, place);
  if (found == replay.path_.end()) return notOn(options.after);
  replay.place_ = static_cast<std::size_t>(found - replay.path_.begin()) + 1;
  replay.previousMs_ = parseTimestamp(after.timestamp);
  replay.previousId_ = after.id;
  return replay;
}

Result<void> SessionReplay::load() {
  if (place_ >= loadedFrom_ && place_ - loadedFrom_ < loaded_.size()) return {};
  // Read the previous entry again: if it has changed, the session was replaced.
  const std::size_t from = place_ > 0 ? place_ - 1 : 0;
  const std::size_t end = std::min(path_.size(), place_ + kEntriesAtATime);
  BOUGH_TRY(auto entries, store_->loadEntriesAt(sessionId_, {path_.begin() + static_cast<std::ptrdiff_t>(from),
                                                             path_.begin() + static_cast<std::ptrdiff_t>(end)}));
  if (from < place_ && entries.front().id != previousId_) return changedWhileRead("session " + sessionId_);
  loaded_ = std::move(entries);
  loadedFrom_ = from;
  return {};
}

Result<std::optional<ReplayStep>> SessionReplay::next() {
  if (place_ >= path_.size()) return std::nullopt;
  BOUGH_TRY(load());
  ReplayStep step{.entry = std::move(loaded_[place_ - loadedFrom_]), .place = place_ + 1};
  const auto now = parseTimestamp(step.entry.timestamp);
  step.sinceStartMs = between(startMs_, now);
  step.sincePreviousMs = between(previousMs_, now);
  step.failed = hasFailedResult(step.entry);
  if (now) previousMs_ = now;
  previousId_ = step.entry.id;
  ++place_;
  return step;
}

Result<std::vector<ReplayStep>> SessionReplay::nextFailure() {
  std::vector<ReplayStep> steps;
  for (;;) {
    BOUGH_TRY(auto step, next());
    if (!step) return steps;
    steps.push_back(std::move(*step));
    if (steps.back().failed) return steps;
  }
}

}  // namespace bough
