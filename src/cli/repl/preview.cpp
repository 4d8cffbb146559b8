#include "cli/repl/preview.h"

#include <fmt/format.h>

#include "base/model/typed_text.h"
#include "base/text/text.h"
#include "cli/terminal/wrapped_text.h"
#include "cli/views/entry_view.h"
#include "cli/views/markdown/blocks.h"

namespace bough::cli {
namespace {

void addText(std::vector<PickerLine>& out, std::string_view text, std::size_t width) {
  const std::string shown = markdownForTerminal(text::printableLines(text), width, 0);
  std::string_view rest = shown;
  bool isFirst = true;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const bool isEdge = isFirst || rest.find_first_not_of('\n') == std::string_view::npos;
    if (line.empty() && isEdge) continue;
    isFirst = false;
    // Markdown has a minimum width; in a narrower preview its lines are cut.
    const bool fits = shownWidth(line) <= width;
    out.push_back({.text = fits ? std::string(line) : withoutEscapes(line), .isPainted = fits});
  }
}

}  // namespace

std::vector<PickerLine> previewOf(const Entry& entry, std::size_t width) {
  std::vector<PickerLine> out;
  for (const EntryPart& part : viewEntry(entry).parts) {
    const bool isFile = !out.empty() && isAttachedBlock(part.text);  // the prompt already names the file
    if (part.kind == BlockKind::Text && !isFile) addText(out, part.text, width);
    if (part.kind == BlockKind::ToolCall) {
      const std::string call = fmt::format("● {}  {}", part.name, briefArguments(part.text));
      out.push_back({.text = text::excerptToWidth(call, width)});
    }
  }
  return out;
}

}  // namespace bough::cli
