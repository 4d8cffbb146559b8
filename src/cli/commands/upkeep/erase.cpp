#include <fmt/format.h>

#include "base/json/json_scan.h"
#include "base/json/json_write.h"
#include "base/text/counted.h"
#include "base/text/text.h"
#include "base/try.h"
#include "base/user_folders.h"
#include "cli/commands/commands.h"
#include "cli/names/entry_name.h"
#include "cli/names/session_name.h"
#include "cli/terminal/confirm.h"
#include "cli/terminal/fitted.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"
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

// Also in any text of it as a person reads it, without JSON's escapes.
bool isInJson(const TextMatcher& pattern, std::string_view json) {
  if (json.empty()) return false;
  if (pattern.find(json)) return true;
  for (std::size_t at = json.find('"'); at != std::string_view::npos; at = json.find('"', at)) {
    const std::size_t begin = ++at;
    while (at < json.size() && json[at] != '"') at += json[at] == '\\' ? 2U : 1U;
    if (at >= json.size()) break;
    const std::string_view body = json.substr(begin, at - begin);
    ++at;
    if (!body.contains('\\')) continue;  // it is in the JSON as it is
    std::string text;
    json::appendDecoded(text, body);
    if (pattern.find(text)) return true;
  }
  return false;
}

// By types that a session is read by, which cannot be erased, and by what was erased before.
bool canBeErased(const Entry& entry) {
  return entry.type != entry_type::kSessionHeader && entry.type != entry_type::kHead &&
         entry.type != entry_type::kRedaction && !entry.payload.starts_with(R"({"erased":{"receiptId")");
}

Result<std::vector<Entry>> matching(SessionStore& store, const std::string& sessionId, const std::string& text) {
  constexpr std::size_t kPart = 1000;
  constexpr std::size_t kPartBytes = std::size_t{64} << 20;
  auto pattern = TextMatcher::regex(text, /*ignoreCase=*/false);
  if (!pattern) {
    pattern.error().hint = "write it as for `rg` or `grep -E`";
    return std::unexpected(pattern.error());
  }
  std::vector<Entry> found;
  for (std::uint64_t from = 0;;) {
    BOUGH_TRY(auto part,
              store.loadSessionEntries(
                  sessionId, {.fromSequence = from, .limit = kPart, .limitBytes = kPartBytes, .showRedacted = true}));
    if (part.empty()) return found;
    from += part.size();
    for (Entry& entry : part) {
      const bool matches = isInJson(*pattern, entry.payload) || isInJson(*pattern, entry.meta) ||
                           isInJson(*pattern, entry.extra) || pattern->find(entry.runId);
      if (matches && canBeErased(entry)) found.push_back(std::move(entry));
    }
  }
}

void printMatches(const std::string& sessionId, const std::vector<Entry>& matches, bool json) {
  if (!json) {
    constexpr std::size_t kColumns = 60;
    for (const Entry& entry : matches) {
      printFitted(fmt::format("{}  {}  {}  {}", entry.id, text::printable(entry.type), entry.timestamp,
                              text::excerptToWidth(entry.payload, kColumns)),
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

// What a pattern means is shown and asked about first; false when nothing is to be erased.
Result<bool> choose(const Context& context, const NamedSession& session, const Options& options, Erasure& erasure) {
  BOUGH_TRY(const auto matches, matching(*session.store, session.sessionId, options.pattern));
  for (const Entry& entry : matches) erasure.entryIds.push_back(entry.id);
  if (matches.empty()) {
    if (context.json) printMatches(session.sessionId, matches, true);
    printMessage("no entry matches; nothing is erased");
    return false;
  }
  if (options.yes) return true;
  printMatches(session.sessionId, matches, context.json);
  if (context.json || !stdinIsTerminal()) {
    printMessage(counted(matches.size(), "entry matches", "entries match") + "; nothing is erased without --yes");
    return false;
  }
  return confirm(fmt::format("Erase {} for good?", counted(matches.size(), "entry")));
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
    if (!options.pattern.empty()) {
      BOUGH_TRY(const bool sure, choose(context, session, options, erasure));
      if (!sure) return kDone;
    }
    BOUGH_TRY(report, session.store->maintenance().erase(erasure));
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
          "Unlike `bough redact`, nothing of the content is left: it goes from the log, from copies that other "
          "sessions of the store have, from entries that were converted from it or imported with the same line, from "
          "torn bytes, old formats, archives, the trash, attachments and the catalog. The tree "
          "stays: ids, parents, types and times. A receipt says who erased it, why and when, and has the SHA-256 "
          "digest of what went. It cannot be undone. If it is interrupted, the next command that opens the store "
          "finishes it. "
          "It cannot reach copies in other stores, exported files, backups, and programs that have read the entries.",
      .examples =
          "  bough erase SESSION ENTRY --reason \"a customer asked for it\"\n"
          "  bough erase SESSION --pattern 'sk-[A-Za-z0-9]{20,}' --reason \"a leaked key\"",
      .options =
          {{.name = "SESSION", .help = kExactSessionHelp, .target = &options->session, .required = true},
           {.name = "ENTRY", .help = kEntryHelp, .target = &options->entries},
           {.name = "--reason", .help = "The reason", .target = &options->reason, .required = true},
           {.name = "--pattern",
            .help = "Every entry in which this regular expression (as of `rg` or `grep -E`) is found; they are listed, "
                    "and nothing is erased without an answer or --yes",
            .target = &options->pattern,
            .value = "REGEX"},
           {.name = "--by", .help = "Who erases it; default: $USER", .target = &options->by, .value = "NAME"},
           {.name = "--yes", .help = "Do not ask", .target = &options->yes}},
      .run = [options](const Context& context) { return run(context, *options); },
  };
}

}  // namespace bough::cli::erase_command
