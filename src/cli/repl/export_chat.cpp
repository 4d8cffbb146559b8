#include <fmt/format.h>

#include <algorithm>

#include "base/model/unreadable.h"
#include "base/text/counted.h"
#include "base/text/text.h"
#include "base/try.h"
#include "cli/repl/repl_commands.h"
#include "cli/terminal/output_file.h"
#include "cli/terminal/wrapped_text.h"
#include "cli/views/entry_view.h"
#include "cli/views/tool_results.h"

namespace bough::cli {

Result<void> ReplCommands::exportTo(const std::string& words) {
  if (words.empty()) return fail(ErrorCode::InvalidArgument, "no file was named", "/export FILE");
  if (chat().place().headId.empty()) {
    return fail(ErrorCode::NotFound, "nothing has been said yet", "type a message first");
  }
  BOUGH_TRY(const auto entries, loadMessages(chat().store(), chat().sessionId(), {.branch = chat().place().headId}));
  BOUGH_TRY(const Existing existing, checkOutputFile(words, /*replace=*/false, "name another file"));
  std::string text;
  CallNames names(chat().store(), chat().sessionId());
  for (const Entry& entry : entries) {
    text += renderEntry(entry, names.view(entry), {.full = true, .format = EntryFormat::Markdown});
  }
  BOUGH_TRY(writeOutputFile(words, text, existing));
  const auto lost = static_cast<std::size_t>(std::ranges::count_if(entries, isUnreadable));
  printWrapped(fmt::format("{} in {}{}", counted(entries.size() - lost, "message"), text::printable(words),
                           lost == 0 ? "" : fmt::format("; {} cannot be read", lost)));
  return {};
}

}  // namespace bough::cli
