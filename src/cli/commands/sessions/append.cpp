#include <fmt/format.h>
#include <unistd.h>

#include "base/json/json_scan.h"
#include "base/json/json_write.h"
#include "base/text/counted.h"
#include "base/try.h"
#include "cli/commands/commands.h"
#include "cli/names/session_name.h"
#include "cli/terminal/input.h"
#include "cli/terminal/output.h"

namespace bough::cli::append_command {
namespace {

// All of stdin is one batch, held in memory.
constexpr std::uint64_t kMaxInputBytes = std::uint64_t{1} << 30;
constexpr const char* kLeastEntry =
    R"(an entry is at least {"type":"message","payload":{…}}; leave out what you do not know)";

struct Options {
  std::string session;
  std::string expectedTail;
  std::string role;
  std::string text;
};

// Parses one line of input. Unlike in a log, a missing parent is not the same as null.
Result<Entry> readEntry(const Input::Line& line) {
  if (const auto valid = json::check(line.text); !valid) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("{} is not JSON: {}", inputPlace(line.number, line.offset + valid.error().offset),
                            valid.error().reason),
                "an entry is one JSON object on one line, in UTF-8 and nested at most 512 levels deep");
  }
  const std::string place = inputPlace(line.number, line.offset);
  auto entry = jsonEntrySerializer().decode(line.text);
  if (!entry) {
    return fail(ErrorCode::InvalidArgument, fmt::format("{}: {}", place, entry.error().message), kLeastEntry);
  }
  for (const auto& [name, value] :
       {std::pair<std::string_view, const std::string&>("id", entry->id), {"timestamp", entry->timestamp}}) {
    if (!value.empty() || !json::findMember(line.text, name)) continue;
    return fail(ErrorCode::InvalidArgument, fmt::format("{}: its {} is empty", place, name), kLeastEntry);
  }
  if (!json::findMember(line.text, "parentId")) entry->parentId.reset();
  if (entry->type.empty() || !json::findMember(line.text, "payload")) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("{} has no {}", place, entry->type.empty() ? "type" : "payload"), kLeastEntry);
  }
  return entry;
}

// The entries, and the place of each in the input.
struct Batch {
  struct Place {
    std::uint64_t line = 0;
    std::uint64_t offset = 0;
  };
  std::vector<Entry> entries;
  std::vector<Place> places;
};

Result<Batch> readInput() {
  if (::isatty(STDIN_FILENO) != 0)
    printMessage("type entries as JSON lines, then press Ctrl-D; Ctrl-C appends nothing");
  Batch batch;
  Input input(kMaxInputBytes);
  for (;;) {
    BOUGH_TRY(auto line, input.nextLine());
    if (!line) return batch;
    if (line->text.find_first_not_of(" \t\r") == std::string::npos) continue;
    if (batch.entries.size() == kMaxBatchEntries) {
      return fail(
          ErrorCode::InvalidArgument,
          fmt::format("{}: a batch has at most {} entries", inputPlace(line->number, line->offset), kMaxBatchEntries),
          "append it in parts");
    }
    BOUGH_TRY(auto entry, readEntry(*line));
    batch.entries.push_back(std::move(entry));
    batch.places.push_back({.line = line->number, .offset = line->offset});
  }
}

// Reports an entry that the store refused by its place in the input.
Error withPlace(Error error, const Batch& batch) {
  if (error.batchPlace == 0 || error.batchPlace > batch.places.size()) return error;
  const std::string unnamed = fmt::format("entry {} of the batch: ", error.batchPlace);
  if (error.message.starts_with(unnamed)) error.message.erase(0, unnamed.size());
  const Batch::Place& place = batch.places[error.batchPlace - 1];
  error.message = fmt::format("{}: {}", inputPlace(place.line, place.offset), error.message);
  return error;
}

// Makes a message that no provider has written.
Entry typedMessage(const std::string& role, const std::string& text) {
  Entry entry;
  entry.type = entry_type::kMessage;
  json::Writer writer(entry.payload);
  writer.beginObject().member("dialect", "bough").key("message").beginObject().member("role", role);
  writer.key("content").beginArray().beginObject().member("type", "text").member("text", text);
  writer.endObject().endArray().endObject().endObject();
  return entry;
}

