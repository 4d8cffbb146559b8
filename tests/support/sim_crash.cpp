// The effects of a crash: from the log of operations to all disks that may result.
//
// At a crash point, each file has variants (a size, and a fate for each page at risk), and each folder has one variant
// more than it has unsynced changes. When there are few combinations, all of them are built, otherwise a sample. The
// two extremes, nothing kept and everything kept, always come first. Combinations with the same result are built once.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <random>
#include <set>

#include "support/sim_state.h"

namespace bough {
namespace {

using sim::Disk;
using sim::Node;
using sim::PageFate;

/// A possible state of a file or folder after a crash.
struct Variant {
  std::string bytes;
  std::map<std::string, std::uint64_t, std::less<>> names;
  std::string description;
};

struct UnsyncedNode {
  std::uint64_t inode = 0;
  std::string path;
  const Node* node = nullptr;
};

Variant fileVariant(const UnsyncedNode& at, std::size_t sizeChoice, const std::vector<PageFate>& fates) {
  Variant variant;
  variant.bytes = at.node->bytesAfterCrash(sizeChoice, fates);
  variant.description = fmt::format("{} {} bytes", at.path, variant.bytes.size());
  const auto pages = at.node->pagesAtRisk(sizeChoice);
  for (std::size_t i = 0; i < pages.size(); ++i) {
    static constexpr std::string_view kNames[] = {"dropped", "zeroed", "kept"};
    variant.description += fmt::format(" {}:{}", pages[i], kNames[static_cast<std::size_t>(fates[i])]);
  }
  return variant;
}

Variant folderVariant(const UnsyncedNode& at, std::size_t changes) {
  Variant variant;
  variant.names = at.node->namesAfterCrash(changes);
  variant.description = fmt::format("{} {} of {} changes", at.path, changes, at.node->unsyncedNames.size());
  return variant;
}

Variant uniformVariant(const UnsyncedNode& at, const CrashChoice& choice) {
  if (at.node->isDirectory) return folderVariant(at, choice.newNames ? at.node->unsyncedNames.size() : 0);
  const std::size_t size = choice.newSizes ? at.node->sizeChoices() - 1 : 0;
  return fileVariant(at, size, std::vector(at.node->pagesAtRisk(size).size(), choice.pages));
}

/// Returns all distinct variants.
std::vector<Variant> allVariants(const UnsyncedNode& at) {
  std::vector<Variant> variants;
  if (at.node->isDirectory) {
    for (std::size_t n = 0; n <= at.node->unsyncedNames.size(); ++n) variants.push_back(folderVariant(at, n));
    return variants;
  }
  std::set<std::string> seen;
  for (std::size_t size = 0; size < at.node->sizeChoices(); ++size) {
    std::vector<PageFate> fates(at.node->pagesAtRisk(size).size(), PageFate::Dropped);
    for (;;) {
      Variant variant = fileVariant(at, size, fates);
      if (seen.insert(variant.bytes).second) variants.push_back(std::move(variant));
      // Counts in base three.
      auto digit = std::ranges::find_if(fates, [](PageFate fate) { return fate != PageFate::Kept; });
      if (digit == fates.end()) break;
      *digit = *digit == PageFate::Dropped ? PageFate::Zeroed : PageFate::Kept;
      std::fill(fates.begin(), digit, PageFate::Dropped);
    }
  }
  return variants;
}

Variant drawVariant(const UnsyncedNode& at, std::mt19937_64& random) {
  if (at.node->isDirectory) return folderVariant(at, random() % (at.node->unsyncedNames.size() + 1));
  // Choose the last size half of the time, so that large writes are not usually cut short.
  const std::size_t sizes = at.node->sizeChoices();
  const std::size_t size = random() % 2 == 0 ? sizes - 1 : random() % sizes;
  // Mostly kept, mostly dropped, or evenly mixed: with even mixtures only, a single lost page among hundreds would
  // never occur.
  const std::uint64_t keptOf64 = std::array<std::uint64_t, 3>{1, 32, 63}[random() % 3];
  std::vector<PageFate> fates(at.node->pagesAtRisk(size).size());
  for (PageFate& fate : fates) {
    fate = random() % 64 < keptOf64 ? PageFate::Kept : random() % 2 == 0 ? PageFate::Dropped : PageFate::Zeroed;
  }
  return fileVariant(at, size, fates);
}

/// Returns the unsynced files and folders that have a name, now or after some crash.
std::vector<UnsyncedNode> unsyncedNodes(const Disk& disk) {
  std::map<std::uint64_t, std::string> reachable{{sim::kRootInode, ""}};
  std::vector<std::uint64_t> open{sim::kRootInode};
  while (!open.empty()) {
    const std::uint64_t inode = open.back();
    open.pop_back();
    const Node& folder = disk.node(inode);
    const std::string path = reachable.at(inode);
    const auto reach = [&](const std::string& name, std::uint64_t child) {
      if (reachable.emplace(child, path + "/" + name).second) open.push_back(child);
    };
    for (const auto& [name, child] : folder.names) reach(name, child);
    for (const auto& [name, child] : folder.syncedNames) reach(name, child);
    for (const auto& change : folder.unsyncedNames) {
      if (!change.made.empty()) reach(change.made, change.inode);
    }
  }
  std::vector<UnsyncedNode> result;
  for (const auto& [inode, path] : reachable) {
    const Node& node = disk.node(inode);
    if (node.isUnsynced() || !node.unsyncedNames.empty()) result.push_back({inode, path, &node});
  }
  return result;
}

void settle(Disk& disk, const UnsyncedNode& at, const Variant& variant) {
  if (at.node->isDirectory) {
    disk.settleFolder(at.inode, variant.names);
  } else {
    disk.settleFile(at.inode, variant.bytes);
  }
}

bool isFew(const std::vector<UnsyncedNode>& unsynced, const CrashOptions& options) {
  std::size_t pages = 0;
  for (const UnsyncedNode& at : unsynced) pages += at.node->unsynced.size();
  return pages <= options.exhaustivePages;
}

}  // namespace

SimFileSystem::History SimFileSystem::history() const {
  const std::lock_guard guard(state_->mutex);
  return {.start = state_->start, .operations = state_->operations};
}

sim::Disk SimFileSystem::History::diskAt(const CrashPoint& point) const {
  Disk disk = start;
  for (std::uint64_t i = 0; i < point.completed(); ++i) disk.apply(operations.at(i));
  if (point.bytes) disk.apply(operations.at(point.operation - 1), point.bytes);
  return disk;
}

std::unique_ptr<SimFileSystem> SimFileSystem::processCrash() const {
  return processCrash({.operation = operationCount(), .bytes = {}});
}

std::unique_ptr<SimFileSystem> SimFileSystem::processCrash(const CrashPoint& point) const {
  return std::unique_ptr<SimFileSystem>(new SimFileSystem(history().diskAt(point)));
}

std::unique_ptr<SimFileSystem> SimFileSystem::powerLoss(const CrashPoint& point, const CrashChoice& choice) const {
  const Disk before = history().diskAt(point);
  Disk after = before;
  for (const UnsyncedNode& at : unsyncedNodes(before)) settle(after, at, uniformVariant(at, choice));
  return std::unique_ptr<SimFileSystem>(new SimFileSystem(after));
}

void SimFileSystem::visitCrashes(const sim::Disk& before, const CrashPoint& point, const std::string& where,
                                 const CrashOptions& options, const std::function<void(CrashImage&)>& visit) {
  const std::vector<UnsyncedNode> unsynced = unsyncedNodes(before);
  std::set<std::string> seen;
  const auto show = [&](const auto& variantOf) {
    CrashImage image{.point = point, .description = where, .files = nullptr};
    Disk after = before;
    for (std::size_t i = 0; i < unsynced.size(); ++i) {
      const Variant& variant = variantOf(i);
      settle(after, unsynced[i], variant);
      image.description += "; " + variant.description;
    }
    if (!seen.insert(after.fingerprint()).second) return;
    image.files.reset(new SimFileSystem(after));
    visit(image);
  };

  for (const bool kept : {false, true}) {
    const CrashChoice choice{.pages = kept ? PageFate::Kept : PageFate::Dropped, .newSizes = kept, .newNames = kept};
    show([&](std::size_t i) { return uniformVariant(unsynced[i], choice); });
  }
  if (isFew(unsynced, options)) {
    std::vector<std::vector<Variant>> variants;
    std::size_t combinations = 1;
    for (const UnsyncedNode& at : unsynced) {
      variants.push_back(allVariants(at));
      combinations = std::min(combinations * variants.back().size(), std::numeric_limits<std::size_t>::max() / 4096);
    }
    if (combinations <= options.exhaustiveImages) {
      for (std::size_t n = 0; n < combinations; ++n) {
        std::size_t rest = n;
        show([&](std::size_t i) -> const Variant& {
          const std::size_t digit = rest % variants[i].size();
          rest /= variants[i].size();
          return variants[i][digit];
        });
      }
      return;
    }
  }
  std::mt19937_64 random(options.seed * 1'000'003 + point.operation * 4099 + point.bytes.value_or(0));
  for (std::size_t n = 0; n < options.samples; ++n) {
    show([&](std::size_t i) { return drawVariant(unsynced[i], random); });
  }
}

void SimFileSystem::forEachCrashAt(const CrashPoint& point, const CrashOptions& options,
                                   const std::function<void(CrashImage&)>& visit) const {
  const History past = history();
  std::string where = "crash before any operation";
  if (point.operation > 0) {
    where = fmt::format("crash after operation {} ({})", point.operation, past.operations.at(point.operation - 1).text);
  }
  if (point.bytes) where += fmt::format(", {} bytes of it", *point.bytes);
  visitCrashes(past.diskAt(point), point, where, options, visit);
}

void SimFileSystem::forEachCrash(const CrashOptions& options, const std::function<void(CrashImage&)>& visit) const {
  const History past = history();
  Disk disk = past.start;
  if (options.firstOperation == 0) visitCrashes(disk, {}, "crash before any operation", options, visit);
  for (std::uint64_t k = 1; k <= past.operations.size(); ++k) {
    const sim::Operation& operation = past.operations[k - 1];
    const std::string where = fmt::format("crash after operation {} ({})", k, operation.text);
    const bool cut = operation.kind == sim::OperationKind::Write && options.writeStepBytes > 0;
    for (std::uint64_t b = options.writeStepBytes; cut && k >= options.firstOperation && b < operation.bytes.size();
         b += options.writeStepBytes) {
      Disk torn = disk;
      torn.apply(operation, b);
      const CrashPoint point{.operation = k, .bytes = b};
      visitCrashes(torn, point, fmt::format("{}, {} bytes of it", where, b), options, visit);
    }
    disk.apply(operation);
    if (k >= options.firstOperation) visitCrashes(disk, {.operation = k, .bytes = {}}, where, options, visit);
  }
}

}  // namespace bough
