#include "generate.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/system/file_system.h"
#include "base/text/timestamp.h"
#include "bough/entry.h"
#include "bough/store.h"
#include "harness.h"
#include "log/file/log_files.h"
#include "log/file/new_file.h"

namespace bough::bench {
namespace {

constexpr std::string_view kPieces[] = {
    "the session is an append-only log and every entry names its parent ",
    "for (const auto& entry : entries) total += entry.payload.size();\\n",
    R"({\"path\":\"src/log/source/scan.cpp\",\"line\":128,\"matches\":[1,2,3]} )",
    "会话在崩溃之后可以完整恢复，任何一条已确认的记录都不会丢失。",
    "drwxr-xr-x 12 user user 4096 Nov 14 23:47 build\\n",
    "warning: unused variable 'state' [-Wunused-variable]\\n",
};

}  // namespace

std::uint64_t Generator::next() {
  state_ ^= state_ << 13;
  state_ ^= state_ >> 7;
  state_ ^= state_ << 17;
  return state_;
}

// Half are short turns, most of the rest are tool results of some kilobytes, and a few are whole files.
std::size_t Generator::mixedSize() {
  const std::uint64_t kind = next() % 1000;
  if (kind < 500) return 200 + next() % 1200;
  if (kind < 900) return 2000 + next() % 8000;
  if (kind < 995) return 10'000 + next() % 30'000;
  return 50'000 + next() % 100'000;
}

Entry Generator::message(std::size_t payloadBytes) {
  const std::size_t wanted = payloadBytes == 0 ? mixedSize() : payloadBytes;
  Entry entry;
  entry.type = entry_type::kMessage;
  entry.payload = fmt::format(R"({{"dialect":"anthropic","message":{{"role":"{}","content":[{{"type":"text","text":")",
                              next() % 2 == 0 ? "user" : "assistant");
  constexpr std::string_view kEnd = R"("}]}})";
  while (entry.payload.size() + kEnd.size() + 100 < wanted) entry.payload += kPieces[next() % std::size(kPieces)];
  if (entry.payload.size() + kEnd.size() < wanted)
    entry.payload.append(wanted - entry.payload.size() - kEnd.size(), 'x');
  entry.payload += kEnd;
  return entry;
}

GeneratedLog writeSession(const std::string& folder, const std::string& sessionId, std::uint64_t bytes,
                          std::uint64_t maxEntries, std::size_t payloadBytes) {
  {
    auto store = SessionStore::open(folder);
    require(store.has_value(), "opening a store");
  }
  auto root = posixFileSystem().openRoot(folder + "/sessions", false);
  require(root.has_value(), "opening a store's folder");
  NewFile file(**root, logName(sessionId));
  require(file.create().has_value(), "creating a session");
  Generator generator(bytes + maxEntries);
  GeneratedLog log;
  std::string text;
  const auto add = [&](const Entry& entry) {
    text.clear();
    require(jsonEntrySerializer().encode(entry, text).has_value(), "encoding an entry");
    require(file.addEntry(text).has_value(), "writing an entry");
    log.lastId = entry.id;
  };
  constexpr std::uint64_t kBegin = 1'790'000'000'000;
  Entry header;
  header.id = "00000000-0000-7000-0000-000000000000";
  header.type = entry_type::kSessionHeader;
  header.timestamp = formatTimestamp(kBegin);
  header.payload = fmt::format(R"({{"format":1,"sessionId":"{}"}})", sessionId);
  add(header);
  std::string parent;
  while (file.size() < bytes && log.entries < maxEntries) {
    Entry entry = generator.message(payloadBytes);
    entry.id = fmt::format("{:08x}-{:04x}-7000-8000-{:012x}", log.entries, log.entries % 65536, log.entries * 7919);
    entry.parentId = parent;
    entry.timestamp = formatTimestamp(kBegin + log.entries * 1000);
    parent = entry.id;
    log.payloadBytes += entry.payload.size();
    ++log.entries;
    add(entry);
  }
  require(file.sync().has_value() && file.publish().has_value(), "placing a session");
  return log;
}

}  // namespace bough::bench
