#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/json/json_scan.h"
#include "base/model/shown.h"
#include "base/model/unreadable.h"
#include "base/text/shell_word.h"
#include "base/text/text.h"
#include "base/try.h"
#include "cli/commands/commands.h"
#include "cli/names/entry_name.h"
#include "cli/names/session_name.h"
#include "cli/names/session_titles.h"
#include "cli/names/short_id.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"
#include "cli/views/entry_view.h"
#include "cli/views/session_head.h"
#include "cli/views/tool_results.h"

namespace bough::cli::show_command {
namespace {

// The limit for entries in memory.
constexpr std::size_t kPart = 500;
constexpr std::size_t kPartBytes = std::size_t{64} << 20;

struct Options {
  std::string session;
  std::string at;
  std::uint64_t last = 0;
  bool all = false;
  bool full = false;
  bool beforeCompaction = false;
  bool markdown = false;
  std::string format;
};

// The types that belong to the conversation; the others are shown with --all.
constexpr std::string_view kConversationTypes[] = {entry_type::kMessage, entry_type::kCompactionSummary,
                                                   entry_type::kBranchSummary, entry_type::kModelChange,
                                                   kUnreadableType};

bool isConversation(const Entry& entry) {
  return std::ranges::find(kConversationTypes, entry.type) != std::end(kConversationTypes) || shownText(entry) ||
         turnAbortReason(entry);
}

EntryFormat formatOf(const Options& options) {
  if (options.markdown || options.format == "markdown") return EntryFormat::Markdown;
  if (options.format == "html") return EntryFormat::Html;
  return options.format == "text" ? EntryFormat::Text : usualFormat();
}

bool foldsCalls(EntryFormat format) {
  return format == EntryFormat::Text || format == EntryFormat::Terminal;
}

// Everything needed to print the entries of one session.
struct Printing {
  Printing(SessionStore& store, const std::string& session, const Context& command, const Options& given,
           const LoadOptions& wanted)
      : context(command), options(given), names(store, session), folding(store, session, wanted) {
    if (!context.json && formatOf(options) == EntryFormat::Terminal) paintId = entryIdPainter(store, session);
  }

