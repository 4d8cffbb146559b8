// What the catalog answers when it cannot be brought up to date.
#pragma once

#include "bough/error.h"

namespace bough {

/// Whether the catalog answers although Catalog::catchUp returned this error: from what was taken in before, so that
/// newer entries are missing.
inline bool answersAllTheSame(const Error& error) {
  return error.code == ErrorCode::Busy || error.code == ErrorCode::NoSpace || error.code == ErrorCode::ReadOnly;
}

}  // namespace bough
