// Puts entries into the lines that are written for another agent (carried.h), so that the entries come back.
#pragma once

#include <bough/entry.h>

#include <string>
#include <vector>

#include "transcript/model/carried.h"
#include "transcript/model/items.h"

namespace bough::transcript {

/// Collects entries that have no line of their own until the next line is written. An entry is carried only when the
/// entry that it continues is already in the file; otherwise only its line counts.
class CarrierWriter {
 public:
  CarrierWriter(const EntryList& entries, const EntryTree& tree, bool enabled)
      : entries_(entries), tree_(tree), enabled_(enabled), inFile_(entries.size()), branch_(entries.size()) {}

  /// Adds an entry without a line of its own. A message that continues the entry of the current line is taken as part
  /// of that line.
  void addWithoutLine(std::size_t place);
  /// Adds an entry that says what the session is (CarriedSession). The first line carries it.
  void addSession(Entry entry) { session_ = std::make_shared<Entry>(std::move(entry)); }
  /// Marks an entry whose line the agent wrote itself.
  void markInFile(std::size_t place) { inFile_[place] = true; }
  /// Sets the current lines, which were written for the entry at `place`, or for no entry (EntryTree::kNone). They are
  /// held until `takeLines`.
  void setLines(std::string lines, std::size_t place);
  /// Sets the branch that the agent must continue. When its last entries have no lines, the last line represents them.
  void setBranch(const std::vector<std::size_t>& path) {
    for (const std::size_t place : path) branch_[place] = true;
  }
  /// Returns the current lines with what they carry. `last`: no line follows, so all waiting entries are included.
  std::string takeLines(bool last = false);

  [[nodiscard]] bool isEnabled() const { return enabled_; }
  [[nodiscard]] bool hasLines() const { return !lines_.empty(); }
  [[nodiscard]] std::size_t count() const { return count_; }  ///< Number of carried entries.

 private:
  // The entries that go with one line.
  struct Cargo {
    std::vector<std::size_t> places;
    std::size_t room = kMaxCarriedBytes;  // bytes left
  };

  [[nodiscard]] bool isInLine(std::size_t place) const;
  // Moves the entries that fit into the cargo.
  void load(std::vector<std::size_t>& from, Cargo& cargo);
  void unload(const Cargo& cargo);
  bool add(std::size_t place, Cargo& cargo);
  // Returns the entry that an entry continues in the file; EntryTree::kNone for a root.
  [[nodiscard]] std::size_t parentOf(std::size_t place) const;
  [[nodiscard]] std::vector<CarriedEntry> entriesOf(const Cargo& cargo) const;

  const EntryList& entries_;
  const EntryTree& tree_;
  bool enabled_;
  std::vector<std::size_t> before_;         // waiting entries that precede the current lines
  std::vector<std::size_t> joined_;         // entries that are part of the current lines
  std::vector<std::size_t> waiting_;        // waiting entries that follow the current lines
  std::vector<bool> inFile_;                // by place: the entry is in the file
  std::vector<bool> branch_;                // by place: the entry is on the branch of setBranch
  std::shared_ptr<const Entry> session_{};  // until a line carries it
  std::string lines_;
  std::size_t place_ = EntryTree::kNone;
  std::size_t count_ = 0;
};

/// Does the same for the files of a tree, where each file holds one branch from the point where it leaves the earlier
/// files. Lines are added entry by entry. What belongs to the session as a whole is carried in the first file, and a
/// label in the file of the entry that it names.
class TreeCarrierWriter {
 public:
  TreeCarrierWriter(const EntryList& entries, const EntryTree& tree, bool enabled);
  void addSession(Entry entry) { carrierWriter_.addSession(std::move(entry)); }

  /// Begins a file.
  void beginFile();
  /// Sets the lines of an entry, or of no entry (null). Call `takeLines` before the next lines.
  void setLines(std::string lines, const Entry* entry);
  /// Returns the current lines with what they carry. `last`: the file ends.
  std::string takeLines(bool last = false);

  [[nodiscard]] std::size_t count() const { return carrierWriter_.count(); }

 private:
  // Adds the entries outside the conversation that come before the entry at `end`; all that are left when it is the
  // last.
  void addUntil(std::size_t end);

  const EntryList& entries_;
  CarrierWriter carrierWriter_;
  std::vector<std::size_t> others_;  // places of the entries outside the conversation that are not carried yet
  std::vector<bool> inFile_;         // by place: the entry is in the current file
  std::size_t files_ = 0;
};

}  // namespace bough::transcript
