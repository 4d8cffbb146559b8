// Makes entries of records: what every reader of a transcript shares. It maps ids, finds parents, keeps the bytes of
// every line, and counts what is damaged.
//
// A reader calls, for each record, exactly one of: message or entry (once for each entry the line becomes), or keep
// (the line is not part of the conversation). Records that are not JSON never reach a reader; they are kept here.
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

/// Where an entry belongs. All ids are the agent's own.
struct Place {
  std::string_view id{};  ///< Empty: the line has none; the entry is then named by its offset.
  /// Left out: the entry of the conversation before it in the file. Empty: a root. An id that is not known (yet) is
  /// reported, and the entry continues from `otherwise`, so that no history is cut off.
  std::optional<std::string_view> parent{};
  /// What the entry continues when its parent is not known; empty: the entry before it in the file.
  std::string_view otherwise{};
  /// RFC 3339; empty, or not a time: that of the entry before it.
  std::string_view timestamp{};
  std::string_view runId{};
};

class Builder {
 public:
  using Use = std::function<Result<void>(Entry&&)>;
  struct Wanted {
    std::uint64_t fromOffset = 0;  ///< Entries of lines before it are not given, only remembered.
    bool withoutLines = false;     ///< Entries do not keep the lines that they were made from.
    /// Of a line before it: whether it was given; empty when that is not known.
    std::function<bool(std::uint64_t offset)> wasGiven{};

    /// Whether a line must not be joined with one that is held: the other was given without it.
    [[nodiscard]] bool keepsApart(std::uint64_t heldOffset, std::uint64_t offset) const {
      return heldOffset < fromOffset && (offset >= fromOffset || (wasGiven && wasGiven(offset)));
    }
  };
  Builder(std::string_view agent, Wanted wanted, const Use& use);

  /// What the file says of its session; a reader fills it in as it goes.
  TranscriptFacts facts;
  /// Of the file that is read.
  std::string path;
  /// Goes into the ids of entries whose lines have none: the agent's name, since a session may go from one agent to
  /// another. A file that holds only what came after a fork needs another one (the agent's session id), because its
  /// entries share one space of ids with those of the parent session.
  std::string idScope;

  /// A message of the conversation. `message` is JSON of the dialect: a part of record.text where it is there as
  /// it is (then it is its own hole), else text of the caller's with `holes` for what is verbatim in it
  /// ("content/0/text" is a path from the message).
  void message(const Record& record, const Place& place, Dialect dialect, std::string_view message,
               std::vector<Hole> holes = {});
  /// Another entry of the conversation (model_change, compaction_summary, branch_summary, custom …). `payload` is a
  /// JSON object; holes are looked for in it.
  void entry(const Record& record, const Place& place, std::string_view type, std::string_view payload,
             std::vector<Hole> holes = {});
  /// A line that is not part of the conversation. `what` is the agent's word for it. `info`: further members of a
  /// session_info payload (`"title":"…"`), or empty. Where the line has an id, later lines that name it as their parent
  /// continue from the parent of this line.
  void keep(const Record& record, const Place& place, std::string_view what, std::string_view info = {});
  /// A line that gives an entry a name. One that cannot be a label is only kept.
  void label(const Record& record, const Place& place, std::string_view targetId, std::string_view name);

  /// A line that takes a name away.
  void removeLabel(const Record& record, const Place& place, std::string_view name);

  /// The entry the agent would continue from, by the agent's id. Empty: none, it would begin a new history. Not called:
  /// the last of the conversation in the file.
  /// `carried`: the entry itself, where it has no id of the agent's and a line carries it.
  void setHead(std::string_view id, std::string_view carried = "");
  /// The entry that an agent's id means; empty when there is none (yet).
  [[nodiscard]] std::string entryFor(std::string_view id) const;
  [[nodiscard]] const Wanted& wanted() const { return wanted_; }
  /// The id of the conversation's last entry in the file; empty before the first.
  [[nodiscard]] const std::string& lastId() const { return lastId_; }
  /// Lets later lines that name `id` mean an entry: for lines that are not entries themselves, and for entries of a
  /// file that this one continues.
  void mean(std::string_view id, const std::string& entryId) { ids_[std::string(id)] = entryId; }

  /// Whether an agent's id is that of an entry, and not of a line that was only kept.
  [[nodiscard]] bool isEntry(std::string_view id) const;

  /// What the driver calls before a reader gets a record that carries entries (carried.h): those are given as they
  /// are. What the reader then says of the record only tells which ids mean them.
  void carry(const Record& record, Carried&& carried);

  /// Counts a problem that a reader finds in a whole record. `recovered`: it was read all the same.
  void damage(const Record& record, std::string_view reason, bool recovered = true);

  /// What the driver calls for a record that is not JSON.
  void keepBytes(const Record& record);
  /// The first error of `use`; reading ends with it.
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }
  /// Ends the reading.
  [[nodiscard]] TranscriptReport end();

 private:
  // `payload` lacks its closing brace.
  void give(const Record& record, const Place& place, std::string_view type, std::string payload,
            std::vector<Hole> holes, std::string_view what = {});
  // A line that carries entries, as the reader gives it: its bytes are kept.
  void giveCarrier(const Record& record, const Place& place);
  void giveCarried(const Record& record, Entry&& entry);
  bool isGiven(const std::string& entryId) const;
  std::string parentOf(const Record& record, const Place& place, std::string_view id);
  std::string idOf(const Record& record, const Place& place);
  std::string timeOf(const Place& place);

  std::string agent_;
  Wanted wanted_;
  const Use& use_;
  TranscriptReport report_;
  std::optional<Error> error_;
  NumberSet known_;                                   // hashes of the agent's ids that are entries of the usual id
  std::unordered_map<std::string, std::string> ids_;  // agent's id → entry id, for all others
  std::unordered_set<std::string> labels_;            // those in force
  // Of a line that carries entries: their ids, and where the line's own bytes end.
  struct Carrier {
    CarriedIds carries;
    std::size_t bareBytes = 0;
  };
  std::unordered_map<std::uint64_t, Carrier> carriers_;  // by the line's offset
  std::unordered_set<std::string> carried_;              // ids of entries that were given as they are
  std::unordered_set<std::string> carrierIds_;           // the agent's ids of lines that mean such an entry
  std::string lastId_;
  std::string lastTime_;
  std::string headId_;
  bool headSet_ = false;
  bool fixed_ = false;                     // the entry in the making has another id or parent than its line
  std::uint64_t lineOffset_ = UINT64_MAX;  // of the record whose bytes were last given with an entry
  std::uint32_t part_ = 0;                 // of it: how many entries it became
};

}  // namespace bough::transcript
