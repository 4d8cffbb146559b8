// A model inside bough: no key, no network, the same answer every time. For a first run, demonstrations and tests.
//
// The model repeats the prompt, and obeys lines of these forms:
//   read FILE                     write FILE: TEXT          edit FILE: OLD => NEW
//   ls [FOLDER]                   grep PATTERN [in PATH]    bash COMMAND
//   think TEXT                    reasons before it answers
//   count to N                    answers slowly, number by number
// Several such lines make one answer with several calls, which run in parallel. A line that begins with `then` begins
// the next step: its calls are made after the results of the step before have arrived.
#pragma once

#include <memory>
#include <string_view>

#include "bough/agent/provider.h"

namespace bough::agent {

inline constexpr std::string_view kOfflineModel = "offline/echo";

std::unique_ptr<Provider> makeOfflineProvider();

}  // namespace bough::agent
