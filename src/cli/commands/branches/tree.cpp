#include <fmt/format.h>

#include <algorithm>

#include "base/json/json_write.h"
#include "base/text/counted.h"
#include "base/text/text.h"
#include "base/text/timestamp.h"
#include "base/try.h"
#include "bough/tree.h"
#include "cli/commands/commands.h"
#include "cli/names/session_name.h"
#include "cli/names/session_titles.h"
#include "cli/names/short_id.h"
#include "cli/names/when.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"
#include "cli/views/entry_view.h"

namespace bough::cli::tree_command {
namespace {

constexpr std::size_t kColumnsForIds = 60;
constexpr std::size_t kPart = 256;  // entries in memory at a time

struct Options {
  std::string session;
  bool all = false;
  bool ids = false;
  bool dot = false;
};

std::string paint(TreePart part, std::string_view text) {
  switch (part) {
    case TreePart::Lines:
    case TreePart::Fold:
    case TreePart::Id: return styled(Style::Dim, text);
    case TreePart::Mark: return styled(Style::Bold, text);
    case TreePart::Text: return std::string(text);
    case TreePart::Speaker: break;
  }
  if (text == "[user]") return styled(Style::Green, text);
  if (text == "[assistant]") return styled(Style::Cyan, text);
  return styled(text == "[tool]" ? Style::Yellow : Style::Magenta, text);
}

std::string entryAge(const std::string& timestamp) {
  const auto time = parseTimestamp(timestamp);
  if (!time) return "";
  std::string age = formatAge(*time, nowMs());
  if (age.ends_with(" ago")) age.resize(age.size() - 4);
  return age;
}

void writeNode(json::Writer& writer, const SessionTree& tree, Sequence node, const EntrySummary& summary,
               const std::string& parentId) {
  writer.beginObject().member("entryId", summary.entryId).memberOrNull("parentId", parentId);
  writer.member("sequence", node).member("depth", tree.depth(node));
  writer.member("timestamp", summary.timestamp).member("role", summary.speaker).member("text", summary.text);
  writer.member("failed", summary.failed).list("labels", tree.labelsOf(node));
  const auto problem = std::ranges::lower_bound(tree.problems(), node, {}, &TreeProblem::node);
  writer.memberOrNull("problem", tree.isOrphan(node) ? toString(problem->kind) : "").endObject();
}

// Prints all entries in log order, each with its parent, so that a tree of any depth needs no nesting.
Result<ExitCode> printJson(SessionStore& store, const std::string& sessionId, const SessionTree& tree) {
  const auto describe = describeEntries(store, sessionId);
  std::string out;
  json::Writer writer(out);
  writer.beginObject().member("schema", 2).member("sessionId", sessionId).key("headId");
  if (tree.head() == kNoSequence) {
    writer.null();
  } else {
    BOUGH_TRY(auto head, describe({tree.head()}));
    writer.string(head.front().entryId);
  }
  writer.member("branchCount", tree.leaves().size());
  writer.member("problemCount", tree.problems().size()).key("entries").beginArray();
  for (Sequence from = 0; from < tree.entryCount() && !outputClosed(); from += kPart) {
    // The entries, followed by their parents, whose ids are needed.
    std::vector<Sequence> nodes;
    for (Sequence node = from; node < std::min<std::size_t>(from + kPart, tree.entryCount()); ++node) {
      if (tree.isNode(node)) nodes.push_back(node);
    }
    const std::size_t count = nodes.size();
    for (std::size_t i = 0; i < count; ++i) {
      nodes.push_back(tree.parent(nodes[i]) == kNoSequence ? nodes[i] : tree.parent(nodes[i]));
    }
    BOUGH_TRY(auto summaries, describe(nodes));
    for (std::size_t i = 0; i < count; ++i) {
      const bool root = tree.parent(nodes[i]) == kNoSequence;
      writeNode(writer, tree, nodes[i], summaries[i], root ? "" : summaries[count + i].entryId);
    }
    printJsonPart(out);
    out.clear();
  }
  writer.endArray().endObject();
  printJsonLine(out);
  return kDone;
}

Result<ExitCode> draw(SessionStore& store, const std::string& sessionId, const SessionTree& tree,
                      const Options& options) {
  const auto print = [](std::string_view line) {
    printLine(line);
    return !outputClosed();
  };
  DrawOptions look{.all = options.all, .ids = options.ids, .time = entryAge, .paint = paint};
  if (stdoutIsTerminal() && !options.dot) {
    look.paint = [paintId = entryIdPainter(store, sessionId)](TreePart part, std::string_view text) {
      return part == TreePart::Id && paintId ? paintId(std::string(text)) : paint(part, text);
    };
    look.width = terminalWidth();
    look.ids = look.ids || look.width >= kColumnsForIds;
    // Ids chosen by a program may have any length.
    constexpr std::size_t kIdColumns = 20;
    look.shortId = [whole = options.ids](const std::string& id) {
      return whole ? shortId(id) : text::excerptToWidth(shortId(id), kIdColumns);
    };
  }
  const auto describe = describeEntries(store, sessionId, look.width > 0 ? look.width : 72);
  const Pager pager(!options.dot);
  BOUGH_TRY(options.dot ? drawTreeAsDot(tree, describe, look, print) : drawTree(tree, describe, look, print));
  return kDone;
}

Result<ExitCode> run(const Context& context, const Options& options) {
  BOUGH_TRY(auto named, openForReading(context, options.session));
  SessionStore& store = *named.store;
  const std::string& session = named.sessionId;
  BOUGH_TRY(auto tree, store.loadTree(session));
  if (context.json) return printJson(store, session, tree);
  if (tree.nodeCount() == 0 && !options.dot) {
    printMessage(fmt::format("{} has no messages yet", idAndTitle(store, session)));
    return kDone;
  }
  auto drawn = draw(store, session, tree, options);
  if (const std::size_t problems = tree.problems().size(); drawn && problems > 0) {
    printMessage(fmt::format("{} no known parent; `bough verify {}` says more",
                             counted(problems, "entry has", "entries have"), exactName(session)));
  }
  return drawn;
}

}  // namespace

Command define() {
  auto options = std::make_shared<Options>();
  return {
      .name = "tree",
      .summary = "Draw a session as a tree: every branch, the head and the labels",
      .details =
          "Prints one line per entry: its id, who, when and what. The id names the entry for `switch`, `fork` and "
          "`label`. "
          "Lines move to the right only where branches part. Long "
          "stretches are folded, except for what the user said and what cannot be read; --all shows every entry. A "
          "label on the last entry "
          "of a branch is the name of that branch. In a damaged file, an entry whose parent is missing begins a "
          "branch of its own and is marked.",
      .examples =
          "  bough tree @last\n"
          "  bough tree SESSION --all\n"
          "  bough tree SESSION --dot | dot -Tsvg > tree.svg",
      .options = {{.name = "SESSION", .help = kSessionHelp, .target = &options->session, .required = true},
                  {.name = "--all",
                   .help = "Show every entry, also bookkeeping; fold nothing",
                   .target = &options->all},
                  {.name = "--ids",
                   .help = "Show the id of each entry; default: on a terminal of 60 and more columns",
                   .target = &options->ids},
                  {.name = "--dot",
                   .help = "Print a graph for Graphviz",
                   .target = &options->dot,
                   .conflictsWith = {"--json"}}},
      .run = [options](const Context& context) { return run(context, *options); },
  };
}

}  // namespace bough::cli::tree_command
