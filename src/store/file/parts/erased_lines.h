// Copies the lines of a log, or of a file kept beside one, with entries erased and every seal that held made again.
//
// A line whose seal follows from the line before it gets a seal that follows from the line before it in the copy. All
// others (no seal, damage, the first line of torn bytes) are copied as they are, so what was damaged stays damaged. A
// damaged line that seems to hold what is erased becomes `{"erased":{"damagedBytes":n}}`, which no reader takes for an
// entry. One that is to be erased itself becomes an erased entry.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "bough/entry.h"
#include "log/format/line.h"
#include "log/source/byte_source.h"
#include "log/source/line_reader.h"
#include "store/file/parts/moved_places.h"
#include "store/rules/erasure.h"

namespace bough {

/// Texts by which a damaged line is recognized, from the strings of the payloads that are erased.
struct ErasureTraces {
  std::set<std::string> telling;  ///< Of longer ones: a line with one of these is a copy.
  std::set<std::string> likely;   ///< Shorter ones with their names: a line with one of these may be.

  void merge(ErasureTraces& other) {
    telling.merge(other.telling);
    likely.merge(other.likely);
  }
  [[nodiscard]] std::size_t size() const { return telling.size() + likely.size(); }
};
void addTraces(ErasureTraces& traces, std::string_view payload);
/// The same for a line that cannot be read, as far as its payload can be found.
void addTracesOfLine(ErasureTraces& traces, std::string_view line);

/// What was found in a file.
struct ErasedLines {
  bool changed = false;               ///< The copy differs.
  std::set<std::string> targets;      ///< Ids of entries that are erased, now or before.
  std::set<std::string> receipts;     ///< Ids of receipts that are there.
  std::vector<Entry> madeFrom;        ///< Entries that say what erased ones said, and are not in the plan.
  std::set<std::string> attachments;  ///< Attachments of the plan that are still named.
  std::set<std::string> wayBacks;     ///< Attachments that may be the way back of a migration.
  ErasureTraces traces;               ///< Of payloads that are to be erased; only when nothing is copied.
  int format = 0;                     ///< As the header says.
  std::string headId;
  SealDigits lastSeal;
  std::set<std::uint64_t> namedPlaces;  ///< Of any log.
  std::map<std::string, std::string>
      renamed;  ///< Names of places that mean others in the copy, and what they are there.
  bool lacksLineEnd = false;
  bool endsWhole = false;  ///< The last line ends a batch by itself, whoever has counted it.
  bool mayHold = false;    ///< A line that stays says the same, or is a copy of what cannot be read.
};

class LineEraser {
 public:
  using Out = std::function<Result<void>(std::string_view)>;

  /// `namedPlaces`: those that entries of the store name. `sessionId`: whose file it is. `out`: takes the copy, in
  /// order; when it is empty, nothing is copied.
  LineEraser(const ErasurePlan& plan, const EntrySerializer& serializer, const ErasureTraces& traces,
             const std::set<std::uint64_t>& namedPlaces, std::string_view sessionId, Out out)
      : plan_(plan),
        serializer_(serializer),
        traces_(traces),
        sessionId_(sessionId),
        out_(std::move(out)),
        places_(namedPlaces) {
    for (const auto& [id, target] : plan_.targets) {
      if (target.damaged && target.sessionId == sessionId_) damaged_.push_back(&target);
    }
  }

  Result<ErasedLines> run(ByteSource& source, std::string_view path);

 private:
  Result<void> line(const LineReader::Line& line, ByteSource& source, std::string_view path);
  /// A part of a line that is a damaged target.
  struct Hit {
    const ErasureTarget* target;
    std::size_t begin;
    std::size_t end;
  };

  Result<void> content(std::string_view text, std::uint64_t offset);
  Result<void> plain(std::string_view text, std::uint64_t offset);
  Result<void> sealed(std::string_view text, const Seal& seal, std::uint64_t offset);
  Result<void> unsealed(std::string_view text, std::uint64_t offset);
  [[nodiscard]] std::optional<Hit> hitIn(std::string_view text, std::uint64_t offset) const;
  Result<void> eraseDamaged(std::string_view text, const ErasureTarget& target);
  void notePlace(const Seal& seal);
  Result<void> put(std::string_view bytes) {
    places_.addWritten(bytes.size());
    return out_ ? out_(bytes) : Result<void>();
  }
  Result<void> copyLong(const LineReader::Line& line, ByteSource& source, std::string_view path);

  /// The target that a readable line is, if it is one, and its entry; notes what the line says.
  const ErasureTarget* targetOf(std::string_view text, std::optional<Entry>& entry);
  void noteReadable(const Entry& entry);
  void moveHead(const LineKeys& keys, std::string_view text);
  /// Whether a line that cannot be read seems to be a target.
  bool seemsErased(std::string_view text);
  std::string textOf(const Entry& stored, const ErasureTarget& target) const;

  const ErasurePlan& plan_;
  const EntrySerializer& serializer_;
  const ErasureTraces& traces_;
  const std::string_view sessionId_;
  const Out out_;
  ErasedLines found_;
  SealDigits before_;      // in the file
  SealDigits repaired_;    // what the damaged line before should have ended in
  bool sealLost_ = false;  // the line before has no seal
  std::vector<const ErasureTarget*> damaged_ = {};
  MovedPlaces places_;
  bool healed_ = false;      // the line before was damaged, and is an entry now
  std::uint32_t place_ = 0;  // of the line before in its batch
  std::uint32_t count_ = 0;
};

}  // namespace bough
