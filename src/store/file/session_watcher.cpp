#include "store/file/session_watcher.h"

#include "base/model/ids.h"
#include "base/system/file_io.h"
#include "base/try.h"
#include "log/file/log_files.h"
#include "store/file/file_store.h"
#include "store/rules/header.h"

namespace bough {
namespace {

class FileWatcher final : public ChangeWatcher {
 public:
  FileWatcher(std::unique_ptr<Watcher> watcher, std::string path)
      : watcher_(std::move(watcher)), path_(std::move(path)) {}
  Result<bool> wait(int timeoutMs) override { return orError(watcher_->wait(timeoutMs), "watch", path_); }
  ChangedSessions takeChanged() override {
    const Watcher::Changed changed = watcher_->takeChanged();
    ChangedSessions sessions{.all = changed.all};
    const std::string ending = logName("");
    for (const std::string& name : changed.names) {
      if (!name.ends_with(ending)) continue;
      std::string id = name.substr(0, name.size() - ending.size());
      if (isSessionId(id)) sessions.sessionIds.push_back(std::move(id));
    }
    return sessions;
  }
  void wake() override { watcher_->wake(); }

 private:
  std::unique_ptr<Watcher> watcher_;
  std::string path_;
};

}  // namespace

Result<std::unique_ptr<ChangeWatcher>> watchSessions(Directory& folder, const std::vector<std::string>& sessionIds) {
  std::vector<std::string> names;
  for (const std::string& id : sessionIds) {
    BOUGH_TRY(checkSessionId(id));
    names.push_back(logName(id));
  }
  const std::string path = names.size() == 1 ? folder.path() + "/" + names.front() : folder.path();
  auto watcher = folder.watch(names);
  if (!watcher) return std::unexpected(systemError(watcher.error(), "watch", path));
  return std::make_unique<FileWatcher>(std::move(*watcher), path);
}

}  // namespace bough
