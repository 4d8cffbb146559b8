#include <fmt/format.h>

#include <cerrno>

#include "support/sim_handles.h"

namespace bough {
namespace {

using sim::Node;
using sim::OperationKind;

constexpr std::size_t kMaxNameBytes = 255;

}  // namespace

SimDirectory::SimDirectory(std::shared_ptr<SimFileSystem::State> state, std::uint64_t inode, std::string path,
                           std::string label)
    : state_(std::move(state)), inode_(inode), path_(std::move(path)), label_(std::move(label)) {}

std::string SimDirectory::labelOf(std::string_view name) const {
  return label_.empty() ? std::string(name) : fmt::format("{}/{}", label_, name);
}

SysResult<std::uint64_t> SimDirectory::find(std::string_view name) const {
  if (name.empty()) return std::unexpected(ENOENT);
  if (name == "." || name == ".." || name.contains('/') || name.contains('\0')) return std::unexpected(EINVAL);
  if (name.size() > kMaxNameBytes) return std::unexpected(ENAMETOOLONG);
  const auto& names = state_->disk.node(inode_).names;
  const auto item = names.find(name);
  if (item == names.end()) return std::unexpected(ENOENT);
  return item->second;
}

void SimDirectory::changeName(OperationKind kind, std::uint64_t inode, std::string_view from, std::string_view name,
                              const std::string& text) {
  state_->traceLine(text);
  state_->commit({.kind = kind,
                  .inode = inode,
                  .folder = inode_,
                  .name = std::string(name),
                  .from = std::string(from),
                  .text = text});
}

void SimDirectory::freeIfLast(std::uint64_t inode) {
  if (state_->freeBytes && state_->disk.linkCount(inode) == 1) {
    *state_->freeBytes += state_->disk.node(inode).bytes.size();
  }
}

SysResult<std::unique_ptr<File>> SimDirectory::open(std::string_view name, OpenMode mode) {
  const std::lock_guard guard(state_->mutex);
  const std::string label = labelOf(name);
  auto found = find(name);
  const bool mayCreate = mode == OpenMode::CreateNew || mode == OpenMode::OpenOrCreate;
  const bool creates = mayCreate && !found && found.error() == ENOENT && !name.empty();
  const std::string text = (creates ? "create " : "open ") + label;
  if (const auto verdict = state_->enter(text, creates); verdict.error != 0) return std::unexpected(verdict.error);
  if (creates) {
    found = state_->disk.nextInode();
    changeName(OperationKind::Create, *found, {}, name, text);
  } else if (!found) {
    return std::unexpected(found.error());
  } else if (mode == OpenMode::CreateNew) {
    return std::unexpected(EEXIST);
  }
  if (state_->disk.node(*found).isDirectory) return std::unexpected(EISDIR);
  return std::make_unique<SimFile>(state_, *found, label, mode != OpenMode::Read);
}

SysResult<std::unique_ptr<Directory>> SimDirectory::openDirectory(std::string_view name, bool create) {
  const std::lock_guard guard(state_->mutex);
  const std::string label = labelOf(name);
  auto found = find(name);
  const bool creates = create && !found && found.error() == ENOENT && !name.empty();
  const std::string text = (creates ? "mkdir " : "opendir ") + label;
  if (const auto verdict = state_->enter(text, creates); verdict.error != 0) return std::unexpected(verdict.error);
  if (creates) {
    found = state_->disk.nextInode();
    changeName(OperationKind::MakeDirectory, *found, {}, name, text);
  } else if (!found) {
    return std::unexpected(found.error());
  }
  if (!state_->disk.node(*found).isDirectory) return std::unexpected(ENOTDIR);
  return std::make_unique<SimDirectory>(state_, *found, fmt::format("{}/{}", path_, name), label);
}

SysResult<FileInfo> SimDirectory::info(std::string_view name) {
  const std::lock_guard guard(state_->mutex);
  if (const auto verdict = state_->enter("info " + labelOf(name), false); verdict.error != 0) {
    return std::unexpected(verdict.error);
  }
  const auto found = find(name);
  if (!found) return std::unexpected(found.error());
  return state_->infoOf(*found);
}

SysResult<std::vector<std::string>> SimDirectory::list() {
  const std::lock_guard guard(state_->mutex);
  if (const auto verdict = state_->enter("list " + labelOf(label_.empty() ? "." : ""), false); verdict.error != 0) {
    return std::unexpected(verdict.error);
  }
  std::vector<std::string> names;
  for (const auto& [name, child] : state_->disk.node(inode_).names) names.push_back(name);
  return names;
}

SysResult<void> SimDirectory::rename(std::string_view from, std::string_view to) {
  const std::lock_guard guard(state_->mutex);
  const std::string text = fmt::format("rename {} {}", labelOf(from), labelOf(to));
  if (const auto verdict = state_->enter(text, true); verdict.error != 0) return std::unexpected(verdict.error);
  const auto source = find(from);
  if (!source) return std::unexpected(source.error());
  const auto target = find(to);
  if (!target && target.error() != ENOENT) return std::unexpected(target.error());
  if (target && *target == *source) return {};
  if (target) {
    const Node& moved = state_->disk.node(*source);
    const Node& replaced = state_->disk.node(*target);
    if (replaced.isDirectory && !moved.isDirectory) return std::unexpected(EISDIR);
    if (!replaced.isDirectory && moved.isDirectory) return std::unexpected(ENOTDIR);
    if (!replaced.names.empty()) return std::unexpected(ENOTEMPTY);
    freeIfLast(*target);
  }
  changeName(OperationKind::Rename, *source, from, to, text);
  return {};
}

SysResult<void> SimDirectory::link(std::string_view from, std::string_view to) {
  const std::lock_guard guard(state_->mutex);
  const std::string text = fmt::format("link {} {}", labelOf(from), labelOf(to));
  if (const auto verdict = state_->enter(text, true); verdict.error != 0) return std::unexpected(verdict.error);
  const auto source = find(from);
  if (!source) return std::unexpected(source.error());
  const auto target = find(to);
  if (target) return std::unexpected(EEXIST);
  if (target.error() != ENOENT) return std::unexpected(target.error());
  if (state_->disk.node(*source).isDirectory) return std::unexpected(EPERM);
  changeName(OperationKind::Link, *source, {}, to, text);
  return {};
}

SysResult<void> SimDirectory::linkTo(std::string_view from, Directory& folder, std::string_view to) {
  auto* other = dynamic_cast<SimDirectory*>(&folder);
  if (other == nullptr || other->state_ != state_) return std::unexpected(EXDEV);
  const std::lock_guard guard(state_->mutex);
  const std::string text = fmt::format("link {} {}", labelOf(from), other->labelOf(to));
  if (const auto verdict = state_->enter(text, true); verdict.error != 0) return std::unexpected(verdict.error);
  const auto source = find(from);
  if (!source) return std::unexpected(source.error());
  const auto target = other->find(to);
  if (target) return std::unexpected(EEXIST);
  if (target.error() != ENOENT) return std::unexpected(target.error());
  if (state_->disk.node(*source).isDirectory) return std::unexpected(EPERM);
  other->changeName(OperationKind::Link, *source, {}, to, text);
  return {};
}

SysResult<void> SimDirectory::remove(std::string_view name) {
  const std::lock_guard guard(state_->mutex);
  const std::string text = "remove " + labelOf(name);
  if (const auto verdict = state_->enter(text, true); verdict.error != 0) return std::unexpected(verdict.error);
  const auto found = find(name);
  if (!found) return std::unexpected(found.error());
  if (state_->disk.node(*found).isDirectory) return std::unexpected(EISDIR);
  freeIfLast(*found);
  changeName(OperationKind::Remove, *found, {}, name, text);
  return {};
}

SysResult<void> SimDirectory::sync() {
  const std::lock_guard guard(state_->mutex);
  std::string text = "syncdir " + (label_.empty() ? std::string(".") : label_);
  if (const auto verdict = state_->enter(text, true); verdict.error != 0) return std::unexpected(verdict.error);
  state_->traceLine(text);
  state_->commit({.kind = OperationKind::SyncDirectory, .folder = inode_, .text = std::move(text)});
  return {};
}

SysResult<void> SimDirectory::checkWritable() {
  const std::lock_guard guard(state_->mutex);
  if (const auto verdict = state_->enter("access " + (label_.empty() ? std::string(".") : label_), false);
      verdict.error != 0) {
    return std::unexpected(verdict.error);
  }
  return {};
}

SysResult<std::unique_ptr<Watcher>> SimDirectory::watch(const std::vector<std::string>& names) {
  const std::lock_guard guard(state_->mutex);
  (void)state_->enter("watch " + labelOf(names.empty() ? "" : names.front()), false);
  return std::unexpected(ENOTSUP);
}

std::string SimDirectory::path() const {
  return path_;
}

}  // namespace bough
