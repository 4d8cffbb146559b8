// A batch as the arrays that the database's function `append` takes (schema_functions.h).
//
// What depends on the stored session is not known here, so the arrays describe it relative to the session:
// - places: where each entry's parent is: a place in the batch (from 0), or kRoot, kNamed (look up the id), kHead (the
//   session's head);
// - roots: where the chain of parents leaves the batch: kRoot, kHead, or the place of the entry whose parent is kNamed;
// - steps: how many entries of that chain are in the batch, this entry included;
// - segments: the place where the entry's run begins;
// - joins: kJoins when that run continues the run of the session's head; kMayJoin when it does so if the parent that it
//   names is the head;
// - requiredIds: ids outside the batch that must exist, each with its permitted kinds, as bits.
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
  static constexpr std::int64_t kUnchanged = -4;  ///< For headPlace.
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
  std::vector<std::int64_t> times;  ///< Where the body contains a generated timestamp; -1: nowhere.
  std::vector<std::string> requiredIds;
  std::vector<std::int64_t> requiredKinds;
  std::vector<std::int64_t> requiredSequences;  ///< kNamed: the entry is in the shared history, at this depth.
  std::vector<std::int64_t> requiredDepths;
  std::int64_t headPlace = kUnchanged;
  std::string head;
  bool headFresh = false;
  std::uint64_t bytes = 0;

  /// Adds the arrays that both functions take, in their order. An array without any value is NULL.
  void addEntries(Parameters& parameters) const;
  void addRequired(Parameters& parameters) const;
  /// Returns true when each entry continues from the one before it, and the first from the session's head or from
  /// nothing, when the head follows them, and when the batch names nothing else.
  [[nodiscard]] bool isChain() const;
  /// Returns true when the batch is a chain that continues from the session's head.
  [[nodiscard]] bool continuesHead() const { return isChain() && places[0] == kHead; }
  /// Returns the kind of an entry and the position of its generated timestamp, in the encoding of chain_statements.h.
  [[nodiscard]] std::int64_t factOf(std::size_t place) const { return kinds[place] + 64 * (times[place] + 1); }
  void addHead(Parameters& parameters) const;
};

/// Plans lines that the rules have prepared. A parent equal to `head` is the session's head. The plan refers to the
/// lines.
BatchPlan planBatch(const BatchLines& lines, std::string_view head);
/// Plans some of the lines, starting at `first`, until the statement is large enough. The lines before `first` are
/// already stored.
BatchPlan planPart(const BatchLines& lines, std::size_t first, std::string_view head);

/// A larger batch is sent in several statements: libpq moves all unsent data with each packet, and both sides would
/// hold several copies of it.
inline constexpr std::size_t kMostStatementBytes = std::size_t{4} << 20;

/// Records that the caller gave no timestamp for the entry at a place: another delivery of the entry may have a
/// different one.
void noteGeneratedTime(BatchPlan& plan, std::size_t place);

/// Returns the kinds for which `right` is true, as bits.
std::int64_t kindBits(bool (*right)(EntryKind));

/// Returns the type name of a known kind.
std::string_view typeOf(EntryKind kind);

/// Returns the part of a line that is stored: everything after the parent's id.
std::string_view bodyOf(const BatchLines::Line& line);

}  // namespace bough::postgres
