#include "support/sim_file_system.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "support/sim_handles.h"
#include "support/sim_state.h"

namespace bough {

using sim::Operation;
using sim::OperationKind;

SimFileSystem::State::Verdict SimFileSystem::State::enter(std::string text, bool traced) {
  calls.push_back(std::move(text));
  const std::uint64_t call = calls.size();
  Verdict verdict;
  if (goneFrom && call >= goneFrom->first) verdict.error = goneFrom->second;
  if (const auto planned = failures.find(call); planned != failures.end()) verdict.error = planned->second;
  if (const auto planned = shortCalls.find(call); planned != shortCalls.end()) verdict.shortBytes = planned->second;
  if (verdict.error != 0 && traced) traceLine(calls.back(), verdict.error);
  return verdict;
}

void SimFileSystem::State::commit(Operation operation) {
  disk.apply(operation);
  operations.push_back(std::move(operation));
}

void SimFileSystem::State::traceLine(std::string_view text, int error) {
  trace += text;
  if (error != 0) trace += fmt::format(" -> {}", strerrorname_np(error));
  trace += '\n';
}

// Modification times count changes, one millisecond each, so that a later change always has a later time.
FileInfo SimFileSystem::State::infoOf(std::uint64_t inode) const {
  constexpr std::uint64_t kDevice = 7;
  constexpr std::uint64_t kFirstChangeMs = 1'794'700'020'000;
  const sim::Node& node = disk.node(inode);
  const std::uint64_t changedNs = (kFirstChangeMs + node.modified) * 1'000'000;
  return {.sizeBytes = node.bytes.size(),
          .identity = {.device = kDevice, .inode = inode},
          .isDirectory = node.isDirectory,
          .isRegular = !node.isDirectory,
          .modifiedNs = changedNs,
          .changedNs = changedNs,
          .linkCount = disk.linkCount(inode)};
}

void SimFileSystem::State::unlock(std::uint64_t inode, const File* holder, const std::string& label) {
  const auto held = locks.find(inode);
  if (held == locks.end() || held->second.erase(holder) == 0) return;
  if (held->second.empty()) locks.erase(held);
  traceLine("unlock " + label);
}

SimFileSystem::SimFileSystem() : SimFileSystem(sim::Disk()) {}

SimFileSystem::SimFileSystem(const sim::Disk& disk) : state_(std::make_shared<State>()) {
  state_->disk = disk;
  state_->start = disk;
}

SimFileSystem::~SimFileSystem() = default;

SysResult<std::unique_ptr<Directory>> SimFileSystem::openRoot(const std::string& path, bool create) {
  const std::lock_guard guard(state_->mutex);
  if (const auto verdict = state_->enter("openroot " + path, false); verdict.error != 0) {
    return std::unexpected(verdict.error);
  }
  if (path.empty()) return std::unexpected(ENOENT);
  std::uint64_t at = sim::kRootInode;
  std::string made;
  for (const std::string& part : sim::splitPath(path)) {
    made += "/" + part;
    const sim::Node& folder = state_->disk.node(at);
    if (!folder.isDirectory) return std::unexpected(ENOTDIR);
    if (const auto item = folder.names.find(part); item != folder.names.end()) {
      at = item->second;
      continue;
    }
    if (!create) return std::unexpected(ENOENT);
    const std::uint64_t child = state_->disk.nextInode();
    const std::string text = "mkdir " + made;
    state_->traceLine(text);
    state_->commit({.kind = OperationKind::MakeDirectory, .inode = child, .folder = at, .name = part, .text = text});
    state_->commit({.kind = OperationKind::SyncDirectory, .folder = at, .text = text});
    at = child;
  }
  if (!state_->disk.node(at).isDirectory) return std::unexpected(ENOTDIR);
  return std::make_unique<SimDirectory>(state_, at, path, "");
}

std::uint64_t SimFileSystem::callCount() const {
  const std::lock_guard guard(state_->mutex);
  return state_->calls.size();
}

std::string SimFileSystem::callName(std::uint64_t call) const {
  const std::lock_guard guard(state_->mutex);
  return call >= 1 && call <= state_->calls.size() ? state_->calls[call - 1] : std::string();
}

std::uint64_t SimFileSystem::operationCount() const {
  const std::lock_guard guard(state_->mutex);
  return state_->operations.size();
}

std::string SimFileSystem::operationName(std::uint64_t operation) const {
  const std::lock_guard guard(state_->mutex);
  return operation >= 1 && operation <= state_->operations.size() ? state_->operations[operation - 1].text
                                                                  : std::string();
}

std::string SimFileSystem::trace() const {
  const std::lock_guard guard(state_->mutex);
  return state_->trace;
}

void SimFileSystem::clearTrace() {
  const std::lock_guard guard(state_->mutex);
  state_->trace.clear();
}

void SimFileSystem::failOperation(std::uint64_t call, int error, FaultReach reach) {
  const std::lock_guard guard(state_->mutex);
  if (reach == FaultReach::Forever) {
    state_->goneFrom = {call, error};
  } else {
    state_->failures[call] = error;
  }
}

void SimFileSystem::shortWrite(std::uint64_t call, std::uint64_t bytes) {
  const std::lock_guard guard(state_->mutex);
  state_->shortCalls[call] = bytes;
}

void SimFileSystem::shortRead(std::uint64_t call, std::uint64_t bytes) {
  shortWrite(call, bytes);
}

void SimFileSystem::failSync(std::uint64_t nth) {
  const std::lock_guard guard(state_->mutex);
  state_->syncsUntilFailure = nth;
}

void SimFileSystem::beforeSync(std::function<void()> act) {
  const std::lock_guard guard(state_->mutex);
  state_->beforeSync = std::move(act);
}

void SimFileSystem::beforeRead(std::uint64_t nth, std::function<void()> act) {
  const std::lock_guard guard(state_->mutex);
  state_->readsUntilAct = nth;
  state_->beforeRead = std::move(act);
}

void SimFileSystem::limitSpace(std::optional<std::uint64_t> freeBytes) {
  const std::lock_guard guard(state_->mutex);
  state_->freeBytes = freeBytes;
}

void SimFileSystem::clearFaults() {
  const std::lock_guard guard(state_->mutex);
  state_->failures.clear();
  state_->shortCalls.clear();
  state_->goneFrom.reset();
  state_->syncsUntilFailure = 0;
  state_->freeBytes.reset();
}

std::optional<std::string> SimFileSystem::contents(std::string_view path) const {
  const std::lock_guard guard(state_->mutex);
  const auto inode = state_->disk.find(path);
  if (!inode || state_->disk.node(*inode).isDirectory) return std::nullopt;
  return state_->disk.node(*inode).bytes;
}

std::vector<std::string> SimFileSystem::names(std::string_view folder) const {
  const std::lock_guard guard(state_->mutex);
  std::vector<std::string> result;
  if (const auto inode = state_->disk.find(folder)) {
    for (const auto& [name, child] : state_->disk.node(*inode).names) result.push_back(name);
  }
  return result;
}

void SimFileSystem::put(std::string_view path, std::string_view bytes) {
  const std::lock_guard guard(state_->mutex);
  std::uint64_t at = sim::kRootInode;
  const std::vector<std::string> parts = sim::splitPath(path);
  const std::string text = fmt::format("put {}", path);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto& names = state_->disk.node(at).names;
    const auto item = names.find(parts[i]);
    std::uint64_t child = item == names.end() ? state_->disk.nextInode() : item->second;
    if (item == names.end()) {
      const bool last = i + 1 == parts.size();
      state_->commit({.kind = last ? OperationKind::Create : OperationKind::MakeDirectory,
                      .inode = child,
                      .folder = at,
                      .name = parts[i],
                      .text = text});
      state_->commit({.kind = OperationKind::SyncDirectory, .folder = at, .text = text});
    }
    at = child;
  }
  const auto change = [&](OperationKind kind, std::string_view written) {
    state_->commit({.kind = kind, .inode = at, .bytes = std::string(written), .text = text});
  };
  change(OperationKind::Truncate, "");
  change(OperationKind::Write, bytes);
  change(OperationKind::Sync, "");
}

}  // namespace bough
