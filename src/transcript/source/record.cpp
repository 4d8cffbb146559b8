#include "transcript/source/record.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/json/json_scan.h"
#include "base/system/file_io.h"
#include "base/text/shell_word.h"
#include "base/text/utf8.h"
#include "base/try.h"
#include "message/json/json_tree.h"
#include "transcript/source/database.h"
#include "transcript/source/unpacked.h"

namespace bough::transcript {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{256} << 10;
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

class OpenFile : public ByteSource {
 public:
  OpenFile(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() override { ::close(descriptor_); }

  Result<std::size_t> read(std::span<char> out) override {
    while (true) {
      const ssize_t got = ::read(descriptor_, out.data(), out.size());
      if (got >= 0) return static_cast<std::size_t>(got);
      if (errno != EINTR) return std::unexpected(systemError(errno, "read", path_));
    }
  }
  [[nodiscard]] std::optional<std::uint64_t> sizeBytes() const override {
    struct stat info{};
    if (::fstat(descriptor_, &info) != 0) return std::nullopt;
    return static_cast<std::uint64_t>(info.st_size);
  }

 private:
  int descriptor_;
  std::string path_;
};

class Memory : public ByteSource {
 public:
  explicit Memory(std::string_view bytes) : left_(bytes) {}
  Result<std::size_t> read(std::span<char> out) override {
    // In pieces, so that a caller that needs only the first records copies only those.
    constexpr std::size_t kPieceBytes = std::size_t{16} << 10;
    const std::size_t count = std::min({out.size(), left_.size(), kPieceBytes});
    std::memcpy(out.data(), left_.data(), count);
    left_.remove_prefix(count);
    return count;
  }

 private:
  std::string_view left_;
};

bool isBlankOrNul(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\0';
}

constexpr std::string_view kNulsInside = "NUL bytes in a record";

// Repairs a record that contains NUL bytes: replaces each run of them by U+FFFD, which works inside a text, or else
// removes them. Returns std::nullopt when neither gives a whole object.
std::optional<std::string> withoutNuls(std::string_view text) {
  if (!text.contains('\0')) return std::nullopt;
  for (const std::string_view instead : {kReplacement, std::string_view()}) {
    std::string out;
    for (std::string_view rest = text; !rest.empty();) {
      const std::size_t run = std::min(rest.find('\0'), rest.size());
      out += rest.substr(0, run);
      rest.remove_prefix(run);
      if (rest.empty()) break;
      rest.remove_prefix(std::min(rest.find_first_not_of('\0'), rest.size()));
      if (!rest.empty()) out += instead;
    }
    const auto end = json::skipValue(out, 0);
    if (!end || !std::all_of(out.begin() + static_cast<std::ptrdiff_t>(*end), out.end(), isBlankOrNul)) continue;
    out.resize(*end);
    return out;
  }
  return std::nullopt;
}

}  // namespace

std::string repairUtf8(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t good = utf8PrefixBytes(text);
    out += text.substr(0, good);
    text.remove_prefix(good);
    if (text.empty()) break;
    out += kReplacement;
    text.remove_prefix(1);
  }
  return out;
}

Result<std::unique_ptr<ByteSource>> openFile(const std::string& path) {
  if (const auto place = placeInDatabase(path); place && ::access(path.c_str(), F_OK) != 0) {
    return openInDatabase(*place);
  }
  // O_NONBLOCK: a pipe without a writer must not block us.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return std::unexpected(systemError(errno, "open", path));
  auto file = std::make_unique<OpenFile>(descriptor, path);
  struct stat info{};
  if (::fstat(descriptor, &info) != 0) return std::unexpected(systemError(errno, "open", path));
  if (!S_ISREG(info.st_mode)) {
    return fail(ErrorCode::InvalidArgument, fmt::format("{} is not a regular file", path), "give a transcript's file");
  }
  if (isDatabaseName(path)) {
    BOUGH_TRY(const auto sessions, sessionsInDatabase(path, ""));
    const std::string example =
        sessions.empty() ? "" : fmt::format(": `bough show {}`", shellWord(sessions.front().path));
    return fail(ErrorCode::InvalidArgument, fmt::format("{} is a database of {} sessions", path, sessions.size()),
                "name one of them" + example + "; `bough import` takes them all");
  }
  return unpacked(std::move(file), path);
}

