// The location of a database: a URL as libpq takes it, plus the options `schema` (the schema that contains the store)
// and `append` (how batches are appended).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bough/error.h"

namespace bough::postgres {

/// Returns true when a store's location is a database and not a folder. Also true for an address of another kind, which
/// parseLocation refuses.
bool isDatabaseUrl(std::string_view location);

/// How a batch is appended: `append` in the URL.
enum class AppendForm : std::uint8_t {
  Mixed,      ///< A statement for most batches (chain_statements.h), otherwise the function.
  Function,   ///< `append=function`: for engines that send a function to the machine that stores the session.
  Statement,  ///< `append=statement`: without the function; see append_statement.h.
};

struct Location {
  std::string url;  ///< For libpq; contains secrets.
  AppendForm append = AppendForm::Mixed;
  std::string schema = "bough";      ///< 1 to 63 of [a-z0-9_], not beginning with a digit or `pg_`.
  bool replication = false;          ///< The URL asks for a replication connection, which takes no SQL of ours.
  std::string shown;                 ///< The URL without secrets, for messages.
  std::vector<std::string> secrets;  ///< Texts that must not be in any message.
};

/// Returns InvalidArgument when libpq cannot parse the URL. The message contains no part of the URL that may be secret.
Result<Location> parseLocation(std::string_view url);

/// Returns the text with every secret of the location replaced by `***`.
std::string withoutSecrets(const Location& location, std::string text);

}  // namespace bough::postgres
