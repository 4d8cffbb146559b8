// The index file beside a log: records and a table of ids in 4 KiB blocks. Each block has a checksum, so any block can
// be loaded and verified alone. Extensions follow the blocks; one is added each time the log has grown enough.
//
//   block 0            header: magic, version, seed, summary, number of blocks, checksum
//   blocks 1…r         records, 127 per block
//   blocks r+1…r+t     open-addressing table of ids: 32-bit sequences, 1,023 per block
//   then any number of extensions: header (first sequence, count, summary, checksum) and its records
//
// The file is written without a sync: after a crash it may contain anything, and the checksums detect that. A new
// version is written under another name and renamed. Extensions are only appended, under the log's lock.
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
  /// Opens `name` in `folder`. Returns null when the file is missing, of another version, or damaged in a part that is
  /// read here. When the system refused to read the file, `refusal` receives the errno.
  static std::unique_ptr<IndexFile> open(Directory& folder, std::string_view name, int* refusal = nullptr);

  /// Writes all of `index` as a new file and puts it in place. Best effort: without an index file, opening is only
  /// slower. `unique` keeps the temporary files of two writers apart.
  static bool write(Directory& folder, std::string_view name, OffsetIndex& index, std::uint64_t unique);

  /// Appends the records starting at known() to the file. The caller holds the log's lock. Returns false, and writes
  /// nothing, when the file has changed since it was opened.
  bool extend(std::span<const IndexRecord> records, const IndexSummary& summary);

  [[nodiscard]] std::uint64_t seed() const { return seed_; }
  /// The errno with which the system refused a read; 0 when it never did.
  [[nodiscard]] int refusal() const { return refusal_; }
  [[nodiscard]] Sequence count() const { return count_; }
  /// The summary, all extensions included.
  [[nodiscard]] const IndexSummary& summary() const { return summary_; }
  /// The number of entries in the file, extensions included.
  [[nodiscard]] Sequence totalCount() const { return totalCount_; }
  /// Moves the records of all extensions out. Their sequences begin at count().
  IndexRecords takeExtensions() { return std::move(extensions_); }

  /// Returns the record at a sequence below count(); std::nullopt when its block is damaged.
  std::optional<IndexRecord> record(Sequence sequence);

  /// Passes all records below count() to `use`, in order and in parts. Does not keep their blocks in memory. Returns
  /// false when a block is damaged.
  bool forEachRecord(const std::function<void(std::span<const IndexRecord>)>& use);

  /// Looks up a hash among the records below count(). Fails when a block is damaged.
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
  /// Returns true when all these bytes could be read.
  bool readAll(std::uint64_t offset, std::span<char> out);

  std::unique_ptr<File> file_;
  int refusal_ = 0;
  std::uint64_t seed_ = 0;
  Sequence count_ = 0;
  std::uint32_t recordBlocks_ = 0;
  std::uint32_t tableBlocks_ = 0;
  std::uint64_t endBytes_ = 0;  // after the last extension
  IndexSummary summary_;
  Sequence totalCount_ = 0;
  IndexRecords extensions_;
  std::vector<std::unique_ptr<Block>> blocks_;
};

}  // namespace bough
