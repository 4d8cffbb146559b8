#include "base/system/threads.h"

#include <new>
#include <string>
#include <system_error>
#include <utility>

namespace bough {

Result<std::jthread> startThread(std::string_view purpose, std::function<void()> work) {
  try {
    return std::jthread(std::move(work));
  } catch (const std::system_error&) {
  } catch (const std::bad_alloc&) {
  }
  return fail(ErrorCode::Busy, "the system has no thread left " + std::string(purpose),
              "end other programs, or raise the limit (`ulimit -u`), then try again");
}

std::vector<std::jthread> startThreads(std::size_t count, const std::function<void(std::size_t number)>& work) {
  std::vector<std::jthread> threads;
  try {
    threads.reserve(count);
    while (threads.size() < count) {
      auto started = startThread("", [work, number = threads.size()] { work(number); });
      if (!started) break;
      threads.push_back(std::move(*started));
    }
  } catch (const std::bad_alloc&) {
    // The threads that already run wait for work from the caller, so they cannot be joined here.
  }
  return threads;
}

}  // namespace bough
