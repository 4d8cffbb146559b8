#include "store/postgres/client/failure.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text/text.h"

namespace bough::postgres {
namespace {

constexpr const char* kNoConnectionHint =
    "the server has no free connection: raise max_connections, or the CONNECTION LIMIT of the role or database; retry";
constexpr const char* kSameIdsHint = "repeat the call with the same entry ids: what was stored is recognized";

// Returns a message of libpq or the server as one line.
std::string oneLine(const Location& location, std::string_view words) {
  std::string line = withoutSecrets(location, std::string(words));
  while (!line.empty() && (line.back() == '\n' || line.back() == ' ')) line.pop_back();
  std::ranges::replace(line, '\n', ' ');
  return text::printable(line);
}

Failure make(Trouble trouble, ErrorCode code, std::string message, std::string hint) {
  return {.trouble = trouble, .error = fail(code, std::move(message), std::move(hint)).error()};
}

constexpr std::string_view kReadOnlyTransaction = "25006";

struct Meaning {
  std::string_view state;  // the SQLSTATE, or a prefix of it
  Trouble trouble;
  ErrorCode code;
  const char* hint;
};

// The first match counts.
constexpr std::array<Meaning, 27> kMeanings{{
    {"40", Trouble::Repeat, ErrorCode::Busy, "retry"},
    {"55P03", Trouble::Repeat, ErrorCode::Busy, "another client holds the session; retry"},
    {"57014", Trouble::Refused, ErrorCode::Timeout,
     "the server cancelled the statement; retry, or raise statement_timeout"},
    {"26000", Trouble::NotPrepared, ErrorCode::Busy, "retry"},
    {"42P05", Trouble::NotPrepared, ErrorCode::Busy, "retry"},
    {"57P", Trouble::LostOutcomeUnknown, ErrorCode::Unavailable, "the server stops or starts; retry"},
    {"08", Trouble::LostOutcomeUnknown, ErrorCode::Unavailable, "retry"},
    {kReadOnlyTransaction, Trouble::LostNothingDone, ErrorCode::ReadOnly,
     "this server is a standby: name all servers and add target_session_attrs=read-write to the URL"},
    {"53100", Trouble::Refused, ErrorCode::NoSpace, "free space on the server's disk, then retry"},
    {"53300", Trouble::LostNothingDone, ErrorCode::Unavailable, kNoConnectionHint},
    {"53", Trouble::Refused, ErrorCode::NoSpace, "the server is out of memory or disk space; retry later"},
    {"54000", Trouble::Refused, ErrorCode::InvalidArgument,
     "the entry is larger than the server takes: store large data as an attachment"},
    {kTooLarge, Trouble::Refused, ErrorCode::InvalidArgument,
     "the batch is larger than the server takes: append fewer entries at once"},
    {"23505", Trouble::Refused, ErrorCode::IdConflict, "another client has stored the same; look at it, then retry"},
    {"42501", Trouble::Refused, ErrorCode::ReadOnly,
     "this role lacks a right: `bough store init --writer ROLE` lets it append, --keeper ROLE also remove, erase "
     "and "
     "change settings; see docs/scale.md"},
    {"42704", Trouble::Refused, ErrorCode::InvalidArgument, "create the role with CREATE ROLE, then repeat this"},
    {"3F000", Trouble::Refused, ErrorCode::NotFound, "run `bough store init` with a role that may create the schema"},
    {"42P01", Trouble::Refused, ErrorCode::NotFound, "run `bough store init` with a role that may create the schema"},
    {"42883", Trouble::Refused, ErrorCode::NotFound, "run `bough store init` with a role that may create the schema"},
    {"42P07", Trouble::Refused, ErrorCode::InvalidArgument,
     "the schema holds tables of another application: name another one with ?schema=NAME in the URL"},
    {"3D000", Trouble::Refused, ErrorCode::NotFound, "create the database with `createdb`, or correct the URL"},
    {"28", Trouble::Refused, ErrorCode::InvalidArgument,
     "check the user and the password; ~/.pgpass or PGPASSWORD can hold it"},
    {"22P05", Trouble::Refused, ErrorCode::InvalidArgument,
     "the database's encoding cannot hold this text: `bough copy` the store to one of `createdb -E UTF8 -T template0`"},
    {"25P03", Trouble::LostOutcomeUnknown, ErrorCode::Unavailable,
     "retry, or raise idle_in_transaction_session_timeout"},
    {"25P04", Trouble::LostOutcomeUnknown, ErrorCode::Unavailable, "retry, or raise transaction_timeout"},
    {"XX001", Trouble::Refused, ErrorCode::Damaged, "the server's files are damaged: restore a backup"},
    {"XX002", Trouble::Refused, ErrorCode::Damaged, "an index of the server is damaged: REINDEX it"},
}};

}  // namespace

Failure connectFailure(const Location& location, std::string_view words, std::string_view state) {
  const std::string line = oneLine(location, words);
  const std::string message = fmt::format("cannot connect to {}: {}", location.shown, line);
  // Looks for words of libpq, and of a server whose messages are in English.
  const auto says = [&](auto... some) { return (line.contains(some) || ...); };
  if (state.starts_with("28") || says("authentication failed", "no password supplied", "pg_hba.conf") ||
      (line.contains("role \"") && line.contains("does not exist"))) {
    return make(Trouble::Refused, ErrorCode::InvalidArgument, message,
                "check the user and the password; ~/.pgpass or PGPASSWORD can hold it");
  }
  if (state == "42501") {
    return make(Trouble::Refused, ErrorCode::InvalidArgument, message,
                "let the role connect: GRANT CONNECT ON DATABASE … TO ROLE");
  }
  if (state == "3D000" || (line.contains("database \"") && line.contains("does not exist"))) {
    return make(Trouble::Refused, ErrorCode::NotFound, message,
                "create the database with `createdb`, or correct the URL");
  }
  if (line.starts_with("invalid ")) {  // an invalid option, reported before any server was asked
    return make(Trouble::Refused, ErrorCode::InvalidArgument, message, "correct the options of the URL");
  }
  if (says("unsupported startup parameter")) {
    return make(
        Trouble::Refused, ErrorCode::InvalidArgument, message,
        "the pooler does not take this option: remove it from the URL, set it for the role (ALTER ROLE … SET), or "
        "add it to PgBouncer's ignore_startup_parameters");
  }
  if (says("session is read-only", "session is not read-only", "hot standby mode")) {
    return make(Trouble::Unreachable, ErrorCode::Unavailable, message,
                "none of the servers is what target_session_attrs asks for: name all of them in the URL; retry");
  }
  if (says("certificate", "SSL was required", "SSL error", "SSL is not supported")) {
    return make(
        Trouble::Unreachable, ErrorCode::Unavailable, message,
        "the server and the URL do not agree on TLS: correct sslmode and sslrootcert of the URL, or turn on ssl and "
        "install the certificate on the server");
  }
  if (state == "53300" || says("too many clients", "connection slots")) {
    return make(Trouble::LostNothingDone, ErrorCode::Unavailable, message, kNoConnectionHint);
  }
  // A server that answers, and will soon accept a connection.
  const bool soon = state.starts_with("57P") || says("starting up", "shutting down", "recovery");
  return make(soon ? Trouble::LostNothingDone : Trouble::Unreachable, ErrorCode::Unavailable, message,
              "check that the server runs and the URL is right; retry");
}

Failure lostFailure(const Location& location, std::string_view words, bool sent) {
  const std::string message = fmt::format("lost the connection to {}: {}", location.shown, oneLine(location, words));
  return sent ? make(Trouble::LostOutcomeUnknown, ErrorCode::OutcomeUnknown, message, kSameIdsHint)
              : make(Trouble::LostNothingDone, ErrorCode::Unavailable, message, "retry");
}

Failure timeoutFailure(const Location& location, bool sent) {
  const std::string message = fmt::format("{} did not answer in time", location.shown);
  return sent ? make(Trouble::TimedOut, ErrorCode::OutcomeUnknown, message, kSameIdsHint)
              : make(Trouble::TimedOut, ErrorCode::Timeout, message, "check that the server runs; retry");
}

Failure sqlFailure(const Location& location, std::string_view state, std::string_view words) {
  const std::string message = fmt::format("{}: {}", location.shown, oneLine(location, words));
  const auto* const found =
      std::ranges::find_if(kMeanings, [&](const Meaning& meaning) { return state.starts_with(meaning.state); });
  Failure failure = found == kMeanings.end()
                        ? make(Trouble::Refused, ErrorCode::Io, fmt::format("{} ({})", message, state), "")
                        : make(found->trouble, found->code, message, found->hint);
  failure.sqlState = state;
  return failure;
}

bool isSchemaMismatch(const Failure& failure) {
  constexpr std::string_view kRights = "42501";
  constexpr std::string_view kNamesAndRights = "42";  // tables, columns, functions and types that a statement names
  constexpr std::array<std::string_view, 3> kOthers{
      "3F000",   // the schema does not exist
      "0A000",   // a prepared statement would return other columns than before
      "23502"};  // a column that this program does not know must not be null
  const std::string_view state = failure.sqlState;
  return (state.starts_with(kNamesAndRights) && state != kRights) || std::ranges::find(kOthers, state) != kOthers.end();
}

Failure asReadOnlyDatabase(Failure failure) {
  if (failure.sqlState != kReadOnlyTransaction) return failure;
  failure.trouble = Trouble::Refused;
  failure.error.hint = "set default_transaction_read_only to off for this database and role";
  return failure;
}

}  // namespace bough::postgres
