// The loop's pen: appends to one branch of a session, each entry after the one before, and notices who else writes.
#pragma once

#include <bough/agent/loop.h>
#include <bough/message.h>
#include <bough/store.h>

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bough::agent {

/// Appends may come from several threads: they get in line.
class Journal {
 public:
  /// Continues from `parentId` (empty: before the first entry); `tailId` is the log's last entry as the caller knows
  /// it.
  Journal(SessionStore& store, std::string sessionId, std::string parentId, std::string tailId, std::string runId,
          std::optional<std::uint64_t> turn = {});

  /// Appends one entry and returns its id. Others that write into the same session meanwhile stay beside this branch.
  Result<std::string> append(std::string_view type, std::string payload, std::string meta = {});
  /// Several, all or nothing; returns the last one's id.
  Result<std::string> append(std::vector<Entry> entries);
  /// The first append of a turn: what others have written since `tailId`, other than labels and titles, is a conflict.
  Result<std::string> begin(std::string_view type, std::string payload, OnConflict onConflict, std::string meta = {});
  /// From here on, appends are refused once another chat has begun a turn in this session, on whatever machine. To be
  /// called after begin(): a turn that is refused ends nobody else's.
  Result<void> beginTurn();
  /// Says that a tool is about to run. Conflict when another process has started or answered that call meanwhile.
  /// With it goes, in one batch, the payload of a copy of the file that the tool is about to change.
  Result<std::string> startTool(const std::string& toolCallId, const std::string& name,
                                std::optional<std::string> copy = {});

  /// The next entry continues from this one; what was appended after it stays, as a branch.
  void goBackTo(const std::string& entryId);

  [[nodiscard]] std::string parentId() const;
  [[nodiscard]] std::string tailId() const;
  [[nodiscard]] const std::string& sessionId() const { return sessionId_; }
  [[nodiscard]] const std::string& runId() const { return runId_; }

  /// An entry of the turn, not yet placed.
  [[nodiscard]] Entry makeEntry(std::string_view type, std::string payload, std::string meta = {}) const;

 private:
  /// Judges the entries others appended; fails to refuse.
  using Judge = std::function<Result<void>(const std::vector<Entry>& others)>;
  Result<std::vector<Entry>> appendedByOthers();
  Result<std::string> appendBehind(std::vector<Entry> entries, const Judge& judge);

  SessionStore& store_;
  std::string sessionId_;
  std::string runId_;
  mutable std::mutex mutex_;
  std::string parentId_;
  std::string tailId_;
  std::optional<std::uint64_t> turn_;
};

/// The end of a branch, root first: as much of it as makes `enough` true, or all of it.
Result<std::vector<Entry>> loadBack(SessionStore& store, const std::string& sessionId, const std::string& headId,
                                    const std::function<bool(const std::vector<Entry>&)>& enough);

/// A message no provider has written: typed text.
std::string userPayload(const UserMessage& message);
/// The result of a call.
std::string resultPayload(std::string_view toolCallId, std::string_view name, std::string_view text, bool isError);

}  // namespace bough::agent
