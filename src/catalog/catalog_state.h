// The inside of Catalog, shared by its source files.
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
  CatalogSource* source = nullptr;  ///< Of the backend, when that answers; then there is no database.
  bool sourceSearch = false;        ///< Whether the last catch-up of the source took in the text.
  std::unique_ptr<catalog::Database> database;
  bool memory = false;
  bool readOnly = false;
  std::optional<catalog::FileState> quiet;  ///< See OpenedCatalog.
  std::vector<std::string> notes;
  bool searched = false;  ///< The text was taken in for search.
  /// Which generation has had all taken into it by this object; none: it was never caught up with to the end.
  std::optional<std::string> caughtUp;
  unsigned forks = forkCount();

  [[nodiscard]] std::string meta(const char* name);
  void setMeta(const char* name, catalog::Blob value);

  /// Another one each time that the catalog is emptied; none when it is empty now, without even its tables.
  [[nodiscard]] std::optional<std::string> generation();
  [[nodiscard]] bool wasEmptiedSince(const std::optional<std::string>& before);
  /// Conflict when the catalog is of another generation.
  [[nodiscard]] Result<void> mustBe(const std::string& wanted);

  void take(catalog::OpenedCatalog opened);
  /// At the beginning of each call: in a child of fork(2), opens the catalog again and catches up.
  Result<void> enter();
  /// Before anything is written: opens the file for that.
  Result<void> makeWritable();
  /// Opens the file again after others changed it. What was caught up with may not be in it any more.
  Result<void> openAgain();
  /// Opens the file again after it turned out to be damaged.
  Result<void> replaceDamaged();
  /// Goes on in memory, because the file is out of date and cannot be written; `why` says what it is like.
  Result<void> moveToMemory(std::string_view why);
  /// Goes on with getting redacted words out of the file, when there are any.
  Result<void> wipe();

  Result<CatchUpReport> catchUp(const CatchUpOptions& options);

  /// Asks the source; when others have kept less than this process has seen, takes that in and asks again.
  template <typename Question>
  auto askSource(Question question) -> decltype(question(*source));

  class RebuildWait;

  /// Runs `operation`; when the catalog turns out to be damaged, or was emptied meanwhile, puts that right and runs it
  /// again.
  template <typename Operation>
  auto guarded(Operation operation) -> decltype(operation());
  /// Runs `question` as guarded() does. What was caught up with is in the answer, also when others have emptied the
  /// catalog since.
  template <typename Question>
  auto answered(Question question) -> decltype(question());
};

template <typename Operation>
auto Catalog::State::guarded(Operation operation) -> decltype(operation()) {
  BOUGH_TRY(enter());
  bool replaced = false;
  bool doubted = false;
  for (int tries = 1;; ++tries) {
    const auto before = generation();
    auto result = operation();
    const bool written = quiet && catalog::fileStateOf(store.folder()) != quiet;
    if ((result && !written) || memory) return result;
    if (written || (quiet && !std::exchange(doubted, true))) {
      // Somebody wrote to it meanwhile, or seems to have: what fails a second time in a file that stays as it is,
      // fails.
      BOUGH_TRY(openAgain());
    } else if (result.error().code == ErrorCode::Damaged) {
      if (readOnly || std::exchange(replaced, true)) return result;
      BOUGH_TRY(replaceDamaged());
      if (auto taken = catchUp({.search = searched}); !taken && taken.error().code != ErrorCode::Conflict) {
        return std::unexpected(std::move(taken.error()));
      }
    } else if (tries == catalog::kMostTries) {
      return std::unexpected(catalog::asBusy(std::move(result.error())));
    } else if (result.error().code != ErrorCode::Conflict) {
      if (!wasEmptiedSince(before)) return result;
      BOUGH_TRY(openAgain());
    }
  }
}

template <typename Question>
auto Catalog::State::answered(Question question) -> decltype(question()) {
  return guarded([&]() -> decltype(question()) {
    if (caughtUp && generation() != caughtUp) {
      BOUGH_TRY(catchUp({.search = searched}));
    }
    const catalog::Snapshot snapshot(*database);
    auto answer = question();
    if (caughtUp && (answer || answer.error().code == ErrorCode::NotFound)) {
      BOUGH_TRY(mustBe(*caughtUp));
    }
    return answer;
  });
}

template <typename Question>
auto Catalog::State::askSource(Question question) -> decltype(question(*source)) {
  auto answer = question(*source);
  for (int tries = 1; !answer && answer.error().code == ErrorCode::Conflict && tries < catalog::kMostTries; ++tries) {
    BOUGH_TRY(catalog::takeIntoSource(store, *source, {.search = sourceSearch}));
    answer = question(*source);
  }
  if (!answer) return std::unexpected(catalog::asBusy(std::move(answer.error())));
  return answer;
}

}  // namespace bough
