// Shared by the fuzz targets: taking decisions from the input, scanning a log in memory, and building valid logs to
// damage.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "log/format/line.h"
#include "log/source/scan.h"
#include "support/text_source.h"

namespace bough::fuzz {

/// Reads the input from its beginning; returns zeros when it is used up.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : rest_(reinterpret_cast<const char*>(data), size) {}

  std::uint8_t byte() {
    if (rest_.empty()) return 0;
    const auto value = static_cast<std::uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return value;
  }
  std::uint32_t number() {
    std::uint32_t value = 0;
    for (int i = 0; i < 4; ++i) value = value << 8 | byte();
    return value;
  }
  /// Returns a number below `end`; 0 when `end` is 0.
  std::size_t below(std::size_t end) { return end == 0 ? 0 : number() % end; }
  std::string_view text(std::size_t size) {
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(taken.size());
    return taken;
  }
  std::string_view rest() { return text(rest_.size()); }
  [[nodiscard]] bool empty() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

/// The result of a scan.
struct Scan final : ScanSink {
  struct Line {
    std::uint64_t offset;
    std::uint64_t length;
    std::string id;
    std::string parentId;
    std::string type;
    bool chained;
    bool operator==(const Line&) const = default;
  };
  struct Region {
    ProblemKind kind;
    std::uint64_t offset;
    std::uint64_t bytes;
    bool operator==(const Region&) const = default;
  };

  void onLine(const ScannedLine& line) override {
    lines.push_back({.offset = line.offset,
                     .length = line.length,
                     .id = std::string(line.keys.id),
                     .parentId = std::string(line.keys.parentId.value_or("")),
                     .type = std::string(line.keys.type),
                     .chained = line.chained});
  }
  void onProblem(ProblemKind kind, std::uint64_t offset, std::uint64_t bytes, std::string_view /*message*/) override {
    if (!isNote(kind)) problems.push_back({.kind = kind, .offset = offset, .bytes = bytes});
  }
  /// Continues the scan over `bytes`; returns the number of bytes after the last complete batch.
  std::uint64_t run(std::string_view bytes) {
    TextSource source(bytes);
    return scanLog(source, jsonEntrySerializer(), state, *this).value();
  }

  std::vector<Line> lines;
  std::vector<Region> problems;
  ScanState state;
};

/// Builds a valid log line by line.
struct LogBuilder {
  struct Line {
    std::size_t offset;
    std::string text;  ///< Without the line end.
    std::uint32_t place;
    std::uint32_t count;
  };

  void add(std::string_view body, std::uint32_t place = 1, std::uint32_t count = 1) {
    const std::size_t begin = bytes.size();
    seal = appendSealedLine(bytes, body, seal, place, count);
    lines.push_back(
        {.offset = begin, .text = bytes.substr(begin, bytes.size() - begin - 1), .place = place, .count = count});
  }
  void addHeader(std::string_view sessionId) {
    add(R"({"id":"h","parentId":null,"type":"session_header","timestamp":"2026-11-14T23:47:00.862Z","payload":{"format":1,"sessionId":")" +
        std::string(sessionId) + R"("}})");
  }
  /// Returns the text of an entry with this type, id and parent (`null` when empty).
  static std::string entry(std::string_view id, std::string_view parentId, std::string_view type,
                           std::string_view payload) {
    std::string body = R"({"id":")" + std::string(id) + R"(","parentId":)";
    body += parentId.empty() ? "null" : "\"" + std::string(parentId) + "\"";
    return body + R"(,"type":")" + std::string(type) + R"(","timestamp":"2026-11-14T23:47:01.000Z","payload":)" +
           std::string(payload) + "}";
  }

  std::string bytes;
  std::vector<Line> lines;
  SealDigits seal;
};

}  // namespace bough::fuzz
