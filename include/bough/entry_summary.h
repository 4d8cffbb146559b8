// An entry in one line: who speaks, and how it begins.
#pragma once

#include <string>

#include "bough/entry.h"
#include "bough/message.h"

namespace bough {

struct EntrySummary {
  std::string entryId;
  std::string timestamp;
  std::string speaker;  ///< user, assistant, system, tool; of entries that are no messages, their type.
  std::string text;     ///< Printable, on one line: the first text, else the first tool call, else what there is.
  bool failed = false;  ///< It holds the result of a tool that failed.
};

/// Never fails: what cannot be read as a message is shown as it is stored. `text` has at most so many graphemes.
EntrySummary summarizeEntry(const Entry& entry, std::size_t graphemes);

/// Whether a message holds the result of a tool that failed. Where a dialect has no flag for that (OpenAI's), a result
/// that begins with `Error:` or is a JSON object with an `error` counts.
bool hasFailedResult(const Message& message);

/// The same of an entry; false when it holds no message.
bool hasFailedResult(const Entry& entry);

}  // namespace bough
