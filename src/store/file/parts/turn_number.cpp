#include "store/file/parts/turn_number.h"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>

#include "base/system/file_io.h"
#include "base/try.h"

namespace bough {
namespace {

constexpr std::string_view kTurns = "turns";
constexpr std::uint64_t kMostTurnBytes = 64;

std::string turnPath(Directory& root, const std::string& sessionId) {
  return fmt::format("{}/{}/{}", root.path(), kTurns, sessionId);
}

}  // namespace

Result<std::uint64_t> readTurn(Directory& root, const std::string& sessionId) {
  auto folder = root.openDirectory(kTurns, false);
  if (!folder && folder.error() == ENOENT) return std::uint64_t{0};
  auto file = folder ? (*folder)->open(sessionId, OpenMode::Read) : std::unexpected(folder.error());
  if (!file && file.error() == ENOENT) return std::uint64_t{0};
  const auto text = file ? readWhole(**file, kMostTurnBytes) : std::unexpected(file.error());
  if (!text) return std::unexpected(systemError(text.error(), "read", turnPath(root, sessionId)));
  if (text->empty()) return std::uint64_t{0};  // made, and not written before a crash
  std::uint64_t turn = 0;
  const char* const end = text->data() + text->size();
  if (const auto read = std::from_chars(text->data(), end, turn); read.ec == std::errc() && read.ptr + 1 == end) {
    return turn;
  }
  return fail(ErrorCode::Damaged, fmt::format("{} does not hold the number of a turn", turnPath(root, sessionId)),
              "remove that file: turns are then numbered from 1");
}

Result<void> writeTurn(Directory& root, const std::string& sessionId, std::uint64_t turn) {
  const auto failed = [&](int number) {
    return std::unexpected(systemError(number, "write", turnPath(root, sessionId)));
  };
  auto folder = root.openDirectory(kTurns, true);
  if (!folder) return failed(folder.error());
  auto file = (*folder)->open(sessionId, OpenMode::OpenOrCreate);
  if (!file) return failed(file.error());
  // Always as long as before: a write that is cut off leaves a number, not a piece of one.
  const std::string text = fmt::format("{:020}\n", turn);
  for (std::size_t at = 0; at < text.size();) {
    const auto wrote = (*file)->writeAt(at, std::string_view(text).substr(at));
    if (!wrote) return failed(wrote.error());
    at += *wrote;
  }
  if (const auto synced = (*file)->sync(); !synced) return failed(synced.error());
  if (const auto synced = (*folder)->sync(); !synced) return failed(synced.error());
  if (const auto synced = root.sync(); !synced) return failed(synced.error());
  return {};
}

void removeTurn(Directory& root, const std::string& sessionId) {
  if (auto folder = root.openDirectory(kTurns, false)) (void)(*folder)->remove(sessionId);
}

Result<void> TurnWork::prepare(LogView&, BatchLines&) {
  BOUGH_TRY(const std::uint64_t turn, readTurn(root_, sessionId_));
  BOUGH_TRY(writeTurn(root_, sessionId_, turn + 1));
  result_ = turn + 1;
  return {};
}

}  // namespace bough
