#include <fmt/format.h>

#include "base/json_write.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/session_name.h"

namespace bough::cli {
namespace {

struct Options {
  std::string session;
  std::string entry;
};

Result<ExitCode> run(const Context& context, const Options& options) {
  auto session = openSession(context, options.session);
  if (!session) return std::unexpected(session.error());
  auto moved = session->store->moveHead(session->sessionId, options.entry == "@start" ? "" : options.entry);
  if (!moved) return std::unexpected(moved.error());
  if (!context.json) {
    printMessage(fmt::format("the head of {} is now {}", session->sessionId, options.entry));
    return kDone;
  }
  std::string out;
  json::Writer writer(out);
  writer.beginObject().member("schema", std::uint64_t{1}).member("sessionId", session->sessionId).key("headId");
  options.entry == "@start" ? writer.null() : writer.string(options.entry);
  writer.endObject();
  printLine(out);
  return kDone;
}

}  // namespace

Command switchCommand() {
  auto options = std::make_shared<Options>();
  return {
      .name = "switch",
      .summary = "Move a session's head: the next turn continues from that entry",
      .details = "Nothing is removed: the entries behind it stay, as another branch.",
      .examples =
          "  bough switch SESSION ENTRY\n"
          "  bough switch SESSION @start      before the first entry",
      .options =
          {{.name = "SESSION", .help = kSessionHelp, .target = &options->session, .required = true},
           {.name = "ENTRY", .help = "The id of an entry, or @start", .target = &options->entry, .required = true}},
      .values = options,
      .run = [options](const Context& context) { return run(context, *options); },
  };
}

}  // namespace bough::cli
