// Passwords in addresses: `scheme://NAME:PASSWORD@host/place?password=PASSWORD`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bough::text {

/// The passwords that an address holds, as they are written in it; they look into it. The scheme may be missing.
std::vector<std::string_view> passwordsIn(std::string_view address);

/// The address without its passwords.
std::string withoutPasswords(std::string_view address);

/// Overwrites them with `x`.
void hidePasswords(char* address);

}  // namespace bough::text
