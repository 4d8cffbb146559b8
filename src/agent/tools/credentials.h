// Names and passwords in URLs, and the environment variables that hold such URLs.
#pragma once

#include <string>
#include <string_view>

namespace bough::agent {

/// Returns a URL without the name and password before its host, for messages.
std::string withoutCredentials(std::string_view url);

/// Returns true when an environment variable holds an address that may contain a password: of a store, a proxy or a
/// provider.
bool mayHoldPassword(std::string_view variable);

}  // namespace bough::agent
