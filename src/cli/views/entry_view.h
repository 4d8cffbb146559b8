// An entry as people read it: who speaks, and what, part by part. Shown by show, follow, replay and diff.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json/json_write.h"
#include "bough/entry.h"
#include "bough/message.h"

namespace bough::cli {

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
