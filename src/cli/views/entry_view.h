// Shows an entry to people: the speaker, and each part of what was said. Used by show, follow, replay and diff.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json_write.h"
#include "bough/entry.h"
#include "bough/message.h"
#include "bough/store.h"
#include "cli/names/short_id.h"

namespace bough::cli {

/// Returns how many graphemes of the text a line of a list shows: `usual`, and more on a wider terminal.
std::size_t textGraphemes(std::size_t usual);

/// Returns the speaker and the text; on a narrow terminal only the text, because the text distinguishes the lines.
std::string speakerLine(std::string_view speaker, std::string_view text);

/// Returns a label for a table; on a terminal cut to a quarter of its width, to leave room for the text.
std::string shownLabel(std::string_view label);

enum class EntryFormat : std::uint8_t {
  Text,      ///< The text as it was written.
  Terminal,  ///< Markdown rendered, and lines broken between words.
  Markdown,
  Html,
};

/// The tool results for the calls of one entry, by call id; shown together with the calls.
using ToolResults = std::map<std::string, const EntryPart*, std::less<>>;

/// How an entry is printed, and how much of it.
struct PrintStyle {
  bool full = false;       ///< Show arguments and results of tools in full.
  std::size_t width = 80;  ///< The width for parts that are folded into one line.
  EntryFormat format = EntryFormat::Text;
  const IdPainter* paintId = nullptr;    ///< Colors entry ids on a terminal; null: one color for the whole line.
  const ToolResults* results = nullptr;  ///< The results of this entry's calls; null: results are shown where they are
                                         ///< stored.
};

/// Returns Terminal when stdout is a terminal, otherwise Text.
EntryFormat usualFormat();

std::string renderEntry(const Entry& entry, const EntryView& view, const PrintStyle& style);
/// The same as Markdown, and as part of an HTML page.
std::string entryAsMarkdown(const EntryView& view, bool full);
std::string entryAsHtml(const Entry& entry, const EntryView& view, bool full);
/// Returns the first lines of a result, and how many more there are.
std::string firstLines(std::string_view text, std::size_t lines);
inline constexpr std::size_t kResultLines = 6;
/// Returns the arguments of a tool for one line: the most informative argument, otherwise all of them.
std::string briefArguments(std::string_view arguments);
/// Loads the messages that the options ask for, with placeholders for unreadable ones.
Result<std::vector<Entry>> loadMessages(SessionStore& store, const std::string& sessionId, LoadOptions wanted);
/// Returns the last message of the branch that ends in this entry, on one line: "[user] Hello". Empty when none is
/// near.
std::string lastMessageLine(SessionStore& store, const std::string& sessionId, const std::string& entryId);
/// Returns true when a result holds its call's id in place of the tool's name (CallNames finds the name).
bool lacksName(const EntryPart& part);
/// Returns one JSON object, with `schema`.
std::string entryJson(const Entry& entry, const EntryView& view);

}  // namespace bough::cli
