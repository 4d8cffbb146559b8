#include "cli/names/session_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "base/text/shell_word.h"
#include "base/try.h"
#include "cli/names/foreign.h"
#include "cli/terminal/output.h"

namespace bough::cli {
namespace {

namespace fs = std::filesystem;

// Returns the store to which a session file belongs, judged by its folder; empty when there is none.
fs::path storeOf(const fs::path& path) {
  std::error_code error;
  const fs::path folder = fs::absolute(path, error).lexically_normal().parent_path();
  const bool inStore = (folder.filename() == "sessions" || folder.filename() == "archive") &&
                       fs::is_directory(folder.parent_path() / "sessions", error);
  return inStore ? folder.parent_path() : fs::path();
}

// Returns the first existing file of a session. If a session has several files, only the first of these forms is read.
fs::path fileOfSession(const fs::path& store, const std::string& sessionId) {
  std::error_code error;
  for (const char* form : {"sessions/{}.jsonl", "archive/{}.jsonl.zst", "archive/{}.jsonl.gz"}) {
    fs::path path = store / fmt::format(fmt::runtime(form), sessionId);
    if (fs::exists(path, error)) return path;
  }
  return store / fmt::format("sessions/{}.jsonl.gz", sessionId);
}

// Returns true when the file has lines in bough's format, even damaged ones.
bool hasBoughLines(const std::string& path) {
  constexpr std::size_t kLookedAt = std::size_t{64} << 10;
  std::string beginning(kLookedAt, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(beginning.data(), static_cast<std::streamsize>(beginning.size()));
  beginning.resize(static_cast<std::size_t>(file.gcount()));
  return beginning.contains(R"("session_header")") || beginning.contains(R"("seal":")");
}

// Fails for a file outside of a store that is not a session of bough. The reason why it fits no agent says more
// than `why`.
Result<void> checkIsSession(const std::string& path, const Error& why) {
  std::error_code error;
  const bool isNotRead = why.code == ErrorCode::InvalidArgument || why.code == ErrorCode::Damaged;
  if (!isNotRead || !fs::is_regular_file(path, error) || hasBoughLines(path)) return {};
  const auto agent = agentOfFile(path);
  if (agent || agent.error().code != ErrorCode::Unsupported) return {};
  return std::unexpected(agent.error());
}

// Opens a session file that is not in a store. Checks it, because logs are read only when first used, so that any file
// would open.
Result<std::unique_ptr<SessionStore>> openAlone(const std::string& path, const SessionFileBackend& file) {
  BOUGH_TRY(auto store, SessionStore::open(SessionStoreInit{.backend = file.backend, .options = {}}));
  if (const auto state = store->sessionState(file.sessionId); !state) {
    BOUGH_TRY(checkIsSession(path, state.error()));
  }
  return store;
}

// Checks that the path is a readable file; the error says what else it is.
Result<void> checkFile(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) {
    return fail(ErrorCode::NotFound, fmt::format("there is no file {}", path), "`bough ls` lists the sessions");
  }
  if (error) {
    return fail(ErrorCode::Io, fmt::format("cannot open {}: {}", path, error.message()), "check the path");
  }
  if (fs::is_directory(status)) {
    return fail(ErrorCode::InvalidArgument, fmt::format("{} is a folder, not a session's file", path),
                fmt::format("`bough ls {0}` lists the sessions of that folder, `bough import {0}` brings files in it "
                            "into the store",
                            shellWord(path)));
  }
  if (!fs::is_regular_file(status)) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("{} is a pipe, a socket or a device, not a session's file", path),
                "save its output in a file, then name that file");
  }
  if (::access(path.c_str(), R_OK) != 0) {
    return fail(ErrorCode::Io, fmt::format("cannot open {}: {}", path, std::generic_category().message(errno)),
                "check who owns it and its permissions");
  }
  return {};
}

// Returns true for an agent's database, or for a session in it: `FILE.sqlite#ID`.
bool isInDatabase(const std::string& path) {
  std::error_code error;
  const std::string file = path.substr(0, path.find('#', path.rfind(".sqlite")));
  return file.ends_with(".sqlite") && fs::is_regular_file(file, error);
}

Result<SessionFileBackend> openFileOfSession(const std::string& path) {
  if (isInDatabase(path)) {
    BOUGH_TRY(agentOfFile(path));  // the error says what is wrong with the database, or how to name a session
  }
  BOUGH_TRY(checkFile(path));
  auto file = openSessionFile(path);
  if (!file && storeOf(path).empty()) {
    BOUGH_TRY(checkIsSession(path, file.error()));
  }
  return file;
}

}  // namespace

bool isSessionFileName(std::string_view name) {
  return name.ends_with(".jsonl") || name.ends_with(".json") || name.ends_with(".jsonl.zst") ||
         name.ends_with(".jsonl.gz");
}

bool isSessionPath(const std::string& name) {
  return name.find('/') != std::string::npos || isSessionFileName(name) || name.find(".sqlite") != std::string::npos;
}

bool isFolderName(const std::string& name) {
  std::error_code error;
  return fs::is_directory(name, error);
}

bool isForeign(const std::string& path) {
  return agentOfFile(path).has_value();
}

bool isAmongSessions(const std::string& path) {
  return !storeOf(path).empty();
}

bool isPathOfFile(const std::string& name) {
  std::error_code error;
  return isSessionPath(name) && (fs::exists(name, error) || isInDatabase(name));
}

Result<NamedSession> openPath(const std::string& path) {
  std::error_code error;
  BOUGH_TRY(auto file, openFileOfSession(path));
  fs::path store = storeOf(path);
  if (!store.empty()) {
    const fs::path usedFile = fileOfSession(store, file.sessionId);
    if (!fs::equivalent(path, usedFile, error)) {
      printMessage(fmt::format("reading only the file {}; the store uses {}", path, usedFile.string()));
      store.clear();
    }
  }
  BOUGH_TRY(auto opened, store.empty() ? openAlone(path, file) : SessionStore::open(store.string(), {.create = false}));
  return NamedSession{.temporaryFiles = {}, .store = std::move(opened), .sessionId = std::move(file.sessionId)};
}

Result<std::string> sessionAt(SessionStore& store, const std::string& path) {
  std::error_code error;
  BOUGH_TRY(auto file, openFileOfSession(path));
  const fs::path home = storeOf(path);
  if (home.empty()) {
    BOUGH_TRY(openAlone(path, file));
  }
  if (home.empty() || !fs::equivalent(home, store.folder(), error)) {
    return fail(ErrorCode::InvalidArgument, fmt::format("{} is not in the store {}", path, store.folder()),
                home.empty() ? "`bough show PATH` reads a file that is not in a store"
                             : fmt::format("`--store {}` names its store", shellWord(home.string())));
  }
  if (const fs::path usedFile = fileOfSession(home, file.sessionId); !fs::equivalent(path, usedFile, error)) {
    return fail(ErrorCode::InvalidArgument, fmt::format("the store does not use {} but {}", path, usedFile.string()),
                fmt::format("name the session {}", file.sessionId));
  }
  return std::move(file.sessionId);
}

}  // namespace bough::cli
