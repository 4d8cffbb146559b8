// Threads. The system may have none left, and then the constructors of the standard library throw. Here that is an
// error, or fewer threads: whoever starts several can also do the work alone.
#pragma once

#include <bough/error.h>

#include <cstddef>
#include <functional>
#include <string_view>
#include <thread>
#include <vector>

namespace bough {

/// Starts a thread. Busy when the system has none left: `purpose` ("to renew a lease") completes the message.
Result<std::jthread> startThread(std::string_view purpose, std::function<void()> work);

/// Starts `count` threads, or as many as the system has left, which may be none. Each gets its number, from 0.
std::vector<std::jthread> startThreads(std::size_t count, const std::function<void(std::size_t number)>& work);

}  // namespace bough
