// Errors are values. Every call of bough that can fail returns a Result. The only exception that a call throws is
// std::bad_alloc; after it, every session is as usable as before.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

// The shared library exports exactly what the public headers declare.
#define BOUGH_PUBLIC [[gnu::visibility("default")]]

namespace BOUGH_PUBLIC bough {

/// What the caller can do about a failure. The message says what happened; the hint says what to do next. Programs
/// should decide by the code, because messages and hints are for people and may change.
enum class ErrorCode : std::uint8_t {
  InvalidArgument,  ///< An id, an option or an entry breaks a rule. Correct it and call again.
  NotFound,         ///< There is no such store, session, entry or attachment.
  AlreadyExists,    ///< A session with this id already exists.
  Conflict,         ///< expectedTail is not the tail (Error::actualTail is), or a later turn has begun. Reload, then
                    ///< retry or branch.
  IdConflict,       ///< An entry with this id exists and has other content. Use another id.
  HasForks,         ///< Other sessions share the history of this session. Detach them first.
  Damaged,          ///< Stored bytes are not what they should be and cannot be read. See `bough verify`.
  NewerFormat,      ///< A newer version of bough wrote this. Upgrade.
  MigrationNeeded,  ///< The session has an older format. It can be read; migrate it before you write to it.
  ReadOnly,         ///< The storage does not allow writing.
  NoSpace,          ///< The storage is full. Nothing was stored; free space and retry.
  Busy,             ///< Another process held a lock for too long, or the lease of another turn is running. Retry.
  Poisoned,         ///< A sync failed, so the content of the disk is unknown. Reopen the store, then repeat the call.
  Closed,           ///< The store was closed.
  Unsupported,      ///< This backend does not support the call.
  Io,               ///< The operating system reported an error; the message quotes it.
  Unavailable,      ///< The server that keeps the sessions cannot be reached. Nothing was changed; retry.
  Timeout,          ///< The server did not answer in time. Nothing was changed; retry.
  OutcomeUnknown,   ///< The connection was lost before the answer. Repeat the call with the same entry ids.
};

/// Returns the stable name of a code, as `--json` prints it ("not_found"). The text lives as long as the program.
std::string_view toString(ErrorCode code);

/// One failure. All members are values: an Error may be kept, copied and passed to another thread.
struct Error {
  ErrorCode code = ErrorCode::Io;
  std::string message = {};      ///< Names the session, path and offset where there are any.
  std::string hint = {};         ///< What to do next; may be empty.
  bool retryable = false;        ///< The same call may succeed later, unchanged. Can also be true for a code that is
                                 ///< usually final, for example Damaged while a log is being replaced.
  std::string actualTail = {};   ///< With Conflict: the id of the real tail.
  std::uint64_t latestTurn = 0;  ///< With Conflict: the later turn that has begun; 0 when the tail differs.
  std::uint64_t batchPlace = 0;  ///< Which entry of a batch the error is about, counted from 1; 0: none of them.
};

/// A value, or the reason why there is none.
template <typename T>
using Result = std::expected<T, Error>;

/// Returns whether errors with this code are retryable by default. For an error that a call returned, look at
/// Error::retryable instead.
constexpr bool isRetryable(ErrorCode code) {
  return code == ErrorCode::Busy || code == ErrorCode::NoSpace || code == ErrorCode::Unavailable ||
         code == ErrorCode::Timeout || code == ErrorCode::OutcomeUnknown;
}

/// Makes the failed side of a Result. For backends and providers that a program implements itself.
inline std::unexpected<Error> fail(ErrorCode code, std::string message, std::string hint = {}) {
  return std::unexpected(Error{.code = code,
                               .message = std::move(message),
                               .hint = std::move(hint),
                               .retryable = isRetryable(code),
                               .actualTail = {}});
}

}  // namespace BOUGH_PUBLIC bough
