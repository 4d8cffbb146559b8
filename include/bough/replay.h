// Goes through a branch entry by entry, with the time that passed, and tells where a tool failed: to see what an agent
// did, and to continue or fork from the place where it went wrong.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bough/entry.h"
#include "bough/error.h"
#include "bough/store.h"

namespace bough {

struct ReplayStep {
  Entry entry;
  std::size_t place = 0;           ///< In the branch, from 1.
  std::uint64_t sinceStartMs = 0;  ///< Time since the branch's first entry; times that cannot be read count as 0.
  std::uint64_t sincePreviousMs = 0;
  bool failed = false;  ///< The result of a tool that failed.
};

struct ReplayOptions {
  std::string to;     ///< The branch that ends in this entry; empty: the head.
  std::string after;  ///< Begin behind this entry of it; empty: at the root.
};

/// Made by open; must not outlive its store. What is appended meanwhile is not part of it.
class SessionReplay {
 public:
  /// NotFound when the session has no such entry; InvalidArgument when `after` is not on the branch.
  static Result<SessionReplay> open(SessionStore& store, const std::string& sessionId,
                                    const ReplayOptions& options = {});

  /// Entries of the branch, those before `after` included.
  [[nodiscard]] std::size_t size() const { return path_.size(); }
  /// The next entry; none at the end. Damaged, retryable from the start, when the session was replaced meanwhile.
  Result<std::optional<ReplayStep>> next();
  /// All steps up to the first failed tool result, that one included, or to the end.
  Result<std::vector<ReplayStep>> nextFailure();

 private:
  SessionReplay(SessionStore& store, std::string sessionId, std::vector<TreeNode> path);
  Result<void> load();

  SessionStore* store_;
  std::string sessionId_;
  std::vector<TreeNode> path_;
  std::size_t place_ = 0;
  std::vector<Entry> loaded_;  // from loadedFrom_ on
  std::size_t loadedFrom_ = 0;
  std::string previousId_;
  std::optional<std::uint64_t> startMs_;
  std::optional<std::uint64_t> previousMs_;
};

}  // namespace bough
