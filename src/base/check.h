// Assertions for programming errors. They stay on in release builds: a program with a bug stops before it writes.
#pragma once

namespace bough {
[[noreturn]] void checkFailed(const char* condition, const char* file, int line);
}

#define BOUGH_CHECK(condition) ((condition) ? void(0) : ::bough::checkFailed(#condition, __FILE__, __LINE__))
