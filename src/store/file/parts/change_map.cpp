#include "store/file/parts/change_map.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <vector>

#include "base/model/ids.h"

namespace bough {
namespace {

constexpr std::string_view kName = "changes";
constexpr std::uint64_t kVersion = 2;
constexpr std::size_t kHeaderWords = 2;
constexpr std::size_t kNames = kHeaderWords + std::size_t{2} * ChangeMap::kGroups;
constexpr std::size_t kCounters = kNames + 2;
// A slot: the change's number, when it ended, a checksum, the id padded with zeros.
constexpr std::size_t kIdWords = 13;
constexpr std::size_t kSlotWords = 3 + kIdWords;
constexpr std::size_t kSlots = 512;
constexpr std::size_t kWords = kCounters + kSlots * kSlotWords;

using IdWords = std::array<std::uint64_t, kIdWords>;

// A token contains the counters, followed by the boot id of the machine.
std::string makeToken(const std::vector<std::uint64_t>& words, const std::string& bootId) {
  std::string token(kCounters * sizeof(std::uint64_t), '\0');
  std::memcpy(token.data(), words.data(), token.size());
  return token + bootId;
}

std::span<std::atomic<std::uint64_t>> slotOf(SharedWords& shared, std::uint64_t number) {
  return shared.words().subspan(kCounters + number % kSlots * kSlotWords, kSlotWords);
}

// Returns the checksum that detects a slot that two writers filled at once.
std::uint64_t checkOf(std::uint64_t number, const IdWords& id) {
  std::uint64_t sum = number;
  for (const std::uint64_t word : id) sum = (sum ^ word) * 0x9e3779b97f4a7c15 + 1;
  return sum;
}

void fillSlot(SharedWords& shared, std::uint64_t number, std::string_view sessionId) {
  IdWords id{};
  if (sessionId.size() > sizeof id) sessionId = {};
  std::memcpy(id.data(), sessionId.data(), sessionId.size());
  const auto slot = slotOf(shared, number);
  slot[0].store(0);
  slot[1].store(0);
  slot[2].store(checkOf(number, id));
  for (std::size_t i = 0; i < kIdWords; ++i) slot[3 + i].store(id[i]);
  slot[0].store(number);
}

struct NameChange {
  std::uint64_t ended = 0;
  std::string sessionId = {};
};

// Returns std::nullopt when the slot belongs to another change or is incomplete.
std::optional<NameChange> readSlot(SharedWords& shared, std::uint64_t number) {
  const auto slot = slotOf(shared, number);
  if (slot[0].load() != number) return std::nullopt;
  NameChange change{.ended = slot[1].load()};
  const std::uint64_t check = slot[2].load();
  IdWords id{};
  for (std::size_t i = 0; i < kIdWords; ++i) id[i] = slot[3 + i].load();
  if (slot[0].load() != number || check != checkOf(number, id)) return std::nullopt;
  change.sessionId.assign(reinterpret_cast<const char*>(id.data()), sizeof id);
  change.sessionId.resize(std::min(change.sessionId.find('\0'), sizeof id));
  if (!isSessionId(change.sessionId)) return std::nullopt;
  return change;
}

struct NameCounts {
  std::uint64_t began = 0;
  std::uint64_t ended = 0;
};

// Returns the sessions of all changes that had not ended at `before`; std::nullopt when the slots do not contain all of
// them.
std::optional<std::vector<std::string>> namesSince(SharedWords& shared, NameCounts before, NameCounts now) {
  const std::uint64_t first = now.began - std::min<std::uint64_t>(now.began, kSlots) + 1;
  if (before.began + 1 < first || before.began > now.began) return std::nullopt;
  std::vector<std::string> ids;
  std::uint64_t endedSince = 0;
  for (std::uint64_t number = first; number <= now.began; ++number) {
    auto change = readSlot(shared, number);
    if (!change) return std::nullopt;
    if (change->ended > before.ended && change->ended <= now.ended) ++endedSince;
    if (change->ended == 0 || change->ended > before.ended) ids.push_back(std::move(change->sessionId));
  }
  // A change has ended whose slot was reused, because it began long ago: the list would lack its session.
  if (endedSince != now.ended - before.ended) return std::nullopt;
  return ids;
}

}  // namespace

ChangeMap::ChangeMap(std::shared_ptr<Directory> root, Environment& environment)
    : root_(std::move(root)), environment_(environment) {}

// FNV-1a, because the result must be the same in every process forever.
std::uint32_t ChangeMap::groupOf(std::string_view sessionId) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : sessionId) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return static_cast<std::uint32_t>((hash ^ (hash >> 32)) % kGroups);
}

