#include "base/json/json_string.h"

#include <array>
#include <bit>
#include <cstring>

#include "base/bytes/avx2_block.h"

namespace bough::json {
namespace {

#define BOUGH_LOOPS "base/json/json_string_loops.h"
#include "base/bytes/compile_loops.h"

}  // namespace

bool mayHoldSurrogates(std::string_view json) {
  return BOUGH_CHOOSE(mayHoldSurrogates(json));
}

SkippedString skipString(const char* at, const char* end) {
  if (const char* const found = shortStringEnd(at, end)) return {.at = found};
  return BOUGH_CHOOSE(skipLongString(at, end));
}

}  // namespace bough::json
