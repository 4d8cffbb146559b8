#include "store/file/parts/turn_number.h"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <optional>

#include "base/system/file_io.h"
#include "base/try.h"

namespace bough {
namespace {

constexpr std::string_view kTurns = "turns";
constexpr std::uint64_t kMostTurnBytes = 64;
constexpr std::size_t kDigits = 20;

std::string turnPath(Directory& root, const std::string& sessionId) {
  return fmt::format("{}/{}/{}", root.path(), kTurns, sessionId);
}

// Reads a number of kDigits digits at a position, followed by a blank or a line end.
std::optional<std::uint64_t> numberAt(std::string_view text, std::size_t at) {
  if (text.size() <= at + kDigits || (text[at + kDigits] != ' ' && text[at + kDigits] != '\n')) return std::nullopt;
  std::uint64_t number = 0;
  const char* const end = text.data() + at + kDigits;
  const auto read = std::from_chars(text.data() + at, end, number);
  return read.ec == std::errc() && read.ptr == end ? std::optional(number) : std::nullopt;
}

}  // namespace

Result<TurnState> readTurn(Directory& root, const std::string& sessionId) {
  auto folder = root.openDirectory(kTurns, false);
  if (!folder && folder.error() == ENOENT) return TurnState{};
  auto file = folder ? (*folder)->open(sessionId, OpenMode::Read) : std::unexpected(folder.error());
  if (!file && file.error() == ENOENT) return TurnState{};
  const auto text = file ? readWhole(**file, kMostTurnBytes) : std::unexpected(file.error());
  if (!text) return std::unexpected(systemError(text.error(), "read", turnPath(root, sessionId)));
  if (text->empty()) return TurnState{};  // created, but not written before a crash
  if (const auto turn = numberAt(*text, 0)) {
    // The end of a lease may follow. If a crash has cut it off, nobody holds the session.
    return TurnState{.turn = *turn, .leaseUntilMs = numberAt(*text, kDigits + 1).value_or(0)};
  }
  return fail(ErrorCode::Damaged, fmt::format("{} does not hold the number of a turn", turnPath(root, sessionId)),
              "remove that file: turns are then numbered from 1");
}

Result<void> writeTurn(Directory& root, const std::string& sessionId, const TurnState& turns) {
  const auto failed = [&](int number) {
    return std::unexpected(systemError(number, "write", turnPath(root, sessionId)));
  };
  auto folder = root.openDirectory(kTurns, true);
  if (!folder) return failed(folder.error());
  auto file = (*folder)->open(sessionId, OpenMode::OpenOrCreate);
  if (!file) return failed(file.error());
  // The text always has the same length: an interrupted write leaves a whole number, not a part of one.
  const std::string text = fmt::format("{:020} {:020}\n", turns.turn, turns.leaseUntilMs);
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
  BOUGH_TRY(const TurnState before, readTurn(root_, sessionId_));
  TurnState after{.turn = before.turn + 1};
  if (lease_) {
    BOUGH_TRY(after, afterLease(sessionId_, before, *lease_, clock_.nowMs()));
  }
  BOUGH_TRY(writeTurn(root_, sessionId_, after));
  result_ = after.turn;
  return {};
}

}  // namespace bough
