// Puts entries into the lines that are written for another agent (carried.h), so that they come back.
#pragma once

#include <bough/entry.h>

#include <string>
#include <vector>

#include "transcript/model/carried.h"
#include "transcript/model/items.h"

namespace bough::transcript {

/// Entries that left no line wait here for the next line. An entry travels only when the entry that it continues is in
/// the file before it; otherwise its line alone counts.
class Carrying {
 public:
  Carrying(const EntryList& entries, const EntryTree& tree, bool enabled)
      : entries_(entries), tree_(tree), enabled_(enabled), there_(entries.size()), branch_(entries.size()) {}

  /// An entry without a line of its own. A message that continues the entry whose line is held is in that line, too.
  void wait(std::size_t place);
  /// An entry whose line the agent wrote itself.
  void isThere(std::size_t place) { there_[place] = true; }
  /// Lines that were written for an entry; EntryTree::kNone: for none. They are held until `take`.
  void hold(std::string lines, std::size_t place);
  /// The branch that the agent shall continue: when its last entries left no line, the last line stands for them.
  void setBranch(const std::vector<std::size_t>& path) {
    for (const std::size_t place : path) branch_[place] = true;
  }
  /// What is held, with what it carries. `last`: no line follows, so all that waits goes with it.
  std::string take(bool last = false);

  [[nodiscard]] bool isEnabled() const { return enabled_; }
  [[nodiscard]] bool holds() const { return !lines_.empty(); }
  [[nodiscard]] std::size_t count() const { return count_; }  ///< Entries that travel.

 private:
  // What goes with one line.
  struct Cargo {
    std::vector<std::size_t> places;
    std::size_t room = kMaxCarriedBytes;  // that is left
  };

  [[nodiscard]] bool isInLine(std::size_t place) const;
  // Moves the entries that fit into the cargo.
  void load(std::vector<std::size_t>& from, Cargo& cargo);
  void unload(const Cargo& cargo);
  bool add(std::size_t place, Cargo& cargo);
  // The entry that an entry continues in the file; EntryTree::kNone for a root.
  [[nodiscard]] std::size_t parentOf(std::size_t place) const;
  [[nodiscard]] std::vector<CarriedEntry> entriesOf(const Cargo& cargo) const;

  const EntryList& entries_;
  const EntryTree& tree_;
  bool enabled_;
  std::vector<std::size_t> before_;   // those that come before what is held
  std::vector<std::size_t> joined_;   // those that are in it, too
  std::vector<std::size_t> waiting_;  // those that come after it
  std::vector<bool> there_;           // by place
  std::vector<bool> branch_;          // the same
  std::string lines_;
  std::size_t place_ = EntryTree::kNone;
  std::size_t count_ = 0;
};

/// The same for the files of a tree, each of which holds one branch from where it leaves the files before it. Lines
/// are given one entry after the other; what belongs to the session as a whole travels in the first file, a label in
/// the file of the entry that it names.
class TreeCargo {
 public:
  TreeCargo(const EntryList& entries, const EntryTree& tree, bool enabled);

  /// A file begins.
  void begin();
  /// The lines of an entry; null: of none. They come out of `take`, which is called before the next ones.
  void hold(std::string lines, const Entry* entry);
  /// What is held, with what it carries. `last`: the file ends.
  std::string take(bool last = false);

  [[nodiscard]] std::size_t count() const { return carrying_.count(); }

 private:
  // Entries outside the conversation that may travel before an entry; all that is left when it is the last.
  void waitUntil(std::size_t end);

  const EntryList& entries_;
  Carrying carrying_;
  std::vector<std::size_t> others_;  // the entries outside the conversation that still have to travel, by their place
  std::vector<bool> inFile_;         // by place: the entries that the file holds
  std::size_t files_ = 0;
};

}  // namespace bough::transcript
