// The index file beside a log: records and a table of ids in 4 KiB blocks that each carry a checksum, so that any
// block can be loaded alone and trusted or not; then extensions, one for each time the log had grown enough.
//
//   block 0            header: magic, version, seed, summary, number of blocks, checksum
//   blocks 1…r         records, 127 a block
//   blocks r+1…r+t     open-addressing table of ids: 32-bit sequences, 1,023 a block
//   then any number of extensions: header (first sequence, count, summary, checksum) and its records
//
// It is written without sync: after a crash it may hold anything, and the checksums show it. A file that is replaced is
// written under another name and renamed; extensions are only ever added at the end, under the log's lock.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/system/file_system.h"
#include "log/index/offset_index.h"

namespace bough {

class IndexFile {
 public:
  /// Opens `name` in `folder`; none when it is missing, of another version, or damaged where it is looked at. When the
  /// system refused to read it, `refusal` gets its number.
  static std::unique_ptr<IndexFile> open(Directory& folder, std::string_view name, int* refusal = nullptr);

  /// Writes all of `index` as a new file and puts it in place. Best effort: an index that cannot be written is only
  /// slower. `unique` keeps two writers' temporary files apart.
  static bool write(Directory& folder, std::string_view name, OffsetIndex& index, std::uint64_t unique);

  /// Adds the records from known() on to the file in place. The caller holds the log's lock. False when the file is
  /// not what it was when it was opened; it is left alone then.
  bool extend(std::span<const IndexRecord> records, const IndexSummary& summary);

  [[nodiscard]] std::uint64_t seed() const { return seed_; }
  /// The number with which the system refused a read; 0 when it never did.
  [[nodiscard]] int refusal() const { return refusal_; }
  [[nodiscard]] Sequence count() const { return count_; }
  /// The summary with all extensions.
  [[nodiscard]] const IndexSummary& summary() const { return summary_; }
  /// How many entries the file holds, extensions included.
  [[nodiscard]] Sequence known() const { return known_; }
  /// Gives away the records of all extensions; their sequences begin at count().
  IndexRecords takeExtensions() { return std::move(extensions_); }

  /// The record at an sequence below count(); none when its block is damaged.
  std::optional<IndexRecord> record(Sequence sequence);

  /// Gives all records below count() to `use`, in order and in parts, and keeps none of their blocks. False when a
  /// block is damaged.
  bool forEachRecord(const std::function<void(std::span<const IndexRecord>)>& use);

  /// Looks a hash up among the records below count(). Fails when a block is damaged.
  std::expected<std::optional<Sequence>, int> find(std::uint64_t hash,
                                                   const std::function<bool(const IndexRecord&)>& confirm);

 private:
  static constexpr std::size_t kBlockBytes = 4096;
  struct Block {
    alignas(8) char bytes[kBlockBytes];
  };

  explicit IndexFile(std::unique_ptr<File> file);
  bool load();
  bool loadExtensions();
  const Block* block(std::uint32_t number);
  /// Whether the file has given all these bytes.
  bool readAll(std::uint64_t offset, std::span<char> out);

  std::unique_ptr<File> file_;
  int refusal_ = 0;
  std::uint64_t seed_ = 0;
  Sequence count_ = 0;
  std::uint32_t recordBlocks_ = 0;
  std::uint32_t tableBlocks_ = 0;
  std::uint64_t endBytes_ = 0;  // after the last extension
  IndexSummary summary_;
  Sequence known_ = 0;
  IndexRecords extensions_;
  std::vector<std::unique_ptr<Block>> blocks_;
};

}  // namespace bough
