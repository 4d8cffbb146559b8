// Reads an entry from a line without its ids and its seal, as a database keeps it beside the ids.
#pragma once

#include <string_view>

#include "bough/entry.h"

namespace bough {

/// Reads `,"type":"…","timestamp":"…", … }`, the members being where format 1 puts them. No seal vouches for the text,
/// so its grammar is checked. False when the text has another form or is damaged: jsonEntrySerializer() tells which.
/// Then `entry`, whose ids are left alone, is to be thrown away.
bool readEntryBody(std::string_view body, Entry& entry);

}  // namespace bough