SharedWords* ChangeMap::map() {
  Mapped& mapped = *mapped_;
  SharedWords* ready = mapped.ready.load(std::memory_order_acquire);
  if (ready != nullptr && ready->isIntact()) return ready;
  const std::lock_guard lock(mapped.mutex);
  if (mapped.shared && mapped.shared->isIntact()) return mapped.shared.get();
  mapped.ready.store(nullptr, std::memory_order_release);
  if (mapped.shared) mapped.retired.push_back(std::move(mapped.shared));
  std::vector<std::uint64_t> initial(kWords, 0);
  initial[0] = environment_.random.next();
  initial[1] = kVersion;
  auto shared = root_->share(kName, initial);
  const bool damaged = (shared && (*shared)->words()[1].load() != kVersion) || (!shared && shared.error() == EINVAL);
  if (damaged) {
    // Create a new file in its place. Processes that still map the old one are detected when all sessions are looked at
    // again.
    shared = std::unexpected(EINVAL);
    if (root_->remove(kName)) shared = root_->share(kName, initial);
  }
  if (!shared) return nullptr;
  mapped.shared = std::move(*shared);
  mapped.ready.store(mapped.shared.get(), std::memory_order_release);
  return mapped.shared.get();
}

namespace {

// `which`: 0 for changes that began, 1 for those that ended. Returns the new count for changes of names.
std::uint64_t count(SharedWords& shared, std::uint32_t group, ChangeKind kind, std::size_t which) {
  const auto words = shared.words();
  words[kHeaderWords + std::size_t{2} * group + which].fetch_add(1);
  return kind == ChangeKind::Names ? words[kNames + which].fetch_add(1) + 1 : 0;
}

}  // namespace

ChangeMap::CountedChange ChangeMap::countBegun(SharedWords* shared, const Change& change) {
  if (shared == nullptr || !shared->isWritable()) return {};
  const std::uint64_t number = count(*shared, change.group, change.kind, 0);
  if (change.kind == ChangeKind::Names) fillSlot(*shared, number, change.sessionId);
  return {.shared = shared, .number = number};
}

ChangeMap::CountedChange ChangeMap::beginChange(const Change& change) {
  SharedWords* shared = mapped_->ready.load(std::memory_order_acquire);
  return countBegun(shared != nullptr && shared->isWhole() ? shared : map(), change);
}

ChangeMap::CountedChange ChangeMap::confirmChange(CountedChange counted, const Change& change) {
  return counted.shared == nullptr || counted.shared->isIntact() ? counted : countBegun(map(), change);
}

// Does not check the file again: it would have to be cut short in the moment since the last check.
void ChangeMap::endChange(CountedChange counted, const Change& change) {
  if (counted.shared == nullptr) return;
  const std::uint64_t ended = count(*counted.shared, change.group, change.kind, 1);
  if (change.kind != ChangeKind::Names) return;
  const auto slot = slotOf(*counted.shared, counted.number);
  if (slot[0].load() == counted.number) slot[1].store(ended);
}

std::optional<std::uint64_t> ChangeMap::nameChanges() {
  SharedWords* shared = map();
  if (shared == nullptr || !shared->isWritable()) return std::nullopt;
  const std::uint64_t ended = shared->words()[kNames + 1].load();
  const std::uint64_t began = shared->words()[kNames].load();
  if (began != ended) return std::nullopt;
  return began;
}

Result<ChangeSet> ChangeMap::since(std::string_view token) {
  SharedWords* shared = map();
  const std::string bootId = environment_.files.bootId();
  if (shared == nullptr || bootId.empty())
    return ChangeSet{.all = true, .names = true, .ids = {}, .groups = {}, .token = {}};
  const auto words = shared->words();
  // Read the ended counts before the begun counts: a change that ends in between then looks unfinished, never finished.
  std::vector<std::uint64_t> now(kCounters);
  now[0] = words[0].load();
  now[1] = words[1].load();
  for (std::size_t at = kHeaderWords; at < kCounters; at += 2) {
    now[at + 1] = words[at + 1].load();
    now[at] = words[at].load();
  }
  ChangeSet changes{.all = false, .names = false, .ids = {}, .groups = {}, .token = makeToken(now, bootId)};
  const std::size_t bytes = kCounters * sizeof(std::uint64_t);
  std::vector<std::uint64_t> before(kCounters, 0);
  if (token.size() >= bytes) std::memcpy(before.data(), token.data(), bytes);
  if (token.size() != changes.token.size() || token.substr(bytes) != bootId || before[0] != now[0]) {
    changes.all = true;
    return changes;
  }
  const auto differs = [&](std::size_t at) {
    return now[at] != before[at] || now[at + 1] != before[at + 1] || now[at] != now[at + 1];
  };
  for (std::uint32_t group = 0; group < kGroups; ++group) {
    if (differs(kHeaderWords + std::size_t{2} * group)) changes.groups.push_back(group);
  }
  if (differs(kNames)) {
    auto ids = namesSince(*shared, {.began = before[kNames], .ended = before[kNames + 1]},
                          {.began = now[kNames], .ended = now[kNames + 1]});
    changes.names = !ids;
    changes.ids = std::move(ids).value_or(std::vector<std::string>());
  }
  return changes;
}

}  // namespace bough
