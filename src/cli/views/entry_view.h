// An entry as people read it: who speaks, and what, part by part. Shown by show, follow, replay and diff.
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

/// How much of what was said a line of a list holds: `usual` graphemes, and more on a terminal that is wider.
std::size_t saidGraphemes(std::size_t usual);

/// Who said it and what; on a narrow terminal only what, which is what tells lines apart.
std::string spokenLine(std::string_view speaker, std::string_view text);

/// A label for a table: on a terminal at most a quarter of its width, so that what was said has room.
std::string shownLabel(std::string_view label);

enum class EntryFormat : std::uint8_t {
  Text,      ///< What was written, as it was written.
  Terminal,  ///< Markdown is rendered, and lines are broken between words.
  Markdown,
  Html,
};

/// Results of tools by the ids of their calls, of one entry: shown with the call.
using ToolResults = std::map<std::string, const EntryPart*, std::less<>>;

/// How an entry is printed, and how much of it.
struct PrintStyle {
  bool full = false;       ///< Tool arguments and results whole.
  std::size_t width = 80;  ///< For what is folded into one line.
  EntryFormat format = EntryFormat::Text;
  const IdPainter* paintId = nullptr;    ///< Of entries, on a terminal; null: one color for the whole line.
  const ToolResults* results = nullptr;  ///< Of the calls in this entry; null: results are shown where they are.
};

/// Terminal when stdout is one, else Text.
EntryFormat usualFormat();

std::string renderEntry(const Entry& entry, const EntryView& view, const PrintStyle& style);
/// The same as Markdown, and as a part of a page.
std::string entryAsMarkdown(const EntryView& view, bool full);
std::string entryAsHtml(const Entry& entry, const EntryView& view, bool full);
/// The first lines of a result, and how many more there are.
std::string firstLines(std::string_view text, std::size_t lines);
inline constexpr std::size_t kResultLines = 6;
/// What a tool was called with, for one line: the argument that says most, else all of them.
std::string briefArguments(std::string_view arguments);
/// The messages that the options ask for, and what stands for those that cannot be read.
Result<std::vector<Entry>> loadMessages(SessionStore& store, const std::string& sessionId, LoadOptions wanted);
/// "[user] Hello": the last message of the branch that ends in this entry, in one line. Empty when there is none near.
std::string lastSaid(SessionStore& store, const std::string& sessionId, const std::string& entryId);
/// Whether a result has its call's id in the place of its tool's name (CallNames finds the name).
bool lacksName(const EntryPart& part);
/// As one JSON object, with `schema`.
std::string entryJson(const Entry& entry, const EntryView& view);

}  // namespace bough::cli
