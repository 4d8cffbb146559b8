// Puts arbitrary bytes after or over a valid log, then opens it, appends, and opens it again. Complete batches and
// appended entries must be there, and no byte may be lost.

#include "base/check.h"
#include "fuzz/input.h"
#include "store/file/file_backend.h"
#include "support/sim_environment.h"

namespace bough {
namespace {

using fuzz::Input;
using fuzz::LogBuilder;

constexpr std::string_view kLogPath = "/store/sessions/s.jsonl";
constexpr std::string_view kTornPath = "/store/sessions/s.torn";

LogBuilder makeLog() {
  LogBuilder log;
  log.addHeader("s");
  for (std::uint32_t i = 0; i < 6; ++i) {
    const std::string id = "e" + std::to_string(i);
    log.add(LogBuilder::entry(id, i == 0 ? "" : "e" + std::to_string(i - 1), "message", R"({"text":"hello"})"),
            i < 3 ? 1 : i - 2, i < 3 ? 1 : 3);
  }
  return log;
}

std::shared_ptr<FileBackend> open(SimEnvironment& world) {
  auto backend = FileBackend::open("/store", {.lockTimeoutMs = 0}, jsonEntrySerializer(), world.environment());
  BOUGH_CHECK(backend.has_value());
  return std::move(*backend);
}

std::vector<std::string> idsOf(FileBackend& backend) {
  std::vector<std::string> ids;
  const auto session = backend.session("s");
  BOUGH_CHECK(session.has_value());
  const auto entries = (*session)->loadOwn(0, SIZE_MAX);
  if (!entries) return ids;
  for (const Entry& entry : *entries) ids.push_back(entry.id);
  return ids;
}

void check(Input& input) {
  static const LogBuilder log = makeLog();
  const bool over = input.byte() % 2 != 0;
  std::string bytes = log.bytes;
  const std::size_t at = over ? input.below(bytes.size()) : bytes.size();
  const std::string_view garbage = input.rest();
  bytes.resize(std::max(bytes.size(), at + garbage.size()));
  bytes.replace(at, garbage.size(), garbage);

  SimFileSystem files;
  files.put(kLogPath, bytes);
  SimEnvironment world(files);
  std::string appended;
  {
    const auto backend = open(world);
    Entry entry;
    entry.type = entry_type::kMessage;
    entry.payload = R"({"text":"new"})";
    AppendRequest request{.entries = {entry}};
    const auto session = backend->session("s");
    BOUGH_CHECK(session.has_value());
    const auto result = (*session)->append(request);
    BOUGH_CHECK(result || over);
    if (result) appended = result->lastAppendedEntryId;
  }
  const std::string after = files.contents(kLogPath).value();
  const std::string torn = files.contents(kTornPath).value_or("");
  // Either all bytes are still in place, or a tail of them is in the other file.
  std::size_t kept = 0;
  while (kept < bytes.size() && kept < after.size() && bytes[kept] == after[kept]) ++kept;
  if (kept < bytes.size()) {
    bool found = false;
    for (std::size_t cut = kept + 1; cut-- > 0 && !found;) found = torn.contains(bytes.substr(cut));
    BOUGH_CHECK(found);
  }
  if (appended.empty()) {
    BOUGH_CHECK(after == bytes || after == bytes.substr(0, after.size()));
    return;
  }
  const auto ids = idsOf(*open(world));
  BOUGH_CHECK(over || after.starts_with(log.bytes));
  BOUGH_CHECK(over || (ids.size() > 7 && ids[0] == "h" && ids[1] == "e0" && ids[6] == "e5"));
  BOUGH_CHECK(ids.empty() || ids.back() == appended);
}

}  // namespace
}  // namespace bough

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  bough::fuzz::Input input(data, size);
  bough::check(input);
  return 0;
}
