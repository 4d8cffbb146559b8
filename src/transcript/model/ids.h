// Maps the ids of other agents to entry ids: one to one, and always the same way.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace bough::transcript {

/// Prefix of the ids of entries with facts about a session (facts.h).
inline constexpr std::string_view kFactsId = "facts:";

/// Returns a valid id unchanged. An invalid id, or an id that looks like one made here, is escaped: `esc:`, then each
/// byte that is not a letter, a digit or `-` as `.hh`. When the result is too long: `sha:` and the SHA-256, which only
/// the original line can reverse.
std::string entryIdOf(std::string_view foreignId);

/// Returns the agent's id that entryIdOf converted. A `sha:` id is returned unchanged.
std::string foreignIdOf(std::string_view entryId);

/// Returns whether entryIdOf makes this id and foreignIdOf can convert it back.
bool isForeignId(std::string_view entryId);

/// Returns the id of an entry whose line has no id: `at:<offset>`, with a scope `at:<scope>:<offset>`. `.<part>` is
/// added for all but the first entry of a line that becomes several entries.
std::string entryIdAt(std::string_view scope, std::uint64_t offset, std::uint32_t part = 0);

/// Returns a valid session id that identifies the agent's session: the agent's own id when that is valid.
std::string sessionIdOf(std::string_view agent, std::string_view foreignId);

}  // namespace bough::transcript