  const Context& context;
  const Options& options;
  CallNames names;
  ResultFolding folding;
  IdPainter paintId;
};

// `next` is where the following entries begin; std::nullopt after the last ones.
void printEntries(const std::vector<Entry>& entries, Printing& printing, std::optional<std::uint64_t> next) {
  auto& [context, options, names, folding, paintId] = printing;
  std::vector<const Entry*> shown;
  std::vector<EntryView> views;
  for (const Entry& entry : entries) {
    if (!options.all && !isConversation(entry)) continue;
    shown.push_back(&entry);
    views.push_back(names.view(entry));
  }
  PrintStyle style{.full = options.full, .width = terminalWidth(), .format = formatOf(options), .paintId = &paintId};
  std::vector<ToolResults> results;
  if (!context.json && !options.full && foldsCalls(style.format)) results = folding.fold(shown, views, next);
  for (std::size_t i = 0; i < shown.size() && !outputClosed(); ++i) {
    if (!results.empty()) style.results = &results[i];
    if (context.json) {
      printJsonLine(entryJson(*shown[i], views[i]));
    } else if (!views[i].parts.empty() || style.results == nullptr) {
      printText(renderEntry(*shown[i], views[i], style));
    }
  }
}

Result<void> printHead(SessionStore& store, const std::string& session, const std::string& leaf, EntryFormat format) {
  BOUGH_TRY(const auto head, readSessionHead(store, session, leaf));
  switch (format) {
    case EntryFormat::Markdown: printText(headAsMarkdown(head)); break;
    case EntryFormat::Html: printText(headAsHtml(head)); break;
    default: printText(headForTerminal(head, format == EntryFormat::Terminal ? terminalWidth() : SIZE_MAX));
  }
  return {};
}

// Returns the offset of the line in another agent's file from which an entry was made.
std::optional<std::uint64_t> lineOffset(const Entry& entry) {
  const auto transcript = json::findMember(entry.payload, "transcript");
  return transcript ? json::findUnsigned(*transcript, "at") : std::nullopt;
}

// Codex repeats the messages that a summary keeps in the summary's own line. Returns the entry before these copies;
// empty when there are none.
Result<std::string> entryBeforeCopies(SessionStore& store, const std::string& session, const Entry& summary) {
  const auto first = json::findString(summary.payload, "firstKeptEntryId");
  if (json::findMember(summary.payload, "summaryAfterKept") != "true" || !first) return std::string();
  const auto kept = store.loadEntry(session, *first);
  if (!kept || !lineOffset(*kept) || lineOffset(*kept) != lineOffset(summary)) return std::string();
  return kept->parentId.value_or("");
}

// Returns the last entry that the branch's last summary covers.
Result<std::string> entryBeforeCompaction(SessionStore& store, const std::string& session, const std::string& leaf) {
  LoadOptions wanted;
  wanted.branch = leaf;
  wanted.types = {std::string(entry_type::kCompactionSummary)};
  wanted.last = 1;
  BOUGH_TRY(const auto summaries, store.loadSessionEntries(session, wanted));
  if (summaries.empty() || summaries.front().parentId.value_or("").empty()) {
    return fail(ErrorCode::NotFound, "no compaction is on this branch",
                "`bough show` without the option shows all of it");
  }
  BOUGH_TRY(const std::string before, entryBeforeCopies(store, session, summaries.front()));
  return before.empty() ? *summaries.front().parentId : before;
}

// Returns the incomplete record at the end of another agent's file as an unreadable entry. Notes of the import come
// after it.
Result<std::optional<Entry>> tornEnd(SessionStore& store, const std::string& session, const std::string& leaf) {
  constexpr std::size_t kNear = 8;
  BOUGH_TRY(const auto last, store.loadSessionEntries(session, {.last = kNear}));
  for (auto entry = last.rbegin(); entry != last.rend(); ++entry) {
    const auto transcript = json::findMember(entry->payload, "transcript");
    if (!transcript) break;
    if (entry->type == entry_type::kHead || json::findMember(*transcript, "facts")) continue;
    if (json::findMember(*transcript, "torn") != "true") break;
    Entry torn = unreadableEntry(entry->id, leaf, json::findUnsigned(*transcript, "at").value_or(0),
                                 json::findUnsigned(*transcript, "size").value_or(0), "a record that is not complete");
    torn.timestamp = entry->timestamp;
    return torn;
  }
  return std::nullopt;
}

Result<void> printTornEnd(SessionStore& store, const std::string& session, const Context& context,
                          const Options& options, const LoadOptions& wanted) {
  if (options.all || !options.at.empty() || options.beforeCompaction) return {};
  BOUGH_TRY(auto torn, tornEnd(store, session, wanted.branch.value_or("")));
  if (!torn) return {};
  Printing printing(store, session, context, options, wanted);
  printEntries({std::move(*torn)}, printing, std::nullopt);
  return {};
}

Result<ExitCode> show(SessionStore& store, const std::string& session, const Context& context, const Options& options) {
  LoadOptions wanted;
  if (!options.all || !options.at.empty()) {
    BOUGH_TRY(auto leaf, resolveEntry(store, session, options.at.empty() ? "@head" : options.at));
    if (options.beforeCompaction) {
      BOUGH_TRY(leaf, entryBeforeCompaction(store, session, leaf));
    }
    wanted.branch = leaf;
  }
  if (!context.json) {
    BOUGH_TRY(printHead(store, session, wanted.branch.value_or(""), formatOf(options)));
  }
  if (options.last > 0) {
    wanted.last = options.last;
    BOUGH_TRY(const auto entries,
              options.all ? store.loadSessionEntries(session, wanted) : loadMessages(store, session, wanted));
    Printing printing(store, session, context, options, wanted);
    printEntries(entries, printing, std::nullopt);
    BOUGH_TRY(printTornEnd(store, session, context, options, wanted));
    return kDone;
  }
  wanted.limit = kPart;
  wanted.limitBytes = kPartBytes;
  Printing printing(store, session, context, options, wanted);
  while (!outputClosed()) {
    BOUGH_TRY(auto entries, store.loadSessionEntries(session, wanted));
    if (entries.empty()) break;
    wanted.fromSequence += entries.size();
    printEntries(entries, printing, wanted.fromSequence);
  }
  BOUGH_TRY(printTornEnd(store, session, context, options, wanted));
  return kDone;
}

Result<ExitCode> run(const Context& given, const Options& options) {
  if (given.json && !options.format.empty() && options.format != "json") {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("--json and --format {} cannot be given together", options.format),
                "leave one of them out");
  }
  Context context = given;
  context.json = context.json || options.format == "json";
  BOUGH_TRY(auto session, openForReading(context, options.session));
  BOUGH_TRY(auto state, session.store->sessionState(session.sessionId));
  if (state.headId.empty() && !options.all && options.at.empty()) {
    BOUGH_TRY(const auto tree, session.store->loadTree(session.sessionId));
    const bool hasBranches = !tree.roots().empty();
    const std::string name = idAndTitle(*session.store, session.sessionId);
    printMessage(hasBranches
                     ? fmt::format("the head of {} is before its first entry: the next turn begins a new tree", name)
                     : fmt::format("{} has no messages yet", name));
    if (hasBranches) {
      printMessage(fmt::format("  → bough tree {}", shellWord(options.session)));
    } else if (!session.isCopy) {
      printMessage(fmt::format("  → bough append {} --text \"Hello\"", exactName(session.sessionId)));
    }
    return kDone;
  }
  const Pager pager(!context.json);
  BOUGH_TRY(const auto done, show(*session.store, session.sessionId, context, options));
  if (!context.json && formatOf(options) == EntryFormat::Html) printText(htmlEnd());
  return done;
}

}  // namespace

