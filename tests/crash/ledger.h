// What a store was asked to keep, and what it said; held against what is found after a crash or a failure.
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

/// A message of about `payloadBytes`, whose text differs from entry to entry and from page to page.
Entry message(const std::string& id, std::size_t payloadBytes = 40);
/// An entry that moves the head.
Entry headMove(const std::string& id, const std::string& target);

/// A store over simulated files, as one process would have it.
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

/// The batches of each session in the order in which they were asked for.
class Ledger {
 public:
  struct Batch {
    std::vector<Entry> entries;
    std::optional<std::uint64_t> ackedAt;  ///< The simulator's operationCount when it was acknowledged.
  };
  struct Session {
    std::optional<ForkOrigin> origin;
    std::vector<Entry> shared;
    std::vector<Batch> batches;
    std::optional<std::uint64_t> createdAt;  ///< When its creation was acknowledged.
  };

  /// These do what they say through the store, and note what it answered.
  Result<SessionHandle> create(World& world, const std::string& sessionId);
  Result<SessionHandle> fork(World& world, const std::string& from, const std::string& entryId, const std::string& to);
  /// A batch that was asked for before is the same one.
  Result<AppendResult> append(World& world, const std::string& sessionId, const std::vector<Entry>& entries);
  /// Accepts batches without writing them, then flushes.
  Result<void> appendBuffered(World& world, const std::string& sessionId, const std::vector<std::vector<Entry>>& parts);

  /// Notes what is in a store already.
  void noteStored(const std::string& sessionId, const std::vector<Entry>& entries);
  /// From now on everything that `world` shows counts as acknowledged, and nothing else was ever asked for.
  void settleOn(World& world);

  /// Whether the store shows what it may show after a crash after `completed` operations: every acknowledged batch,
  /// in order, every batch whole or not at all, payloads as they were given, tail and head in their places.
  [[nodiscard]] testing::AssertionResult holds(World& world, std::uint64_t completed = UINT64_MAX) const;
  /// The same for one session.
  [[nodiscard]] testing::AssertionResult sessionHolds(World& world, const std::string& sessionId,
                                                      std::uint64_t completed = UINT64_MAX) const;

  std::map<std::string, Session> sessions;
};

/// Every file below a folder with its bytes.
std::map<std::string, std::string> filesBelow(const SimFileSystem& files, const std::string& folder);

/// The power goes now; nothing that was not synced survives, or everything.
std::unique_ptr<SimFileSystem> powerLossNow(const SimFileSystem& files, bool everything = false);

}  // namespace bough
