// Extracts the title from a model's answer, without the marks that models put around it.
#pragma once

#include <string>
#include <string_view>

namespace bough::agent {

/// Returns the first line that is not blank, without quotation marks, emphasis, heading marks and "Title:".
std::string plainTitle(std::string_view answer);

}  // namespace bough::agent
