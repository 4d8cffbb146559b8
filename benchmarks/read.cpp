// What opening and reading a large session costs compared with reading its bytes.

#include <fcntl.h>
#include <fmt/format.h>
#include <simdjson.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <map>

#include "base/system/environment.h"
#include "base/system/file_system.h"
#include "bough/store.h"
#include "generate.h"
#include "harness.h"
#include "log/session_log.h"
#include "read.h"

namespace bough::bench {
namespace {

constexpr std::uint64_t kLarge = 1'000'000'000;
constexpr std::uint64_t kSmall = 1'000'000;
constexpr std::size_t kLast = 200;

struct Sample {
  std::string folder;
  std::string id;
  GeneratedLog log;

  [[nodiscard]] std::string path(const std::string& ending) const { return folder + "/sessions/" + id + ending; }
};

const Sample& sample(const std::string& id, std::uint64_t bytes, std::uint64_t maxEntries = UINT64_MAX) {
  static std::map<std::string, Sample> samples;
  auto found = samples.find(id);
  if (found == samples.end()) {
    const std::string folder = workFolder() + "/samples";
    found = samples.emplace(id, Sample{.folder = folder, .id = id, .log = writeSession(folder, id, bytes, maxEntries)})
                .first;
  }
  return found->second;
}

void openSession(const Sample& sample) {
  auto root = posixFileSystem().openRoot(sample.folder + "/sessions", false);
  require(root.has_value(), "opening the sessions");
  auto log = SessionLog::open({.sessions = std::move(*root), .archive = nullptr}, sample.id, jsonEntrySerializer(),
                              systemEnvironment(), {});
  require(log.has_value(), "opening a session");
}

void openAndPeek(const std::string& path) {
  std::array<char, 4096> buffer{};
  const int descriptor = ::open(path.c_str(), O_RDONLY);
  struct stat info{};
  require(descriptor >= 0 && ::fstat(descriptor, &info) == 0, "open");
  require(::pread(descriptor, buffer.data(), buffer.size(), info.st_size > 4096 ? info.st_size - 4096 : 0) > 0,
          "pread");
  ::close(descriptor);
}

std::vector<Row> firstIndex() {
  const Sample& large = sample("large", kLarge);
  const auto times = interleaved(7, {[&] {
                                       std::filesystem::remove(large.path(".idx"));
                                       openSession(large);
                                     },
                                     [&] { readWhole(large.path(".jsonl")); }});
  return {{.name = "first index of a 1 GB session, checksums verified / read(2) of it",
           .ours = times[0] * 1e3,
           .floor = times[1] * 1e3,
           .unit = "ms",
           .bound = 2.2}};
}

std::vector<Row> reopen() {
  std::vector<Row> rows;
  for (const auto& [name, bytes] : {std::pair{"small", kSmall}, {"large", kLarge}}) {
    const Sample& session = sample(name, bytes);
    openSession(session);
    // A running program has the folder open already; only the session is measured.
    auto root = posixFileSystem().openRoot(session.folder + "/sessions", false);
    require(root.has_value(), "opening the sessions");
    const std::shared_ptr<Directory> folder = std::move(*root);
    const auto times = interleaved(2001, {[&] {
                                            auto log =
                                                SessionLog::open({.sessions = folder, .archive = nullptr}, session.id,
                                                                 jsonEntrySerializer(), systemEnvironment(), {});
                                            require(log.has_value(), "opening a session");
                                          },
                                          [&] { openAndPeek(session.path(".jsonl")); }});
    rows.push_back(
        {.name = fmt::format("reopen with index, {} / open+fstat+pread of 4 KB", bytes == kLarge ? "1 GB" : "1 MB"),
         .ours = times[0] * 1e6,
         .floor = times[1] * 1e6,
         .unit = "µs",
         .bound = 4});
  }
  return rows;
}

std::vector<Entry> loadLast(SessionStore& store, const Sample& session) {
  auto entries = store.loadSessionEntries(session.id, {.last = kLast, .branch = session.log.lastId});
  require(entries && entries->size() == kLast, "loading the last entries of a branch");
  return std::move(*entries);
}

std::vector<Row> lastOfBranch() {
  const Sample& branch = sample("branch", UINT64_MAX, 100'000);
  auto store = SessionStore::open(branch.folder);
  require(store.has_value(), "opening the store");
  std::vector<simdjson::padded_string> lines;
  for (const Entry& entry : loadLast(**store, branch)) lines.emplace_back(entry.payload);
  simdjson::dom::parser parser;
  const auto parse = [&](const std::string& payload) {
    simdjson::dom::element element;
    require(parser.parse(payload).get(element) == simdjson::SUCCESS, "parsing");
  };
  const auto times = interleaved(301, {[&] {
                                         for (const Entry& entry : loadLast(**store, branch)) parse(entry.payload);
                                       },
                                       [&] {
                                         for (const auto& line : lines) {
                                           simdjson::dom::element element;
                                           require(parser.parse(line).get(element) == simdjson::SUCCESS, "parsing");
                                         }
                                       }});
  return {{.name = "last 200 entries of a branch of 100,000, parsed / parsing those bytes with simdjson",
           .ours = times[0] * 1e6,
           .floor = times[1] * 1e6,
           .unit = "µs",
           .bound = 1.3}};
}

std::vector<Row> memory() {
  const Sample& large = sample("large", kLarge);
  openSession(large);
  const double peak = peakMemoryOf({"--last", large.folder, large.id, large.log.lastId});
  return {{.name = "resident memory for the last 200 entries of a 1 GB session / 1 MB",
           .ours = peak / 1e6,
           .floor = 1,
           .unit = "MB",
           .bound = 64}};
}

std::vector<Row> bytesOnDisk() {
  const Sample& large = sample("large", kLarge);
  openSession(large);
  const auto size = [](const std::string& path) { return static_cast<double>(std::filesystem::file_size(path)); };
  return {{.name = fmt::format("bytes on disk with index / payload bytes ({} bytes an entry)",
                               large.log.payloadBytes / large.log.entries),
           .ours = (size(large.path(".jsonl")) + size(large.path(".idx"))) / 1e6,
           .floor = static_cast<double>(large.log.payloadBytes) / 1e6,
           .unit = "MB",
           .bound = 1.06}};
}

}  // namespace

int readLastOf(const std::string& folder, const std::string& sessionId, const std::string& leaf) {
  auto store = SessionStore::open(folder);
  require(store.has_value(), "opening the store");
  loadLast(**store, {.folder = folder, .id = sessionId, .log = {.lastId = leaf}});
  fmt::print("{:.0f}\n", ownPeakMemory());
  return 0;
}

std::vector<Benchmark> readBenchmarks() {
  return {{.name = "index", .run = firstIndex},
          {.name = "reopen", .run = reopen},
          {.name = "branch", .run = lastOfBranch},
          {.name = "memory", .run = memory},
          {.name = "bytes", .run = bytesOnDisk}};
}

}  // namespace bough::bench
