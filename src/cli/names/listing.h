// Remembers which sessions the last list on this terminal showed; @N refers to them.
//
// A list belongs to the terminal that printed it (without a terminal, to the session of processes). Lists on other
// terminals never change what @N means here.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bough/error.h"
#include "bough/store.h"

namespace bough::cli {

/// Stores the ids of a printed list. Fails when they cannot be stored.
Result<void> rememberListing(SessionStore& store, const std::vector<std::string>& sessionIds);

/// Returns 3 for `@3`; std::nullopt when the name does not have this form.
std::optional<std::size_t> listingNumber(std::string_view name);

/// Returns the session with this number (from 1) in the last list on this terminal.
Result<std::string> listedSession(SessionStore& store, std::size_t number);

}  // namespace bough::cli
