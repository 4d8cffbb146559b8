// The run-time rules of the four APIs that a history can violate: rules that the official types cannot express.
#pragma once

#include <bough/message.h>

#include <string>
#include <string_view>
#include <vector>

namespace bough::test {

/// Returns the rules of the API that this document violates, by their ids in docs/messages.md; empty when the API would
/// accept it.
std::vector<std::string> brokenRules(Dialect dialect, std::string_view document);

}  // namespace bough::test