std::unique_ptr<ByteSource> fromMemory(std::string_view bytes) {
  return std::make_unique<Memory>(bytes);
}

LineRecords::LineRecords(ByteSource& source, IsRecord isRecord, std::uint64_t cutAt, std::string beginning)
    : source_(source), isRecord_(std::move(isRecord)), cutAt_(cutAt), buffer_(std::move(beginning)) {}

Result<std::optional<Record>> LineRecords::next() {
  while (records_.empty()) {
    BOUGH_TRY(auto more, readLine());
    if (!more && records_.empty()) return std::nullopt;
  }
  Record record = records_.front();
  records_.pop_front();
  if (record.reason == kNulsInside) {
    utf8_ = repairUtf8(withoutNuls(record.text).value_or(""));
    record.text = utf8_;
    record.repaired = true;
  } else if (record.kind == RecordKind::Json && !isUtf8(record.text)) {
    utf8_ = repairUtf8(record.text);
    record.text = utf8_;
    record.repaired = true;
    if (record.reason.empty()) record.reason = "bytes that are not UTF-8";
  }
  return record;
}

// Reads more bytes; returns false at the end of the file.
Result<bool> LineRecords::fill() {
  if (ended_) return false;
  if (begin_ > 0) {
    buffer_.erase(0, begin_);
    bufferOffset_ += begin_;
    searched_ -= begin_;
    begin_ = 0;
  }
  const std::size_t had = buffer_.size();
  Result<std::size_t> got = std::size_t{0};
  // The buffer may have more room than requested. The limit for a line must not depend on that.
  buffer_.resize_and_overwrite(had + kChunkBytes, [&](char* data, std::size_t) {
    got = source_.read(std::span(data + had, kChunkBytes));
    return had + got.value_or(0);
  });
  if (!got) return std::unexpected(got.error());
  ended_ = *got == 0;
  return !ended_;
}

// Finds the next line and divides it into records; returns false at the end of the file.
Result<bool> LineRecords::readLine() {
  begin_ = end_;
  searched_ = std::max(searched_, begin_);
  while (true) {
    const std::size_t lineEnd = buffer_.find('\n', searched_);
    std::size_t end = lineEnd == std::string::npos ? buffer_.size() : lineEnd + 1;
    const bool cut = cutAt_ > bufferOffset_ + begin_ && cutAt_ < bufferOffset_ + end;
    if (cut) end = cutAt_ - bufferOffset_;
    if (cut || (lineEnd != std::string::npos && lineEnd - begin_ <= kMaxTranscriptLineBytes)) {
      end_ = searched_ = end;
      break;
    }
    if (lineEnd == std::string::npos) searched_ = buffer_.size();
    if (buffer_.size() - begin_ > kMaxTranscriptLineBytes) {
      BOUGH_TRY(skipLongLine());
      return true;
    }
    BOUGH_TRY(auto more, fill());
    if (more) continue;
    end_ = buffer_.size();
    break;
  }
  if (begin_ == end_) return false;
  cutLine();
  return true;
}

Result<void> LineRecords::skipLongLine() {
  const std::uint64_t offset = bufferOffset_ + begin_;
  while (true) {
    const std::size_t lineEnd = buffer_.find('\n', searched_);
    if (lineEnd != std::string::npos) {
      end_ = lineEnd + 1;
      break;
    }
    begin_ = searched_ = end_ = buffer_.size();  // removed by the next fill
    BOUGH_TRY(auto more, fill());
    if (!more) {
      end_ = buffer_.size();
      break;
    }
  }
  searched_ = end_;
  Record record;
  record.kind = RecordKind::Skipped;
  record.offset = offset;
  record.sizeBytes = bufferOffset_ + end_ - offset;
  record.reason = "a line of more than 32 MiB";
  records_.push_back(record);
  return {};
}

void LineRecords::add(RecordKind kind, std::size_t begin, std::size_t end, std::string_view text,
                      std::string_view reason) {
  Record record;
  record.kind = kind;
  record.offset = bufferOffset_ + begin;
  record.sizeBytes = end - begin;
  record.raw = std::string_view(buffer_).substr(begin, end - begin);
  record.text = text;
  record.reason = reason;
  records_.push_back(record);
}

