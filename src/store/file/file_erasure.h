// Erases payloads for good from the files of a store.
//
//   1. Plan: find the entries, those that were converted from them, and every file that contains one of them.
//   2. Write the journal (erasure_journal.h). From here on the erasure will be completed, never undone.
//   3. Rewrite each file beside the old one and swap the two with one rename, under the session's lock. The log to
//      which the entries belong comes last: until then, its content identifies damaged copies of the entries.
//   4. Look at every file again, until none contains one of the entries: sessions are moved and copied meanwhile.
//   5. Remove attachments that no entry names any more, and the catalog, which is rebuilt from the sessions.
//   6. Remove the journal.
// Every step can be repeated. A process that opens the store after a crash repeats the plan in the journal from step 3.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "log/file/log_files.h"
#include "store/file/file_store.h"
#include "store/file/open_logs.h"
#include "store/file/parts/erased_lines.h"
#include "store/sharing/sharing_backend.h"

namespace bough {

/// Lives for one erasure.
class FileErasure {
 public:
  FileErasure(SharingBackend& backend, FileStore& store, OpenLogs& logs)
      : backend_(backend), store_(store), logs_(logs) {}

  Result<ErasureReport> run(const Erasure& erasure);
  /// Finishes an erasure that was interrupted. Does nothing while another process is finishing it.
  Result<void> resumeInterrupted();

 private:
  /// A file that may contain entries.
  struct Place {
    std::shared_ptr<Directory> folder;
    std::string name;
    std::string id;         ///< The id of the session, or its id in the trash.
    std::string sessionId;  ///< The id of the session, also in the trash.
    LogForm form = LogForm::Plain;
    bool isLog = false;
    bool isTrash = false;
    [[nodiscard]] std::string path() const { return folder->path() + "/" + name; }
  };

  /// Reads the damaged lines of the plan.
  Result<void> readDamaged();
  Result<std::vector<Place>> listPlaces();
  Result<ErasedLines> search(const Place& place);
  /// Returns the files that contain something to erase. Adds entries that were converted from the planned ones to the
  /// plan.
  Result<std::vector<Place>> findPlaces();
  Result<void> rewriteAll(std::vector<Place> places);
  Result<void> eraseAt(const Place& place);
  Result<void> eraseLog(const Place& place, const LogFolders& folders);
  /// Returns false when the log has to be looked at again. The bytes before `countedBytes` were complete once.
  Result<bool> rewriteLog(const Place& place, const LogFolders& folders, std::uint64_t countedBytes);
  /// Returns a session_info that records the new places of entries: other sessions may name them by their old places.
  Entry renamedPlacesInfo(const ErasedLines& found);
  Result<void> eraseSideFile(const Place& place, const LogFolders& folders);
  Result<void> removeAttachments();
  /// Returns those attachments of the plan that an entry still names.
  Result<std::set<std::string>> namedAttachments();
  Result<void> removeCatalog();
  void giveUp(const Place& place, std::string_view why);

  SharingBackend& backend_;
  FileStore& store_;
  OpenLogs& logs_;
  std::shared_ptr<Directory> trash_;  // null when there is none
  ErasurePlan plan_;
  ErasureTraces traces_;
  std::set<std::uint64_t> namedPlaces_;  // in any log of the store
  bool canPlanGrow_ = false;             // the plan is not in the journal yet
  std::set<std::string> finishedPaths_;  // paths where nothing more can be done
  std::set<std::string> foundTargets_;   // entries of the plan that a log contains, erased or not
  std::set<std::string> doubtful_;       // paths of files that may contain more to erase
  ErasureReport report_;
};

}  // namespace bough
