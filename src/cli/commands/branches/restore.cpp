#include <fmt/format.h>

#include "base/json/json_write.h"
#include "base/text/text.h"
#include "base/try.h"
#include "cli/commands/commands.h"
#include "cli/names/entry_name.h"
#include "cli/names/session_name.h"
#include "cli/names/session_titles.h"
#include "cli/terminal/output.h"
#include "cli/views/entry_view.h"

namespace bough::cli::restore_command {
namespace {

struct Options {
  std::string session;
  std::string label;
};

Result<ExitCode> run(const Context& context, const Options& options) {
  BOUGH_TRY(auto named, openSessionToChange(context, options.session));
  SessionStore& store = *named.store;
  const std::string& session = named.sessionId;
  if (auto restored = store.restoreLabel(session, options.label); !restored) {
    return std::unexpected(withNearestLabel(store, session, options.label, std::move(restored.error())));
  }
  BOUGH_TRY(auto state, store.sessionState(session));
  if (!context.json) {
    printMessage(fmt::format("the head of {} is now {}, labelled {}", idAndTitle(store, session), shortId(state.headId),
                             text::printable(options.label)));
    if (const std::string said = lastMessageLine(store, session, state.headId); !said.empty())
      printMessage("  " + said);
    return kDone;
  }
  json::Writer writer;
  writer.beginObject().member("schema", 1).member("sessionId", session);
  printJsonLine(writer.member("name", options.label).member("headId", state.headId).endObject().text());
  return kDone;
}

}  // namespace

Command define() {
  auto options = std::make_shared<Options>();
  return {
      .name = "restore",
      .summary = "Move the head back to the entry of a label",
      .details = "Nothing is removed: the entries after the label stay, as another branch.",
      .examples = "  bough restore SESSION before-refactoring",
      .options = {{.name = "SESSION", .help = kExactSessionHelp, .target = &options->session, .required = true},
                  {.name = "LABEL", .help = "A label of that session", .target = &options->label, .required = true}},
      .run = [options](const Context& context) { return run(context, *options); },
  };
}

}  // namespace bough::cli::restore_command
