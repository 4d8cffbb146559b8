// Why an exchange with the server failed: the error for the caller, and what the pool should do about it.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "bough/error.h"
#include "store/postgres/client/location.h"

namespace bough::postgres {

enum class Trouble : std::uint8_t {
  Refused,             ///< The server refused; the connection is good.
  Repeat,              ///< A serialization failure or a deadlock: nothing was done; a retry may succeed.
  NotPrepared,         ///< A pooler does not keep prepared statements: nothing was done.
  Unreachable,         ///< No server answers. Worth waiting for only if one answered before.
  LostNothingDone,     ///< The connection was lost, and nothing was done.
  LostOutcomeUnknown,  ///< The connection was lost; it is unknown whether anything was done.
  TimedOut,            ///< The deadline has passed.
};

struct Failure {
  Trouble trouble = Trouble::Refused;
  Error error = {};
  std::string sqlState = {};
};

template <typename T>
using Exchange = std::expected<T, Failure>;

/// Returns the failure for a connection that could not be made. `words` is libpq's message, `state` the server's
/// SQLSTATE if known.
Failure connectFailure(const Location& location, std::string_view words, std::string_view state = {});
/// Returns the failure for a lost connection. `sent`: something had already been sent.
Failure lostFailure(const Location& location, std::string_view words, bool sent);
Failure timeoutFailure(const Location& location, bool sent);
/// The class of SQLSTATEs for exceeded limits of the server.
inline constexpr std::string_view kTooLarge = "54";
/// Returns the failure for a statement that the server refused with a SQLSTATE.
Failure sqlFailure(const Location& location, std::string_view state, std::string_view words);
/// Returns true when a statement of this program does not match the schema: something is missing there, or has another
/// type.
bool isSchemaMismatch(const Failure& failure);
/// Adapts a result of sqlFailure that came from a primary whose settings make transactions read-only: no other server
/// will accept the statement.
Failure asReadOnlyDatabase(Failure failure);

}  // namespace bough::postgres
