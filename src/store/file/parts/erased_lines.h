// Copies the lines of a log, or of a file kept beside a log, with entries erased and with new seals.
//
// A line whose seal is chained to the line before it gets a new seal that is chained to the line before it in the copy.
// All other lines (without a seal, damaged, or the first line of torn bytes) are copied unchanged, so damage stays
// damage. A damaged line that seems to contain erased text becomes `{"erased":{"damagedBytes":n}}`, which no reader
// takes for an entry. A damaged line that is itself to be erased becomes an erased entry.
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

/// Strings from the erased payloads, by which damaged copies of them are recognized.
struct ErasureTraces {
  std::set<std::string> certain;   ///< Longer strings: a line that contains one is a copy.
  std::set<std::string> possible;  ///< Shorter strings with their member names: a line that contains one may be a copy.

  void merge(ErasureTraces& other) {
    certain.merge(other.certain);
    possible.merge(other.possible);
  }
  [[nodiscard]] std::size_t size() const { return certain.size() + possible.size(); }
};
void addTraces(ErasureTraces& traces, std::string_view payload);
/// The same for an unreadable line, as far as its payload can be found.
void addTracesOfLine(ErasureTraces& traces, std::string_view line);

/// What was found in a file.
struct ErasedLines {
  bool changed = false;                      ///< The copy differs.
  std::set<std::string> targets;             ///< Ids of entries that are erased, now or earlier.
  std::set<std::string> receipts;            ///< Ids of the receipts in the file.
  std::vector<Entry> derivedEntries;         ///< Entries that repeat erased ones and are not in the plan.
  std::set<std::string> attachments;         ///< Attachments of the plan that entries still name.
  std::set<std::string> wayBackAttachments;  ///< Attachments that may be the way back of a migration.
  ErasureTraces traces;                      ///< Of payloads that are to be erased; set only when nothing is copied.
  int format = 0;                            ///< According to the header.
  std::string headId;
  SealDigits lastSeal;
  std::set<std::uint64_t> namedPlaces;         ///< Places in any log.
  std::map<std::string, std::string> renamed;  ///< Names of places that have moved, and the new names.
  bool lacksLineEnd = false;
  bool endsBatch = false;  ///< The last line ends a batch, even if nobody had counted it.
  bool mayRemain = false;  ///< A line that stays repeats erased text, or is a copy of an unreadable entry.
};

class LineEraser {
 public:
  using Out = std::function<Result<void>(std::string_view)>;

  /// `namedPlaces`: the places that entries of the store name. `sessionId`: the session of the file. `out` receives the
  /// copy in order; when it is empty, nothing is copied.
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
  Result<void> copyLine(const LineReader::Line& line, ByteSource& source, std::string_view path);
  /// The part of a line that is a damaged target.
  struct DamagedTarget {
    const ErasureTarget* target;
    std::size_t begin;
    std::size_t end;
  };

  Result<void> copyContent(std::string_view text, std::uint64_t offset);
  Result<void> copyText(std::string_view text, std::uint64_t offset);
  Result<void> copySealed(std::string_view text, const Seal& seal, std::uint64_t offset);
  Result<void> copyUnsealed(std::string_view text, std::uint64_t offset);
  [[nodiscard]] std::optional<DamagedTarget> findDamagedTarget(std::string_view text, std::uint64_t offset) const;
  Result<void> eraseDamaged(std::string_view text, const ErasureTarget& target);
  void notePlaceInBatch(const Seal& seal);
  Result<void> put(std::string_view bytes) {
    places_.addWritten(bytes.size());
    return out_ ? out_(bytes) : Result<void>();
  }
  Result<void> copyLong(const LineReader::Line& line, ByteSource& source, std::string_view path);

  /// If a readable line is a target, returns the target and its entry. Records what the line says.
  const ErasureTarget* targetOf(std::string_view text, std::optional<Entry>& entry);
  void noteReadable(const Entry& entry);
  void moveHead(const LineKeys& keys, std::string_view text);
  /// Returns true when an unreadable line seems to be a target.
  bool seemsTarget(std::string_view text);
  std::string erasedTextOf(const Entry& stored, const ErasureTarget& target) const;

  const ErasurePlan& plan_;
  const EntrySerializer& serializer_;
  const ErasureTraces& traces_;
  const std::string_view sessionId_;
  const Out out_;
  ErasedLines found_;
  SealDigits previousSeal_;  // digits of the last seal in the file
  SealDigits repairedSeal_;  // the seal that the damaged line before should have had
  bool sealLost_ = false;    // the line before has no seal
  std::vector<const ErasureTarget*> damaged_ = {};
  MovedPlaces places_;
  bool previousRepaired_ = false;    // the line before was damaged and is now an entry
  std::uint32_t previousPlace_ = 0;  // of the line before, in its batch
  std::uint32_t previousCount_ = 0;
};

}  // namespace bough
