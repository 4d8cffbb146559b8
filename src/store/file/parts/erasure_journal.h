// The journal of an erasure: `<store>/erasure.json` is there from before the first file is rewritten until the last one
// is. It holds the plan and nothing of what is erased. Whoever works holds the lock of `<store>/erasure.lock`.
#pragma once

#include <memory>
#include <optional>

#include "base/system/file_system.h"
#include "bough/error.h"
#include "store/rules/erasure.h"

namespace bough {

class ErasureJournal {
 public:
  /// Whether an erasure is under way, or was interrupted.
  static bool exists(Directory& root);
  /// Waits for whoever is erasing; Busy after `timeoutMs`.
  static Result<ErasureJournal> lock(Directory& root, int timeoutMs);

  /// What an interrupted erasure was to do; none when there is none.
  Result<std::optional<ErasurePlan>> read();
  Result<void> write(const ErasurePlan& plan);
  Result<void> remove();

 private:
  ErasureJournal(Directory& root, std::unique_ptr<File> lock) : root_(&root), lock_(std::move(lock)) {}

  Directory* root_;
  std::unique_ptr<File> lock_;
};

}  // namespace bough
