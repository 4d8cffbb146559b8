// The number of the last turn that has begun in a session: a small file of the session's name in the folder `turns`
// below the store's root. It is read and written while the session's lock is held. A file that is missing stands for 0.
#pragma once

#include <cstdint>
#include <string>

#include "base/system/file_system.h"
#include "log/session_log.h"

namespace bough {

Result<std::uint64_t> readTurn(Directory& root, const std::string& sessionId);
/// Durably.
Result<void> writeTurn(Directory& root, const std::string& sessionId, std::uint64_t turn);
/// Part of removing a session for good.
void removeTurn(Directory& root, const std::string& sessionId);

/// Begins the next turn when the session's lock is held; writes nothing to the log.
class TurnWork final : public AppendWork {
 public:
  TurnWork(Directory& root, const std::string& sessionId) : root_(root), sessionId_(sessionId) {}

  Result<void> prepare(LogView& log, BatchLines& lines) override;
  void release() override {}
  void tell(Result<void> outcome) override {
    if (!outcome) result_ = std::unexpected(outcome.error());
  }
  Result<std::uint64_t> take() { return std::move(result_); }

 private:
  Directory& root_;
  const std::string& sessionId_;
  Result<std::uint64_t> result_;
};

}  // namespace bough
