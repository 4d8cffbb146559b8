// A batch as the arrays that the database's function `append` takes (schema_functions.h).
//
// What depends on the stored session is not known here, so it is said relative to it:
// - places: where each entry's parent is: a place in the batch from 0, or kRoot, kNamed (look up the id), kHead (the
//   session's head);
// - roots: where the chain of parents leaves the batch: kRoot, kHead, or the place of the entry whose parent is kNamed;
// - steps: how many entries of that chain are in the batch, this one included;
// - segments: the place at which the entry's run begins;
// - joins: kJoins when that run continues the run of the session's head, kMayJoin when it does so if the parent that it
//   names is the head;
// - needs: ids outside the batch that must exist, with the kinds that each may be of, as bits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "log/batch_lines.h"
#include "store/postgres/client/values.h"

namespace bough::postgres {

struct BatchPlan {
  static constexpr std::int64_t kRoot = -1;
  static constexpr std::int64_t kNamed = -2;
  static constexpr std::int64_t kHead = -3;
  static constexpr std::int64_t kUnchanged = -4;  ///< Of headPlace.
  static constexpr std::int64_t kApart = 0;
  static constexpr std::int64_t kJoins = 1;
  static constexpr std::int64_t kMayJoin = 2;

  std::vector<std::optional<std::string_view>> ids;
  std::vector<std::optional<std::string_view>> parents;
  std::vector<std::int64_t> places;
  std::vector<std::int64_t> roots;
  std::vector<std::int64_t> steps;
  std::vector<std::int64_t> segments;
  std::vector<std::int64_t> joins;
  std::vector<std::int64_t> kinds;
  std::vector<std::optional<std::string>> types;
  std::vector<std::optional<std::string>> targets;
  std::vector<std::optional<std::string>> attachments;
  std::vector<std::string_view> bodies;
  std::vector<std::int64_t> times;  ///< Where in the body a time is that the caller did not give; -1: none is.
  std::vector<std::string> needs;
  std::vector<std::int64_t> needKinds;
  std::vector<std::int64_t> needSequences;  ///< kNamed: the entry is in the shared history, at this depth.
  std::vector<std::int64_t> needDepths;
  std::int64_t headPlace = kUnchanged;
  std::string head;
  bool headFresh = false;
  std::uint64_t bytes = 0;

  /// The arrays that both functions take, in their order. One without any value is NULL.
  void addEntries(Parameters& parameters) const;
  void addNeeds(Parameters& parameters) const;
  /// Whether each entry goes on from the one before it, and the first from the session's head or nothing; the head
  /// follows, and nothing else is named.
  [[nodiscard]] bool isChain() const;
  /// Whether it is a chain that goes on from the session's head.
  [[nodiscard]] bool continuesHead() const { return isChain() && places[0] == kHead; }
  /// Kind and made time of an entry, as chain_statements.h has them.
  [[nodiscard]] std::int64_t factOf(std::size_t place) const { return kinds[place] + 64 * (times[place] + 1); }
  void addHead(Parameters& parameters) const;
};

/// Plans lines that were prepared by the rules. A parent that is `head` is the session's head. The plan looks into the
/// lines.
BatchPlan planBatch(const BatchLines& lines, std::string_view head);
/// Plans some of the lines, from `first` until a statement is large enough. Those before are stored already.
BatchPlan planPart(const BatchLines& lines, std::size_t first, std::string_view head);

/// More goes in several statements: libpq would move what it has not sent with each packet, and both sides would hold
/// it several times.
inline constexpr std::size_t kMostStatementBytes = std::size_t{4} << 20;

/// Notes that the time of the entry at a place was not given: another delivery of the entry may have another one.
void noteMadeTime(BatchPlan& plan, std::size_t place);

/// The kinds for which `right` holds, as bits.
std::int64_t kindBits(bool (*right)(EntryKind));

/// The name of a kind that bough knows.
std::string_view typeOf(EntryKind kind);

/// The part of a line that is stored: what follows the parent's id.
std::string_view bodyOf(const BatchLines::Line& line);

}  // namespace bough::postgres
