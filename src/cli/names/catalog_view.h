// What commands that answer from the catalog begin with.
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
  std::shared_ptr<void> passing = {};  ///< What a copy of another agent's session needs; goes after the store.
  std::shared_ptr<SessionStore> store;
  std::unique_ptr<Catalog> catalog;
  std::string sessionId = {};  ///< Of openCatalogViewOf.
  bool behind = false;         ///< There was too much to take in at once; see WhenBehind::Leave.
  bool isStuck = false;        ///< Nothing can be taken in now, and that was said; `behind` is true, too.
  bool isDatabase = false;     ///< Then `behind` says that a part was taken in.
};

/// What to do when there is so much to take in that it would be waited for.
enum class WhenBehind : std::uint8_t {
  TakeIn,
  Leave,  ///< Take in nothing; the caller reads the sessions themselves.
};

/// Opens the store's catalog and brings it up to date, with a progress bar when that takes long. When it cannot be
/// brought up to date (another process holds it, the disk is full) it says so and answers from what was known, or
/// leaves it to the caller to read the sessions themselves.
Result<CatalogView> openCatalogView(const Context& context, bool search = false,
                                    WhenBehind whenBehind = WhenBehind::TakeIn);

/// The same for a store that is open. `isDatabase`: many share it.
Result<CatalogView> openCatalogOf(std::shared_ptr<SessionStore> store, bool search, WhenBehind whenBehind,
                                  bool isDatabase = false);

/// Brings a catalog up to date, with a progress bar when that takes long.
Result<CatchUpReport> catchUpWithBar(Catalog& catalog, bool search = false);

/// Starts another process that takes in what is new, and says so; says instead why not where nothing can be written. Of
/// a database, which many share, it says how that is done.
void takeInBesides(const CatalogView& view);

/// The path of a folder as sessions record it: absolute, with the home folder in the place of a ~, and where a program
/// really is, not the link that leads there.
std::string recordedFolder(const std::string& named);

/// Options that choose sessions, and the filter they make.
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
