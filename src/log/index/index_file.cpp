#include "log/index/index_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/bytes/crc32c.h"
#include "base/bytes/crc32c_step.h"
#include "base/system/file_io.h"

namespace bough {
namespace {

constexpr std::size_t kBlockBytes = 4096;  // as in IndexFile
constexpr std::size_t kRecordsPerBlock = 127;
constexpr std::size_t kSlotsPerBlock = 1023;
constexpr std::uint32_t kVersion = 3;
constexpr char kMagic[8] = {'b', 'o', 'u', 'g', 'h', 'i', 'd', 'x'};

struct Header {
  char magic[8];
  std::uint32_t version;
  std::uint32_t recordBlocks;
  std::uint32_t tableBlocks;
  std::uint32_t count;
  std::uint64_t seed;
  IndexSummary summary;
  std::uint32_t crc;  // of all fields before it
  std::uint32_t reserved;
};
static_assert(std::is_trivially_copyable_v<Header> && sizeof(Header) <= kBlockBytes);

struct ExtensionHeader {
  std::uint32_t first;
  std::uint32_t count;
  IndexSummary summary;
  std::uint32_t crc;  // of all fields before it and of the records after it
  std::uint32_t reserved;
};
static_assert(std::is_trivially_copyable_v<ExtensionHeader> && sizeof(ExtensionHeader) == 64);

template <typename T>
std::string_view bytesOf(const T& value, std::size_t size = sizeof(T)) {
  return {reinterpret_cast<const char*>(&value), size};
}

std::uint32_t headerSum(const Header& header) {
  Crc32c crc;
  crc.add(bytesOf(header, offsetof(Header, crc)));
  return crc.value();
}

std::uint32_t extensionSum(const ExtensionHeader& header, std::string_view records) {
  Crc32c crc;
  crc.add(bytesOf(header, offsetof(ExtensionHeader, crc)));
  crc.add(records);
  return crc.value();
}

// The checksum of a block covers its number, so that exchanged blocks are detected.
std::uint32_t blockSum(std::uint32_t number, std::string_view body) {
  Crc32c crc;
  crc.add(bytesOf(number));
  crc.add(body);
  return crc.value();
}

std::uint32_t blocksFor(std::size_t items, std::size_t perBlock) {
  return static_cast<std::uint32_t>((items + perBlock - 1) / perBlock);
}

std::size_t slotOf(std::uint64_t hash, std::size_t slots) {
  return static_cast<std::size_t>(static_cast<Uint128>(hash) * slots >> 64);
}

bool isPlausible(const IndexSummary& summary) {
  const auto known = [&](Sequence sequence) { return sequence < summary.count || sequence == kNoSequence; };
  return known(summary.lastControl) && known(summary.headEntry) && (known(summary.head) || summary.head == kElsewhere);
}

}  // namespace

IndexFile::IndexFile(std::unique_ptr<File> file) : file_(std::move(file)) {}

std::unique_ptr<IndexFile> IndexFile::open(Directory& folder, std::string_view name, int* refusal) {
  auto file = folder.open(name, OpenMode::ReadWrite);
  if (!file) file = folder.open(name, OpenMode::Read);
  if (!file) {
    if (refusal != nullptr && !isNoFile(file.error())) *refusal = file.error();
    return nullptr;
  }
  std::unique_ptr<IndexFile> index(new IndexFile(std::move(*file)));
  if (index->load()) return index;
  if (refusal != nullptr) *refusal = index->refusal_;
  return nullptr;
}

bool IndexFile::readAll(std::uint64_t offset, std::span<char> out) {
  const auto got = readFully(*file_, offset, out);
  if (!got) refusal_ = got.error();
  return got && *got == out.size();
}

bool IndexFile::load() {
  Header header{};
  const auto info = file_->info();
  if (!info) refusal_ = info.error();
  if (!info || !readAll(0, {reinterpret_cast<char*>(&header), sizeof header})) return false;
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0 || header.version != kVersion) return false;
  if (header.crc != headerSum(header) || header.count != header.summary.count) return false;
  if (!isPlausible(header.summary)) return false;
  seed_ = header.seed;
  count_ = header.count;
  recordBlocks_ = header.recordBlocks;
  tableBlocks_ = header.tableBlocks;
  summary_ = header.summary;
  endBytes_ = (std::uint64_t{1} + recordBlocks_ + tableBlocks_) * kBlockBytes;
  if (recordBlocks_ != blocksFor(count_, kRecordsPerBlock) || (count_ > 0 && tableBlocks_ == 0)) return false;
  if (info->sizeBytes < endBytes_) return false;
  totalCount_ = count_;
  return info->sizeBytes == endBytes_ || loadExtensions();
}

