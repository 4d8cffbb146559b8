// One session in memory.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "log/batch_lines.h"
#include "store/rules/erasure.h"
#include "store/rules/turn_rules.h"
#include "store/sharing/sharing_backend.h"

namespace bough {

struct MemoryStore;

/// The stored data of a session, whether it is in the store or in the trash.
struct MemoryLog {
  struct Line {
    std::string text;
    std::string id;
    std::string parentId;
    std::uint32_t parent = kNoSequence;  // its sequence; kElsewhere when the parent is not in this session
    std::string type;                    // exactly as in the text
  };
  std::mutex mutex;  // guards all members below
  std::vector<Line> lines;
  std::unordered_map<std::string, std::uint64_t> sequences;
  std::map<EntryKind, std::vector<std::uint64_t>> controls;  // sequences of control entries; few of most kinds
  std::string headId;
  std::uint64_t generation = nextGeneration();
  TurnState turns;

  // Returns a number that is never repeated: a session may be removed and created again.
  static std::uint64_t nextGeneration();
  /// Adds all of the lines or, when memory runs out, none.
  void add(const BatchLines& fresh);
  /// Returns kElsewhere when the session does not have the entry.
  [[nodiscard]] std::uint32_t sequenceOf(const std::string& id) const;
  [[nodiscard]] Result<SessionState> state(const std::string& sessionId, const EntrySerializer& serializer) const;
  /// Adds entries that repeat entries of the plan (isDerivedFrom) to the plan. Returns whether there were any.
  Result<bool> addDerivedTargets(ErasurePlan& plan, const std::string& sessionId, const EntrySerializer& serializer,
                                 IdGenerator& ids);
  /// Returns true when there was something to erase.
  Result<bool> erase(const ErasurePlan& plan, const std::string& sessionId, const EntrySerializer& serializer);
  /// Returns the attachments that may be the way back of a migration.
  std::set<std::string> wayBackAttachments();
  /// Exports sealed lines as in a file, each entry as a batch of one.
  void exportTo(const std::function<bool(std::string_view)>& line) const;

 private:
  void addLines(const BatchLines& fresh);
};

class MemorySession final : public SharingSession {
 public:
  MemorySession(SharingSessions& sessions, std::shared_ptr<MemoryStore> store, std::string sessionId)
      : SharingSession(sessions, std::move(sessionId)), store_(std::move(store)) {}

  [[nodiscard]] Result<SessionState> state() override;
  [[nodiscard]] Result<Entry> header() override;
  [[nodiscard]] Result<AppendResult> append(AppendRequest& request) override;
  [[nodiscard]] Result<std::uint64_t> beginTurn() override;
  [[nodiscard]] Result<std::uint64_t> leaseTurn(const TurnLease& lease) override;
  [[nodiscard]] Result<void> exportLines(const std::function<bool(std::string_view)>& line) override;
  [[nodiscard]] Result<std::unique_ptr<ChangeWatcher>> watch() override;

  Result<std::uint64_t> generation() override;
  Result<std::optional<ForkOrigin>> origin() override;
  Result<std::optional<std::uint64_t>> ownSequenceOf(std::string_view entryId) override;
  Result<std::vector<std::uint64_t>> ownSelect(const Selection& selection) override;
  Result<std::vector<std::uint64_t>> ownControls(std::span<const EntryKind> kinds) override;
  Result<SessionOutline> ownOutline() override;
  Result<std::vector<std::string>> ownIds(std::string_view prefix, std::size_t limit) override;
  Result<BranchPart> ownBranch(std::uint64_t leaf, std::size_t limit) override;
  Result<std::vector<Entry>> ownRead(std::span<const std::uint64_t> sequences) override;

  Result<void> rewrite(const BatchLines& lines, const std::string& expectedTail);
  Result<MigrationResult> migrate();

  /// Returns null while the session is not in the store; its calls then fail with NotFound.
  std::shared_ptr<MemoryLog> log();
  /// Replaces the log and returns the previous one.
  std::shared_ptr<MemoryLog> replaceLog(std::shared_ptr<MemoryLog> log);
  /// Held shared by those who need the session to stay, exclusively by the one who removes it.
  [[nodiscard]] std::shared_mutex& removalLock() { return removalLock_; }

 private:
  class View;
  template <typename Use>
  auto with(Use use) -> decltype(use(std::declval<MemoryLog&>()));

  std::shared_ptr<MemoryStore> store_;
  std::shared_mutex removalLock_;
  std::mutex mutex_;  // guards the pointer log_, not the log itself
  std::shared_ptr<MemoryLog> log_;
};

/// The part of a store that its sessions need. Outlives the backend while a session or a watcher exists.
struct MemoryStore {
  MemoryStore(const EntrySerializer& entrySerializer, Environment& env)
      : serializer(entrySerializer), environment(env), ids(env.clock, env.random) {}

  const EntrySerializer& serializer;
  Environment& environment;
  IdGenerator ids;
  std::mutex mutex;
  std::condition_variable changed;
  std::uint64_t changes = 0;
  std::unordered_map<std::string, std::uint64_t> versions;  ///< By session: the value of `changes` at its last change.

  /// Called before a session is created, so that noting its changes later needs no memory.
  void expectChange(const std::string& sessionId);
  void noteChange(const std::string& sessionId);
};

/// Watches these sessions; all sessions when the list is empty.
std::unique_ptr<ChangeWatcher> watchMemory(std::shared_ptr<MemoryStore> store,
                                           const std::vector<std::string>& sessionIds);

}  // namespace bough