Command define() {
  auto options = std::make_shared<Options>();
  return {
      .name = "show",
      .summary = "Read a session: messages, tool calls and their results",
      .details =
          "Shows the branch of the head, from its first entry to its last, in local time. A tool call is one line "
          "with the first line of its result; --full shows both whole. On a terminal Markdown is rendered, and the "
          "text goes through $PAGER; elsewhere it is printed as it was written.",
      .examples =
          "  bough show @last\n"
          "  bough show SESSION --last 10 --full\n"
          "  bough show SESSION --format html > session.html",
      .options = {{.name = "SESSION", .help = kSessionHelp, .target = &options->session, .required = true},
                  {.name = "--at",
                   .help = "Show the branch that ends in this entry",
                   .target = &options->at,
                   .value = "ENTRY"},
                  {.name = "-n,--last",
                   .help = "Only the last N messages; with --all, entries",
                   .target = &options->last,
                   .value = "N"},
                  {.name = "--all",
                   .help = "Every entry in the order of the log, not only the conversation of the head's branch",
                   .target = &options->all},
                  {.name = "--before-compaction",
                   .help = "The branch up to its last compaction",
                   .target = &options->beforeCompaction},
                  {.name = "--full",
                   .help = "Show tool arguments, results and thinking whole",
                   .target = &options->full},
                  {.name = "--format",
                   .help = "How to print it; json is the same as --json",
                   .target = &options->format,
                   .choices = {"text", "markdown", "html", "json"},
                   .value = "FORMAT"},
                  {.name = "--markdown",
                   .help = "The same as --format markdown",
                   .target = &options->markdown,
                   .conflictsWith = {"--format", "--json"}}},
      .run = [options](const Context& context) { return run(context, *options); },
      .aliases = {"log"},
  };
}

}  // namespace bough::cli::show_command
