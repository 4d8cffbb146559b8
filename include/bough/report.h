// What verify, repair and migrate say about a session.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bough/error.h"

namespace bough {

enum class ProblemKind : std::uint8_t {
  // Notes: readable all the same.
  Unsealed,    ///< A line without a seal, or with members in another order: made by hand or by another tool.
  LineEnding,  ///< A byte order mark, CRLF, or a blank line.
  Leftover,    ///< A compressed copy beside the log that holds nothing more; `repair` removes it.
  // Problems: something cannot be read, or says what cannot be.
  Torn,           ///< Bytes behind the last complete batch; the next append or `repair` moves them aside.
  Damage,         ///< A line that is not what was written. It is skipped; its bytes stay.
  BrokenBatch,    ///< A batch in the middle of the file of which lines are missing.
  DuplicateId,    ///< A second entry of the same id; the first one counts.
  UnknownParent,  ///< The parent is not an earlier entry; the entry begins a branch without a known root.
  Header,         ///< The header is missing, repeated, or of a newer format.
  Attachment,     ///< An attachment is missing or not what its name says.
  OtherCopy,      ///< A compressed copy beside the log that holds something else; it is not read.
};

/// The stable name of a kind, as `--json` prints it ("unknown_parent").
std::string_view toString(ProblemKind kind);

/// What to do about it, or what it means when nothing can be done.
std::string_view remedyFor(ProblemKind kind);

/// Whether reading loses nothing by it.
constexpr bool isNote(ProblemKind kind) {
  return kind <= ProblemKind::Leftover;
}

/// One thing that is not as it should be, and where.
struct Problem {
  ProblemKind kind = ProblemKind::Damage;
  std::uint64_t offset = 0;  ///< In the session file (in its unpacked bytes when it is compressed).
  std::uint64_t bytes = 0;
  std::string message;
};

struct VerifyReport {
  std::string sessionId;
  std::string file;           ///< Where it lies; empty when it is in no file.
  std::uint64_t entries = 0;  ///< That can be read.
  std::uint64_t bytes = 0;
  std::vector<Problem> problems;   ///< In file order; at most kMaxListed of them.
  std::uint64_t problemCount = 0;  ///< Without notes, listed or not.
  std::uint64_t noteCount = 0;

  static constexpr std::size_t kMaxListed = 1000;
};

struct RepairReport {
  std::string sessionId;
  std::uint64_t tornBytes = 0;     ///< Moved to <session>.torn.
  std::uint64_t damagedLines = 0;  ///< In the middle of the file: they stay where they are and are skipped.
  bool indexRebuilt = false;
  std::vector<std::string> removedFiles;  ///< Left behind by an interrupted operation, and needed by none.
  std::vector<std::string> otherCopies;   ///< Compressed files beside the log that hold something else; they stay.
  std::string path;                       ///< Of the log that is read, when otherCopies are beside it.
  /// Why the session still cannot be appended to: its format is not the present one, or an archive cannot be unpacked
  /// (then it is left as it is); or the session that it continues is not there.
  std::optional<Error> refusal;
};

struct MigrationResult {
  std::string sessionId;
  int fromFormat = 0;
  int toFormat = 0;
  std::uint64_t entries = 0;
  std::string keptAs;             ///< Where the old file is; empty when there was nothing to do.
  std::vector<Problem> problems;  ///< Lines of the old file that could not be read; they are in `keptAs`.
};

}  // namespace bough
