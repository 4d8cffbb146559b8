// Why an exchange with the server failed: what the caller is told, and what the pool does about it.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "bough/error.h"
#include "store/postgres/client/location.h"

namespace bough::postgres {

enum class Trouble : std::uint8_t {
  Refused,        ///< The server said no; the connection is good.
  Repeat,         ///< A serialization failure or a deadlock: nothing was done, and the same statements may succeed.
  NotPrepared,    ///< A pooler does not keep prepared statements: nothing was done.
  Unreachable,    ///< Nobody answers there. Worth a wait only where somebody did before.
  LostBefore,     ///< The connection was lost, and nothing was done.
  LostInBetween,  ///< The connection was lost, and whether it was done is unknown.
  Late,           ///< The deadline has passed.
};

struct Failure {
  Trouble trouble = Trouble::Refused;
  Error error = {};
  std::string sqlState = {};
};

template <typename T>
using Exchange = std::expected<T, Failure>;

/// No connection could be made; `words` are libpq's, `state` is the server's SQLSTATE where it is known.
Failure connectFailure(const Location& location, std::string_view words, std::string_view state = {});
/// A connection was lost; `sent`: after something had been sent.
Failure lostFailure(const Location& location, std::string_view words, bool sent);
Failure timeoutFailure(const Location& location, bool sent);
/// The class of SQLSTATEs for what is more than the server takes.
inline constexpr std::string_view kTooLarge = "54";
/// The server refused a statement with a SQLSTATE.
Failure sqlFailure(const Location& location, std::string_view state, std::string_view words);
/// Whether a statement of this program and the schema do not agree: something is missing there, or is of another kind.
bool isOfOtherSchema(const Failure& failure);
/// What sqlFailure returned, from a primary whose settings make transactions read-only: no other server will do it.
Failure ofReadingDatabase(Failure failure);

}  // namespace bough::postgres
