// How an entry becomes one line of text and comes back.
#pragma once

#include <string>
#include <string_view>

#include "bough/entry.h"
#include "bough/error.h"

namespace bough {

/// What stands in place of what an entry leaves out. The caller sees to it that these are good.
struct EntryDefaults {
  std::string_view id;
  std::string_view parentId;  ///< Empty for a root.
  std::string_view timestamp;
};

/// Turns entries into text and back. The text is one JSON object on one line that begins with the members
/// `id`, `parentId` and `type`; what follows is the serializer's own. Implementations are stateless: every call may
/// come from any thread.
class EntrySerializer {
 public:
  virtual ~EntrySerializer() = default;

  /// The version of the text, which new sessions have as the format in their header. A store appends to no other one:
  /// older ones are migrated first, and of newer ones it refuses all changes.
  [[nodiscard]] virtual int schemaVersion() const = 0;

  /// Appends the text of a complete entry to `out`. Fails with InvalidArgument when the entry breaks the format.
  virtual Result<void> encode(const Entry& entry, std::string& out) const = 0;

  /// The same with `defaults` for what the entry leaves out. Of use to override where a copy of an entry matters.
  virtual Result<void> encodeWith(const Entry& entry, const EntryDefaults& defaults, std::string& out) const;

  /// Reads back what encode wrote, with or without a seal. Fails with Damaged when the text is no entry.
  [[nodiscard]] virtual Result<Entry> decode(std::string_view text) const = 0;
};

/// The format-1 serializer that every store uses unless it is given another. It lives as long as the program.
const EntrySerializer& jsonEntrySerializer();

}  // namespace bough
