// Names and passwords in URLs, and the variables that hold such URLs.
#pragma once

#include <string>
#include <string_view>

namespace bough::agent {

/// A URL without the name and password before its host: for messages.
std::string withoutCredentials(std::string_view url);

/// Whether an environment variable is an address of this process, which may hold a password: of the store, of a proxy,
/// of a provider.
bool mayHoldPassword(std::string_view variable);

}  // namespace bough::agent
