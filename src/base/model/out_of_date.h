// Which errors of bringing the catalog up to date still allow it to answer.
#pragma once

#include "bough/error.h"

namespace bough {

/// Returns true when the catalog still answers after Catalog::catchUp returned this error. The answer then lacks the
/// newest entries.
inline bool canAnswerDespite(const Error& error) {
  return error.code == ErrorCode::Busy || error.code == ErrorCode::NoSpace || error.code == ErrorCode::ReadOnly;
}

}  // namespace bough
