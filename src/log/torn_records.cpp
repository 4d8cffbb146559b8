#include "log/torn_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/json/json_scan.h"
#include "base/system/file_io.h"
#include "base/try.h"
#include "log/format/line.h"
#include "log/source/scan.h"

namespace bough {
namespace {

constexpr std::string_view kBegin = R"({"torn":{"offset":)";

class TextSource final : public ByteSource {
 public:
  explicit TextSource(std::string_view text) : text_(text) {}
  SysResult<std::uint64_t> size() override { return text_.size(); }
  SysResult<std::size_t> readAt(std::uint64_t offset, std::span<char> out) override {
    const std::string_view rest = text_.substr(static_cast<std::size_t>(std::min<std::uint64_t>(offset, text_.size())));
    const std::size_t count = std::min(out.size(), rest.size());
    std::memcpy(out.data(), rest.data(), count);
    return count;
  }

 private:
  std::string_view text_;
};

// Collects the entries of intact lines.
class IntactLines final : public ScanSink {
 public:
  IntactLines(std::string_view text, const EntrySerializer& serializer, TornRecord& record)
      : text_(text), serializer_(serializer), record_(record) {}

  void onLine(const ScannedLine& line) override {
    auto entry = serializer_.decode(text_.substr(static_cast<std::size_t>(line.offset), line.length));
    if (!entry) {
      record_.unreadableBytes += line.length;
    } else {
      record_.entries.push_back(std::move(*entry));
    }
  }
  void onProblem(ProblemKind kind, std::uint64_t /*offset*/, std::uint64_t bytes,
                 std::string_view /*message*/) override {
    if (kind == ProblemKind::Damage) record_.unreadableBytes += bytes;
  }

 private:
  std::string_view text_;
  const EntrySerializer& serializer_;
  TornRecord& record_;
};

// Returns the seal of the line that ends at this offset of the log. Returns std::nullopt when no line ends there, for
// example after a rewrite.
SealDigits sealInLogBefore(ByteSource& log, std::uint64_t offset) {
  std::string end(static_cast<std::size_t>(std::min<std::uint64_t>(offset, kSealTailBytes)), '\0');
  const auto got = readFully(log, offset - end.size(), end);
  if (!got || *got != end.size()) return std::nullopt;
  return sealBefore(end);
}

bool isChainedTo(const SealDigits& previous, std::string_view line) {
  const auto seal = findSeal(line);
  return seal && sealDigits(previous, line.substr(0, seal->bodyLength), seal->placeText) == seal->digits;
}

// Reads the entries of a record. Its first line continues the log or, if an erasure has sealed it again, the record
// before it in the file, which ends with `sealInFile`. Returns the last seal of the record.
SealDigits readRecord(std::string_view text, ByteSource& log, const SealDigits& sealInFile,
                      const EntrySerializer& serializer, TornRecord& record) {
  TextSource source(text);
  IntactLines lines(text, serializer, record);
  ScanState state{.lastSeal = sealInLogBefore(log, record.offset), .countedBytes = UINT64_MAX};
  // A log that was rewritten may not have the seal any more. Then the first line must be an entry as a whole.
  state.sealLost = !state.lastSeal;
  if (isChainedTo(sealInFile, bareLine(text.substr(0, text.find('\n'))))) state.lastSeal = sealInFile;
  if (!scanLog(source, serializer, state, lines)) record.unreadableBytes = text.size();
  return state.lastSeal;
}

// Returns the end of the record that begins at `begin`: after the number of bytes that its first line states, or, when
// a crash interrupted the record, where the next record begins.
std::size_t endOf(std::string_view file, std::size_t begin, std::uint64_t bytes) {
  const std::size_t rest = file.size() - begin;
  if (bytes < rest && file[begin + static_cast<std::size_t>(bytes)] == '\n') {
    const std::size_t next = begin + static_cast<std::size_t>(bytes) + 1;
    if (next == file.size() || file.substr(next).starts_with(kBegin)) return next - 1;
  }
  return std::min(file.find(kBegin, begin), file.size());
}

}  // namespace

Result<TornReport> readTornFile(const LogFolders& folders, std::string_view sessionId,
                                const EntrySerializer& serializer) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{512} << 20;
  const std::string name = tornName(sessionId);
  TornReport report{.sessionId = std::string(sessionId), .file = folders.sessions->path() + "/" + name};
  auto opened = folders.sessions->open(name, OpenMode::Read);
  if (!opened && opened.error() == ENOENT) return report;
  if (!opened) return std::unexpected(systemError(opened.error(), "open", report.file));
  const auto source = plainSource(std::move(*opened));
  BOUGH_TRY(report.fileBytes, orError(source->size(), "look at", report.file));
  if (report.fileBytes > kMostBytes) {
    return fail(ErrorCode::Unsupported, fmt::format("{} is larger than 512 MiB", report.file),
                "look at the file itself; its lines are those of the log");
  }
  std::string file(static_cast<std::size_t>(report.fileBytes), '\0');
  BOUGH_TRY(const std::size_t got, orError(readFully(*source, 0, file), "read", report.file));
  file.resize(got);
  BOUGH_TRY(const auto log, openLog(folders, sessionId));
  SealDigits lastSeal;
  for (std::size_t at = 0; at < file.size();) {
    TornRecord& record = report.records.emplace_back();
    const std::string_view rest = std::string_view(file).substr(at);
    const std::string_view about =
        rest.starts_with(kBegin) ? json::findMember(rest.substr(0, rest.find('\n')), "torn").value_or("") : "";
    const auto bytes = json::findUnsigned(about, "bytes");
    std::size_t end = 0;
    if (!bytes) {
      // Not written by bough, or a record whose first line was damaged.
      end = std::min(file.find(kBegin, at + 1), file.size());
      record.bytes = end - at;
      lastSeal = readRecord(std::string_view(file).substr(at, end - at), *log.source, lastSeal, serializer, record);
    } else {
      const std::size_t begin = at + std::min(rest.find('\n'), rest.size() - 1) + 1;
      end = endOf(file, begin, *bytes);
      record.offset = json::findUnsigned(about, "offset").value_or(0);
      record.timestamp = json::findString(about, "timestamp").value_or("");
      record.bytes = end - begin;
      lastSeal =
          readRecord(std::string_view(file).substr(begin, end - begin), *log.source, lastSeal, serializer, record);
      if (end < file.size() && file[end] == '\n') ++end;
    }
    at = end;
  }
  std::erase_if(report.records, [](const TornRecord& record) { return record.bytes == 0; });
  return report;
}

}  // namespace bough