// Returns where the next whole object in the line begins; end_ when there is none. Each attempt costs a scan, so the
// total number of scanned bytes is limited.
std::size_t LineRecords::findWhole(std::size_t from) const {
  const std::string_view line = std::string_view(buffer_).substr(0, end_);
  std::uint64_t budget = std::uint64_t{8} * (end_ - begin_) + kChunkBytes;
  for (std::size_t at = line.find("{\"", from); at != std::string_view::npos; at = line.find("{\"", at + 1)) {
    const auto end = json::skipValue(line.substr(at), 0);
    const std::uint64_t cost = end ? *end : end.error().offset + 1;
    if (end) {
      std::size_t after = at + *end;
      while (after < line.size() && isBlankOrNul(line[after])) ++after;
      // A part of another object is followed by more of that object.
      const bool isInside = after < line.size() && std::string_view(",}]:").contains(line[after]);
      if (!isInside && isRecord_(line.substr(at, *end))) return at;
    }
    if (cost > budget) break;
    budget -= cost;
  }
  return end_;
}

void LineRecords::cutLine() {
  const std::string_view line = std::string_view(buffer_).substr(0, end_);
  const bool whole = end_ < buffer_.size() || line.back() == '\n' || !ended_;
  std::size_t recordBegin = begin_;
  std::size_t at = begin_;
  if (bufferOffset_ + begin_ == 0 && line.substr(at).starts_with(kByteOrderMark)) at += kByteOrderMark.size();
  std::string_view reason;
  while (true) {
    bool nul = false;
    while (at < end_ && isBlankOrNul(line[at])) nul |= line[at++] == '\0';
    if (nul) reason = "NUL bytes";
    if (at == end_) break;
    const auto end =
        line[at] == '{'
            ? json::skipValue(line.substr(at), 0)
            : std::expected<std::size_t, json::ScanError>(std::unexpected(json::ScanError{0, "not a JSON object"}));
    if (end) {
      if (recordBegin != begin_ && reason.empty()) reason = "several records on one line";
      add(RecordKind::Json, recordBegin, at + *end, line.substr(at, *end), reason);
      reason = {};
      at += *end;
      recordBegin = at;
      continue;
    }
    if (line[at] == '{' && withoutNuls(line.substr(at))) {
      add(RecordKind::Json, recordBegin, end_, line.substr(at), kNulsInside);
      return;
    }
    const std::size_t next = findWhole(at + 1);
    if (next == end_) {
      add(whole ? RecordKind::Damaged : RecordKind::Torn, recordBegin, end_, {}, end.error().reason);
      return;
    }
    add(RecordKind::Damaged, recordBegin, next, {}, "a record that broke off, with another one after it");
    at = recordBegin = next;
  }
  if (recordBegin == end_) return;
  // The line end belongs to the last record of the line.
  if (recordBegin != begin_ && !records_.empty()) {
    Record& last = records_.back();
    last.raw = std::string_view(buffer_).substr(static_cast<std::size_t>(last.offset - bufferOffset_),
                                                end_ - static_cast<std::size_t>(last.offset - bufferOffset_));
    last.sizeBytes = last.raw.size();
    if (last.reason.empty()) last.reason = reason;
  } else {
    add(reason.empty() ? RecordKind::Blank : RecordKind::Damaged, recordBegin, end_, {}, reason);
  }
}

namespace {

// Divides a document into records, from beginning to end.
class DocumentCut {
 public:
  explicit DocumentCut(std::string_view document) : document_(document) {}

  // Adds a record from the end of the previous record to `end`.
  void add(RecordKind kind, std::size_t end, std::string_view text, std::string_view reason) {
    Record record;
    record.kind = kind;
    record.offset = begin_;
    record.sizeBytes = end - begin_;
    record.raw = document_.substr(begin_, end - begin_);
    record.text = text;
    record.reason = reason;
    records_.push_back(record);
    begin_ = end;
  }

