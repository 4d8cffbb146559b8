#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iterator>
#include <optional>
#include <unordered_set>

#include "base/json/json_scan.h"
#include "base/json/json_write.h"
#include "base/model/unreadable.h"
#include "base/text/counted.h"
#include "base/text/text.h"
#include "base/try.h"
#include "base/user_folders.h"
#include "bough/torn.h"
#include "cli/commands/commands.h"
#include "cli/names/entry_name.h"
#include "cli/names/session_name.h"
#include "cli/names/session_titles.h"
#include "cli/terminal/confirm.h"
#include "cli/terminal/line/typed_history.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"
#include "cli/terminal/wrapped_text.h"
#include "cli/views/text_matcher.h"

namespace bough::cli::erase_command {
namespace {

struct Options {
  std::string session;
  std::vector<std::string> entries;
  std::string pattern;
  std::string by;
  std::string reason;
  bool yes = false;
};

constexpr const char* kNotReached[] = {
    "other stores that have a copy", "exported files and transcripts of other agents",
    "backups and snapshots of the disk", "programs that have read the entries, and models that were sent them"};

// Passes the texts in the JSON, unescaped, to `use` until `use` returns true. Returns true if it did.
bool anyText(std::string_view json, const std::function<bool(const std::string& text)>& use) {
  for (std::size_t at = json.find('"'); at != std::string_view::npos; at = json.find('"', at)) {
    const std::size_t begin = ++at;
    while (at < json.size() && json[at] != '"') at += json[at] == '\\' ? 2U : 1U;
    if (at >= json.size()) break;
    std::string text;
    json::appendDecoded(text, json.substr(begin, at - begin));
    ++at;
    if (use(text)) return true;
  }
  return false;
}

bool isInJson(const TextMatcher& pattern, std::string_view json) {
  return !json.empty() &&
         (pattern.find(json) || anyText(json, [&](const auto& text) { return pattern.find(text).has_value(); }));
}

// Returns false for entry types that are needed to read a session.
bool canBeErased(const Entry& entry) {
  return entry.type != entry_type::kSessionHeader && entry.type != entry_type::kHead &&
         entry.type != entry_type::kRedaction;
}

bool isErased(const Entry& entry) {
  return entry.payload.starts_with(R"({"erased":{"receiptId")");
}

// Where a pattern was found.
struct Matches {
  std::vector<Entry> entries;
  std::vector<std::string> staying;     // entries that cannot be erased, with the reason
  std::vector<std::string> unreadable;  // ids of damaged entries, whose content is unknown
};

// Passes every entry as stored, including redacted ones, to `use`.
Result<void> forEachEntry(SessionStore& store, const std::string& sessionId, const std::function<void(Entry&)>& use) {
  constexpr std::size_t kPart = 1000;
  constexpr std::size_t kPartBytes = std::size_t{64} << 20;
  for (std::uint64_t from = 0;;) {
    BOUGH_TRY(auto part,
              store.loadSessionEntries(
                  sessionId, {.fromSequence = from, .limit = kPart, .limitBytes = kPartBytes, .showRedacted = true}));
    if (part.empty()) return {};
    from += part.size();
    for (Entry& entry : part) use(entry);
  }
}

Result<TextMatcher> matcherOf(const std::string& pattern) {
  auto matcher = TextMatcher::regex(pattern, /*ignoreCase=*/false);
  if (!matcher) matcher.error().hint = "write it as for `rg` or `grep -E`";
  return matcher;
}

bool isIn(const TextMatcher& pattern, const Entry& entry) {
  return !isErased(entry) && (isInJson(pattern, entry.payload) || isInJson(pattern, entry.meta) ||
                              isInJson(pattern, entry.extra) || pattern.find(entry.runId));
}

// Bytes that were set aside are not part of the session: an erasure covers an entry there only if the log has the same
// entry.
Result<void> checkSetAside(SessionStore& store, const std::string& sessionId, const TextMatcher& pattern,
                           Matches& found) {
  if (tornBytes(store, sessionId) == 0) return {};
  BOUGH_TRY(const auto torn, readTorn(store, sessionId));
  const auto isErasedToo = [&](const Entry& entry) {
    return std::ranges::any_of(found.entries, [&](const Entry& each) { return each.id == entry.id; });
  };
  std::size_t count = 0;
  std::uint64_t unreadable = 0;
  for (const TornRecord& record : torn.records) {
    unreadable += record.unreadableBytes;
    count += static_cast<std::size_t>(std::ranges::count_if(
        record.entries, [&](const Entry& entry) { return isIn(pattern, entry) && !isErasedToo(entry); }));
  }
  const std::string next = fmt::format(
      "`bough torn {0}` shows it; --put-back appends what is intact, so that you can erase it; --drop deletes it",
      exactName(sessionId));
  if (count > 0) {
    found.staying.push_back(
        fmt::format("the pattern is in {} of {}, which was set aside: {}", counted(count, "entry"), torn.file, next));
  } else if (unreadable > 0) {
    found.staying.push_back(fmt::format("the pattern was not looked for in {} of {} that cannot be read: {}",
                                        counted(unreadable, "byte"), torn.file, next));
  }
  return {};
}

Result<Matches> matching(SessionStore& store, const std::string& sessionId, const TextMatcher& pattern) {
  Matches found;
  BOUGH_TRY(forEachEntry(store, sessionId, [&](Entry& entry) {
    if (isUnreadable(entry)) return found.unreadable.push_back(entry.id);
    if (!isIn(pattern, entry)) return;
    if (canBeErased(entry)) {
      found.entries.push_back(std::move(entry));
    } else {
      found.staying.push_back(
          fmt::format("the pattern is in entry {}, a {}: a session cannot be read without it, so it stays", entry.id,
                      text::printable(entry.type)));
    }
  }));
  BOUGH_TRY(checkSetAside(store, sessionId, pattern, found));
  return found;
}

void addMissing(std::vector<std::string>& all, std::vector<std::string>&& more) {
  for (std::string& each : more) {
    if (std::ranges::find(all, each) == all.end()) all.push_back(std::move(each));
  }
}

// A pattern may match more entries than one erasure may name.
Result<ErasureReport> eraseInParts(const StoreMaintenance& maintenance, const Erasure& erasure) {
  constexpr std::size_t kMost = 10'000;
  ErasureReport report;
  std::unordered_set<std::string> done;
  for (std::size_t from = 0; from < erasure.entryIds.size();) {
    Erasure part{.sessionId = erasure.sessionId, .by = erasure.by, .reason = erasure.reason};
    for (; from < erasure.entryIds.size() && part.entryIds.size() < kMost; ++from) {
      if (!done.contains(erasure.entryIds[from])) part.entryIds.push_back(erasure.entryIds[from]);
    }
    if (part.entryIds.empty()) break;
    BOUGH_TRY(auto more, maintenance.erase(part));
    for (const ErasedEntry& each : more.entries) done.insert(each.entryId);
    report.sessionId = more.sessionId;
    report.timestamp = more.timestamp;
    std::ranges::move(more.entries, std::back_inserter(report.entries));
    addMissing(report.rewritten, std::move(more.rewritten));
    addMissing(report.keptAttachments, std::move(more.keptAttachments));
    addMissing(report.unreached, std::move(more.unreached));
    report.removedAttachments += more.removedAttachments;
  }
  return report;
}

// Removes lines from the history of typed lines, which is kept beside the sessions. A line is removed when the line, or
// the argument of a command in it, is an erased text or part of one.
Result<void> removeFromTypedHistory(const NamedSession& session, const Erasure& erasure,
                                    const std::optional<TextMatcher>& pattern) {
  const std::string path = fmt::format("{}/{}", session.store->folder(), kTypedHistory);
  std::error_code error;
  if (session.store->folder().empty() || !std::filesystem::exists(path, error)) return {};
  const std::unordered_set<std::string> ids(erasure.entryIds.begin(), erasure.entryIds.end());
  std::vector<std::string> payloads;
  BOUGH_TRY(forEachEntry(*session.store, session.sessionId, [&](Entry& entry) {
    if (ids.contains(entry.id)) payloads.push_back(std::move(entry.payload));
  }));
  constexpr std::size_t kTelling = 8;  // shorter lines occur in many texts by chance
  const auto isGone = [&](std::string_view line) {
    if (pattern && pattern->find(line)) return true;
    const std::string_view parts[] = {line, line.substr(std::min<std::size_t>(1, line.size())),
                                      line.substr(std::min(line.find(' '), line.size() - 1) + 1)};
    return std::ranges::any_of(payloads, [&](const std::string& payload) {
      return anyText(payload, [&](const std::string& text) {
        return std::ranges::any_of(parts, [&](std::string_view part) {
          return !part.empty() && (text == part || (part.size() >= kTelling && text.contains(part)));
        });
      });
    });
  };
  BOUGH_TRY(const std::size_t gone, forgetTypedLines(path, isGone));
  if (gone > 0) {
    printMessage(fmt::format("{} removed from what was typed in the chat", counted(gone, "line is", "lines are")));
  }
  return {};
}

// Hides the matches, so that the text to be erased is not printed.
std::string masked(std::string_view text, const TextMatcher& pattern) {
  std::string out;
  std::size_t from = 0;
  for (auto found = pattern.find(text); found && found->end > from; found = pattern.find(text, from)) {
    out.append(text.substr(from, found->begin - from)).append("[match]");
    from = found->end;
  }
  return out.append(text.substr(from));
}

// How often the pattern occurs in an entry, and its first occurrence.
struct Found {
  std::size_t count = 0;
  std::string around{};
};

Found findIn(const Entry& entry, const TextMatcher& pattern) {
  constexpr std::size_t kBefore = 30;  // bytes before the match
  constexpr std::size_t kColumns = 60;
  Found found;
  for (const std::string* json : {&entry.payload, &entry.meta, &entry.extra}) {
    anyText(*json, [&](const std::string& text) {
      for (auto at = pattern.find(text); at; at = pattern.find(text, at->end)) {
        if (found.count++ > 0) continue;
        std::size_t begin = at->begin - std::min(at->begin, kBefore);
        while (begin < at->begin && (static_cast<unsigned char>(text[begin]) & 0xC0U) == 0x80) ++begin;
        const std::string shown = (begin > 0 ? "…" : "") + masked(std::string_view(text).substr(begin), pattern);
        found.around = text::excerptToWidth(shown, kColumns);
      }
      return false;
    });
  }
  if (found.count == 0) return {.count = 1, .around = "[match] across JSON"};
  return found;
}

void printMatches(const std::string& sessionId, const std::vector<Entry>& matches, const TextMatcher& pattern,
                  bool json) {
  if (!json) {
    for (const Entry& entry : matches) {
      printWrapped(fmt::format("{}  {}  {}  {}", entry.id, text::printable(entry.type), entry.timestamp,
                               findIn(entry, pattern).around),
                   2);
    }
    return;
  }
  json::Writer writer;
  writer.beginObject().member("schema", 1).member("sessionId", sessionId).member("erased", false);
  writer.key("matches").beginArray();
  for (const Entry& entry : matches) {
    writer.beginObject().member("entryId", entry.id).member("type", entry.type).member("timestamp", entry.timestamp);
    writer.member("bytes", entry.payload.size()).endObject();
  }
  printJsonLine(writer.endArray().endObject().text());
}

void printReport(const ErasureReport& report, bool json) {
  if (!json) {
    for (const ErasedEntry& entry : report.entries) {
      printMessage(fmt::format("entry {} is erased ({}, sha256 {}); its receipt is {}", entry.entryId,
                               formatBytes(entry.bytes), entry.sha256, entry.receiptId));
    }
    for (const std::string& sha256 : report.keptAttachments) {
      printMessage(fmt::format("attachment {} stays: entries that were not erased use it", sha256));
    }
    for (const std::string& path : report.unreached) printMessage("not reached: " + path);
    for (const char* copy : kNotReached) printMessage(fmt::format("not reached: {}", copy));
    return;
  }
  json::Writer writer;
  writer.beginObject().member("schema", 1).member("sessionId", report.sessionId).member("erased", true);
  writer.member("timestamp", report.timestamp).key("entries").beginArray();
  for (const ErasedEntry& entry : report.entries) {
    writer.beginObject().member("entryId", entry.entryId).member("receiptId", entry.receiptId);
    writer.member("sha256", entry.sha256).member("bytes", entry.bytes).endObject();
  }
  writer.endArray();
  writer.list("rewritten", report.rewritten);
  writer.member("removedAttachments", report.removedAttachments);
  writer.list("keptAttachments", report.keptAttachments);
  writer.list("unreached", report.unreached);
  writer.list("notReached", kNotReached);
  printJsonLine(writer.endObject().text());
}

// Describes the matches: "2 entries of 0d9a51c2 "A title", with 3 matches".
std::string matchSummary(const std::vector<Entry>& matches, const NamedSession& session, const TextMatcher& pattern) {
  std::size_t count = 0;
  for (const Entry& entry : matches) count += findIn(entry, pattern).count;
  return fmt::format("{} of {}, with {}", counted(matches.size(), "entry"),
                     masked(idAndTitle(*session.store, session.sessionId), pattern),
                     counted(count, "match", "matches"));
}

// Shows the matches and asks before erasing them; returns false when nothing is to be erased.
Result<bool> choose(const Context& context, const std::vector<Entry>& matches, const NamedSession& session,
                    const TextMatcher& pattern, const Options& options) {
  if (matches.empty()) {
    if (context.json) printMatches(session.sessionId, matches, pattern, true);
    printMessage("no entry that can be erased matches; nothing is erased");
    return false;
  }
  if (options.yes) return true;
  printMatches(session.sessionId, matches, pattern, context.json);
  const std::string meant = matchSummary(matches, session, pattern);
  if (context.json || !stdinIsTerminal()) {
    printMessage(fmt::format("{}; nothing is erased without --yes", meant));
    return false;
  }
  return confirm(fmt::format("Erase {}, for good?", meant));
}

Result<ExitCode> run(const Context& context, const Options& options) {
  if (options.entries.empty() == options.pattern.empty()) {
    return fail(ErrorCode::InvalidArgument, "name entries, or give --pattern", "`bough erase --help` shows both");
  }
  ErasureReport report;
  {
    BOUGH_TRY(auto session, openSessionToChange(context, options.session, !options.yes));
    Erasure erasure{
        .sessionId = session.sessionId, .by = options.by.empty() ? userName() : options.by, .reason = options.reason};
    for (const std::string& name : options.entries) {
      BOUGH_TRY(auto entry, resolveEntryToChange(*session.store, session.sessionId, name));
      erasure.entryIds.push_back(std::move(entry));
    }
    Matches matches;
    std::optional<TextMatcher> pattern;
    if (!options.pattern.empty()) {
      BOUGH_TRY(pattern, matcherOf(options.pattern));
      BOUGH_TRY(matches, matching(*session.store, session.sessionId, *pattern));
      if (!matches.unreadable.empty()) {
        printMessage(
            fmt::format("the pattern was not looked for in what cannot be read: {}; `bough erase {} ENTRY` erases "
                        "the damaged bytes of an entry",
                        fmt::join(matches.unreadable, ", "), exactName(session.sessionId)));
      }
      for (const Entry& entry : matches.entries) erasure.entryIds.push_back(entry.id);
      BOUGH_TRY(const bool sure, choose(context, matches.entries, session, *pattern, options));
      if (!sure) {
        for (const std::string& each : matches.staying) printMessage(each);
        return matches.staying.empty() ? kDone : kProblem;
      }
    }
    BOUGH_TRY(removeFromTypedHistory(session, erasure, pattern));
    BOUGH_TRY(report, eraseInParts(session.store->maintenance(), erasure));
    std::ranges::move(matches.staying, std::back_inserter(report.unreached));
  }
  printReport(report, context.json);
  return report.unreached.empty() ? kDone : kProblem;
}

}  // namespace

Command define() {
  auto options = std::make_shared<Options>();
  return {
      .name = "erase",
      .summary = "Remove the content of entries for good, with a receipt",
      .details =
          "Unlike `bough redact`, nothing of the content is left: it is removed from the log, from copies in other "
          "sessions of the store, from entries that were converted from it, from entries that were imported from the "
          "same line or from a line that repeats it, from torn bytes, old formats, archives, the trash, attachments, "
          "the catalog and what "
          "was typed in the chat. The "
          "tree "
          "stays: ids, parents, types and times. What the entries cost is no longer in `bough usage`. A receipt says "
          "who erased it, why and when, and has the SHA-256 digest of what was removed. It cannot be undone. If it is "
          "interrupted, the next command that opens the store "
          "finishes it. "
          "It cannot reach copies in other stores, exported files, backups, and programs that have read the entries.",
      .examples =
          "  bough erase SESSION ENTRY --reason \"a customer asked for it\"\n"
          "  bough erase SESSION --pattern 'sk-[A-Za-z0-9]{20,}' --reason \"a leaked key\"",
      .options = {{.name = "SESSION", .help = kExactSessionHelp, .target = &options->session, .required = true},
                  {.name = "ENTRY", .help = kExactEntryHelp, .target = &options->entries},
                  {.name = "--reason", .help = "The reason", .target = &options->reason, .required = true},
                  {.name = "--pattern",
                   .help = "Erase every entry that matches this regular expression (as in `rg` or `grep -E`); first "
                           "lists the entries and asks, unless --yes is given",
                   .target = &options->pattern,
                   .value = "REGEX"},
                  {.name = "--by", .help = "Who erases it; default: $USER", .target = &options->by, .value = "NAME"},
                  {.name = "--yes", .help = "Do not ask", .target = &options->yes}},
      .run = [options](const Context& context) { return run(context, *options); },
  };
}

}  // namespace bough::cli::erase_command
