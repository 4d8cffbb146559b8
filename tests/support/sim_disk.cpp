#include "support/sim_disk.h"

#include <fmt/format.h>

#include <algorithm>

namespace bough::sim {
namespace {

// Copies the part of page `index` that both strings contain.
void copyPage(std::string& to, const std::string& from, std::uint64_t index) {
  const std::uint64_t begin = index * kPageBytes;
  const std::uint64_t end = std::min({begin + kPageBytes, std::uint64_t{to.size()}, std::uint64_t{from.size()}});
  if (begin < end) to.replace(begin, end - begin, from, begin, end - begin);
}

void applyChange(std::map<std::string, std::uint64_t, std::less<>>& names, const NameChange& change) {
  if (!change.removed.empty()) names.erase(change.removed);
  if (!change.made.empty()) names[change.made] = change.inode;
}

}  // namespace

std::vector<std::string> splitPath(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    if (slash > 0) parts.emplace_back(path.substr(0, slash));
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return parts;
}

std::vector<std::uint64_t> Node::pagesAtRisk(std::size_t sizeChoice) const {
  const std::uint64_t size = sizes.empty() ? bytes.size() : sizes[sizeChoice];
  return {unsynced.begin(), unsynced.lower_bound((size + kPageBytes - 1) / kPageBytes)};
}

std::string Node::bytesAfterCrash(std::size_t sizeChoice, const std::vector<PageFate>& fates) const {
  std::uint64_t certain = synced.size();  // before this position, synced bytes were never cut off
  std::uint64_t untouched = synced.size();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    certain = std::min(certain, sizes[i]);
    if (i <= sizeChoice) untouched = std::min(untouched, sizes[i]);
  }
  std::string result = synced.substr(0, untouched);
  result.resize(sizes.empty() ? bytes.size() : sizes[sizeChoice], '\0');

  const std::vector<std::uint64_t> pages = pagesAtRisk(sizeChoice);
  for (std::size_t i = 0; i < pages.size(); ++i) {
    const std::uint64_t begin = pages[i] * kPageBytes;
    const std::uint64_t end = std::min(begin + kPageBytes, std::uint64_t{result.size()});
    if (fates[i] == PageFate::Zeroed && std::max(begin, certain) < end) {
      std::fill(result.begin() + static_cast<std::ptrdiff_t>(std::max(begin, certain)),
                result.begin() + static_cast<std::ptrdiff_t>(end), '\0');
    }
    if (fates[i] == PageFate::Kept) copyPage(result, bytes, pages[i]);
  }
  return result;
}

std::map<std::string, std::uint64_t, std::less<>> Node::namesAfterCrash(std::size_t changes) const {
  auto result = syncedNames;
  for (std::size_t i = 0; i < changes && i < unsyncedNames.size(); ++i) applyChange(result, unsyncedNames[i]);
  return result;
}

Disk::Disk() {
  nodes_[kRootInode].isDirectory = true;
}

void Disk::apply(const Operation& operation, std::optional<std::uint64_t> limitBytes) {
  ++changes_;
  switch (operation.kind) {
    case OperationKind::Write:
      write(nodes_.at(operation.inode), operation.offset,
            std::string_view(operation.bytes).substr(0, limitBytes.value_or(operation.bytes.size())));
      break;
    case OperationKind::Truncate: resize(nodes_.at(operation.inode), operation.offset); break;
    case OperationKind::Sync: sync(nodes_.at(operation.inode)); return;
    case OperationKind::LosePages: nodes_.at(operation.inode).unsynced.clear(); return;
    case OperationKind::SyncDirectory: {
      Node& folder = nodes_.at(operation.folder);
      folder.syncedNames = folder.names;
      folder.unsyncedNames.clear();
      return;
    }
    case OperationKind::Create:
    case OperationKind::MakeDirectory:
      nodes_[operation.inode].isDirectory = operation.kind == OperationKind::MakeDirectory;
      [[fallthrough]];
    case OperationKind::Rename:
    case OperationKind::Link:
    case OperationKind::Remove:
      changeNames(operation);
      nodes_.at(operation.folder).modified = changes_;
      if (operation.kind != OperationKind::Create && operation.kind != OperationKind::MakeDirectory) return;
      break;
  }
  nodes_.at(operation.inode).modified = changes_;
}

