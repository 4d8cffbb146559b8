// An entry as people read it: who speaks, and what, part by part. Shown by show, follow, replay and diff.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json_write.h"
#include "bough/entry.h"
#include "bough/message.h"

namespace bough::cli {

/// One part of what an entry says.
struct EntryPart {
  BlockKind kind = BlockKind::Text;
  std::string text;      ///< What is said; of a tool call its arguments, of a result what it returned.
  std::string name;      ///< Of a tool call or result: the tool, or the call's id where there is no name.
  bool isError = false;  ///< A tool result: the tool failed.
};

struct EntryView {
  std::string speaker;  ///< user, assistant, system, tool; of entries that are no messages, their type.
  bool isMessage = false;
  std::vector<EntryPart> parts;
};

/// Never fails: what cannot be read as a message is shown as it is stored, and why.
EntryView viewEntry(const Entry& entry);

/// What the entry says in one line of at most `graphemes`: its first text, else its first tool call or result.
std::string summaryLine(const EntryView& view, std::size_t graphemes);

/// How much of an entry is printed.
struct PrintStyle {
  bool full = false;       ///< Tool arguments and results whole.
  std::size_t width = 80;  ///< For what is folded into one line.
  bool markdown = false;
};

/// For a terminal, or as Markdown.
std::string renderEntry(const Entry& entry, const EntryView& view, const PrintStyle& style);
/// As one JSON object, with `schema`.
std::string entryJson(const Entry& entry, const EntryView& view);

}  // namespace bough::cli
