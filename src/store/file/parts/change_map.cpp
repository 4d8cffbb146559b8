#include "store/file/parts/change_map.h"

#include <cstring>
#include <vector>

namespace bough {
namespace {

constexpr std::string_view kName = "changes";
constexpr std::uint64_t kVersion = 1;
constexpr std::size_t kHeaderWords = 2;
constexpr std::size_t kWords = kHeaderWords + 2 * (std::size_t{ChangeMap::kGroups} + 1);

// Token: the words as they were, then the start of the machine.
std::string makeToken(const std::vector<std::uint64_t>& words, const std::string& bootId) {
  std::string token(kWords * sizeof(std::uint64_t), '\0');
  std::memcpy(token.data(), words.data(), token.size());
  return token + bootId;
}

}  // namespace

ChangeMap::ChangeMap(std::shared_ptr<Directory> root, Environment& environment)
    : root_(std::move(root)), environment_(environment) {}

// FNV-1a: the same in every process for ever.
std::uint32_t ChangeMap::groupOf(std::string_view sessionId) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : sessionId) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return static_cast<std::uint32_t>((hash ^ (hash >> 32)) % kGroups);
}

SharedWords* ChangeMap::map() {
  Mapped& mapped = *mapped_;
  SharedWords* ready = mapped.ready.load(std::memory_order_acquire);
  if (ready != nullptr && ready->intact()) return ready;
  const std::lock_guard lock(mapped.mutex);
  if (mapped.shared && mapped.shared->intact()) return mapped.shared.get();
  mapped.ready.store(nullptr, std::memory_order_release);
  if (mapped.shared) mapped.retired.push_back(std::move(mapped.shared));
  std::vector<std::uint64_t> initial(kWords, 0);
  initial[0] = environment_.random.next();
  initial[1] = kVersion;
  auto shared = root_->share(kName, initial);
  const bool damaged = (shared && (*shared)->words()[1].load() != kVersion) || (!shared && shared.error() == EINVAL);
  if (damaged) {
    // Another one in its place; who maps the old one is found out about when everything is looked at again.
    shared = std::unexpected(EINVAL);
    if (root_->remove(kName)) shared = root_->share(kName, initial);
  }
  if (!shared) return nullptr;
  mapped.shared = std::move(*shared);
  mapped.ready.store(mapped.shared.get(), std::memory_order_release);
  return mapped.shared.get();
}

namespace {

// `which`: 0 for what began, 1 for what ended.
void count(SharedWords& shared, std::uint32_t group, ChangeKind kind, std::size_t which) {
  const auto words = shared.words();
  words[kHeaderWords + std::size_t{2} * group + which].fetch_add(1);
  if (kind == ChangeKind::Names) words[kHeaderWords + std::size_t{2} * ChangeMap::kGroups + which].fetch_add(1);
}

SharedWords* countBegun(SharedWords* shared, std::uint32_t group, ChangeKind kind) {
  if (shared == nullptr || !shared->writable()) return nullptr;
  count(*shared, group, kind, 0);
  return shared;
}

}  // namespace

SharedWords* ChangeMap::began(std::uint32_t group, ChangeKind kind) {
  SharedWords* shared = mapped_->ready.load(std::memory_order_acquire);
  return countBegun(shared != nullptr && shared->whole() ? shared : map(), group, kind);
}

SharedWords* ChangeMap::confirmed(SharedWords* begun, std::uint32_t group, ChangeKind kind) {
  return begun == nullptr || begun->intact() ? begun : countBegun(map(), group, kind);
}

// Without another look at the file: it would have to be cut short within the moment since the last one.
void ChangeMap::ended(SharedWords* begun, std::uint32_t group, ChangeKind kind) {
  if (begun != nullptr) count(*begun, group, kind, 1);
}

std::optional<std::uint64_t> ChangeMap::nameChanges() {
  SharedWords* shared = map();
  if (shared == nullptr || !shared->writable()) return std::nullopt;
  constexpr std::size_t kNames = kHeaderWords + std::size_t{2} * kGroups;
  const std::uint64_t ended = shared->words()[kNames + 1].load();
  const std::uint64_t began = shared->words()[kNames].load();
  if (began != ended) return std::nullopt;
  return began;
}

Result<ChangeSet> ChangeMap::since(std::string_view token) {
  SharedWords* shared = map();
  const std::string bootId = environment_.files.bootId();
  if (shared == nullptr || bootId.empty()) return ChangeSet{.all = true, .names = true, .groups = {}, .token = {}};
  const auto words = shared->words();
  // What ended is read before what began: a change that ends in between still looks unfinished, never finished.
  std::vector<std::uint64_t> now(kWords);
  now[0] = words[0].load();
  now[1] = words[1].load();
  for (std::size_t at = kHeaderWords; at < kWords; at += 2) {
    now[at + 1] = words[at + 1].load();
    now[at] = words[at].load();
  }
  ChangeSet changes{.all = false, .names = false, .groups = {}, .token = makeToken(now, bootId)};
  const std::size_t bytes = kWords * sizeof(std::uint64_t);
  std::vector<std::uint64_t> before(kWords, 0);
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
  changes.names = differs(kHeaderWords + std::size_t{2} * kGroups);
  return changes;
}

}  // namespace bough