void Disk::changeNames(const Operation& operation) {
  Node& folder = nodes_.at(operation.folder);
  const bool removes = operation.kind == OperationKind::Remove;
  const NameChange change{.removed = removes ? operation.name : operation.from,
                          .made = removes ? std::string() : operation.name,
                          .inode = operation.inode};
  applyChange(folder.names, change);
  folder.unsyncedNames.push_back(change);
}

void Disk::write(Node& file, std::uint64_t offset, std::string_view bytes) {
  if (bytes.empty()) return;
  const std::uint64_t end = offset + bytes.size();
  if (end > file.bytes.size()) resize(file, end);
  file.bytes.replace(offset, bytes.size(), bytes);
  for (std::uint64_t page = offset / kPageBytes; page * kPageBytes < end; ++page) file.unsynced.insert(page);
}

void Disk::resize(Node& file, std::uint64_t sizeBytes) {
  const std::uint64_t before = file.bytes.size();
  if (sizeBytes == before) return;
  if (file.sizes.empty()) file.sizes.push_back(before);
  for (std::uint64_t page = (before / kPageBytes + 1) * kPageBytes; page < sizeBytes; page += kPageBytes) {
    file.sizes.push_back(page);
  }
  file.sizes.push_back(sizeBytes);
  file.bytes.resize(sizeBytes, '\0');
  // A page that was cut off has nothing left to write. When the file grows again, it reads as zeros.
  const std::uint64_t firstGone = (sizeBytes + kPageBytes - 1) / kPageBytes;
  file.unsynced.erase(file.unsynced.lower_bound(firstGone), file.unsynced.end());
}

void Disk::sync(Node& file) {
  for (const std::uint64_t size : file.sizes) file.synced.resize(std::min(std::uint64_t{file.synced.size()}, size));
  file.synced.resize(file.bytes.size(), '\0');
  for (const std::uint64_t page : file.unsynced) copyPage(file.synced, file.bytes, page);
  file.unsynced.clear();
  file.sizes.clear();
}

std::size_t Disk::linkCount(std::uint64_t inode) const {
  std::size_t count = 0;
  for (const auto& [id, folder] : nodes_) {
    count += static_cast<std::size_t>(
        std::ranges::count_if(folder.names, [&](const auto& item) { return item.second == inode; }));
  }
  return count;
}

std::optional<std::uint64_t> Disk::find(std::string_view path) const {
  std::uint64_t at = kRootInode;
  for (const std::string& part : splitPath(path)) {
    const Node& folder = nodes_.at(at);
    const auto item = folder.names.find(part);
    if (item == folder.names.end()) return std::nullopt;
    at = item->second;
  }
  return at;
}

void Disk::settleFile(std::uint64_t inode, std::string bytes) {
  Node& file = nodes_.at(inode);
  file.bytes = bytes;
  file.synced = std::move(bytes);
  file.unsynced.clear();
  file.sizes.clear();
}

void Disk::settleFolder(std::uint64_t inode, std::map<std::string, std::uint64_t, std::less<>> names) {
  Node& folder = nodes_.at(inode);
  folder.names = names;
  folder.syncedNames = std::move(names);
  folder.unsyncedNames.clear();
}

std::string Disk::fingerprint() const {
  std::string result;
  std::vector<std::pair<std::string, std::uint64_t>> open{{"", kRootInode}};
  while (!open.empty()) {
    const auto [path, inode] = open.back();
    open.pop_back();
    const Node& node = nodes_.at(inode);
    result += fmt::format("{}\n{} {} {}\n", path, inode, node.isDirectory, node.bytes.size());
    result += node.bytes;
    for (const auto& [name, child] : node.names) open.emplace_back(path + "/" + name, child);
  }
  return result;
}

}  // namespace bough::sim
