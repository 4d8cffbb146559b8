// The facts of a transcript as an entry of the session it became.
#pragma once

#include <bough/transcript.h>

#include <string>
#include <string_view>

namespace bough::transcript {

/// The payload of a session_info entry: {"title":…,"transcript":{"facts":{…}}}.
std::string factsPayload(const TranscriptFacts& facts);
/// Whether an entry is such a one.
bool holdsFacts(const Entry& entry);
/// Whether a key can be that of a session.
bool isUsableKey(std::string_view key);

}  // namespace bough::transcript
