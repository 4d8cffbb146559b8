// Errors are values. Every call of bough that can fail returns a Result; nothing is thrown but std::bad_alloc.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

// What the shared library exports: everything that a public header declares, and nothing else.
#define BOUGH_PUBLIC [[gnu::visibility("default")]]

namespace BOUGH_PUBLIC bough {

/// What the caller can do about a failure; the message says what happened, the hint what to do next.
enum class ErrorCode : std::uint8_t {
  InvalidArgument,  ///< An id, an option or an entry breaks a rule. Correct it and call again.
  NotFound,         ///< No such store, session, entry or attachment.
  AlreadyExists,    ///< A session of that id exists already.
  Conflict,         ///< expectedTail is not the tail (Error::actualTail is), or the turn is over. Reload, then retry or
                    ///< branch.
  IdConflict,       ///< An entry of that id exists with other content. Use another id.
  HasForks,         ///< Other sessions share this one's history. Detach them first.
  Damaged,          ///< Stored bytes cannot be read as what they should be. See `bough verify`.
  NewerFormat,      ///< A newer version of bough wrote this. Upgrade.
  MigrationNeeded,  ///< The session is in an older format: readable, not writable until migrated.
  ReadOnly,         ///< The storage does not let us write.
  NoSpace,          ///< The storage is full. Nothing was written; free space and retry.
  Busy,             ///< Another process holds the session's lock for too long. Retry.
  Poisoned,         ///< A sync failed, so what the disk holds is unknown. Reopen the session.
  Closed,           ///< The store was closed.
  Unsupported,      ///< This backend cannot do that.
  Io,               ///< The operating system refused; the message holds its words.
  Unavailable,      ///< The server that keeps the sessions cannot be reached. Nothing was done; retry.
  Timeout,          ///< The server did not answer in time. Nothing was done; retry.
  OutcomeUnknown,   ///< The connection was lost before the answer. Repeat the call with the same entry ids.
};

/// Returns the stable name of a code, as `--json` prints it ("not_found").
std::string_view toString(ErrorCode code);

struct Error {
  ErrorCode code = ErrorCode::Io;
  std::string message;           ///< Names session, path and offset where there are any.
  std::string hint;              ///< The next step; may be empty.
  bool retryable = false;        ///< Whether the same call may succeed later, unchanged.
  std::string actualTail;        ///< With Conflict: the id of the real tail.
  std::uint64_t latestTurn = 0;  ///< With Conflict: the later turn that has begun; 0 when it is about the tail.
  std::uint64_t batchPlace = 0;  ///< Which entry of a batch it is about, from 1; 0: none of them.
};

template <typename T>
using Result = std::expected<T, Error>;

/// Whether the same call may succeed later, unchanged, whatever the message says.
constexpr bool isRetryable(ErrorCode code) {
  return code == ErrorCode::Busy || code == ErrorCode::NoSpace || code == ErrorCode::Unavailable ||
         code == ErrorCode::Timeout || code == ErrorCode::OutcomeUnknown;
}

/// Makes the failed side of a Result.
inline std::unexpected<Error> fail(ErrorCode code, std::string message, std::string hint = {}) {
  return std::unexpected(Error{.code = code,
                               .message = std::move(message),
                               .hint = std::move(hint),
                               .retryable = isRetryable(code),
                               .actualTail = {}});
}

}  // namespace BOUGH_PUBLIC bough
