// The implementation of Catalog, shared by its source files.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/system/process_state.h"
#include "base/try.h"
#include "bough/catalog.h"
#include "catalog/database/database.h"
#include "catalog/schema.h"
#include "catalog/source_intake.h"

namespace bough {

struct Catalog::State {
  SessionStore& store;
  CatalogOptions options;
  CatalogSource* source = nullptr;  ///< Set when the backend answers itself; then there is no database.
  bool sourceSearch = false;        ///< Whether the last catch-up of the source included the text.
  std::unique_ptr<catalog::Database> database;
  bool memory = false;
  bool readOnly = false;
  std::optional<catalog::FileState> immutableState;  ///< See OpenedCatalog.
  std::vector<std::string> notes;
  bool wantsSearch = false;  ///< A catch-up of this object included the text, so later ones do, too.
  /// The generation that this object has brought fully up to date; std::nullopt before the first complete catch-up.
  std::optional<std::string> caughtUpGeneration;
  unsigned forks = forkCount();

  [[nodiscard]] std::string meta(const char* name);
  void setMeta(const char* name, catalog::Blob value);

  /// Changes each time the catalog is emptied. std::nullopt when the catalog has no tables yet.
  [[nodiscard]] std::optional<std::string> generation();
  [[nodiscard]] bool wasEmptiedSince(const std::optional<std::string>& before);
  /// Returns Conflict when the catalog is of another generation.
  [[nodiscard]] Result<void> checkGeneration(const std::string& wanted);

  void adopt(catalog::OpenedCatalog opened);
  /// Must be called at the start of each public call. In a child of fork(2), reopens the catalog and catches up.
  Result<void> enter();
  /// Reopens the file for writing. Must be called before anything is written.
  Result<void> makeWritable();
  /// Reopens the file after others changed it. The file may now lack sessions that were taken in before.
  Result<void> reopen();
  /// Replaces a file that turned out to be damaged, and opens the new one.
  Result<void> replaceDamaged();
  /// Continues with a copy in memory because the file is out of date and read-only. `why` describes the state of the
  /// file.
  Result<void> moveToMemory(std::string_view why);
  /// Continues to remove redacted words from the file, if there are any.
  Result<void> wipe();

  Result<CatchUpReport> catchUp(const CatchUpOptions& options);

  /// Asks the source. When others have stored less than this process has seen (Conflict), hands over the missing
  /// sessions and asks again.
  template <typename Question>
  auto askSource(Question question) -> decltype(question(*source));

  class RebuildWait;

  /// Runs `operation`. When the catalog is damaged, or was emptied meanwhile, repairs it and runs `operation` again.
  template <typename Operation>
  auto withRecovery(Operation operation) -> decltype(operation());
  /// Runs `question` as withRecovery() does. The answer contains everything that was caught up with, even when others
  /// have emptied the catalog since.
  template <typename Question>
  auto answerFromSnapshot(Question question) -> decltype(question());
};

template <typename Operation>
auto Catalog::State::withRecovery(Operation operation) -> decltype(operation()) {
  BOUGH_TRY(enter());
  bool replaced = false;
  bool isReopened = false;
  for (int tries = 1;; ++tries) {
    const auto before = generation();
    auto result = operation();
    const bool written = immutableState && catalog::fileStateOf(store.folder()) != immutableState;
    if ((result && !written) || memory) return result;
    if (written || (immutableState && !std::exchange(isReopened, true))) {
      // Another process wrote to the file, or may have; retry once. A second failure on an unchanged file is final.
      BOUGH_TRY(reopen());
    } else if (result.error().code == ErrorCode::Damaged) {
      if (readOnly || std::exchange(replaced, true)) return result;
      BOUGH_TRY(replaceDamaged());
      if (auto taken = catchUp({.search = wantsSearch}); !taken && taken.error().code != ErrorCode::Conflict) {
        return std::unexpected(std::move(taken.error()));
      }
    } else if (tries == catalog::kMaxConflictRetries) {
      return std::unexpected(catalog::asBusy(std::move(result.error())));
    } else if (result.error().code != ErrorCode::Conflict) {
      if (!wasEmptiedSince(before)) return result;
      BOUGH_TRY(reopen());
    }
  }
}

template <typename Question>
auto Catalog::State::answerFromSnapshot(Question question) -> decltype(question()) {
  return withRecovery([&]() -> decltype(question()) {
    if (caughtUpGeneration && generation() != caughtUpGeneration) {
      BOUGH_TRY(catchUp({.search = wantsSearch}));
    }
    const catalog::Snapshot snapshot(*database);
    auto answer = question();
    if (caughtUpGeneration && (answer || answer.error().code == ErrorCode::NotFound)) {
      BOUGH_TRY(checkGeneration(*caughtUpGeneration));
    }
    return answer;
  });
}

template <typename Question>
auto Catalog::State::askSource(Question question) -> decltype(question(*source)) {
  auto answer = question(*source);
  for (int tries = 1; !answer && answer.error().code == ErrorCode::Conflict && tries < catalog::kMaxConflictRetries;
       ++tries) {
    BOUGH_TRY(catalog::updateSource(store, *source, {.search = sourceSearch}));
    answer = question(*source);
  }
  if (!answer) return std::unexpected(catalog::asBusy(std::move(answer.error())));
  return answer;
}

}  // namespace bough
