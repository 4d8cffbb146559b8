// Which payloads of a session are hidden, and what replaces them.
#pragma once

#include <map>
#include <string>

#include "bough/entry.h"

namespace bough {

class Redactions {
 public:
  /// Adds a redaction entry; ignores other entries. Of several redactions of an entry, an erasure's receipt counts,
  /// otherwise the earliest.
  void add(Entry redaction);
  /// Hides the payload of an entry that was redacted, or that was converted from a redacted one (its meta names that
  /// one). Returns true when it did.
  bool hide(Entry& entry) const;

  /// Returns the redaction that hides an entry; null when there is none.
  [[nodiscard]] const Entry* redactionOf(const Entry& entry) const;

  [[nodiscard]] bool empty() const { return byTarget_.empty(); }
  /// Returns the redactions by the id of the entry that each hides.
  [[nodiscard]] std::map<std::string, Entry> take() && { return std::move(byTarget_); }

 private:
  std::map<std::string, Entry> byTarget_;
};

}  // namespace bough