  // Adds the whole records after the point where the document is damaged. Each attempt costs a scan, so the total
  // number of scanned bytes is limited.
  void addFound(std::string_view listName, const IsRecord& isRecord, std::string_view reason) {
    constexpr std::string_view kBetween(" \t\r\n,\0", 6);
    std::uint64_t budget = std::uint64_t{8} * (document_.size() - begin_) + kChunkBytes;
    const std::size_t before = records_.size();
    for (std::size_t at = document_.find('{', begin_); at != std::string_view::npos; at = document_.find('{', at)) {
      const auto end = json::skipValue(document_.substr(at), 0);
      const std::uint64_t cost = end ? *end : end.error().offset + 1;
      const std::string_view object = end ? document_.substr(at, *end) : std::string_view();
      // Another document: its records are inside it.
      if (!end || !isRecord(object) || json::findMember(object, listName)) {
        ++at;
      } else {
        if (document_.substr(begin_, at - begin_).find_first_not_of(kBetween) != std::string_view::npos) {
          add(RecordKind::Damaged, at, {}, reason);
        }
        add(RecordKind::Json, at + *end, object, records_.size() == before ? "a record after damage" : "");
        at = begin_;
      }
      if (cost > budget) break;
      budget -= cost;
    }
    if (begin_ == document_.size()) {
      Record& last = records_.back();
      if (last.kind == RecordKind::Blank) last.kind = RecordKind::Torn;
      if (last.reason.empty()) last.reason = "the document breaks off after it";
      return;
    }
    constexpr std::string_view kClosing(" \t\r\n]}\0", 7);
    const bool isEnd =
        records_.size() > before && document_.substr(begin_).find_first_not_of(kClosing) == std::string_view::npos;
    add(isEnd ? RecordKind::Blank : RecordKind::Torn, document_.size(), {}, isEnd ? "" : reason);
  }

  [[nodiscard]] std::size_t begin() const { return begin_; }
  [[nodiscard]] std::vector<Record> take() { return std::move(records_); }

 private:
  std::string_view document_;
  std::size_t begin_ = 0;
  std::vector<Record> records_;
};

// Returns the index after the opening bracket of the list with this name, wherever it is in the text; npos when there
// is none.
std::size_t beginOfList(std::string_view document, std::string_view name) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::string quoted = '"' + std::string(name) + '"';
  const std::size_t named = name.empty() ? std::string_view::npos : document.find(quoted);
  if (named == std::string_view::npos) return named;
  const std::size_t colon = document.find_first_not_of(kBlanks, named + quoted.size());
  if (colon == std::string_view::npos || document[colon] != ':') return std::string_view::npos;
  const std::size_t bracket = document.find_first_not_of(kBlanks, colon + 1);
  return bracket != std::string_view::npos && document[bracket] == '[' ? bracket + 1 : std::string_view::npos;
}

}  // namespace

Result<std::vector<Record>> documentRecords(std::string_view document, std::string_view listName,
                                            const IsRecord& isRecord) {
  json::Tree tree;
  const std::size_t bom = document.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  constexpr std::size_t kMostValues = 4'000'000;
  const auto broken = tree.parse(document.substr(bom), kMostValues);
  if (broken && broken->reason == json::Tree::kTooMany) {
    return fail(ErrorCode::Unsupported, "a JSON document of more than 4,000,000 values",
                "only files of lines can be larger");
  }
  if (tree.empty()) return fail(ErrorCode::Damaged, "the file is not JSON", "");
  const json::Tree::Index list = listName.empty() ? 0 : tree.isObject(0) ? tree.find(0, listName) : json::Tree::kNone;
  if (!tree.isArray(list) && broken) {
    // The damage is before the list.
    const std::size_t begin = beginOfList(document, listName);
    if (begin != std::string_view::npos) {
      DocumentCut cut(document);
      cut.add(RecordKind::Damaged, begin, {}, broken->reason);
      cut.addFound(listName, isRecord, broken->reason);
      return cut.take();
    }
  }
  if (!tree.isArray(list)) {
    return fail(ErrorCode::Damaged, fmt::format("the document has no list \"{}\"", listName), "");
  }
  DocumentCut cut(document);
  cut.add(RecordKind::Blank, bom + tree.begin(list) + 1, {}, {});
  for (const json::Tree::Index element : tree.elements(list)) {
    if (tree.broken(element)) break;
    const bool isObject = tree.isObject(element);
    cut.add(isObject ? RecordKind::Json : RecordKind::Damaged, bom + tree.end(element),
            isObject ? tree.raw(element) : std::string_view(), isObject ? std::string_view() : "not a JSON object");
  }
  if (broken) {
    cut.addFound(listName, isRecord, broken->reason);
  } else if (cut.begin() < document.size()) {
    cut.add(RecordKind::Blank, document.size(), {}, {});
  }
  return cut.take();
}

}  // namespace bough::transcript
