// Reads one stored value, whatever part of a request it is.
#pragma once

#include "message/model/history.h"

namespace bough::message {

/// Normalizes an original whose place in a tree is known; says in `problem` when it cannot be.
void readOriginal(Original& original, History& history);

}  // namespace bough::message
