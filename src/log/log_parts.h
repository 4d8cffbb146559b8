// The parts of an open log that all of its calls share, and the mutex that guards them.
#pragma once

#include <fmt/format.h>

#include <type_traits>
#include <utility>

#include "base/system/thread_annotations.h"
#include "base/try.h"
#include "log/log_outline.h"
#include "log/stored_lines.h"

namespace bough {

/// The result type of an operation over index and lines.
template <typename Operation>
using IndexedValue = Result<typename std::invoke_result_t<Operation, LogIndex&, StoredLines&>::value_type>;

struct LogParts {
  LogParts(LogFolders folders, std::string sessionId, const EntrySerializer& serializer, Environment& environment,
           int lockTimeoutMs, LogIndexOptions options)
      : file(std::move(folders), std::move(sessionId), lockTimeoutMs),
        index(file, serializer, environment, std::move(options)),
        lines(file, index, serializer) {}

  /// Runs an operation over an up-to-date index. If the index turns out to be stale, rebuilds it and runs the operation
  /// a second time. Returns Damaged when the rebuilt index is stale as well.
  template <typename Operation>
  IndexedValue<Operation> withIndex(Operation operation) BOUGH_REQUIRES(mutex) {
    const auto isStale = [](const auto& result, LogIndex& used) {
      return (!result && result.error().isStaleIndex()) || used.records().damaged();
    };
    BOUGH_TRY(index.refresh());
    auto result = operation(index, lines);
    if (isStale(result, index)) {
      BOUGH_TRY(index.rebuild());
      result = operation(index, lines);
      if (isStale(result, index)) {
        return fail(ErrorCode::Damaged, fmt::format("{} changes while it is read", file.path()), "run `bough verify`");
      }
    }
    if (!result) return std::unexpected(result.error().error());
    if constexpr (!std::is_void_v<typename decltype(result)::value_type>) return std::move(*result);
    return {};
  }

  /// Returns LogIndex::generation(). Needs no lock.
  [[nodiscard]] std::uint64_t generation() const BOUGH_NO_THREAD_SAFETY_ANALYSIS { return index.generation(); }

  Mutex mutex;
  LogFile file BOUGH_GUARDED_BY(mutex);
  LogIndex index BOUGH_GUARDED_BY(mutex);
  StoredLines lines BOUGH_GUARDED_BY(mutex);
  LogOutline outline BOUGH_GUARDED_BY(mutex);
  LogControls controls BOUGH_GUARDED_BY(mutex);
};

}  // namespace bough
