// What the catalog wants to know of one entry, whatever dialect it is in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bough/entry.h"
#include "bough/message.h"

namespace bough::catalog {

/// Stored as numbers in the catalog: never renumber.
enum class EntryRole : std::uint8_t { Other = 0, User = 1, Assistant = 2, Tool = 3, System = 4, Summary = 5 };
std::string_view toString(EntryRole role);
std::optional<EntryRole> parseRole(std::string_view name);

struct EntryFacts {
  EntryRole role = EntryRole::Other;
  std::string text;       ///< What search takes in.
  std::string spoken;     ///< Of a user's message: what was typed.
  std::string model;      ///< Empty when the message does not say.
  std::string messageId;  ///< The provider's; one answer may be stored in several entries.
  std::optional<Usage> usage;
  /// Of an answer with usage: what its copies in other sessions have in common. Empty when neither the answer nor the
  /// entry has an id that is unique beyond its session.
  std::string identity;
  bool identityIsCertain = false;    ///< It is an id of the request or of the answer.
  std::vector<std::string> calls;    ///< Ids of tool calls.
  std::vector<std::string> results;  ///< Ids of calls that were answered.
  std::uint64_t callCount = 0;
  std::uint64_t failureCount = 0;
  std::uint64_t durationMs = 0;  ///< Of a turn that says how long it took.
};

/// At most so much text of one entry can be searched.
inline constexpr std::size_t kMaxTextBytes = std::size_t{8} << 20;

/// Reads the `usage` of a session_info entry: what a request cost, where an agent writes that apart from the answer.
/// Its members are those of Usage, and `id` and `model`.
EntryFacts usageFacts(const Entry& entry);

/// The agent from whose transcript a session was imported, when this entry says so; else empty.
std::string transcriptAgent(const Entry& entry);

/// Reads an entry. `wantText` fills in `text`, `wantSpoken` `spoken`.
EntryFacts readFacts(const Entry& entry, bool wantText, bool wantSpoken = true);

}  // namespace bough::catalog
