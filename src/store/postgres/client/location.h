// Where a database is: a URL as libpq takes it, plus `schema`, which names the schema that holds the store,
// and `append`, which says how batches are appended.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bough/error.h"

namespace bough::postgres {

/// Whether a store's location is a database and not a folder; also when it is an address of another kind, which
/// parseLocation refuses.
bool isDatabaseUrl(std::string_view location);

/// How a batch is appended: `append` in the URL.
enum class AppendForm : std::uint8_t {
  Mixed,      ///< A statement for most batches (chain_statements.h), else the function.
  Function,   ///< `append=function`: for engines that send a function to the machine that has the session.
  Statement,  ///< `append=statement`: without the function; see append_statement.h.
};

struct Location {
  std::string url;  ///< For libpq; holds secrets.
  AppendForm append = AppendForm::Mixed;
  std::string schema = "bough";      ///< 1 to 63 of [a-z0-9_], not beginning with a digit or `pg_`.
  bool replication = false;          ///< The URL asks for a connection of a standby, which takes no SQL of ours.
  std::string shown;                 ///< The URL without anything secret, for messages.
  std::vector<std::string> secrets;  ///< What must not reach any message.
};

/// InvalidArgument when libpq cannot read the URL; the message repeats nothing of it that may be secret.
Result<Location> parseLocation(std::string_view url);

/// The text with every secret of the location replaced by `***`.
std::string withoutSecrets(const Location& location, std::string text);

}  // namespace bough::postgres
