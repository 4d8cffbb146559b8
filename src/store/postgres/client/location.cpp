#include "store/postgres/client/location.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

#include "base/text/text.h"
#include "base/try.h"
#include "store/postgres/client/libpq.h"

namespace bough::postgres {
namespace {

constexpr std::array<std::string_view, 2> kSchemes{"postgresql://", "postgres://"};
constexpr std::size_t kMostSchemaBytes = 63;  // the limit for names in PostgreSQL
constexpr const char* kUrlHint =
    "write postgresql://USER@HOST/DATABASE; the password belongs in ~/.pgpass, or with %40 for @ and %2F for / into "
    "the URL";

bool isSchemaName(std::string_view name) {
  const auto good = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
  return !name.empty() && !name.starts_with("pg_") && name.size() <= kMostSchemaBytes &&
         !(name.front() >= '0' && name.front() <= '9') && std::ranges::all_of(name, good);
}

bool hasOurScheme(std::string_view location) {
  return std::ranges::any_of(kSchemes, [&](std::string_view scheme) { return location.starts_with(scheme); });
}

// Returns true for an address that we cannot use: `mysql://…`, `POSTGRESQL://…`, `postgresql:/…`, or libpq's `host=…
// password=…`. If it were taken for a folder, its password would be in the name of that folder and in messages.
bool looksLikeAddress(std::string_view location) {
  location.remove_prefix(std::min(location.find_first_not_of(" \t\r\n"), location.size()));
  if (location.starts_with("postgres:") || location.starts_with("postgresql:")) return true;
  constexpr std::array<std::string_view, 7> kKeywords{
      "host=", "hostaddr=", "port=", "dbname=", "user=", "password=", "service="};
  const std::size_t end = location.find("://");
  const auto isOfScheme = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' || c == '.' ||
           c == '-';
  };
  if (end != std::string_view::npos && end > 0 && std::ranges::all_of(location.substr(0, end), isOfScheme)) return true;
  return std::ranges::any_of(kKeywords, [&](std::string_view keyword) { return location.starts_with(keyword); });
}

// Returns the end of the user and password: the first `@`, or without one the first `/`. libpq parses it in the same
// way.
std::size_t endOfUser(std::string_view url) {
  return std::min(url.find_first_of("@/", url.find("://") + 3), url.size());
}

std::size_t queryOf(std::string_view url) {
  return url.find('?', url.substr(0, endOfUser(url) + 1).ends_with('@') ? endOfUser(url) : 0);
}

bool isPort(std::string_view port) {
  return port.find_first_not_of("0123456789,") == std::string_view::npos;
}

// Returns true when a password that is not encoded splits the URL in the wrong place, as in `u:pass/word@host`. Parts
// of the password would then be taken for a host, a port, a database or an option, and be shown.
bool isCutByPassword(std::string_view url) {
  const std::size_t end = endOfUser(url);
  if (url.substr(0, queryOf(url)).find('@', end + 1) != std::string_view::npos) return true;
  const std::string_view hosts = url.substr(0, end).substr(url.find("://") + 3);
  const bool noUser = end < url.size() && url[end] == '/' && url.find('@', end) != std::string_view::npos;
  return noUser && hosts.contains(':') && !isPort(hosts.substr(hosts.rfind(':') + 1));
}

// Removes an option from a URL's query and returns its value.
std::string takeOption(std::string& url, std::string_view name) {
  const std::size_t query = queryOf(url);
  if (query == std::string::npos) return {};
  std::string kept;
  std::string value;
  std::string_view rest = std::string_view(url).substr(query + 1);
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('&'), rest.size());
    const std::string_view part = rest.substr(0, end);
    if (part.starts_with(name) && part.substr(name.size()).starts_with('=')) {
      value = part.substr(name.size() + 1);
    } else {
      kept += (kept.empty() ? "" : "&") + std::string(part);
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  url.resize(query);
  if (!kept.empty()) url += '?' + kept;
  return value;
}

bool isSecret(std::string_view keyword) {
  return keyword == "password" || keyword == "sslpassword" || keyword == "passfile";
}

// Encodes a part of a URL: a name may contain characters that would end the part.
std::string encoded(std::string_view part) {
  std::string text;
  for (const char c : part) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       static_cast<unsigned char>(c) >= 0x80 || std::string_view("-._~").contains(c);
    text += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return text;
}

// A folder of sockets is encoded; an IPv6 address is put in brackets.
std::string hostInUrl(std::string_view host) {
  return host.contains(':') && !host.contains('/') ? fmt::format("[{}]", host) : encoded(host);
}

// Returns `a:1,b:2` for the hosts `a,b` and the ports `1,2`. A single port applies to all hosts.
std::string hostsAndPorts(std::string_view hosts, std::string_view ports) {
  const bool own = ports.contains(',');
  std::string shown;
  for (bool more = true; more;) {
    const std::size_t host = std::min(hosts.find(','), hosts.size());
    const std::size_t port = own ? std::min(ports.find(','), ports.size()) : ports.size();
    shown += hostInUrl(hosts.substr(0, host));
    if (port > 0) shown.append(":").append(ports.substr(0, port));
    more = host < hosts.size();
    if (more) shown += ',';
    hosts.remove_prefix(std::min(host + 1, hosts.size()));
    if (own) ports.remove_prefix(std::min(port + 1, ports.size()));
  }
  return shown;
}

// Returns the name of an option that libpq does not know; empty when another part of the URL is wrong.
std::string unknownOption(std::string_view problem) {
  constexpr std::string_view kUnknown = "invalid URI query parameter: \"";
  if (!problem.starts_with(kUnknown)) return {};
  problem.remove_prefix(kUnknown.size());
  return text::excerpt(problem.substr(0, problem.rfind('"')), 40);
}

}  // namespace

