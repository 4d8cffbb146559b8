// What groups of dialects have in common.
#pragma once

#include <bough/message.h>

namespace bough::message {

constexpr bool isOpenai(Dialect dialect) {
  return dialect == Dialect::OpenaiChat || dialect == Dialect::OpenaiResponses;
}

}  // namespace bough::message
