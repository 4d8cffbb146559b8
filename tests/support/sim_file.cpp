#include "support/sim_handles.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace bough {
namespace {

using sim::Operation;
using sim::OperationKind;

Operation fileOperation(OperationKind kind, std::uint64_t inode, std::string text) {
  return {.kind = kind, .inode = inode, .text = std::move(text)};
}

}  // namespace

SimFile::SimFile(std::shared_ptr<SimFileSystem::State> state, std::uint64_t inode, std::string label, bool writable)
    : state_(std::move(state)), inode_(inode), label_(std::move(label)), writable_(writable) {}

SimFile::~SimFile() {
  const std::lock_guard guard(state_->mutex);
  state_->unlock(inode_, this, label_);
  std::erase_if(state_->turns, [this](const auto& item) { return item.second == this; });
}

SysResult<FileInfo> SimFile::info() {
  const std::lock_guard guard(state_->mutex);
  if (const auto verdict = state_->enter("info " + label_, false); verdict.error != 0) {
    return std::unexpected(verdict.error);
  }
  return state_->infoOf(inode_);
}

SysResult<std::size_t> SimFile::readAt(std::uint64_t offset, std::span<char> out) {
  std::function<void()> act;
  {
    const std::lock_guard guard(state_->mutex);
    if (state_->readsUntilAct > 0 && --state_->readsUntilAct == 0) act = std::exchange(state_->beforeRead, nullptr);
  }
  if (act) act();
  const std::lock_guard guard(state_->mutex);
  const auto verdict = state_->enter(fmt::format("read {} {}+{}", label_, offset, out.size()), false);
  if (verdict.error != 0) return std::unexpected(verdict.error);
  const std::string& bytes = state_->disk.node(inode_).bytes;
  if (offset >= bytes.size()) return 0;
  return bytes.copy(out.data(), std::min(std::uint64_t{out.size()}, verdict.shortBytes.value_or(out.size())), offset);
}

SysResult<std::size_t> SimFile::writeAt(std::uint64_t offset, std::string_view bytes) {
  const std::lock_guard guard(state_->mutex);
  std::string text = fmt::format("write {} {}+{}", label_, offset, bytes.size());
  const auto verdict = state_->enter(text, true);
  if (verdict.error != 0) return std::unexpected(verdict.error);
  if (!writable_) return std::unexpected(EBADF);
  if (bytes.empty()) return 0;
  const std::uint64_t size = state_->disk.node(inode_).bytes.size();
  std::uint64_t count = std::min(std::uint64_t{bytes.size()}, verdict.shortBytes.value_or(bytes.size()));
  if (state_->freeBytes && offset + count > size) {
    // A hole takes no space, but bytes written after the end do.
    const std::uint64_t inside = offset < size ? size - offset : 0;
    const std::uint64_t grown = std::min(count - inside, *state_->freeBytes);
    count = inside + grown;
    *state_->freeBytes -= grown;
    if (count == 0) {
      state_->traceLine(text, ENOSPC);
      return std::unexpected(ENOSPC);
    }
  }
  state_->traceLine(count < bytes.size() ? fmt::format("{} -> {}", text, count) : text);
  Operation operation = fileOperation(OperationKind::Write, inode_, std::move(text));
  operation.offset = offset;
  operation.bytes = bytes.substr(0, count);
  state_->commit(std::move(operation));
  return count;
}

// Starting a sync guarantees nothing: the bytes may or may not be on the disk, like all unsynced bytes.
void SimFile::startSync(std::uint64_t offset, std::uint64_t sizeBytes) {
  const std::lock_guard guard(state_->mutex);
  const std::string text = fmt::format("start {} {}+{}", label_, offset, sizeBytes);
  if (state_->enter(text, true).error == 0) state_->traceLine(text);
}

SysResult<void> SimFile::sync() {
  std::function<void()> act;
  {
    const std::lock_guard guard(state_->mutex);
    act = std::exchange(state_->beforeSync, nullptr);
  }
  if (act) act();
  const std::lock_guard guard(state_->mutex);
  std::string text = "sync " + label_;
  int error = state_->enter(text, true).error;
  if (error == 0 && state_->syncsUntilFailure > 0 && --state_->syncsUntilFailure == 0) {
    error = EIO;
    state_->traceLine(text, error);
  }
  if (error == EINTR) return std::unexpected(error);
  if (error != 0) {
    state_->commit(fileOperation(OperationKind::LosePages, inode_, text + " (failed)"));
    return std::unexpected(error);
  }
  state_->traceLine(text);
  state_->commit(fileOperation(OperationKind::Sync, inode_, std::move(text)));
  return {};
}

SysResult<void> SimFile::truncate(std::uint64_t sizeBytes) {
  const std::lock_guard guard(state_->mutex);
  std::string text = fmt::format("truncate {} {}", label_, sizeBytes);
  if (const auto verdict = state_->enter(text, true); verdict.error != 0) return std::unexpected(verdict.error);
  if (!writable_) return std::unexpected(EINVAL);
  const std::uint64_t size = state_->disk.node(inode_).bytes.size();
  if (state_->freeBytes && sizeBytes < size) *state_->freeBytes += size - sizeBytes;
  state_->traceLine(text);
  Operation operation = fileOperation(OperationKind::Truncate, inode_, std::move(text));
  operation.offset = sizeBytes;
  state_->commit(std::move(operation));
  return {};
}

SysResult<void> SimFile::tryLock(LockKind kind) {
  const std::lock_guard guard(state_->mutex);
  const std::string text = fmt::format("lock {} {}", label_, kind == LockKind::Shared ? "shared" : "exclusive");
  if (const auto verdict = state_->enter(text, true); verdict.error != 0) return std::unexpected(verdict.error);
  auto& holders = state_->locks[inode_];
  const auto own = holders.find(this);
  if (own != holders.end() && own->second == kind) return {};
  const bool conflict = std::ranges::any_of(holders, [&](const auto& item) {
    return item.first != this && (kind == LockKind::Exclusive || item.second == LockKind::Exclusive);
  });
  if (conflict) {
    // Like flock: a conversion releases the old lock before it requests the new one.
    state_->unlock(inode_, this, label_);
    return std::unexpected(EWOULDBLOCK);
  }
  holders[this] = kind;
  state_->traceLine(text);
  return {};
}

SysResult<void> SimFile::unlock() {
  const std::lock_guard guard(state_->mutex);
  if (const auto verdict = state_->enter("unlock " + label_, true); verdict.error != 0) {
    return std::unexpected(verdict.error);
  }
  state_->unlock(inode_, this, label_);
  return {};
}

SysResult<void> SimFile::tryLockQueue() {
  const std::lock_guard guard(state_->mutex);
  if (const auto verdict = state_->enter("turn " + label_, true); verdict.error != 0) {
    return std::unexpected(verdict.error);
  }
  const auto [holder, taken] = state_->turns.emplace(inode_, this);
  if (!taken && holder->second != this) return std::unexpected(EWOULDBLOCK);
  return {};
}

SysResult<void> SimFile::unlockQueue() {
  const std::lock_guard guard(state_->mutex);
  if (const auto verdict = state_->enter("leave turn " + label_, true); verdict.error != 0) {
    return std::unexpected(verdict.error);
  }
  const auto held = state_->turns.find(inode_);
  if (held != state_->turns.end() && held->second == this) state_->turns.erase(held);
  return {};
}

}  // namespace bough
