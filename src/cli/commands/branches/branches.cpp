#include "bough/tree.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/json/json_write.h"
#include "base/text/timestamp.h"
#include "base/try.h"
#include "cli/commands/commands.h"
#include "cli/names/session_name.h"
#include "cli/names/session_titles.h"
#include "cli/names/short_id.h"
#include "cli/names/when.h"
#include "cli/terminal/output.h"
#include "cli/terminal/table.h"
#include "cli/terminal/terminal.h"
#include "cli/views/entry_view.h"

namespace bough::cli::branches_command {
namespace {

struct Options {
  std::string session;
};

void printJson(const std::string& sessionId, const std::vector<BranchListing>& branches) {
  json::Writer writer;
  writer.beginObject().member("schema", 2).member("sessionId", sessionId).key("branches").beginArray();
  for (const BranchListing& branch : branches) {
    writer.beginObject().member("leafId", branch.leafId).member("firstOwnId", branch.firstOwnId);
    writer.member("length", branch.length).member("ownLength", branch.ownLength).member("timestamp", branch.timestamp);
    writer.memberOrNull("role", branch.speaker).memberOrNull("lastMessage", branch.lastMessage);
    writer.list("names", branch.names).member("isHead", branch.isHead).member("isOrphan", branch.isOrphan).endObject();
  }
  printJsonLine(writer.endArray().endObject().text());
}

// On a wide terminal there is room for more of the last message.
Result<void> readMore(SessionStore& store, const std::string& session, const SessionTree& tree,
                      std::vector<BranchListing>& listed) {
  const std::size_t graphemes = textGraphemes(kLastMessageGraphemes);
  if (graphemes == kLastMessageGraphemes) return {};
  std::vector<std::size_t> rows;
  std::vector<Sequence> messages;
  const auto branches = tree.branches();
  for (std::size_t i = 0; i < branches.size(); ++i) {
    Sequence at = branches[i].leaf;
    while (at != kNoSequence && tree.kind(at) != EntryKind::Message) at = tree.parent(at);
    if (at == kNoSequence) continue;
    rows.push_back(i);
    messages.push_back(at);
  }
  constexpr std::size_t kAtATime = 256;
  const auto describe = describeEntries(store, session, graphemes);
  for (std::size_t from = 0; from < rows.size(); from += kAtATime) {
    const std::size_t end = std::min(rows.size(), from + kAtATime);
    const auto begin = messages.begin() + static_cast<std::ptrdiff_t>(from);
    BOUGH_TRY(const auto said, describe({begin, messages.begin() + static_cast<std::ptrdiff_t>(end)}));
    for (std::size_t i = from; i < end; ++i) listed[rows[i]].lastMessage = said[i - from].text;
  }
  return {};
}

void printTable(const std::vector<BranchListing>& branches, const IdPainter& paintId) {
  Table table({{.title = ""},
               {.title = "entry", .paint = paintId},
               {.title = "entries", .align = Table::Align::Right, .spare = 2},
               {.title = "age", .spare = 1},
               {.title = "name", .cuttable = true},
               {.title = "last message"}});
  for (const BranchListing& branch : branches) {
    const auto time = parseTimestamp(branch.timestamp);
    std::string said = speakerLine(branch.speaker, branch.lastMessage);
    if (branch.isOrphan) said.insert(0, "(orphan: the beginning of this branch is missing) ");
    table.add({branch.isHead ? "*" : "", shortId(branch.leafId), std::to_string(branch.length),
               time ? formatAge(*time, nowMs()) : "-", shownLabel(fmt::format("{}", fmt::join(branch.names, ", "))),
               said});
  }
  table.print();
}

Result<ExitCode> run(const Context& context, const Options& options) {
  BOUGH_TRY(auto named, openForReading(context, options.session));
  SessionStore& store = *named.store;
  const std::string& session = named.sessionId;
  BOUGH_TRY(auto tree, store.loadTree(session));
  BOUGH_TRY(auto branches, listBranches(store, session, tree));
  if (context.json) {
    printJson(session, branches);
    return kDone;
  }
  if (branches.empty()) {
    printMessage(fmt::format("{} has no messages yet", idAndTitle(store, session)));
    return kDone;
  }
  BOUGH_TRY(readMore(store, session, tree, branches));
  const Pager pager;
  printTable(branches, entryIdPainter(store, session));
  if (tree.head() == kNoSequence) {
    printMessage("the head is before the first entry: the next message begins a new branch");
  } else if (!tree.isLeaf(tree.head())) {
    BOUGH_TRY(const auto head, store.sessionState(session));
    printMessage(fmt::format("the head is {}, inside a branch: the next message begins a new branch there",
                             shortId(head.headId)));
  }
  return kDone;
}

}  // namespace

Command define() {
  auto options = std::make_shared<Options>();
  return {
      .name = "branches",
      .summary = "List the branches of a session: length, age and last message",
      .details =
          "A branch is named by its last entry, or by the label of that entry. The branch marked with * ends in "
          "the head.",
      .examples =
          "  bough branches @last\n"
          "  bough switch SESSION ENTRY     # continue with another branch",
      .options = {{.name = "SESSION", .help = kSessionHelp, .target = &options->session, .required = true}},
      .run = [options](const Context& context) { return run(context, *options); },
  };
}

}  // namespace bough::cli::branches_command
