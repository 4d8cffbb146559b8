// The journal of an erasure, `<store>/erasure.json`. It exists from before the first file is rewritten until after the
// last. It contains the plan, but nothing of what is erased. A process that erases holds the lock of
// `<store>/erasure.lock`.
#pragma once

#include <memory>
#include <optional>

#include "base/system/file_system.h"
#include "bough/error.h"
#include "store/rules/erasure.h"

namespace bough {

class ErasureJournal {
 public:
  /// Returns true when an erasure is running or was interrupted.
  static bool exists(Directory& root);
  /// Waits until no other process is erasing; Busy after `timeoutMs`.
  static Result<ErasureJournal> lock(Directory& root, int timeoutMs);

  /// Returns the plan of an interrupted erasure; std::nullopt when there is none.
  Result<std::optional<ErasurePlan>> read();
  Result<void> write(const ErasurePlan& plan);
  Result<void> remove();

 private:
  ErasureJournal(Directory& root, std::unique_ptr<File> lock) : root_(&root), lock_(std::move(lock)) {}

  Directory* root_;
  std::unique_ptr<File> lock_;
};

}  // namespace bough
