// The facts of a transcript as an entry of the session it became.
#pragma once

#include <bough/transcript.h>

#include <string>
#include <string_view>

namespace bough::transcript {

/// How many files a file may continue, one after the other. Each is open while those before it are read.
inline constexpr std::size_t kMaxForks = 256;

/// The payload of a session_info entry: {"title":…,"transcript":{"facts":{…}}}, and after the facts what the file has
/// lost, when it has: "lost":{"recovered":…,"unreadable":…,"first":{"at":…,"reason":…}}.
std::string factsPayload(const TranscriptReport& report);
/// Whether an entry is such a one.
bool holdsFacts(const Entry& entry);
/// Whether a key can be that of a session.
bool isUsableKey(std::string_view key);

}  // namespace bough::transcript
