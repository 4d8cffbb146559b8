// One session file outside of any store: read as if it were in one, and never written.

#include <fmt/format.h>

#include "base/file_io.h"
#include "store/file_backend.h"

namespace bough {
namespace {

constexpr std::pair<std::string_view, LogForm> kEndings[] = {
    {".jsonl", LogForm::Plain}, {".jsonl.zst", LogForm::Zstd}, {".jsonl.gz", LogForm::Gzip}};

std::unexpected<Error> onlyRead(const std::string& path) {
  return fail(ErrorCode::ReadOnly, fmt::format("{} lies outside of a store, so it is only read", path),
              "copy it into the folder `sessions` of a store to write to it");
}

// The folder of a path, and the name in it.
std::pair<std::string, std::string> splitPath(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {".", path};
  return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

class SessionFile final : public FileBackend {
 public:
  SessionFile(const std::shared_ptr<Directory>& folder, std::string path, std::string sessionId, LogForm form)
      : FileBackend(folder, LogFolders{.sessions = folder, .archive = nullptr, .only = form}, {}, jsonEntrySerializer(),
                    systemEnvironment()),
        path_(std::move(path)),
        sessionId_(std::move(sessionId)) {
    writeIndex_ = false;
  }

  [[nodiscard]] std::string describe() const override { return path_; }
  Result<void> probe() override { return onlyRead(path_); }
  Result<std::vector<std::string>> listSessions() override { return std::vector{sessionId_}; }
  Result<void> createSession(const std::string&, const std::vector<Entry>&) override { return onlyRead(path_); }
  Result<AppendResult> append(AppendRequest&) override { return onlyRead(path_); }
  Result<RepairReport> repair(const std::string&) override { return onlyRead(path_); }
  Result<MigrationResult> migrate(const std::string&) override { return onlyRead(path_); }
  Result<ArchiveSizes> archive(const std::string&) override { return onlyRead(path_); }
  Result<void> rewrite(const std::string&, const std::vector<Entry>&, const std::string&) override {
    return onlyRead(path_);
  }
  Result<void> remove(const std::string&, const std::function<Result<void>()>&) override { return onlyRead(path_); }
  // Nothing is derived from it, and nothing noted beside it.
  [[nodiscard]] std::string folder() const override { return {}; }
  Result<ChangeSet> changesSince(std::string_view) override { return ChangeSet{.all = true}; }
  Result<TrashedSession> trash(const std::string&, const std::function<Result<void>()>&) override {
    return onlyRead(path_);
  }
  Result<std::vector<TrashedSession>> listTrash() override { return std::vector<TrashedSession>(); }
  Result<void> restore(const std::string&) override { return onlyRead(path_); }
  Result<void> removeTrashed(const std::string&) override { return onlyRead(path_); }
  Result<void> putAttachment(const std::string&, std::string_view) override { return onlyRead(path_); }

 private:
  std::string path_;
  std::string sessionId_;
};

}  // namespace

Result<SessionFileBackend> openSessionFile(const std::string& path) {
  const auto [folder, name] = splitPath(path);
  std::string id;
  LogForm form = LogForm::Plain;
  for (const auto& [ending, itsForm] : kEndings) {
    if (!name.ends_with(ending)) continue;
    id = name.substr(0, name.size() - ending.size());
    form = itsForm;
  }
  if (!isSessionId(id)) {
    return fail(ErrorCode::InvalidArgument, fmt::format("{} does not have the name of a session file", path),
                "it must be <id>.jsonl, <id>.jsonl.zst or <id>.jsonl.gz, with an id of [A-Za-z0-9._-]");
  }
  auto root = systemEnvironment().files.openRoot(folder, /*create=*/false);
  if (!root) return std::unexpected(systemError(root.error(), "open", folder));
  const std::shared_ptr<Directory> opened = std::move(*root);
  return SessionFileBackend{.backend = std::make_shared<SessionFile>(opened, path, id, form), .sessionId = id};
}

}  // namespace bough
