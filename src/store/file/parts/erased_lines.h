// Copies the lines of a log, or of a file kept beside one, with entries erased and every seal that held made again.
//
// A line whose seal follows from the line before it gets a seal that follows from the line before it in the copy. All
// others (no seal, damage, the first line of torn bytes) are copied as they are, so what was damaged stays damaged. A
// damaged line that seems to hold what is erased becomes `{"erased":{"damagedBytes":n}}`, which no reader takes for an
// entry.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "bough/entry.h"
#include "log/format/line.h"
#include "log/source/byte_source.h"
#include "log/source/line_reader.h"
#include "store/rules/erasure.h"

namespace bough {

/// Texts by which a damaged line is recognized: from the longer strings of the payloads that are erased.
using ErasureTraces = std::set<std::string>;
void addTraces(ErasureTraces& traces, std::string_view payload);

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
  bool lacksLineEnd = false;
};

class LineEraser {
 public:
  using Out = std::function<Result<void>(std::string_view)>;

  /// `sessionId`: whose file it is. `out`: takes the copy, in order; when it is empty, nothing is copied.
  LineEraser(const ErasurePlan& plan, const EntrySerializer& serializer, const ErasureTraces& traces,
             std::string_view sessionId, Out out)
      : plan_(plan), serializer_(serializer), traces_(traces), sessionId_(sessionId), out_(std::move(out)) {}

  Result<ErasedLines> run(ByteSource& source, std::string_view path);

 private:
  Result<void> line(const LineReader::Line& line, ByteSource& source, std::string_view path);
  Result<void> sealed(std::string_view text, const Seal& seal);
  Result<void> unsealed(std::string_view text);
  Result<void> put(std::string_view bytes) { return out_ ? out_(bytes) : Result<void>(); }
  Result<void> copyLong(const LineReader::Line& line, ByteSource& source, std::string_view path);

  /// The target that a readable line is, if it is one, and its entry; notes what the line says.
  const ErasureTarget* targetOf(std::string_view text, std::optional<Entry>& entry);
  void noteReadable(const Entry& entry);
  void moveHead(const LineKeys& keys, std::string_view text);
  /// Whether a line that cannot be read seems to be a target.
  bool seemsErased(std::string_view text) const;
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
};

}  // namespace bough
