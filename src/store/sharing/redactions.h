// Which payloads of a session are hidden, and what takes their place.
#pragma once

#include <map>
#include <string>

#include "bough/entry.h"

namespace bough {

class Redactions {
 public:
  /// Adds a redaction entry; others are ignored. The earliest one of an entry counts, unless another erased it.
  void add(Entry redaction);
  /// Hides the payload of an entry that was redacted, or that was converted from one (its meta then names that one);
  /// returns whether it did.
  bool hide(Entry& entry) const;

  /// The redaction that hides an entry; null when none does.
  [[nodiscard]] const Entry* redactionOf(const Entry& entry) const;

  [[nodiscard]] bool empty() const { return byTarget_.empty(); }
  /// By the id of what each hides.
  [[nodiscard]] std::map<std::string, Entry> take() && { return std::move(byTarget_); }

 private:
  std::map<std::string, Entry> byTarget_;
};

}  // namespace bough
