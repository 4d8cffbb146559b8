// Stores the facts of a transcript as an entry of the imported session.
#pragma once

#include <bough/transcript.h>

#include <string>
#include <string_view>

namespace bough::transcript {

/// Limit for a chain of files that continue one another. Each file stays open while the files before it are read.
inline constexpr std::size_t kMaxForks = 256;

/// Returns the payload of a session_info entry: {"title":…,"transcript":{"facts":{…}}}. When parts of the file are
/// lost, this follows the facts: "lost":{"recovered":…,"unreadable":…,"first":{"at":…,"reason":…}}.
std::string factsPayload(const TranscriptReport& report);
/// Returns whether an entry has such a payload.
bool holdsFacts(const Entry& entry);
/// Returns whether a key is valid as a session key.
bool isUsableKey(std::string_view key);

}  // namespace bough::transcript
