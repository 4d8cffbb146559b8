// The facts that the catalog takes from one entry, in any dialect.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bough/entry.h"
#include "bough/message.h"

namespace bough::catalog {

/// Stored in the catalog as numbers: never renumber.
enum class EntryRole : std::uint8_t { Other = 0, User = 1, Assistant = 2, Tool = 3, System = 4, Summary = 5 };
std::string_view toString(EntryRole role);
std::optional<EntryRole> parseRole(std::string_view name);

struct EntryFacts {
  EntryRole role = EntryRole::Other;
  std::string text;       ///< The text to index for search.
  std::string spoken;     ///< For a user's message: the text that the user typed.
  std::string model;      ///< Empty when the message does not name a model.
  std::string messageId;  ///< The provider's id; one answer may be stored in several entries.
  std::optional<Usage> usage;
  /// For an answer with usage: a value that its copies in other sessions share. Empty when neither the answer nor the
  /// entry has an id that is unique across sessions.
  std::string identity;
  bool identityIsCertain = false;    ///< `identity` is an id of the request or of the answer.
  std::vector<std::string> calls;    ///< Ids of tool calls.
  std::vector<std::string> results;  ///< Ids of the calls whose results this entry contains.
  std::uint64_t callCount = 0;
  std::uint64_t failureCount = 0;
  std::uint64_t durationMs = 0;  ///< For a turn that says how long it took.
};

/// The limit on the searchable text of one entry.
inline constexpr std::size_t kMaxTextBytes = std::size_t{8} << 20;

/// Reads the `usage` of a session_info entry: the cost of a request, for agents that store it apart from the answer.
/// Its members are those of Usage, plus `id` and `model`.
EntryFacts usageFacts(const Entry& entry);

/// Returns the agent whose transcript the session was imported from, when this entry says so; otherwise empty.
std::string transcriptAgent(const Entry& entry);

/// Reads the facts of an entry. `text` is filled only with `wantText`, and `spoken` only with `wantSpoken`.
EntryFacts readFacts(const Entry& entry, bool wantText, bool wantSpoken = true);

}  // namespace bough::catalog
