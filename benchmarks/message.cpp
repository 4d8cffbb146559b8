// What it costs to build a context, to convert a history and to resume a session, compared with parsing the bytes.

#include "message.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/json/json_scan.h"
#include "bough/context.h"
#include "generate.h"
#include "harness.h"

namespace bough::bench {
namespace {

constexpr std::uint64_t kEntries = 100'000;
constexpr std::size_t kContextMessages = 200;
constexpr std::uint64_t kHistoryBytes = 100'000'000;
constexpr std::size_t kMessageBytes = 4000;  // pi holds a file in one string, whose length is limited
constexpr Dialect kDialects[] = {Dialect::Anthropic, Dialect::OpenaiChat, Dialect::OpenaiResponses, Dialect::Gemini};

struct Sample {
  std::string folder;
  std::string id;
  GeneratedLog log;
};

// A long branch with a summary that keeps the last 200 messages.
Sample summarized() {
  Sample sample{.folder = workFolder() + "/contexts", .id = "long", .log = {}};
  sample.log = writeSession(sample.folder, sample.id, UINT64_MAX, kEntries);
  auto store = SessionStore::open(sample.folder);
  require(store.has_value(), "opening a store");
  auto last = (*store)->loadSessionEntries(sample.id, {.last = kContextMessages, .branch = sample.log.lastId});
  require(last.has_value(), "reading the last entries");
  Entry summary;
  summary.type = entry_type::kCompactionSummary;
  summary.payload = R"({"summary":"what was said before","firstKeptEntryId":")" + last->front().id + R"("})";
  std::vector<Entry> batch;
  batch.push_back(std::move(summary));
  require((*store)->appendSessionEntries(sample.id, std::move(batch)).has_value(), "appending a summary");
  return sample;
}

std::vector<Row> contextRows() {
  const Sample sample = summarized();
  auto store = SessionStore::open(sample.folder);
  require(store.has_value(), "opening a store");
  auto last = (*store)->loadSessionEntries(sample.id, {.last = kContextMessages, .branch = sample.log.lastId});
  require(last.has_value(), "reading the last entries");
  std::vector<simdjson::padded_string> payloads;
  for (const Entry& entry : *last) payloads.emplace_back(entry.payload);
  simdjson::dom::parser parser;
  const auto parse = [&] {
    for (const simdjson::padded_string& payload : payloads) {
      require(parser.parse(payload).error() == simdjson::SUCCESS, "parsing a payload");
    }
  };
  std::vector<Row> rows;
  for (const Dialect dialect : kDialects) {
    const auto build = [&] {
      const auto context = buildContext(**store, sample.id, {.dialect = dialect});
      require(context.has_value() && context->parts.size() > 1, "building a context");
    };
    const auto times = interleaved(31, {build, parse});
    rows.push_back(
        {.name = fmt::format("context of 200 messages of 100,000 for {} / simdjson parse", toString(dialect)),
         .ours = times[0] * 1e6,
         .floor = times[1] * 1e6,
         .unit = "us",
         .bound = 2.0});
  }
  return rows;
}

// Makes a history with tool calls and results, as agents write it.
std::string makeHistory(std::uint64_t bytes) {
  Generator generator(bytes);
  std::string out = "[";
  for (std::uint64_t i = 0; out.size() < bytes; ++i) {
    const Entry entry = generator.message();
    const auto message = json::findMember(entry.payload, "message");
    const auto blocks = json::findMember(*message, "content");
    const auto text = json::findMember(blocks->substr(1, blocks->size() - 2), "text");
    if (i > 0) out += ',';
    out += fmt::format(R"({{"role":"user","content":[{{"type":"text","text":{}}}]}},)", *text);
    out += fmt::format(R"({{"role":"assistant","content":[{{"type":"tool_use","id":"toolu_{}","name":"read",)"
                       R"("input":{{"path":"src/a.cpp","line":{}}}}}]}},)",
                       i, i);
    out += fmt::format(
        R"({{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_{}","content":{}}}]}},)", i, *text);
    out += fmt::format(R"({{"role":"assistant","content":{}}})", *text);
  }
  return out + "]";
}

std::vector<Row> convertRows() {
  const std::string history = makeHistory(kHistoryBytes);
  const simdjson::padded_string padded(history);
  simdjson::dom::parser parser;
  Conversion there;
  const auto go = [&] {
    auto done = convertHistory(history, Dialect::Anthropic, Dialect::Gemini);
    require(done.has_value(), "converting a history");
    there = std::move(*done);
  };
  const auto back = [&] {
    const auto done = convertHistory(there.document, Dialect::Gemini, Dialect::Anthropic, {}, &there.wayBack);
    require(done.has_value() && done->document.size() == history.size(), "converting a history back");
  };
  const auto parse = [&] { require(parser.parse(padded).error() == simdjson::SUCCESS, "parsing a history"); };
  const auto times = interleaved(5, {go, back, parse});
  return {{.name = "converting a history of 100 MB (anthropic to gemini) / simdjson DOM parse",
           .ours = times[0] * 1e3,
           .floor = times[2] * 1e3,
           .unit = "ms",
           .bound = 3.0},
          {.name = "the exact way back of it / simdjson DOM parse",
           .ours = times[1] * 1e3,
           .floor = times[2] * 1e3,
           .unit = "ms",
           .bound = 3.0}};
}

