// Reads an entry from a line without its ids and its seal: a database stores the line in this form, with the ids beside
// it.
#pragma once

#include <string_view>

#include "bough/entry.h"

namespace bough {

/// Reads `,"type":"…","timestamp":"…", … }`, with the members in the order of format 1. No seal protects the text, so
/// its grammar is checked. Returns false when the text has another form or is damaged: jsonEntrySerializer() tells
/// which of the two. The caller must then discard `entry`. The ids of `entry` are never changed.
bool readEntryBody(std::string_view body, Entry& entry);

}  // namespace bough
