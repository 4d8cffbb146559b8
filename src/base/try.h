// BOUGH_TRY: takes the value out of a Result, or returns its error to the caller.
//
//   BOUGH_TRY(flush());                      // returns the error of flush(), if there is one
//   BOUGH_TRY(const auto size, file.size()); // declares `size`, or returns the error of size()
//   BOUGH_TRY(total, sum(parts));            // assigns to an existing variable
//
// It works in every function that returns a std::expected with the same error type. The form with two arguments expands
// to several statements: it needs braces after `if` and in loops.
#pragma once

#include <expected>
#include <utility>

#define BOUGH_TRY_JOIN_(left, right) left##right
#define BOUGH_TRY_NAME_(number) BOUGH_TRY_JOIN_(boughTry, number)

#define BOUGH_TRY_ONLY_(name, call) \
  if (auto name = (call); name) {   \
  } else                            \
    return std::unexpected(std::move(name).error())

#define BOUGH_TRY_VALUE_(name, target, call)                  \
  auto name = (call);                                         \
  if (!name) return std::unexpected(std::move(name).error()); \
  target = *std::move(name)

#define BOUGH_TRY_1_(call) BOUGH_TRY_ONLY_(BOUGH_TRY_NAME_(__LINE__), call)
#define BOUGH_TRY_2_(target, call) BOUGH_TRY_VALUE_(BOUGH_TRY_NAME_(__LINE__), target, call)
#define BOUGH_TRY_CHOOSE_(first, second, choice, ...) choice
#define BOUGH_TRY(...) BOUGH_TRY_CHOOSE_(__VA_ARGS__, BOUGH_TRY_2_, BOUGH_TRY_1_, )(__VA_ARGS__)
