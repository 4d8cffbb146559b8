// Ids of other agents as ids of entries: one to one, and the same each time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace bough::transcript {

/// What the ids of facts about a session begin with (facts.h).
inline constexpr std::string_view kFactsId = "facts:";

/// A legal id stays as it is. Any other, and one that looks like an id made here, is escaped: `esc:` and each byte that
/// is not a letter, a digit or `-` as `.hh`; when that is too long, `sha:` and the SHA-256, which only the original
/// line can turn back.
std::string entryIdOf(std::string_view foreignId);

/// The agent's id that entryIdOf made this one from; a `sha:` one stays as it is.
std::string foreignIdOf(std::string_view entryId);

/// Whether an entry's id is one that entryIdOf makes and foreignIdOf turns back.
bool isForeignId(std::string_view entryId);

/// The id of an entry whose line has none: `at:<offset>`, with a scope `at:<scope>:<offset>`, and `.<part>` added for
/// all but the first entry of a line that becomes several.
std::string entryIdAt(std::string_view scope, std::uint64_t offset, std::uint32_t part = 0);

/// A session id that is legal and says which session of which agent it is: the agent's own where that is legal.
std::string sessionIdOf(std::string_view agent, std::string_view foreignId);

}  // namespace bough::transcript
