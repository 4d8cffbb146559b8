// An entry as people read it: in one line, or part by part.
#pragma once

#include <string>
#include <vector>

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

/// One part of what an entry says.
struct EntryPart {
  BlockKind kind = BlockKind::Text;
  std::string text = {};  ///< What is said; of a tool call its arguments, of a result what it returned.
  std::string name = {};  ///< Of a tool call or result: the tool, or the call's id where there is no name.
  bool isError = false;   ///< A tool result: the tool failed.
};

/// All that an entry says, decoded.
struct EntryView {
  std::string speaker = {};  ///< user, assistant, system, tool; for an entry that is not a message, its type.
  bool isMessage = false;
  std::vector<EntryPart> parts = {};
};

/// Never fails: what cannot be read as a message is shown as it is stored.
EntryView viewEntry(const Entry& entry);

/// Whether a message holds the result of a tool that failed. Where a dialect has no flag for that (OpenAI's), a result
/// that begins with `Error:` or is a JSON object with an `error` counts.
bool hasFailedResult(const Message& message);

/// The same of an entry; false when it holds no message.
bool hasFailedResult(const Entry& entry);

}  // namespace bough
