// Records what a store was asked to keep and what it answered, and compares that with what is found after a crash or
// fault.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bough/store.h"
#include "support/sim_environment.h"

namespace bough {

inline const std::string kStore = "/store";

/// Returns a message of about `payloadBytes` whose text differs between entries and between pages.
Entry message(const std::string& id, std::size_t payloadBytes = 40);
/// Returns an entry that moves the head.
Entry headMove(const std::string& id, const std::string& target);

/// A store on simulated files, as one process would have it open.
class World {
 public:
  explicit World(SimFileSystem& files, const StoreOptions& options = {}, std::uint64_t seed = 1);

  [[nodiscard]] bool isOpen() const { return store_.has_value(); }
  [[nodiscard]] const Error& error() const { return store_.error(); }
  SessionStore& store() { return **store_; }
  SessionStore* operator->() { return store_->get(); }
  [[nodiscard]] std::uint64_t now() const { return files_.operationCount(); }
  SimFileSystem& files() { return files_; }
  SimClock& clock() { return environment_.clock(); }

 private:
  SimFileSystem& files_;
  SimEnvironment environment_;
  Result<std::unique_ptr<SessionStore>> store_;
};

/// The batches of each session, in the order of their requests.
class Ledger {
 public:
  struct Batch {
    std::vector<Entry> entries;
    std::optional<std::uint64_t> ackedAt;  ///< The simulator's operationCount at the acknowledgement.
  };
  struct Session {
    std::optional<ForkOrigin> origin;
    std::vector<Entry> shared;
    std::vector<Batch> batches;
    std::optional<std::uint64_t> createdAt;  ///< When its creation was acknowledged.
  };

  /// These functions perform the operation on the store and record its answer.
  Result<SessionHandle> create(World& world, const std::string& sessionId);
  Result<SessionHandle> fork(World& world, const std::string& from, const std::string& entryId, const std::string& to);
  /// A batch that was requested before is not recorded twice.
  Result<AppendResult> append(World& world, const std::string& sessionId, const std::vector<Entry>& entries);
  /// Buffers the batches, then flushes.
  Result<void> appendBuffered(World& world, const std::string& sessionId, const std::vector<std::vector<Entry>>& parts);

  /// Records what is already in a store.
  void noteStored(const std::string& sessionId, const std::vector<Entry>& entries);
  /// From now on, everything that `world` shows counts as acknowledged, and nothing else was requested.
  void settleOn(World& world);

  /// Succeeds when the store shows a valid state for a crash after `completed` operations: every acknowledged batch, in
  /// order; every batch complete or missing; unchanged payloads; tail and head at the right entries.
  [[nodiscard]] testing::AssertionResult holds(World& world, std::uint64_t completed = UINT64_MAX) const;
  /// The same for one session.
  [[nodiscard]] testing::AssertionResult sessionHolds(World& world, const std::string& sessionId,
                                                      std::uint64_t completed = UINT64_MAX) const;

  std::map<std::string, Session> sessions;
};

/// Returns every file below a folder, with its bytes.
std::map<std::string, std::string> filesBelow(const SimFileSystem& files, const std::string& folder);

/// Simulates a power loss now: nothing unsynced survives, or everything does.
std::unique_ptr<SimFileSystem> powerLossNow(const SimFileSystem& files, bool everything = false);

}  // namespace bough
