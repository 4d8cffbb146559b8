// The title that a model means, without the marks it puts around it.
#pragma once

#include <string>
#include <string_view>

namespace bough::agent {

/// The first line that says something, without quotation marks, emphasis, the marks of a heading, and "Title:".
std::string plainTitle(std::string_view answer);

}  // namespace bough::agent
