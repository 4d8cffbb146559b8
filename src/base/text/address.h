// Passwords in addresses: `scheme://NAME:PASSWORD@host/place?password=PASSWORD`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bough::text {

/// Returns the passwords in an address as they are written there; the views point into `address`. The scheme may be
/// missing.
std::vector<std::string_view> passwordsIn(std::string_view address);

/// Returns the address without its passwords.
std::string withoutPasswords(std::string_view address);

/// Overwrites the passwords with `x`.
void hidePasswords(char* address);

}  // namespace bough::text