// Stops at the first incomplete extension: it may be half written.
bool IndexFile::loadExtensions() {
  for (;;) {
    ExtensionHeader header{};
    if (!readAll(endBytes_, {reinterpret_cast<char*>(&header), sizeof header})) return refusal_ == 0;
    if (header.first != totalCount_ || header.count == 0 || header.summary.count != totalCount_ + header.count)
      return true;
    std::vector<IndexRecord> records;
    const auto info = file_->info();
    const std::uint64_t size = std::uint64_t{header.count} * sizeof(IndexRecord);
    if (!info) refusal_ = info.error();
    if (!info || info->sizeBytes < endBytes_ + sizeof header + size) return info.has_value();
    records.resize(header.count);
    const std::span<char> room(reinterpret_cast<char*>(records.data()), size);
    if (!readAll(endBytes_ + sizeof header, room)) return refusal_ == 0;
    if (header.crc != extensionSum(header, {room.data(), room.size()})) return true;
    if (!isPlausible(header.summary)) return false;
    for (Sequence i = 0; i < header.count; ++i) {
      if (!isPlausible(records[i], totalCount_ + i, header.summary)) return false;
    }
    extensions_.insert(extensions_.end(), records.begin(), records.end());
    totalCount_ += header.count;
    summary_ = header.summary;
    endBytes_ += sizeof header + size;
  }
}

namespace {

constexpr std::size_t kBodyBytes = kBlockBytes - sizeof(std::uint32_t);

bool blockMatchesChecksum(const char* block, std::uint32_t sum) {
  return std::memcmp(block + kBodyBytes, &sum, sizeof sum) == 0;
}

#ifdef BOUGH_CRC_TARGET
// Checks four consecutive blocks at once. Within one checksum each step has to wait for the one before, which leaves
// the processor partly idle.
BOUGH_CRC_TARGET bool fourHoldTheirSums(std::uint32_t number, const char* blocks) {
  std::array<std::uint32_t, 4> states{};
  for (std::uint32_t i = 0; i < 4; ++i) {
    const std::uint32_t own = number + i;
    Crc32c sum;
    sum.add(bytesOf(own));
    states[i] = sum.state();
  }
  constexpr std::size_t kWhole = kBodyBytes / 8 * 8;
  auto [one, two, three, four] = states;
  for (const char* p = blocks; p != blocks + kWhole; p += 8) {
    one = crc32cStep8(one, p);
    two = crc32cStep8(two, p + kBlockBytes);
    three = crc32cStep8(three, p + 2 * kBlockBytes);
    four = crc32cStep8(four, p + 3 * kBlockBytes);
  }
  states = {one, two, three, four};
  bool all = true;
  for (std::size_t i = 0; i < 4; ++i) {
    Crc32c sum;
    sum.setState(states[i]);
    sum.add({blocks + i * kBlockBytes + kWhole, kBodyBytes - kWhole});
    all = all && blockMatchesChecksum(blocks + i * kBlockBytes, sum.value());
  }
  return all;
}
#endif

// Returns true when all of these blocks match their checksums. `number` is the number of the first block.
bool blocksMatchChecksums(std::uint32_t number, const char* blocks, std::uint32_t count) {
  std::uint32_t done = 0;
#ifdef BOUGH_CRC_TARGET
  for (; hasCrc32cInstruction() && done + 4 <= count; done += 4) {
    if (!fourHoldTheirSums(number + done, blocks + done * kBlockBytes)) return false;
  }
#endif
  for (; done < count; ++done) {
    const char* block = blocks + done * kBlockBytes;
    if (!blockMatchesChecksum(block, blockSum(number + done, {block, kBodyBytes}))) return false;
  }
  return true;
}

}  // namespace

