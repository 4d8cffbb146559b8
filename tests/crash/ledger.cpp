#include "crash/ledger.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json/json_scan.h"
#include "store/file/file_backend.h"

namespace bough {
namespace {

Result<std::unique_ptr<SessionStore>> openStore(Environment& environment, const StoreOptions& options) {
  auto backend = FileBackend::open(kStore, options, jsonEntrySerializer(), environment);
  if (!backend) return std::unexpected(backend.error());
  return SessionStore::open({.backend = std::move(*backend), .options = options});
}

testing::AssertionResult failure(const std::string& sessionId, const std::string& what) {
  return testing::AssertionFailure() << "session " << sessionId << ": " << what;
}

bool sameEntry(const Entry& asked, const Entry& found) {
  return asked.id == found.id && asked.type == found.type && asked.payload == found.payload;
}

// Takes the entries of a batch from the front of the remaining entries.
bool takeBatch(const std::vector<Entry>& entries, const std::vector<Entry>& found, std::size_t& at) {
  if (found.size() - at < entries.size()) return false;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (!sameEntry(entries[i], found[at + i])) return false;
  }
  at += entries.size();
  return true;
}

std::string idsOf(const std::vector<Entry>& entries) {
  std::string ids;
  for (const Entry& entry : entries) ids += entry.id + " ";
  return ids;
}

std::string headOf(const std::optional<ForkOrigin>& origin, const std::vector<Entry>& own) {
  std::string head = origin ? origin->entryId : "";
  for (const Entry& entry : own) {
    if (entry.type == entry_type::kHead) {
      head = json::findString(entry.payload, "entryId").value_or("");
    } else if (!isControlType(entry.type)) {
      head = entry.id;
    }
  }
  return head;
}

}  // namespace