// Writes the same conversation in the format of pi.
void writeForPi(const std::string& path, const Sample& sample) {
  auto store = SessionStore::open(sample.folder);
  require(store.has_value(), "opening a store");
  auto cursor = (*store)->openCursor(sample.id);
  require(cursor.has_value(), "reading a session");
  std::ofstream file(path, std::ios::binary);
  file << R"({"type":"session","version":3,"id":"bench","timestamp":"2026-11-14T00:00:00.000Z","cwd":"/tmp"})" << '\n';
  for (;;) {
    auto entries = cursor->next(1000);
    require(entries.has_value(), "reading a session");
    if (entries->empty()) return;
    for (const Entry& entry : *entries) {
      const auto message = json::findMember(entry.payload, "message");
      if (!message) continue;
      std::string text(*message);
      text.pop_back();
      const std::string parent = entry.parentId->empty() ? "null" : '"' + *entry.parentId + '"';
      file
          << fmt::format(
                 R"({{"type":"message","id":"{}","parentId":{},"timestamp":"{}","message":{},"timestamp":1790000000000}}}})",
                 entry.id, parent, entry.timestamp, text)
          << '\n';
    }
  }
}

void resume(const std::string& folder, const std::string& id, const std::string& leaf) {
  auto store = SessionStore::open(folder);
  require(store.has_value(), "opening a store");
  auto entries = (*store)->loadSessionEntries(id, {.branch = leaf});
  require(entries.has_value(), "loading a session");
  std::vector<Message> messages;
  messages.reserve(entries->size());
  for (const Entry& entry : *entries) {
    const auto stored = json::findMember(entry.payload, "message");
    auto message = normalize(stored.value_or(""), Dialect::Anthropic);
    require(message.has_value(), "normalizing a message");
    messages.push_back(std::move(*message));
  }
  require(messages.size() == kEntries, "resuming all of a session");
}

double runPi(const std::string& oracles, const std::string& file) {
  const std::string script = (std::filesystem::path(BOUGH_BENCH_DIR) / "pi_resume.mjs").string();
  const std::string command =
      fmt::format("node --max-old-space-size=8192 '{}' '{}' '{}' 2>/dev/null", script, oracles, file);
  FILE* output = ::popen(command.c_str(), "r");
  double seconds = 0;
  const bool read = output != nullptr && std::fscanf(output, "%lf", &seconds) == 1;
  if (output != nullptr) ::pclose(output);
  return read ? seconds : 0;
}

std::vector<Row> resumeRows() {
  Sample sample{.folder = workFolder() + "/resume", .id = "full", .log = {}};
  sample.log = writeSession(sample.folder, sample.id, UINT64_MAX, kEntries, kMessageBytes);
  const auto ours = [&] { resume(sample.folder, sample.id, sample.log.lastId); };
  ours();  // builds the index
  const double seconds = interleaved(5, {ours}).front();
  const auto bytes =
      static_cast<double>(std::filesystem::file_size(sample.folder + "/sessions/" + sample.id + ".jsonl"));
  const double memory = peakMemoryOf({"--resume", sample.folder, sample.id, sample.log.lastId});
  std::vector<Row> rows = {{.name = "memory for resuming 100,000 entries / their file",
                            .ours = memory / 1e6,
                            .floor = bytes / 1e6,
                            .unit = "MB",
                            .bound = 1.5}};
  const char* oracles = std::getenv("BOUGH_ORACLES");
  const std::string file = workFolder() + "/pi.jsonl";
  writeForPi(file, sample);
  const double pi = oracles == nullptr ? 0 : runPi(oracles, file);
  if (pi == 0) {
    fmt::print(stderr, "bench: pi is not installed in $BOUGH_ORACLES; the comparison with it is skipped\n");
    return rows;
  }
  rows.push_back({.name = "pi's SessionManager / resuming 100,000 entries",
                  .ours = pi * 1e3,
                  .floor = seconds * 1e3,
                  .unit = "ms",
                  .bound = 15.0,
                  .atLeast = true});
  return rows;
}

}  // namespace

int resumeAll(const std::string& folder, const std::string& sessionId, const std::string& leaf) {
  resume(folder, sessionId, leaf);
  fmt::print("{}\n", ownPeakMemory());
  return 0;
}

int estimateFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  fmt::print("{}\n", estimateTokens(text));
  return 0;
}

std::vector<Benchmark> messageBenchmarks() {
  return {{"context", contextRows}, {"convert", convertRows}, {"resume", resumeRows}};
}

}  // namespace bough::bench
