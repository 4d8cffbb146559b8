// The simulator's open files and folders. Included only by the simulator's own sources.
#pragma once

#include "support/sim_state.h"

namespace bough {

class SimFile final : public File {
 public:
  SimFile(std::shared_ptr<SimFileSystem::State> state, std::uint64_t inode, std::string label, bool writable);
  SimFile(const SimFile&) = delete;
  SimFile& operator=(const SimFile&) = delete;
  ~SimFile() override;

  SysResult<FileInfo> info() override;
  SysResult<std::size_t> readAt(std::uint64_t offset, std::span<char> out) override;
  SysResult<std::size_t> writeAt(std::uint64_t offset, std::string_view bytes) override;
  void startSync(std::uint64_t offset, std::uint64_t sizeBytes) override;
  SysResult<void> sync() override;
  SysResult<void> truncate(std::uint64_t sizeBytes) override;
  SysResult<void> tryLock(LockKind kind) override;
  SysResult<void> unlock() override;
  SysResult<void> tryLockQueue() override;
  SysResult<void> unlockQueue() override;

 private:
  std::shared_ptr<SimFileSystem::State> state_;
  std::uint64_t inode_;
  std::string label_;  ///< Path below the root when the file was opened, for the trace.
  bool writable_;
};

class SimDirectory final : public Directory {
 public:
  SimDirectory(std::shared_ptr<SimFileSystem::State> state, std::uint64_t inode, std::string path, std::string label);

  SysResult<std::unique_ptr<File>> open(std::string_view name, OpenMode mode) override;
  SysResult<std::unique_ptr<Directory>> openDirectory(std::string_view name, bool create) override;
  SysResult<FileInfo> info(std::string_view name) override;
  SysResult<std::vector<std::string>> list() override;
  SysResult<void> rename(std::string_view from, std::string_view to) override;
  SysResult<void> link(std::string_view from, std::string_view to) override;
  SysResult<void> linkTo(std::string_view from, Directory& folder, std::string_view to) override;
  SysResult<void> remove(std::string_view name) override;
  SysResult<void> sync() override;
  SysResult<void> checkWritable() override;
  SysResult<std::unique_ptr<Watcher>> watch(const std::vector<std::string>& names) override;
  [[nodiscard]] std::string path() const override;

 private:
  [[nodiscard]] std::string labelOf(std::string_view name) const;
  /// Returns the node with this name; EINVAL for an invalid name, ENOENT when it does not exist.
  [[nodiscard]] SysResult<std::uint64_t> find(std::string_view name) const;
  void changeName(sim::OperationKind kind, std::uint64_t inode, std::string_view from, std::string_view name,
                  const std::string& text);
  /// Frees the space of a file whose last name is about to be removed.
  void freeIfLast(std::uint64_t inode);

  std::shared_ptr<SimFileSystem::State> state_;
  std::uint64_t inode_;
  std::string path_;
  std::string label_;  ///< Path below the root, for the trace; empty for the root.
};

}  // namespace bough
