// Makes entries from records: the part that every reader of a transcript shares. The builder maps ids, finds parents,
// keeps the bytes of every line, and counts damage.
//
// For each record a reader calls message or entry (once for each entry that the line becomes), or keep (the line is not
// part of the conversation), but not both. Records that are not JSON do not reach a reader's record(); the builder
// keeps their bytes.
#pragma once

#include <bough/entry.h>
#include <bough/error.h>
#include <bough/message.h>
#include <bough/transcript.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/bytes/flat_map.h"
#include "transcript/model/carried.h"
#include "transcript/model/origin.h"
#include "transcript/source/record.h"

namespace bough::transcript {

/// The position of an entry in the conversation. All ids are the agent's own.
struct Place {
  std::string_view id{};  ///< Empty when the line has no id; the entry's id is then made from the line's offset.
  /// Left out: the previous entry of the conversation in the file. Empty: the entry is a root. An id that is not known
  /// (yet) is reported as damage, and the entry continues from `otherwise`, so that no history is cut off.
  std::optional<std::string_view> parent{};
  /// What the entry continues when its parent is not known; empty for the previous entry in the file.
  std::string_view otherwise{};
  /// RFC 3339. When it is empty or not a valid time, the entry gets the time of the previous entry.
  std::string_view timestamp{};
  std::string_view runId{};
};

class Builder {
 public:
  using Use = std::function<Result<void>(Entry&&)>;
  struct Wanted {
    std::uint64_t fromOffset = 0;  ///< Entries of earlier lines are not passed on, only remembered.
    bool withoutLines = false;     ///< Entries do not keep the lines that they were made from.
    /// Returns whether a line before `fromOffset` was passed on in an earlier read. Empty when unknown.
    std::function<bool(std::uint64_t offset)> wasGiven{};

    /// Returns whether a line must not be joined with a line that is held back, because the held line was passed on
    /// alone in an earlier read.
    [[nodiscard]] bool keepsApart(std::uint64_t heldOffset, std::uint64_t offset) const {
      return heldOffset < fromOffset && (offset >= fromOffset || (wasGiven && wasGiven(offset)));
    }
  };
  Builder(std::string_view agent, Wanted wanted, const Use& use);

  /// What the file says about its session. The reader fills it in while it reads.
  TranscriptFacts facts;
  /// Path of the file that is read.
  std::string path;
  /// Part of the ids of entries whose lines have no id. Usually the agent's name, because a session may move from one
  /// agent to another. A file that holds only what came after a fork needs its own scope (the agent's session id),
  /// because its entries share one id space with those of the parent session.
  std::string idScope;

  /// Adds a message of the conversation. `message` is JSON of the dialect. It is either a slice of record.text, and
  /// then is its own hole (origin.h), or text that the caller made; then `holes` lists the parts that occur verbatim in
  /// the record, with paths relative to the message ("content/0/text").
  void message(const Record& record, const Place& place, Dialect dialect, std::string_view message,
               std::vector<Hole> holes = {});
  /// Adds an entry of the conversation that is not a message (model_change, compaction_summary, branch_summary, custom
  /// …). `payload` is a JSON object; the paths of `holes` are relative to it.
  void entry(const Record& record, const Place& place, std::string_view type, std::string_view payload,
             std::vector<Hole> holes = {});
  /// Keeps a line that is not part of the conversation. `lineKind` is the agent's word for it. `info` is empty or holds
  /// further members of a session_info payload (`"title":"…"`). When the line has an id, later lines that name it as
  /// their parent continue from the parent of this line.
  void keep(const Record& record, const Place& place, std::string_view lineKind, std::string_view info = {});
  /// Adds a label for a line that gives an entry a name. A name that is not a valid label is only kept.
  void label(const Record& record, const Place& place, std::string_view targetId, std::string_view name);

  /// Removes a label for a line that takes a name away.
  void removeLabel(const Record& record, const Place& place, std::string_view name);

  /// Sets the entry that the agent would continue from, by the agent's id. Empty: there is none, the agent would begin
  /// a new history. If this is not called, the head is the last entry of the conversation in the file. `carried` is the
  /// id of the entry itself, for an entry that a line carries and that has no id of the agent.
  void setHead(std::string_view id, std::string_view carried = "");
  /// Returns the id of the entry that an agent's id refers to; empty when there is none (yet).
  [[nodiscard]] std::string entryFor(std::string_view id) const;
  [[nodiscard]] const Wanted& wanted() const { return wanted_; }
  /// Returns the id of the last entry of the conversation so far; empty before the first.
  [[nodiscard]] const std::string& lastId() const { return lastId_; }
  /// Makes later lines that name `id` refer to an entry. For lines that are not entries themselves, and for entries of
  /// a file that this one continues.
  void mapId(std::string_view id, const std::string& entryId) { ids_[std::string(id)] = entryId; }

  /// Returns whether an agent's id belongs to an entry, and not to a line that was only kept.
  [[nodiscard]] bool isEntry(std::string_view id) const;

  /// Called by the driver before a reader gets a record that carries entries (carried.h). Passes these entries on
  /// unchanged. What the reader then says about the record only determines which of the agent's ids refer to them.
  void carry(const Record& record, Carried&& carried);

  /// Counts a problem that a reader finds in a complete record. `recovered`: the record was read anyway.
  void damage(const Record& record, std::string_view reason, bool recovered = true);

  /// Called by the driver for a record that is not JSON.
  void keepBytes(const Record& record);
  /// Returns the first error of `use`, which ends the reading.
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }
  /// Ends the reading.
  [[nodiscard]] TranscriptReport end();

 private:
  // `payload` is a JSON object without its closing brace.
  void emit(const Record& record, const Place& place, std::string_view type, std::string payload,
            std::vector<Hole> holes, std::string_view lineKind = {});
  // Keeps the bytes of a line that carries entries, when the reader passes that line on.
  void emitCarrier(const Record& record, const Place& place);
  void emitCarried(const Record& record, Entry&& entry);
  bool isEmitted(const std::string& entryId) const;
  std::string parentOf(const Record& record, const Place& place, std::string_view id);
  std::string idOf(const Record& record, const Place& place);
  std::string timeOf(const Place& place);

  std::string agent_;
  Wanted wanted_;
  const Use& use_;
  TranscriptReport report_;
  std::optional<Error> error_;
  NumberSet known_;  // hashes of the agent's ids whose entry has the usual id (entryIdOf)
  std::unordered_map<std::string, std::string> ids_;  // agent's id → entry id, for all other ids
  std::unordered_set<std::string> labels_;            // labels that are set
  // For a line that carries entries: their ids, and where the line's own bytes end.
  struct Carrier {
    CarriedIds carries;
    std::size_t bareBytes = 0;
  };
  std::unordered_map<std::uint64_t, Carrier> carriers_;  // by offset of the line
  std::unordered_set<std::string> carried_;              // ids of entries that were carried in lines
  std::unordered_set<std::string> carrierIds_;           // the agent's ids of lines that refer to a carried entry
  std::string lastId_;
  std::string lastTime_;
  std::string headId_;
  bool headSet_ = false;
  bool differsFromLine_ = false;           // the id or parent of the current entry differs from its line
  std::uint64_t lineOffset_ = UINT64_MAX;  // of the record whose bytes the last entry keeps
  std::uint32_t part_ = 0;                 // how many entries that record has become so far
};

}  // namespace bough::transcript
