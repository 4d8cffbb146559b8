// One session file outside any store: read as if it were in a store, and never written.

#include <fmt/format.h>

#include "base/system/file_io.h"
#include "store/file/file_backend.h"

namespace bough {
namespace {

constexpr std::pair<std::string_view, LogForm> kEndings[] = {
    {".jsonl", LogForm::Plain}, {".jsonl.zst", LogForm::Zstd}, {".jsonl.gz", LogForm::Gzip}};

std::unexpected<Error> readOnlyError(const std::string& path) {
  return fail(ErrorCode::ReadOnly, fmt::format("{} lies outside of a store, so it is only read", path),
              "copy it into the folder `sessions` of a store to write to it");
}

// Splits a path into its folder and its name.
std::pair<std::string, std::string> splitPath(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {".", path};
  return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

class SessionFile final : public FileBackend {
 public:
  SessionFile(std::unique_ptr<FileStore> store, std::string path, std::string sessionId)
      : FileBackend(std::move(store)), path_(std::move(path)), sessionId_(std::move(sessionId)) {
    this->store().writeIndex = false;
    this->store().readOnlyReason = readOnlyError(path_).error();
  }

  [[nodiscard]] std::string describe() const override { return path_; }
  [[nodiscard]] Result<std::vector<std::string>> listSessions() override { return std::vector{sessionId_}; }
  [[nodiscard]] Result<std::string> settings() override { return std::string(); }
  // Nothing is derived from this file, and nothing is stored beside it.
  [[nodiscard]] SessionTrash* trash() override { return nullptr; }
  [[nodiscard]] ChangeFeed* changes() override { return nullptr; }

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
  auto store = std::make_unique<FileStore>(opened, LogFolders{.sessions = opened, .archive = nullptr, .only = form},
                                           StoreOptions{}, jsonEntrySerializer(), systemEnvironment());
  return SessionFileBackend{.backend = std::make_shared<SessionFile>(std::move(store), path, id), .sessionId = id};
}

}  // namespace bough