bool IndexFile::forEachRecord(const std::function<void(std::span<const IndexRecord>)>& use) {
  constexpr std::uint32_t kPartBlocks = 64;  // stays in the processor's cache
  const auto room = std::make_unique_for_overwrite<Block[]>(kPartBlocks);
  for (std::uint32_t first = 0; first < recordBlocks_; first += kPartBlocks) {
    const std::uint32_t blocks = std::min(kPartBlocks, recordBlocks_ - first);
    const std::span<char> bytes(room[0].bytes, blocks * kBlockBytes);
    if (!readAll((std::uint64_t{1} + first) * kBlockBytes, bytes) || !blocksMatchChecksums(first, bytes.data(), blocks))
      return false;
    for (std::uint32_t i = 0; i < blocks; ++i) {
      const std::size_t begin = std::size_t{first + i} * kRecordsPerBlock;
      use({reinterpret_cast<const IndexRecord*>(room[i].bytes),
           std::min<std::size_t>(count_ - begin, kRecordsPerBlock)});
    }
  }
  return true;
}

const IndexFile::Block* IndexFile::block(std::uint32_t number) {
  if (blocks_.empty()) blocks_.resize(std::size_t{recordBlocks_} + tableBlocks_);
  auto& slot = blocks_[number];
  if (slot) return slot.get();
  auto loaded = std::make_unique_for_overwrite<Block>();
  if (!readAll((std::uint64_t{1} + number) * kBlockBytes, loaded->bytes)) return nullptr;
  constexpr std::size_t kBody = kBlockBytes - sizeof(std::uint32_t);
  std::uint32_t sum = 0;
  std::memcpy(&sum, loaded->bytes + kBody, sizeof sum);
  if (sum != blockSum(number, {loaded->bytes, kBody})) return nullptr;
  slot = std::move(loaded);
  return slot.get();
}

std::optional<IndexRecord> IndexFile::record(Sequence sequence) {
  const Block* found = block(static_cast<std::uint32_t>(sequence / kRecordsPerBlock));
  if (found == nullptr) return std::nullopt;
  IndexRecord record;
  std::memcpy(&record, found->bytes + sequence % kRecordsPerBlock * sizeof record, sizeof record);
  return record;
}

std::expected<std::optional<Sequence>, int> IndexFile::find(std::uint64_t hash,
                                                            const std::function<bool(const IndexRecord&)>& confirm) {
  const std::size_t slots = std::size_t{tableBlocks_} * kSlotsPerBlock;
  if (slots == 0) return std::nullopt;
  std::size_t slot = slotOf(hash, slots);
  for (std::size_t probes = 0; probes < slots; ++probes, slot = slot + 1 == slots ? 0 : slot + 1) {
    const Block* found = block(recordBlocks_ + static_cast<std::uint32_t>(slot / kSlotsPerBlock));
    if (found == nullptr) return std::unexpected(EILSEQ);
    Sequence sequence = 0;
    std::memcpy(&sequence, found->bytes + slot % kSlotsPerBlock * sizeof sequence, sizeof sequence);
    if (sequence == kNoSequence) return std::nullopt;
    if (sequence >= count_) return std::unexpected(EILSEQ);
    const auto candidate = record(sequence);
    if (!candidate) return std::unexpected(EILSEQ);
    if (candidate->idHash == hash && confirm(*candidate)) return sequence;
  }
  return std::nullopt;
}

