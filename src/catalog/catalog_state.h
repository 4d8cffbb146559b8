// The inside of Catalog, shared by its source files.
#pragma once

#include <memory>
#include <string>
#include <string_view>
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
  unsigned forks = forkCount();

  [[nodiscard]] std::string meta(const char* name);
  void setMeta(const char* name, catalog::Blob value);

  void take(catalog::OpenedCatalog opened);
  /// At the beginning of each call: in a child of fork(2), opens the catalog again and catches up.
  Result<void> enter();
  /// Before anything is written: opens the file for that.
  Result<void> makeWritable();
  /// Opens the file again after others changed it, and takes all in when it holds nothing any more.
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

  /// Runs `operation`; when the catalog turns out to be damaged, rebuilds it and runs it again.
  template <typename Operation>
  auto guarded(Operation operation) -> decltype(operation());
};

template <typename Operation>
auto Catalog::State::guarded(Operation operation) -> decltype(operation()) {
  BOUGH_TRY(enter());
  auto result = operation();
  if (quiet && (!result || catalog::fileStateOf(store.folder()) != quiet)) {
    // Somebody wrote to it meanwhile, or seems to have.
    BOUGH_TRY(openAgain());
    result = operation();
  }
  if (result || memory) return result;
  if (result.error().code == ErrorCode::Damaged && !readOnly) {
    BOUGH_TRY(replaceDamaged());
    BOUGH_TRY(catchUp({.search = searched}));
  } else if (catalog::isEmptied(*database)) {
    BOUGH_TRY(openAgain());
  } else {
    return result;
  }
  return operation();
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
