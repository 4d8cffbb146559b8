// The contents of a simulated disk, in two versions: as running programs see them, and as they would be after a power
// loss.
//
// A file's bytes become unsynced by page (512 bytes, the unit that a disk writes) until File::sync. A folder's names
// become unsynced change by change, in order, until Directory::sync. Every change is an Operation, so that the state
// after any operation can be rebuilt by replaying a log. Nodes are never freed: when a removal is lost, the file is
// back.
//
// 1. Bytes that were synced, and not cut off since, survive every crash. A disk writes a page completely or not at all,
//    so rewriting a page to append to it does not endanger its earlier bytes.
// 2. Unsynced bytes may be new, old or zero, independently for each page. Of several writes to one page, only the last
//    is found; the others are found at earlier crash points.
// 3. The size is one that the file had since its last sync. While the file grew, the size may have stopped at any page.
// 4. A folder contains a prefix of its unsynced changes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace bough::sim {

inline constexpr std::uint64_t kPageBytes = 512;
inline constexpr std::uint64_t kRootInode = 1;

enum class OperationKind : std::uint8_t {
  Create,
  MakeDirectory,
  Write,
  Truncate,
  Sync,
  LosePages,  ///< A failed sync: the pages count as clean and are not written until they change again.
  Rename,
  Link,
  Remove,
  SyncDirectory,
};

/// One change to the disk.
struct Operation {
  OperationKind kind = OperationKind::Write;
  std::uint64_t inode = 0;   ///< The file, or the target of the name.
  std::uint64_t folder = 0;  ///< For names: the folder that contains them.
  std::string name{};        ///< The name that is created or removed; for Rename and Link, the new name.
  std::string from{};        ///< For Rename: the old name.
  std::uint64_t offset = 0;  ///< For Write: the position; for Truncate: the new size.
  std::string bytes{};
  std::string text{};  ///< The line in the trace.
};

/// The state of an unsynced page after a crash.
enum class PageFate : std::uint8_t { Dropped, Zeroed, Kept };

struct NameChange {
  std::string removed;      ///< Empty when no name is removed.
  std::string made;         ///< Empty when no name is created.
  std::uint64_t inode = 0;  ///< The target of `made`.
};

struct Node {
  bool isDirectory = false;
  std::uint64_t modified = 0;

  std::string bytes;                 ///< As programs see them.
  std::string synced;                ///< The bytes that are certainly on the disk.
  std::set<std::uint64_t> unsynced;  ///< Pages written since the last sync.
  std::vector<std::uint64_t> sizes;  ///< Sizes since the last sync, the synced one first; empty if unchanged.

  std::map<std::string, std::uint64_t, std::less<>> names;
  std::map<std::string, std::uint64_t, std::less<>> syncedNames;
  std::vector<NameChange> unsyncedNames;

  /// Also true for a page that a failed sync gave up, which is in neither list but still differs.
  [[nodiscard]] bool isUnsynced() const { return !unsynced.empty() || !sizes.empty() || bytes != synced; }
  /// Returns how many sizes are possible after a crash.
  [[nodiscard]] std::size_t sizeChoices() const { return sizes.empty() ? 1 : sizes.size(); }
  /// Returns the pages whose state a crash decides: unsynced, and below the chosen size.
  [[nodiscard]] std::vector<std::uint64_t> pagesAtRisk(std::size_t sizeChoice) const;
  /// Returns the bytes on the disk for the size `sizes[sizeChoice]` when the pages of pagesAtRisk have these fates.
  [[nodiscard]] std::string bytesAfterCrash(std::size_t sizeChoice, const std::vector<PageFate>& fates) const;
  /// Returns the names on the disk when the first `changes` unsynced changes reached it.
  [[nodiscard]] std::map<std::string, std::uint64_t, std::less<>> namesAfterCrash(std::size_t changes) const;
};

class Disk {
 public:
  Disk();

  /// Makes a change. For a write, only the first `limitBytes` bytes, when given.
  void apply(const Operation& operation, std::optional<std::uint64_t> limitBytes = {});

  [[nodiscard]] const Node& node(std::uint64_t inode) const { return nodes_.at(inode); }
  [[nodiscard]] const std::map<std::uint64_t, Node>& nodes() const { return nodes_; }
  [[nodiscard]] std::uint64_t nextInode() const { return nodes_.rbegin()->first + 1; }
  /// Returns how many names a file has.
  [[nodiscard]] std::size_t linkCount(std::uint64_t inode) const;
  /// Returns the node at a path; std::nullopt when there is none.
  [[nodiscard]] std::optional<std::uint64_t> find(std::string_view path) const;

  /// Sets the state that a crash left of a node.
  void settleFile(std::uint64_t inode, std::string bytes);
  void settleFolder(std::uint64_t inode, std::map<std::string, std::uint64_t, std::less<>> names);

  /// Returns every path with its content, so that disks can be compared.
  [[nodiscard]] std::string fingerprint() const;

 private:
  static void write(Node& file, std::uint64_t offset, std::string_view bytes);
  static void resize(Node& file, std::uint64_t sizeBytes);
  static void sync(Node& file);
  void changeNames(const Operation& operation);

  std::map<std::uint64_t, Node> nodes_;
  std::uint64_t changes_ = 0;
};

/// Returns the parts of a path between its slashes.
std::vector<std::string> splitPath(std::string_view path);

}  // namespace bough::sim