bool IndexFile::extend(std::span<const IndexRecord> records, const IndexSummary& summary) {
  const auto info = file_->info();
  if (!info || info->sizeBytes != endBytes_ || summary.count != totalCount_ + records.size()) return false;
  const std::string_view body(reinterpret_cast<const char*>(records.data()), records.size_bytes());
  ExtensionHeader header{.first = totalCount_,
                         .count = static_cast<std::uint32_t>(records.size()),
                         .summary = summary,
                         .crc = 0,
                         .reserved = 0};
  header.crc = extensionSum(header, body);
  std::string bytes(bytesOf(header));
  bytes.append(body);
  if (!writeFully(*file_, endBytes_, bytes)) return false;
  endBytes_ += bytes.size();
  totalCount_ = summary.count;
  summary_ = summary;
  return true;
}

namespace {

// Writes consecutive blocks with their checksums, in pieces that need little memory.
class BlockWriter {
 public:
  explicit BlockWriter(File& file) : file_(file) { piece_.reserve(kPieceBytes); }

  void add(std::string_view body) {
    const std::size_t begin = piece_.size();
    piece_.append(body);
    piece_.resize(begin + kBodyBytes, '\0');
    const std::uint32_t sum = blockSum(number_++, std::string_view(piece_).substr(begin));
    piece_.append(bytesOf(sum));
    if (piece_.size() == kPieceBytes) put();
  }
  bool end() {
    put();
    return succeeded_;
  }

 private:
  static constexpr std::size_t kPieceBytes = 32 * kBlockBytes;

  void put() {
    succeeded_ = succeeded_ && writeFully(file_, at_, piece_).has_value();
    at_ += piece_.size();
    piece_.clear();
  }

  File& file_;
  std::string piece_;
  std::uint32_t number_ = 0;
  std::uint64_t at_ = kBlockBytes;  // the header comes first
  bool succeeded_ = true;
};

bool writeIndex(File& file, OffsetIndex& index) {
  const Sequence count = index.summary().count;
  // The table is at most two thirds full, so that probes stay short.
  const std::uint32_t tableBlocks = blocksFor(std::size_t{count} * 3 / 2 + 1, kSlotsPerBlock);
  IdTable table(std::size_t{tableBlocks} * kSlotsPerBlock, kNoSequence);
  BlockWriter blocks(file);
  std::array<IndexRecord, kRecordsPerBlock> records;
  for (Sequence i = 0; i < count;) {
    const std::size_t filled = std::min<std::size_t>(records.size(), count - i);
    for (std::size_t k = 0; k < filled; ++k) {
      records[k] = index.record(i + static_cast<Sequence>(k));
      __builtin_prefetch(&table[slotOf(records[k].idHash, table.size())], 1);
    }
    for (std::size_t k = 0; k < filled; ++k, ++i) {
      std::size_t slot = slotOf(records[k].idHash, table.size());
      while (table[slot] != kNoSequence) slot = slot + 1 == table.size() ? 0 : slot + 1;
      table[slot] = i;
    }
    blocks.add(bytesOf(records, filled * sizeof(IndexRecord)));
  }
  if (index.damaged()) return false;
  for (std::size_t at = 0; at < table.size(); at += kSlotsPerBlock) {
    blocks.add(bytesOf(table[at], kSlotsPerBlock * sizeof(Sequence)));
  }
  if (!blocks.end()) return false;

  Header header{};
  std::ranges::copy(kMagic, header.magic);
  header.version = kVersion;
  header.recordBlocks = blocksFor(count, kRecordsPerBlock);
  header.tableBlocks = tableBlocks;
  header.count = count;
  header.seed = index.seed();
  header.summary = index.summary();
  header.crc = headerSum(header);
  return writeFully(file, 0, bytesOf(header)).has_value();
}

}  // namespace

bool IndexFile::write(Directory& folder, std::string_view name, OffsetIndex& index, std::uint64_t unique) {
  const std::string temporary = temporaryName(name, unique);
  auto file = folder.open(temporary, OpenMode::CreateNew);
  if (!file) return false;
  if (writeIndex(**file, index) && folder.rename(temporary, name)) return true;
  (void)folder.remove(temporary);
  return false;
}

}  // namespace bough
