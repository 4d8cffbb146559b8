// Erases payloads for good from the files of a store.
//
//   1. Plan: find the entries, those that were converted from them, and every file that holds one of them.
//   2. Write the journal (erasure_journal.h). From here on the erasure is finished, never undone.
//   3. Rewrite each file beside the old one and swap them with one rename, under the session's lock. The log that the
//      entries belong to comes last: until then a damaged copy can be recognized by what the entry says.
//   4. Look at every file again, until none holds one of them: sessions move and are copied meanwhile.
//   5. Remove attachments that no entry names any more, and the catalog, which is rebuilt from the sessions.
//   6. Remove the journal.
// Every step can be done twice. Whoever opens the store after a crash does the plan of the journal again from step 3.
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
  /// Finishes an erasure that was interrupted; does nothing while another process is at it.
  Result<void> resumeInterrupted();

 private:
  /// A file that may hold entries.
  struct Place {
    std::shared_ptr<Directory> folder;
    std::string name;
    std::string id;         ///< Of the session, or in the trash.
    std::string sessionId;  ///< Of the session, also in the trash.
    LogForm form = LogForm::Plain;
    bool isLog = false;
    bool isTrash = false;
    [[nodiscard]] std::string path() const { return folder->path() + "/" + name; }
  };

  /// Reads what the damaged lines of the plan hold.
  Result<void> readDamaged();
  Result<std::vector<Place>> listPlaces();
  Result<ErasedLines> look(const Place& place);
  /// The files that hold something to erase. Adds what was converted from the entries to the plan.
  Result<std::vector<Place>> findPlaces();
  Result<void> work(std::vector<Place> places);
  Result<void> eraseAt(const Place& place);
  Result<void> eraseLog(const Place& place, const LogFolders& folders);
  /// False when the log has to be looked at again. What is before `countedBytes` was complete once.
  Result<bool> rewriteLog(const Place& place, const LogFolders& folders, std::uint64_t countedBytes);
  /// Tells those who know entries of a log by their places where these are in its copy.
  Entry infoOfPlaces(const ErasedLines& found);
  Result<void> eraseBeside(const Place& place, const LogFolders& folders);
  Result<void> removeAttachments();
  /// Those of the plan that an entry still names.
  Result<std::set<std::string>> namedAttachments();
  Result<void> removeDerived();
  void giveUp(const Place& place, std::string_view why);

  SharingBackend& backend_;
  FileStore& store_;
  OpenLogs& logs_;
  std::shared_ptr<Directory> trash_;  // null while there is none
  ErasurePlan plan_;
  ErasureTraces traces_;
  std::set<std::uint64_t> namedPlaces_;  // in any log of the store
  bool mayGrow_ = false;                 // the plan is not written down yet
  std::set<std::string> settled_;        // paths at which nothing more can be done
  std::set<std::string> seen_;           // entries of the plan that a log holds, erased or not
  std::set<std::string> doubtful_;       // paths of files that may hold more of it
  ErasureReport report_;
};

}  // namespace bough
