// Errors are values. Every call of bough that can fail returns a Result; nothing is thrown except std::bad_alloc, and
// after it every session is as usable as before.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

// What the shared library exports: everything that a public header declares, and nothing else.
#define BOUGH_PUBLIC [[gnu::visibility("default")]]

namespace BOUGH_PUBLIC bough {

/// What the caller can do about a failure; the message says what happened, the hint what to do next. Programs decide by
/// the code: the texts are for people and may change.
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
  NoSpace,          ///< The storage is full. Nothing was stored; free space and retry.
  Busy,             ///< Another process holds a lock for too long, or the lease of a turn runs. Retry.
  Poisoned,         ///< A sync failed, so what the disk holds is unknown. Open the store again, then repeat the call.
  Closed,           ///< The store was closed.
  Unsupported,      ///< This backend cannot do that.
  Io,               ///< The operating system refused; the message holds its words.
  Unavailable,      ///< The server that keeps the sessions cannot be reached. Nothing was done; retry.
  Timeout,          ///< The server did not answer in time. Nothing was done; retry.
  OutcomeUnknown,   ///< The connection was lost before the answer. Repeat the call with the same entry ids.
};

/// Returns the stable name of a code, as `--json` prints it ("not_found"). Lives as long as the program.
std::string_view toString(ErrorCode code);

/// One failure. All members are values: an Error may be kept, copied and given to another thread.
struct Error {
  ErrorCode code = ErrorCode::Io;
  std::string message = {};      ///< Names session, path and offset where there are any.
  std::string hint = {};         ///< The next step; may be empty.
  bool retryable = false;        ///< Whether the same call may succeed later, unchanged. Also set where the code alone
                                 ///< does not say it: of a log that is being replaced at this moment (Damaged).
  std::string actualTail = {};   ///< With Conflict: the id of the real tail.
  std::uint64_t latestTurn = 0;  ///< With Conflict: the later turn that has begun; 0 when it is about the tail.
  std::uint64_t batchPlace = 0;  ///< Which entry of a batch it is about, from 1; 0: none of them.
};

/// A value, or why there is none.
template <typename T>
using Result = std::expected<T, Error>;

/// Whether errors of this code are retryable unless their maker says otherwise. Of an error that was returned, look at
/// Error::retryable instead.
constexpr bool isRetryable(ErrorCode code) {
  return code == ErrorCode::Busy || code == ErrorCode::NoSpace || code == ErrorCode::Unavailable ||
         code == ErrorCode::Timeout || code == ErrorCode::OutcomeUnknown;
}

/// Makes the failed side of a Result, for backends and providers of a program's own.
inline std::unexpected<Error> fail(ErrorCode code, std::string message, std::string hint = {}) {
  return std::unexpected(Error{.code = code,
                               .message = std::move(message),
                               .hint = std::move(hint),
                               .retryable = isRetryable(code),
                               .actualTail = {}});
}

}  // namespace BOUGH_PUBLIC bough