bool isDatabaseUrl(std::string_view location) {
  return hasOurScheme(location) || looksLikeAddress(location);
}

Result<Location> parseLocation(std::string_view url) {
  if (!hasOurScheme(url)) {
    return fail(ErrorCode::InvalidArgument, "the store is named by an address that does not begin with postgresql://",
                "name a folder, or write postgresql://USER@HOST/DATABASE");
  }
  BOUGH_TRY(loadLibpq());
  Location location{.url = std::string(url)};
  const std::string append = takeOption(location.url, "append");
  if (!append.empty() && append != "statement" && append != "function") {
    return fail(ErrorCode::InvalidArgument, "the option append of the store's URL is neither function nor statement",
                "leave it out for PostgreSQL");
  }
  if (append == "statement") location.append = AppendForm::Statement;
  if (append == "function") location.append = AppendForm::Function;
  const std::string schema = takeOption(location.url, "schema");
  if (!schema.empty()) {
    if (!isSchemaName(schema)) {
      return fail(ErrorCode::InvalidArgument, "the schema in the store's URL is not a valid name",
                  "use 1 to 63 of a-z, 0-9 and _, not beginning with a digit or pg_");
    }
    location.schema = schema;
  }
  char* problem = nullptr;
  const std::unique_ptr<PQconninfoOption, decltype(libpq().PQconninfoFree)> options(
      libpq().PQconninfoParse(location.url.c_str(), &problem), libpq().PQconninfoFree);
  const std::string unknown = options || problem == nullptr ? std::string() : unknownOption(problem);
  libpq().PQfreemem(problem);  // it may contain secrets
  const bool cut = isCutByPassword(location.url);
  // An option that contains `@` may be the end of such a password.
  if (!unknown.empty() && !cut && !url.substr(std::min(queryOf(url), url.size())).contains('@')) {
    return fail(ErrorCode::InvalidArgument, fmt::format("the URL of the database has an unknown option: {}", unknown),
                "use schema, append, or an option of libpq, such as sslmode or connect_timeout");
  }
  const auto unreadable = [] {
    return fail(ErrorCode::InvalidArgument, "the URL of the database cannot be read", kUrlHint);
  };
  if (!options || cut) return unreadable();
  std::string user;
  std::string host;
  std::string port;
  std::string database;
  for (const PQconninfoOption* option = options.get(); option->keyword != nullptr; ++option) {
    if (option->val == nullptr || *option->val == '\0') continue;
    const std::string_view keyword = option->keyword;
    if (isSecret(keyword)) location.secrets.emplace_back(option->val);
    if (keyword == "replication") location.replication = true;
    if (keyword == "user") user = option->val;
    if (keyword == "host") host = option->val;
    if (keyword == "port") port = option->val;
    if (keyword == "dbname") database = option->val;
  }
  if (!isPort(port)) return unreadable();
  location.shown = "postgresql://" + (user.empty() ? "" : encoded(user) + "@") + hostsAndPorts(host, port) + "/" +
                   encoded(database) + (schema.empty() ? "" : "?schema=" + schema);
  return location;
}

std::string withoutSecrets(const Location& location, std::string text) {
  for (const std::string& secret : location.secrets) {
    for (std::size_t at = text.find(secret); at != std::string::npos; at = text.find(secret, at + 3)) {
      text.replace(at, secret.size(), "***");
    }
  }
  return text;
}

}  // namespace bough::postgres
