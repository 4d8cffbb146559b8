// Shared by the tests of the log room: bytes as a source, sealed lines, and a sink that records what it receives.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bough/entry.h"
#include "log/format/line.h"
#include "log/source/byte_source.h"
#include "log/source/scan.h"

namespace bough {

/// A source that reads from a string and returns at most `pieceBytes` at a time.
class StringSource final : public ByteSource {
 public:
  explicit StringSource(std::string bytes, std::size_t pieceBytes = SIZE_MAX)
      : bytes_(std::move(bytes)), pieceBytes_(pieceBytes) {}

  SysResult<std::uint64_t> size() override { return bytes_.size(); }
  SysResult<std::size_t> readAt(std::uint64_t offset, std::span<char> out) override {
    if (offset >= bytes_.size()) return 0;
    const std::size_t count = std::min({out.size(), bytes_.size() - static_cast<std::size_t>(offset), pieceBytes_});
    std::memcpy(out.data(), bytes_.data() + offset, count);
    return count;
  }

 private:
  std::string bytes_;
  std::size_t pieceBytes_;
};

/// Returns an entry's text without a seal.
inline std::string entryText(const std::string& id, const std::string& parentId = {}, const std::string& text = "hi") {
  Entry entry;
  entry.id = id;
  entry.parentId = parentId;
  entry.type = entry_type::kMessage;
  entry.timestamp = "2026-11-14T23:47:00.862Z";
  entry.payload = R"({"text":")" + text + R"("})";
  std::string out;
  if (!jsonEntrySerializer().encode(entry, out)) return {};
  return out;
}

/// Builds logs like a writer.
class LogBuilder {
 public:
  /// Adds one batch of entries with these ids.
  LogBuilder& batch(const std::vector<std::string>& ids) {
    const auto count = static_cast<std::uint32_t>(ids.size());
    for (std::uint32_t i = 0; i < count; ++i) {
      std::string line;
      seal_ = appendSealedLine(line, entryText(ids[i]), seal_, i + 1, count);
      lines.push_back(line);
    }
    return *this;
  }
  [[nodiscard]] std::string bytes() const {
    std::string all;
    for (const std::string& line : lines) all += line;
    return all;
  }
  /// Returns the offset of a line.
  [[nodiscard]] std::uint64_t offset(std::size_t line) const {
    std::uint64_t at = 0;
    for (std::size_t i = 0; i < line; ++i) at += lines[i].size();
    return at;
  }

  std::vector<std::string> lines;  ///< Each with its line end.

 private:
  SealDigits seal_;
};

struct SeenProblem {
  ProblemKind kind;
  std::uint64_t offset;
  std::uint64_t bytes;
  std::string message;
};

class RememberingSink final : public ScanSink {
 public:
  void onLine(const ScannedLine& line) override {
    ids.emplace_back(line.keys.id);
    offsets.push_back(line.offset);
  }
  void onProblem(ProblemKind kind, std::uint64_t offset, std::uint64_t bytes, std::string_view message) override {
    seen.push_back({.kind = kind, .offset = offset, .bytes = bytes, .message = std::string(message)});
  }
  [[nodiscard]] std::vector<SeenProblem> problems() const { return select(false); }
  [[nodiscard]] std::vector<SeenProblem> notes() const { return select(true); }

  std::vector<std::string> ids;
  std::vector<std::uint64_t> offsets;
  std::vector<SeenProblem> seen;

 private:
  [[nodiscard]] std::vector<SeenProblem> select(bool notes) const {
    std::vector<SeenProblem> found;
    std::ranges::copy_if(seen, std::back_inserter(found),
                         [&](const SeenProblem& problem) { return isNote(problem.kind) == notes; });
    return found;
  }
};

/// The result of one complete scan.
struct Scanned {
  explicit Scanned(const std::string& bytes, std::size_t pieceBytes = SIZE_MAX) {
    StringSource source(bytes, pieceBytes);
    trailing = scanLog(source, jsonEntrySerializer(), state, sink).value();
  }
  ScanState state;
  RememberingSink sink;
  std::uint64_t trailing = 0;
};

using Ids = std::vector<std::string>;

}  // namespace bough
