// The run-time rules of the four APIs, as far as a history can break them: what the official types cannot say.
#pragma once

#include <bough/message.h>

#include <string>
#include <string_view>
#include <vector>

namespace bough::test {

/// What each API would refuse in this document; empty when it would take it. Rule ids as in docs/messages.md.
std::vector<std::string> brokenRules(Dialect dialect, std::string_view document);

}  // namespace bough::test
