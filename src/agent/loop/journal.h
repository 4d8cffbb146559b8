// Writes for the loop: appends entries to one branch of a session, each after the one before, and detects other
// writers.
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

/// Thread-safe; appends of several threads run one after the other.
class Journal {
 public:
  /// Continues from `parentId` (empty: before the first entry). `tailId` is the log's last entry that the caller has
  /// seen.
  Journal(SessionStore& store, std::string sessionId, std::string parentId, std::string tailId, std::string runId,
          std::optional<std::uint64_t> turn = {});

  /// Appends one entry and returns its id. Entries that others append meanwhile become branches beside this one.
  Result<std::string> append(std::string_view type, std::string payload, std::string meta = {});
  /// Appends several entries, all or none, and returns the id of the last one.
  Result<std::string> append(std::vector<Entry> entries);
  /// Makes the first append of a turn. Entries that others have written since `tailId`, except labels and titles, are a
  /// conflict.
  Result<std::string> begin(std::string_view type, std::string payload, OnConflict onConflict, std::string meta = {});
  /// From now on, appends fail once another chat, on any machine, has begun a turn in this session. Call this after
  /// begin(), so that a turn that is refused does not end another chat's turn.
  Result<void> beginTurn();
  /// Records that a tool is about to run. Fails with Conflict when another process has started or answered that call.
  /// `copy` is the payload for a copy of the file that the tool will change; it is stored in the same batch.
  Result<std::string> startTool(const std::string& toolCallId, const std::string& name,
                                std::optional<std::string> copy = {});

  /// Lets the next entry continue from this entry. Later entries stay, as a branch.
  void goBackTo(const std::string& entryId);

  [[nodiscard]] std::string parentId() const;
  [[nodiscard]] std::string tailId() const;
  [[nodiscard]] const std::string& sessionId() const { return sessionId_; }
  [[nodiscard]] const std::string& runId() const { return runId_; }

  /// Makes an entry of the turn without a parent; append() sets that.
  [[nodiscard]] Entry makeEntry(std::string_view type, std::string payload, std::string meta = {}) const;

 private:
  /// Checks the entries that others appended; fails to refuse the append.
  using CheckOthers = std::function<Result<void>(const std::vector<Entry>& others)>;
  Result<std::vector<Entry>> appendedByOthers();
  Result<std::string> appendAfterTail(std::vector<Entry> entries, const CheckOthers& check);

  SessionStore& store_;
  std::string sessionId_;
  std::string runId_;
  mutable std::mutex mutex_;
  std::string parentId_;
  std::string tailId_;
  std::optional<std::uint64_t> turn_;
};

/// Returns the end of a branch, root first: enough entries for `enough` to return true, or the whole branch.
Result<std::vector<Entry>> loadBack(SessionStore& store, const std::string& sessionId, const std::string& headId,
                                    const std::function<bool(const std::vector<Entry>&)>& enough);

/// Returns the payload of typed text: a message that no provider has written.
std::string userPayload(const UserMessage& message);
/// Returns the payload of a call's result.
std::string resultPayload(std::string_view toolCallId, std::string_view name, std::string_view text, bool isError);

}  // namespace bough::agent
