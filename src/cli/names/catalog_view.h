// Opens the catalog for commands that answer from it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bough/catalog.h"
#include "cli/definition/command.h"
#include "cli/names/when.h"

namespace bough::cli {

struct CatalogView {
  std::shared_ptr<void> temporaryFiles = {};  ///< Keeps the temporary copy of another agent's session; destroyed after
                                              ///< the store.
  std::shared_ptr<SessionStore> store;
  std::unique_ptr<Catalog> catalog;
  std::string sessionId = {};  ///< Set by openCatalogViewOf.
  bool isOutOfDate = false;    ///< There was too much new data to take in at once; see WhenOutOfDate::Leave.
  bool cannotUpdate = false;   ///< Nothing can be taken in now, and the user was told; implies `isOutOfDate`.
  bool isDatabase = false;     ///< If true, `isOutOfDate` means that a part was taken in.
};

/// What to do when there is so much new data that the user would have to wait.
enum class WhenOutOfDate : std::uint8_t {
  Update,
  Leave,  ///< Take in nothing; the caller reads the sessions directly.
};

/// Opens the store's catalog and brings it up to date, with a progress bar if that takes long. If updating fails
/// (another process holds the catalog, the disk is full), says so and answers from the old data, or leaves it to the
/// caller to read the sessions.
Result<CatalogView> openCatalogView(const Context& context, bool search = false,
                                    WhenOutOfDate whenOutOfDate = WhenOutOfDate::Update);

/// The same for an open store. `isDatabase`: many processes share it.
Result<CatalogView> openCatalogOf(std::shared_ptr<SessionStore> store, bool search, WhenOutOfDate whenOutOfDate,
                                  bool isDatabase = false);

/// Brings a catalog up to date, with a progress bar if that takes long.
Result<CatchUpReport> catchUpWithBar(Catalog& catalog, bool search = false);

/// Starts another process that takes in the new data, and says so; if nothing can be written, says why. For a database,
/// which many share, says how to start it.
void startBackgroundUpdate(const CatalogView& view);

/// Returns the path of a folder as sessions record it: absolute, with ~ expanded and links resolved, because programs
/// record the resolved path.
std::string recordedFolder(const std::string& named);

/// Options that select sessions, and the filter they make.
struct FilterOptions {
  std::string folder;  ///< As an argument; the same as `cwd`.
  std::string agent;
  std::string key;
  std::string cwd;
  std::string since;
  std::string until;

  [[nodiscard]] std::vector<Option> definitions();
  [[nodiscard]] Option folderArgument();
  [[nodiscard]] Result<SessionFilter> filter(Zone zone = Zone::Local) const;
  [[nodiscard]] bool isEmpty() const {
    return folder.empty() && agent.empty() && key.empty() && cwd.empty() && since.empty() && until.empty();
  }
};

}  // namespace bough::cli
