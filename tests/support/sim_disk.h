// What a simulated disk holds, twice over: as running programs see it, and as it would be found after a power loss.
//
// A file's bytes are unsynced page by page (512 bytes, what a disk writes as one) until File::sync; a folder's names
// are unsynced change by change, in order, until Directory::sync. Every change is an Operation, so that the state after
// any of them can be built again by replaying a log. Nodes are never freed: a lost removal brings its file back.
//
// 1. Bytes that were synced and not cut off since survive every crash. A disk writes a page whole or not at all, so
//    rewriting a page to append to it does not endanger what stood in it.
// 2. Bytes that were not synced may be there, be as before, or read as zeros, each page for itself. Of several writes
// to
//    one page only the last is found; the others are found at earlier crash points.
// 3. The size is one of those the file had since its last sync; while it grew, it may have stopped at any page.
// 4. A folder holds a prefix of its unsynced changes.
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
  LosePages,  ///< A sync that failed: the pages count as clean and are never written unless they change again.
  Rename,
  Link,
  Remove,
  SyncDirectory,
};

/// One change of the disk.
struct Operation {
  OperationKind kind = OperationKind::Write;
  std::uint64_t inode = 0;   ///< The file, or what a name stands for.
  std::uint64_t folder = 0;  ///< With names: where they are.
  std::string name{};        ///< The name made or removed; with Rename and Link the new one.
  std::string from{};        ///< With Rename: the old name.
  std::uint64_t offset = 0;  ///< With Write: where; with Truncate: the new size.
  std::string bytes{};
  std::string text{};  ///< As the trace shows it.
};

/// What becomes of an unsynced page.
enum class PageFate : std::uint8_t { Dropped, Zeroed, Kept };

struct NameChange {
  std::string removed;      ///< Empty when none is.
  std::string made;         ///< Empty when none is.
  std::uint64_t inode = 0;  ///< What `made` stands for.
};

struct Node {
  bool isDirectory = false;
  std::uint64_t modified = 0;

  std::string bytes;                 ///< As programs see them.
  std::string synced;                ///< As the disk has them for certain.
  std::set<std::uint64_t> unsynced;  ///< Pages written since the last sync.
  std::vector<std::uint64_t> sizes;  ///< Those since the last sync, the synced one first; empty when it did not change.

  std::map<std::string, std::uint64_t, std::less<>> names;
  std::map<std::string, std::uint64_t, std::less<>> syncedNames;
  std::vector<NameChange> unsyncedNames;

  /// A page that a failed sync gave up is in none of the lists, but still differs.
  [[nodiscard]] bool isUnsynced() const { return !unsynced.empty() || !sizes.empty() || bytes != synced; }
  /// How many sizes the disk may hold.
  [[nodiscard]] std::size_t sizeChoices() const { return sizes.empty() ? 1 : sizes.size(); }
  /// Pages whose fate a crash decides: unsynced, and below the size of that choice.
  [[nodiscard]] std::vector<std::uint64_t> pagesAtRisk(std::size_t sizeChoice) const;
  /// The bytes on the disk when its size is `sizes[sizeChoice]` and the pages of pagesAtRisk meet `fates`.
  [[nodiscard]] std::string bytesAfterCrash(std::size_t sizeChoice, const std::vector<PageFate>& fates) const;
  /// The names on the disk when the first `changes` of the unsynced ones reached it.
  [[nodiscard]] std::map<std::string, std::uint64_t, std::less<>> namesAfterCrash(std::size_t changes) const;
};

class Disk {
 public:
  Disk();

  /// Makes a change; of a write only the first `limitBytes`, when given.
  void apply(const Operation& operation, std::optional<std::uint64_t> limitBytes = {});

  [[nodiscard]] const Node& node(std::uint64_t inode) const { return nodes_.at(inode); }
  [[nodiscard]] const std::map<std::uint64_t, Node>& nodes() const { return nodes_; }
  [[nodiscard]] std::uint64_t nextInode() const { return nodes_.rbegin()->first + 1; }
  /// How many names a file has.
  [[nodiscard]] std::size_t linkCount(std::uint64_t inode) const;
  /// The node at a path; none when there is none.
  [[nodiscard]] std::optional<std::uint64_t> find(std::string_view path) const;

  /// Puts in place what a crash left of a node.
  void settleFile(std::uint64_t inode, std::string bytes);
  void settleFolder(std::uint64_t inode, std::map<std::string, std::uint64_t, std::less<>> names);

  /// Every path with its content, so that two disks that look the same compare equal.
  [[nodiscard]] std::string fingerprint() const;

 private:
  static void write(Node& file, std::uint64_t offset, std::string_view bytes);
  static void resize(Node& file, std::uint64_t sizeBytes);
  static void sync(Node& file);
  void changeNames(const Operation& operation);

  std::map<std::uint64_t, Node> nodes_;
  std::uint64_t changes_ = 0;
};

/// The parts of a path between its slashes.
std::vector<std::string> splitPath(std::string_view path);

}  // namespace bough::sim
