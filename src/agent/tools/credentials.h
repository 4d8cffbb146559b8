// Names and passwords in URLs.
#pragma once

#include <string>
#include <string_view>

namespace bough::agent {

/// A URL without the name and password before its host: for messages.
std::string withoutCredentials(std::string_view url);

}  // namespace bough::agent
