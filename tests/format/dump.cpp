// Prints how bough reads session files, in the terms of tests/format/reader.py: the valid entries, then the problems.
// After a line `verify` come the additional findings of `bough verify`.
//
// usage: format_dump STORE SESSION

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <string>
#include <tuple>
#include <unordered_set>
#include <vector>

#include "base/json/json_write.h"
#include "base/model/unreadable.h"
#include "base/system/environment.h"
#include "bough/store.h"
#include "log/file/log_files.h"
#include "log/source/scan.h"

namespace bough {
namespace {

using Region = std::tuple<std::uint64_t, std::uint64_t, std::string>;

std::string entryText(std::string_view id, std::string_view parentId, std::string_view type) {
  return fmt::format(R"({{"id":{},"parentId":{},"type":{}}})", json::quoted(id),
                     parentId.empty() ? "null" : json::quoted(parentId), json::quoted(type));
}

// The result of a scan alone.
class DumpSink final : public ScanSink {
 public:
  explicit DumpSink(std::string_view bytes) : bytes_(bytes) {}

  void onLine(const ScannedLine& line) override {
    if (ids_.insert(std::string(line.keys.id)).second) {
      entries.push_back(entryText(line.keys.id, line.keys.parentId.value_or(""), line.keys.type));
    } else {
      regions.emplace_back(line.offset, line.length, toString(ProblemKind::DuplicateId));
    }
  }
  // Consecutive damage is one problem here; the reader reports one per line.
  void onProblem(ProblemKind kind, std::uint64_t offset, std::uint64_t bytes, std::string_view /*message*/) override {
    while (kind == ProblemKind::Damage) {
      const std::size_t end = bytes_.find('\n', offset);
      if (end == std::string_view::npos || end + 1 >= offset + bytes) break;
      regions.emplace_back(offset, end + 1 - offset, toString(kind));
      bytes -= end + 1 - offset;
      offset = end + 1;
    }
    regions.emplace_back(offset, bytes, toString(kind));
  }

  std::vector<std::string> entries;
  std::vector<Region> regions;

 private:
  std::string_view bytes_;
  std::unordered_set<std::string> ids_;
};

int fail(std::string_view message) {
  fmt::print(stderr, "{}\n", message);
  return 1;
}

int dump(const std::string& folder, const std::string& session) {
  std::shared_ptr<Directory> root = systemEnvironment().files.openRoot(folder, false).value();
  auto log = openLog({.sessions = root->openDirectory("sessions", false).value(), .archive = nullptr}, session);
  if (!log) return fail(log.error().message);
  std::string bytes(static_cast<std::size_t>(log->source->size().value()), '\0');
  (void)readFully(*log->source, 0, bytes);
  DumpSink sink(bytes);
  ScanState state;
  const std::uint64_t torn = scanLog(*log->source, jsonEntrySerializer(), state, sink).value();
  if (torn > 0) sink.regions.emplace_back(state.offset, torn, toString(ProblemKind::Torn));
  std::ranges::sort(sink.regions);
  for (const std::string& entry : sink.entries) fmt::print("{}\n", entry);
  for (const auto& [offset, size, kind] : sink.regions) fmt::print("{} {} {}\n", offset, size, kind);

  // The open log must return the entries that the scan found.
  auto backend = makeFileBackend(folder);
  if (!backend) return fail(backend.error().message);
  const auto stored = (*backend)->open(session);
  if (!stored) return fail(stored.error().message);
  std::vector<std::string> read;
  for (std::uint64_t next = 0;;) {
    const auto entries = (*stored)->loadOwn(next, SIZE_MAX);
    if (!entries) return fail(entries.error().message);
    if (entries->empty()) break;
    next += entries->size();
    for (const Entry& entry : *entries) {
      if (isUnreadable(entry)) continue;  // represents damage, which is reported in the regions
      read.push_back(entryText(entry.id, entry.parentId.value_or(""), entry.type));
    }
  }
  if (read != sink.entries) return fail(fmt::format("read back as other entries:\n{}", fmt::join(read, "\n")));

  const auto report = (*backend)->maintenance()->verify(session);
  if (!report) return fail(report.error().message);
  fmt::print("verify\n");
  for (const Problem& problem : report->problems) {
    if (problem.kind < ProblemKind::UnknownParent) continue;
    fmt::print("{} {} {}: {}\n", problem.offset, problem.bytes, toString(problem.kind), problem.message);
  }
  return 0;
}

}  // namespace
}  // namespace bough

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  return bough::dump(argv[1], argv[2]);
}
