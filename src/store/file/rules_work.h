// A batch in a session's group commit. It checks itself by the rules of an append when its turn comes.
#pragma once

#include <cstdint>
#include <utility>

#include "base/system/file_io.h"
#include "base/try.h"
#include "log/session_log.h"
#include "store/file/file_store.h"
#include "store/file/parts/change_map.h"
#include "store/file/parts/turn_number.h"
#include "store/rules/append_rules.h"

namespace bough {

class RulesWork final : public AppendWork {
 public:
  /// `generation` is the log's generation when the session's origin was read.
  RulesWork(SessionBatch batch, std::uint64_t generation, ChangeMark& mark, FileStore& store)
      : batch_(batch), generation_(generation), mark_(mark), store_(store) {}

  Result<void> prepare(LogView& log, BatchLines& lines) override {
    if (log.generation() != generation_) return changedWhileRead("session " + batch_.sessionId);
    if (batch_.request.turn) {
      BOUGH_TRY(const TurnState turns, readTurn(*store_.root, batch_.sessionId));
      batch_.turn = turns.turn;
    }
    BOUGH_TRY(result_, prepareBatch(log, batch_, store_.serializer, store_.ids, store_.environment.clock, lines));
    const LogCondition condition = log.condition();
    result_->tornBytes = condition.tornBytes;
    result_->problemCount = condition.problemCount;
    return {};
  }
  void release() override {
    batch_.request.entries.clear();
    mark_.confirm();
  }
  void setOutcome(Result<void> outcome) override {
    if (!outcome) result_ = std::unexpected(outcome.error());
  }
  Result<AppendResult> takeResult() { return std::move(result_); }

 private:
  SessionBatch batch_;
  std::uint64_t generation_;
  ChangeMark& mark_;
  FileStore& store_;
  Result<AppendResult> result_;
};

}  // namespace bough