// For `--text -`, reads all of stdin, without the line breaks at its end.
Result<std::string> typedText(const std::string& given) {
  if (given != "-") return given;
  if (::isatty(STDIN_FILENO) != 0) printMessage("type the text, then press Ctrl-D; Ctrl-C appends nothing");
  Input input(kMaxInputBytes);
  BOUGH_TRY(std::string text, input.rest());
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  if (!json::check(json::quoted(text))) {
    return fail(ErrorCode::InvalidArgument, "the text on stdin is not valid UTF-8",
                "nothing was appended; `iconv -t UTF-8` converts a text");
  }
  if (text.empty()) return fail(ErrorCode::InvalidArgument, "the text on stdin is empty", "nothing was appended");
  return text;
}

Result<Batch> typedBatch(const Options& options) {
  BOUGH_TRY(const std::string text, typedText(options.text));
  return Batch{.entries = {typedMessage(options.role.empty() ? "user" : options.role, text)}, .places = {}};
}

void printCondition(const AppendResult& result) {
  if (result.tornBytes > 0) {
    printMessage(fmt::format("{} moved to {}.torn: an interrupted write had left them at the end",
                             counted(result.tornBytes, "byte was", "bytes were"), result.sessionId));
  }
}

void printResult(const AppendResult& result, bool json) {
  if (!json) {
    printLine(result.lastAppendedEntryId);
    if (result.duplicateCount > 0) {
      printMessage(fmt::format("{} appended, {} already present", result.appendedCount, result.duplicateCount));
    }
    return;
  }
  json::Writer writer;
  writer.beginObject().member("schema", 1).member("sessionId", result.sessionId);
  writer.member("lastAppendedEntryId", result.lastAppendedEntryId).member("appendedCount", result.appendedCount);
  writer.member("duplicateCount", result.duplicateCount);
  writer.member("tornBytes", result.tornBytes).member("problemCount", result.problemCount).endObject();
  printJsonLine(writer.text());
}

Result<ExitCode> run(const Context& context, const Options& options) {
  if (!options.role.empty() && options.text.empty()) {
    return fail(ErrorCode::InvalidArgument, "--role needs --text",
                fmt::format("bough append SESSION --role {} --text Hi", options.role));
  }
  const bool typed = !options.text.empty();
  BOUGH_TRY(auto session, openSessionToChange(context, options.session));
  auto batch = typed ? typedBatch(options) : readInput();
  if (!batch && typed) return std::unexpected(batch.error());
  if (!batch) {
    batch.error().hint += "; nothing was appended";
    return refuseData(batch.error(), context.json);
  }
  if (batch->entries.empty()) {
    return fail(ErrorCode::InvalidArgument, "nothing to append",
                "give entries as JSON lines on stdin, or a message with --text");
  }
  AppendOptions how;
  if (!options.expectedTail.empty()) how.expectedTail = options.expectedTail;
  auto result = session.store->appendSessionEntries(session.sessionId, std::move(batch->entries), how);
  if (!result && !typed) return refuseData(withPlace(result.error(), *batch), context.json);
  if (!result) return std::unexpected(result.error());
  printResult(*result, context.json);
  if (!context.json) printCondition(*result);
  return kDone;
}

}  // namespace

Command define() {
  auto options = std::make_shared<Options>();
  return {
      .name = "append",
      .summary = "Append entries to a session: all of them, or none",
      .details =
          "Reads entries from stdin, one JSON object per line, and appends them as one batch. A missing id or "
          "timestamp is filled in. A missing parentId becomes the id of the entry before it (labels and other "
          "control entries are never parents); for the first entry it becomes the head. Prints the id of the "
          "last entry after all entries are durable. A line has at most 128 MiB, the whole input at most 1 GiB.",
      .examples =
          "  bough append SESSION --text \"Hello\"\n"
          "  bough append SESSION --role assistant --text \"How can I help?\"\n"
          "  git log -1 | bough append SESSION --text -\n"
          "  bough append SESSION < batch.jsonl\n"
          "  echo '{\"type\":\"custom\",\"payload\":{\"step\":1}}' | bough append SESSION --expect-tail ENTRY",
      .options = {{.name = "SESSION", .help = kExactSessionHelp, .target = &options->session, .required = true},
                  {.name = "--expect-tail",
                   .help = "Append only if this entry is the last one in the log",
                   .target = &options->expectedTail},
                  {.name = "--role",
                   .help = "With --text: who says it; default: user",
                   .target = &options->role,
                   .choices = {"user", "assistant", "system"}},
                  {.name = "--text",
                   .help = "Instead of entries from stdin: one message with this text; - reads the text from stdin",
                   .target = &options->text}},
      .run = [options](const Context& context) { return run(context, *options); },
  };
}

}  // namespace bough::cli::append_command
