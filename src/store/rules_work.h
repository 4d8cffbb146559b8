// A batch on its way through a session's group commit: it checks itself by the rules of an append when its turn comes.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/environment.h"
#include "base/file_io.h"
#include "base/ids.h"
#include "bough/entry_serializer.h"
#include "bough/storage_backend.h"
#include "log/session_log.h"
#include "store/append_rules.h"
#include "store/change_map.h"

namespace bough {

class RulesWork final : public AppendWork {
 public:
  /// `generation`: of the log, when the request's origin was read from it.
  RulesWork(AppendRequest& request, std::uint64_t generation, ChangeMark& mark, const EntrySerializer& serializer,
            IdGenerator& ids, Clock& clock)
      : request_(request), generation_(generation), mark_(mark), serializer_(serializer), ids_(ids), clock_(clock) {}

  Result<void> prepare(LogView& log, NewLines& lines) override {
    if (log.generation() != generation_) return changedWhileRead("session " + request_.sessionId);
    auto prepared = prepareBatch(log, request_, serializer_, ids_, clock_, lines);
    if (!prepared) return std::unexpected(prepared.error());
    result_ = std::move(*prepared);
    const LogCondition condition = log.condition();
    result_->tornBytes = condition.tornBytes;
    result_->problemCount = condition.problemCount;
    return {};
  }
  void release() override {
    request_.entries.clear();
    mark_.confirm();
  }
  void finish(Result<void> outcome) override {
    if (!outcome) result_ = std::unexpected(outcome.error());
  }
  Result<AppendResult> take() { return std::move(result_); }

 private:
  AppendRequest& request_;
  std::uint64_t generation_;
  ChangeMark& mark_;
  const EntrySerializer& serializer_;
  IdGenerator& ids_;
  Clock& clock_;
  Result<AppendResult> result_;
};

}  // namespace bough
