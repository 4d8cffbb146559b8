// Reads one stored value, whichever part of a request it is.
#pragma once

#include "message/model/history.h"

namespace bough::message {

/// Normalizes an original whose position in a tree is known. Sets `problem` when that is not possible.
void readOriginal(Original& original, History& history);

}  // namespace bough::message