Entry message(const std::string& id, std::size_t payloadBytes) {
  Entry entry;
  entry.id = id;
  entry.type = entry_type::kMessage;
  std::string text;
  std::uint64_t state = 0x9E3779B97F4A7C15;
  for (const char c : id) state = (state ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  while (text.size() + 11 < payloadBytes) {
    state = state * 6364136223846793005 + 1442695040888963407;
    text += static_cast<char>('a' + (state >> 59) % 26);
  }
  entry.payload = "{\"text\":\"" + text + "\"}";
  return entry;
}

Entry headMove(const std::string& id, const std::string& target) {
  Entry entry;
  entry.id = id;
  entry.type = entry_type::kHead;
  entry.payload = "{\"entryId\":\"" + target + "\"}";
  return entry;
}

World::World(SimFileSystem& files, const StoreOptions& options, std::uint64_t seed)
    : files_(files), environment_(files, seed), store_(openStore(environment_.environment(), options)) {}

Result<SessionHandle> Ledger::create(World& world, const std::string& sessionId) {
  Session& session = sessions[sessionId];
  auto made = world->createSession({.sessionId = sessionId});
  if (made) session.createdAt = world.now();
  return made;
}

Result<SessionHandle> Ledger::fork(World& world, const std::string& from, const std::string& entryId,
                                   const std::string& to) {
  Session& session = sessions[to];
  session.origin = ForkOrigin{.sessionId = from, .entryId = entryId};
  if (auto branch = world->loadSessionEntries(from, {.branch = entryId})) session.shared = std::move(*branch);
  auto made = world->branchFromEntry(from, entryId, {.sessionId = to});
  if (made) session.createdAt = world.now();
  return made;
}

Result<AppendResult> Ledger::append(World& world, const std::string& sessionId, const std::vector<Entry>& entries) {
  auto appended = world->appendSessionEntries(sessionId, entries);
  std::vector<Batch>& batches = sessions[sessionId].batches;
  auto batch =
      std::ranges::find_if(batches, [&](const Batch& known) { return known.entries.front().id == entries.front().id; });
  if (batch == batches.end()) batch = batches.insert(batch, {.entries = entries, .ackedAt = std::nullopt});
  if (appended && !batch->ackedAt) batch->ackedAt = world.now();
  return appended;
}

Result<void> Ledger::appendBuffered(World& world, const std::string& sessionId,
                                    const std::vector<std::vector<Entry>>& parts) {
  Batch batch;
  for (const std::vector<Entry>& entries : parts) {
    auto accepted = world->appendSessionEntries(sessionId, entries, {.durability = Durability::Buffered});
    if (!accepted) return std::unexpected(accepted.error());
    std::ranges::copy(entries, std::back_inserter(batch.entries));
  }
  auto flushed = world->flush();
  if (flushed) batch.ackedAt = world.now();
  sessions[sessionId].batches.push_back(std::move(batch));
  return flushed;
}

void Ledger::noteStored(const std::string& sessionId, const std::vector<Entry>& entries) {
  sessions[sessionId].createdAt = 0;
  sessions[sessionId].batches.push_back({.entries = entries, .ackedAt = 0});
}

void Ledger::settleOn(World& world) {
  std::map<std::string, Session> settled;
  for (const std::string& id : world->listSessions().value_or(std::vector<std::string>())) {
    Session& session = settled[id];
    session.createdAt = 0;
    if (const auto known = sessions.find(id); known != sessions.end()) {
      session.origin = known->second.origin;
      session.shared = known->second.shared;
    }
    auto entries = world->loadSessionEntries(id).value_or(std::vector<Entry>());
    const std::size_t own = std::min(entries.size(), session.shared.size() + 1);
    entries.erase(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(own));
    for (Entry& entry : entries) session.batches.push_back({.entries = {std::move(entry)}, .ackedAt = 0});
  }
  sessions = std::move(settled);
}

testing::AssertionResult Ledger::sessionHolds(World& world, const std::string& sessionId,
                                              std::uint64_t completed) const {
  const Session& session = sessions.at(sessionId);
  auto all = world->loadSessionEntries(sessionId);
  if (!all) {
    const bool acked = session.createdAt && *session.createdAt <= completed;
    if (all.error().code == ErrorCode::NotFound && !acked) return testing::AssertionSuccess();
    return failure(sessionId, "cannot be loaded: " + all.error().message);
  }
  if (all->empty() || all->front().type != entry_type::kSessionHeader) return failure(sessionId, "has no header");
  const std::string headerId = all->front().id;
  const std::vector<Entry> found(all->begin() + 1, all->end());
  std::size_t at = 0;
  if (!takeBatch(session.shared, found, at)) return failure(sessionId, "lost shared history: " + idsOf(found));
  for (const Batch& batch : session.batches) {
    if (takeBatch(batch.entries, found, at)) continue;
    if (batch.ackedAt && *batch.ackedAt <= completed) {
      return failure(sessionId, fmt::format("lost the acknowledged batch {}…; it holds {}", batch.entries.front().id,
                                            idsOf(found)));
    }
  }
  if (at != found.size()) {
    return failure(sessionId, fmt::format("holds what is no whole batch in its place: {} at {}", idsOf(found), at));
  }
  auto state = world->sessionState(sessionId);
  if (!state) return failure(sessionId, "has no state: " + state.error().message);
  const std::vector<Entry> own(found.begin() + static_cast<std::ptrdiff_t>(session.shared.size()), found.end());
  if (state->entryCount != own.size() + 1) return failure(sessionId, "counts wrongly");
  if (state->tailId != (own.empty() ? headerId : own.back().id)) return failure(sessionId, "tail is " + state->tailId);
  if (state->headId != headOf(session.origin, own)) return failure(sessionId, "head is " + state->headId);
  if (state->problemCount != 0) return failure(sessionId, fmt::format("has {} problems", state->problemCount));
  return testing::AssertionSuccess();
}

testing::AssertionResult Ledger::holds(World& world, std::uint64_t completed) const {
  if (!world.isOpen()) return testing::AssertionFailure() << "cannot be opened: " << world.error().message;
  auto listed = world->listSessions();
  if (!listed) return testing::AssertionFailure() << "cannot be listed: " << listed.error().message;
  for (const std::string& id : *listed) {
    if (!sessions.contains(id)) return failure(id, "was never asked for");
  }
  for (const auto& [id, session] : sessions) {
    if (auto held = sessionHolds(world, id, completed); !held) return held;
  }
  return testing::AssertionSuccess();
}

std::map<std::string, std::string> filesBelow(const SimFileSystem& files, const std::string& folder) {
  std::map<std::string, std::string> found;
  for (const std::string& name : files.names(folder)) {
    const std::string path = folder + "/" + name;
    if (auto bytes = files.contents(path)) {
      found.emplace(path, std::move(*bytes));
    } else {
      found.merge(filesBelow(files, path));
    }
  }
  return found;
}

std::unique_ptr<SimFileSystem> powerLossNow(const SimFileSystem& files, bool everything) {
  const CrashChoice choice{.pages = everything ? sim::PageFate::Kept : sim::PageFate::Dropped,
                           .newSizes = everything,
                           .newNames = everything};
  return files.powerLoss({.operation = files.operationCount(), .bytes = {}}, choice);
}

}  // namespace bough
