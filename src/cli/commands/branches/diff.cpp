#include <fmt/format.h>

#include <algorithm>

#include "base/json/json_write.h"
#include "base/text/counted.h"
#include "base/text/text.h"
#include "base/try.h"
#include "bough/message.h"
#include "cli/commands/commands.h"
#include "cli/names/damage.h"
#include "cli/names/entry_name.h"
#include "cli/names/foreign.h"
#include "cli/names/session_file.h"
#include "cli/names/session_name.h"
#include "cli/names/session_titles.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"
#include "cli/terminal/wrapped_text.h"
#include "cli/views/entry_view.h"
#include "cli/views/tool_results.h"

namespace bough::cli::diff_command {
namespace {

struct Options {
  std::string session;
  std::string left;
  std::string right;
  std::string with;
  bool full = false;
};

// A branch, given by its last entry. The other branch may be in another store.
struct Side {
  NamedSession named;
  std::string entryId;  // empty in an empty session
  std::string name;     // how the text output calls it

  [[nodiscard]] Result<Session> session() const { return named.store->session(named.sessionId); }
};

// Passes the entries at these sequences to `use`, until the output is closed.
template <typename Use>
Result<void> forEachEntry(const Side& side, const std::vector<Sequence>& nodes, Use use) {
  BOUGH_TRY(const auto session, side.session());
  return forEachEntryAt(session, nodes, [&](const Entry& entry) {
    if (!outputClosed()) use(entry);
    return !outputClosed();
  });
}

void printEntry(char mark, Style style, const Entry& entry, const Options& options, CallNames& names) {
  const bool terminal = stdoutIsTerminal();
  if (!options.full) {
    const EntrySummary summary = summarizeEntry(entry, textGraphemes(100));
    std::string line = fmt::format("{} [{}] {}", mark, summary.speaker, summary.text);
    if (terminal) line = text::excerptToWidth(line, terminalWidth());
    printLine(styled(style, line));
    return;
  }
  constexpr std::size_t kMark = 2;
  const PrintStyle whole{
      .full = true, .width = terminalWidth() - std::min(terminalWidth(), kMark), .format = usualFormat()};
  std::string_view text;
  const std::string rendered = renderEntry(entry, names.view(entry), whole);
  for (text = rendered; !text.empty();) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (end > 0) printLine(styled(style, std::string(1, mark)) + " " + std::string(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

Result<ExitCode> printText(const Side& left, const Side& right, const BranchDiff& diff, const Options& options) {
  const Pager pager;
  std::string last;
  if (!diff.common.empty()) {
    BOUGH_TRY(auto entries, left.named.store->loadEntriesAt(left.named.sessionId, {diff.common.back()}));
    const EntrySummary summary = summarizeEntry(entries.front(), 50);
    last = fmt::format(", up to {} [{}] {}", shortId(summary.entryId), summary.speaker, summary.text);
  }
  printWrapped(styled(Style::Bold, fmt::format("  {} in common{}", counted(diff.common.size(), "entry"), last)), 4);
  if (diff.left.empty() && diff.right.empty()) {
    printLine("  no difference");
    return kDone;
  }
  const auto side = [&](char mark, Style style, const Side& end, const std::vector<Sequence>& nodes) {
    const std::string where = end.entryId.empty() ? end.name : shortId(end.entryId) + " of " + end.name;
    printWrapped(styled(Style::Bold, fmt::format("{} {} only in {}", mark, counted(nodes.size(), "entry"), where)), 4);
    CallNames names(*end.named.store, end.named.sessionId);
    return forEachEntry(end, nodes, [&](const Entry& entry) { printEntry(mark, style, entry, options, names); });
  };
  BOUGH_TRY(side('-', Style::Red, left, diff.left));
  BOUGH_TRY(side('+', Style::Green, right, diff.right));
  return kDone;
}

Result<ExitCode> printJson(const Side& left, const Side& right, const BranchDiff& diff) {
  std::string out;
  json::Writer writer(out);
  const auto list = [&](std::string_view name, const Side& end, const std::vector<Sequence>& nodes) {
    writer.key(name).beginObject().member("sessionId", end.named.sessionId).memberOrNull("entryId", end.entryId);
    writer.key("entries").beginArray();
    CallNames names(*end.named.store, end.named.sessionId);
    auto done = forEachEntry(end, nodes, [&](const Entry& entry) {
      writer.raw(entryJson(entry, names.view(entry)));
      printJsonPart(out);
      out.clear();
    });
    writer.endArray().endObject();
    return done;
  };
  writer.beginObject().member("schema", 1).key("common").beginObject().member("count", diff.common.size());
  writer.member("sameEntries", diff.sameEntries).key("lastEntryId");
  if (diff.common.empty()) {
    writer.null();
  } else {
    BOUGH_TRY(auto last, left.named.store->loadEntriesAt(left.named.sessionId, {diff.common.back()}));
    writer.string(last.front().id);
  }
  writer.endObject();
  BOUGH_TRY(list("left", left, diff.left));
  BOUGH_TRY(list("right", right, diff.right));
  writer.endObject();
  printJsonLine(out);
  return kDone;
}

// Resolves an entry's name to its branch; without a name, returns the head's branch. An empty session has an empty
// branch.
Result<Side> resolveSide(NamedSession named, const std::string& entry) {
  Side side{.named = std::move(named), .entryId = {}, .name = {}};
  const bool isTitled = !side.named.isCopy;  // a copy would have to be read again for its title
  side.name = isTitled ? idAndTitle(*side.named.store, side.named.sessionId) : exactName(side.named.sessionId);
  if (entry.empty()) {
    BOUGH_TRY(auto state, side.named.store->sessionState(side.named.sessionId));
    side.entryId = state.headId;
  } else {
    BOUGH_TRY(side.entryId, resolveEntry(*side.named.store, side.named.sessionId, entry));
  }
  return side;
}

using Sides = std::pair<Side, Side>;

// The other session is compared by its head, unless one of its entries is named.
Result<Sides> compareSessions(const Context& context, const NamedSession& first, const std::string& name,
                              const std::string& left, const std::string& otherName, const std::string& right) {
  NamedSession second = first;
  auto own = first.isCopy ? fail(ErrorCode::NotFound, "") : resolveSession(*first.store, otherName);
  if (own) {
    second.sessionId = std::move(*own);
    BOUGH_TRY(second.damage, reportDamage(context, *second.store, second.sessionId));
  } else {
    BOUGH_TRY(second, openForReading(context, otherName));
  }
  BOUGH_TRY(auto one, resolveSide(first, left));
  BOUGH_TRY(auto other, resolveSide(std::move(second), right));
  // A session and its copy have the same id.
  if (one.named.store != other.named.store && one.named.sessionId == other.named.sessionId) {
    one.name = text::printable(name);
    other.name = text::printable(otherName);
  }
  return Sides(std::move(one), std::move(other));
}

Result<Sides> openBoth(const Context& context, const Options& options) {
  BOUGH_TRY(const auto first, openForReading(context, options.session));
  if (!options.with.empty()) {
    return compareSessions(context, first, options.session, options.left, options.with, options.right);
  }
  if (options.left.empty()) {
    return fail(ErrorCode::InvalidArgument, "there is nothing to compare with",
                "name an entry of another branch, or another session with --with");
  }
  // A single named entry is compared with the head.
  const bool one = options.right.empty();
  auto named = resolveSide(first, options.left);
  if (!named && one) {
    // A name that is not an entry may be a session: `bough diff @1 @2`.
    auto sessions = compareSessions(context, first, options.session, "", options.left, "");
    // A label may contain a slash, but hardly ends like a session file.
    if (sessions || sessions.error().code != ErrorCode::NotFound || isSessionFileName(options.left)) return sessions;
  }
  if (!named) return std::unexpected(named.error());
  BOUGH_TRY(auto other, resolveSide(first, options.right));
  if (one) std::swap(*named, other);
  return Sides(std::move(*named), std::move(other));
}

Result<ExitCode> run(const Context& context, const Options& options) {
  BOUGH_TRY(const auto sides, openBoth(context, options));
  const auto& [left, right] = sides;
  BOUGH_TRY(const auto session, left.session());
  BOUGH_TRY(const auto other, right.session());
  BOUGH_TRY(const auto diff, session.diff(left.entryId, other, right.entryId));
  return context.json ? printJson(left, right, diff) : printText(left, right, diff, options);
}

}  // namespace

Command define() {
  auto options = std::make_shared<Options>();
  return {
      .name = "diff",
      .summary = "Compare two branches of one session or of two sessions",
      .details =
          "A branch is named by its last entry. With one entry, compares the branch of the head with the branch "
          "of that entry. If the second name is not an entry of the session, it may name another session; then "
          "the branches of both heads are compared. --with names the session of the other branch; its head is "
          "used unless an entry is named. Either may be another agent's file. Entries are shared when they are the "
          "same entry, as in a fork, or "
          "equal in content.",
      .examples =
          "  bough diff SESSION try-2                # the head's branch and the one labelled try-2\n"
          "  bough diff SESSION ENTRY OTHER --full\n"
          "  bough diff @1 @2                        # the heads' branches of two sessions\n"
          "  bough diff SESSION ENTRY --with FORK\n"
          "  bough diff before.jsonl after.jsonl     # two files of another agent",
      .options =
          {{.name = "SESSION", .help = kSessionHelp, .target = &options->session, .required = true},
           {.name = "ENTRY", .help = kEntryHelp, .target = &options->left},
           {.name = "OTHER", .help = "The last entry of the other branch", .target = &options->right},
           {.name = "--with", .help = "The session of the other branch", .target = &options->with, .value = "SESSION"},
           {.name = "--full", .help = "Show messages whole", .target = &options->full}},
      .run = [options](const Context& context) { return run(context, *options); },
  };
}

}  // namespace bough::cli::diff_command
