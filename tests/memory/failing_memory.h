// Allocations that fail on request. This program's `operator new` counts them.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <new>
#include <string>

namespace bough {

/// How many allocations of this thread succeed before one fails; negative: none fails.
extern thread_local long allocationsLeft;
/// The same for all threads together.
extern std::atomic<long> allocationsLeftOfAll;
/// Like allocationsLeft, but for malloc, so that allocations in C libraries count, too. Nothing fails under a
/// sanitizer.
extern thread_local long systemAllocationsLeft;

/// Runs `call` repeatedly, each time with a later failing allocation of any thread, until none fails any more, and
/// after each failure once more with enough memory. The call may throw std::bad_alloc; it must not hang or end the
/// process.
template <typename Call>
void failEachOfAll(Call call) {
  for (long place = 0;; place += place < 100 ? 1 : 1 + place / 30) {
    SCOPED_TRACE("allocation " + std::to_string(place));
    ::alarm(60);  // a call that hangs ends the test
    bool thrown = false;
    allocationsLeftOfAll = place;
    try {
      call(true);
    } catch (const std::bad_alloc&) {
      thrown = true;
    }
    const bool failed = allocationsLeftOfAll < 0;
    allocationsLeftOfAll = -1;
    call(false);
    ::alarm(0);
    if (!failed) {
      EXPECT_FALSE(thrown);
      EXPECT_GT(place, 0);
      return;
    }
    ASSERT_FALSE(testing::Test::HasFailure());
  }
}

}  // namespace bough
