// Which sessions the last list on this terminal showed: what @N means.
//
// A list belongs to the terminal (or, without one, the session of processes) that printed it. Another terminal's list
// never changes what @N means here.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bough/error.h"
#include "bough/store.h"

namespace bough::cli {

/// Keeps the ids of a list that was shown. An error where they cannot be kept.
Result<void> rememberListing(SessionStore& store, const std::vector<std::string>& sessionIds);

/// `@3` of the last list; none when the name is not such a number.
std::optional<std::size_t> listingNumber(std::string_view name);

/// The number-th (from 1) session of the last list on this terminal.
Result<std::string> listedSession(SessionStore& store, std::size_t number);

}  // namespace bough::cli
