#include "log/log_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/check.h"
#include "base/file_io.h"
#include "base/json_scan.h"
#include "base/try.h"
#include "log/index_file.h"
#include "log/sealed_entry.h"

namespace bough {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::size_t kGroupBytes = std::size_t{64} << 20;

// A line without what may stand around it in a file that another tool wrote.
std::string_view bareLine(std::string_view line) {
  if (line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

// The digits of the seal that ends right before a line; none when what stands there is no sealed line.
SealDigits sealBefore(std::string_view before) {
  if (!before.ends_with('\n')) return std::nullopt;
  before.remove_suffix(1);
  const auto seal = findSeal(bareLine(before));
  if (!seal) return std::nullopt;
  return seal->digits;
}

}  // namespace

LogParts::LogParts(LogFolders folders, std::string sessionId, const EntrySerializer& serializer,
                   Environment& environment, Options options)
    : folders_(std::move(folders)),
      sessionId_(std::move(sessionId)),
      plainPath_(folders_.sessions->path() + "/" + logName(sessionId_)),
      serializer_(serializer),
      environment_(environment),
      options_(std::move(options)),
      index_(environment.random.next()),
      commits_([this](const std::vector<AppendWork*>& group) { commit(group); }, kGroupBytes) {}

Result<void> LogParts::open() {
  const std::lock_guard lock(mutex_);
  BOUGH_TRY(reopen());
  if (const auto& before = options_.before) {
    if (refresh() && index_.summary().isSameLogAs(before->summary)) generation_ = before->generation;
  }
  return {};
}

std::optional<LogParts::Trace> LogParts::trace() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock || !index_.summary().hasSeal || index_.summary().doubtful != 0) return std::nullopt;
  return Trace{.generation = generation_, .summary = index_.summary()};
}

Error LogParts::ioError(int number, std::string_view what) {
  return readError(log_, number, what);
}

std::uint64_t LogParts::offsetOf(Ordinal ordinal) {
  const std::lock_guard lock(mutex_);
  return ordinal < index_.summary().count ? index_.record(ordinal).offset : 0;
}

std::string LogParts::path() {
  const std::lock_guard lock(mutex_);
  return isOpen() ? log_.path() : plainPath_;
}

Error LogParts::changingError() {
  readMismatch_ = false;
  return {.code = ErrorCode::Damaged,
          .message = fmt::format("{} changes while it is read", log_.path()),
          .hint = "run `bough verify`",
          .retryable = false,
          .actualTail = {}};
}

OffsetIndex::ConfirmId LogParts::confirmer() {
  return [this](const IndexRecord& record, std::string_view id) { return confirm(record, id); };
}

// Compares an id with the one that stands in the log. Most questions are for the last entry, whose id is at hand. A
// read that fails is no "no": whatever is asked is then asked again.
bool LogParts::confirm(const IndexRecord& record, std::string_view id) {
  if (!tailId_.empty() && record.offset == tailOffset_) return tailId_ == id;
  std::array<char, 160> head{};
  const std::size_t want = std::min<std::size_t>(head.size(), record.length);
  const auto got = readFully(*log_.source, record.offset, std::span(head).first(want));
  readMismatch_ = readMismatch_ || !got;
  if (!got) return false;
  const std::string_view text(head.data(), *got);
  constexpr std::string_view kBegin = R"({"id":")";
  if (text.starts_with(kBegin)) {
    const std::string_view value = text.substr(kBegin.size());
    if (value.starts_with(id) && value.substr(id.size()).starts_with('"')) return true;
    // Other tools may write an id with escapes.
    if (!value.substr(0, value.find('"')).contains('\\')) return false;
  }
  // Members in another order, or an id with escapes in it.
  std::string line(record.length, '\0');
  const auto all = readFully(*log_.source, record.offset, line);
  readMismatch_ = readMismatch_ || !all;
  if (!all) return false;
  std::string storage;
  std::string_view reason;
  const auto keys = readAnyKeys(bareLine(line), storage, reason);
  return keys && keys->id == id;
}

// At least `size` bytes for one read. What is usual is kept for the next: memory that was used a moment ago is in the
// processor's cache.
std::span<char> LogParts::ReadRoom::take(std::size_t size) {
  if (size > kUsualBytes) {
    large = std::make_unique_for_overwrite<char[]>(size);
    return {large.get(), size};
  }
  if (!usual) usual = std::make_unique_for_overwrite<char[]>(kUsualBytes);
  return {usual.get(), size};
}

// Reads records that lie close together with one read.
Result<void> LogParts::readRun(std::span<const IndexRecord> records, const UseLine& use) {
  const std::uint64_t begin = records.front().offset - std::min<std::uint64_t>(records.front().offset, kSealTailBytes);
  const auto size = static_cast<std::size_t>(records.back().offset + records.back().length - begin);
  const std::span<char> room = room_.take(size);
  const auto got = readFully(*log_.source, begin, room);
  if (!got) return std::unexpected(ioError(got.error(), "read"));
  readMismatch_ = readMismatch_ || *got != size;
  if (!readMismatch_) useRun({room.data(), size}, begin, records, Kept::No, use);
  return {};
}

// Gives lines to `use` that stand in `bytes`, which begin at that offset of the log.
void LogParts::useRun(std::string_view bytes, std::uint64_t begin, std::span<const IndexRecord> records, Kept kept,
                      const UseLine& use) {
  const std::uint64_t knownUntil = kept == Kept::Yes ? kept_.good : 0;
  for (const IndexRecord& record : records) {
    const auto at = static_cast<std::size_t>(record.offset - begin);
    StoredLine line{.text = bareLine(bytes.substr(at, record.length)),
                    .chained = record.chained != 0,
                    .known = record.offset + record.length <= knownUntil,
                    .keptAt = kept == Kept::Yes ? record.offset : 0,
                    .previous = {}};
    if (line.chained && !line.known) {
      const SealDigits previous = sealBefore(bytes.substr(0, at));
      if (previous || record.offset == 0) line.previous = previous;
    }
    readMismatch_ = !use(line);
    if (readMismatch_) return;
  }
}

// Whether the line is what its seal says, as far as that can be known.
bool LogParts::StoredLine::holds() const {
  if (known) return true;
  if (!chained) return !text.contains('\0');  // of a file that could not be unpacked there
  const auto seal = findSeal(text);
  if (!seal) return false;
  return !previous || sealDigits(*previous, text.substr(0, seal->bodyLength), seal->placeText) == seal->digits;
}

Result<std::vector<std::string>> LogParts::fetch(const std::vector<Ordinal>& ordinals) {
  std::vector<std::string> lines;
  lines.reserve(ordinals.size());
  auto done = forEachLine(ordinals, [&](const StoredLine& line) {
    lines.emplace_back(line.text);
    return line.holds();
  });
  if (!done) return std::unexpected(done.error());
  return lines;
}

// Gives each line to `use`, which must not keep it. Some are missing when readMismatch_ is set or the index is damaged.
Result<void> LogParts::forEachLine(const std::vector<Ordinal>& ordinals, const UseLine& use) {
  constexpr std::uint64_t kRunBytes = ReadRoom::kUsualBytes - kSealTailBytes;
  constexpr std::uint64_t kGapBytes = std::uint64_t{16} << 10;
  std::vector<IndexRecord> records;
  records.reserve(ordinals.size());
  for (const Ordinal ordinal : ordinals) records.push_back(index_.record(ordinal));
  if (index_.damaged()) return {};
  if (log_.form == LogForm::Plain && mayKeep(records)) return readKept(records, use);
  for (std::size_t first = 0; first < records.size();) {
    std::size_t last = first;
    while (last + 1 < records.size() && records[last + 1].offset > records[last].offset &&
           records[last + 1].offset - (records[last].offset + records[last].length) < kGapBytes &&
           records[last + 1].offset + records[last + 1].length - records[first].offset < kRunBytes) {
      ++last;
    }
    if (auto run = readRun(std::span(records).subspan(first, last - first + 1), use); !run) return run;
    if (readMismatch_) break;
    first = last + 1;
  }
  room_.large.reset();
  return {};
}

Result<std::string> LogParts::idOf(Ordinal ordinal) {
  auto lines = fetch({ordinal});
  if (!lines) return std::unexpected(lines.error());
  if (lines->empty()) return std::string();
  std::string storage;
  std::string_view reason;
  auto keys = readCanonicalKeys(lines->front());
  if (!keys) keys = readAnyKeys(lines->front(), storage, reason);
  if (!keys) readMismatch_ = true;
  return keys ? std::string(keys->id) : std::string();
}

// The head's id: of an entry here, or the one that the last head entry or a fork's header names.
Result<void> LogParts::loadHead() {
  const IndexSummary& summary = index_.summary();
  if (!headId_.empty() || summary.head == kNoOrdinal) return {};
  if (summary.head != kElsewhere) {
    auto id = summary.head + 1 == summary.count && !tailId_.empty() ? tailId_ : idOf(summary.head);
    if (!id) return std::unexpected(id.error());
    headId_ = std::move(*id);
    return {};
  }
  const bool moved = summary.headEntry != kNoOrdinal;
  auto lines = fetch({moved ? summary.headEntry : Ordinal{0}});
  if (!lines) return std::unexpected(lines.error());
  if (lines->empty()) return {};
  auto payload = json::findMember(lines->front(), "payload").value_or("");
  if (!moved) payload = json::findMember(payload, "parentSession").value_or("");
  headId_ = json::findString(payload, "entryId").value_or("");
  return {};
}

Result<LogSummary> LogParts::summary() {
  const std::lock_guard lock(mutex_);
  return withIndex([&]() -> Result<LogSummary> {
    const IndexSummary& known = index_.summary();
    if (known.count > 0) {
      if (auto tail = loadTail(); !tail) return std::unexpected(tail.error());
    }
    if (auto head = loadHead(); !head) return std::unexpected(head.error());
    const auto size = log_.source->size();
    if (!size) return std::unexpected(ioError(size.error(), "look at"));
    return LogSummary{.count = known.count,
                      .tailId = tailId_,
                      .headId = headId_,
                      .bytes = *size,
                      .trailingBytes = *size - std::min(*size, known.coveredBytes),
                      .problemCount = known.problemCount,
                      .form = log_.form};
  });
}

Result<LogParts::Header> LogParts::header() {
  const std::lock_guard lock(mutex_);
  return withIndex([&]() -> Result<Header> {
    if (index_.summary().count == 0) {
      if (log_.source->damagedAt()) return std::unexpected(unpackError(log_));
      return fail(ErrorCode::Damaged, fmt::format("{} holds no entry", log_.path()),
                  "it is empty or no session file; move it out of the store, or see `bough verify`");
    }
    if (header_.empty()) {
      auto lines = fetch({0});
      if (!lines) return std::unexpected(lines.error());
      if (!lines->empty()) header_ = std::move(lines->front());
    }
    return Header{.text = header_, .generation = generation_};
  });
}

Result<std::string> LogParts::unreadBeginning() {
  constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 10;
  const std::lock_guard lock(mutex_);
  return withIndex([&]() -> Result<std::string> {
    const std::uint64_t until = index_.summary().count > 0 ? index_.record(0).offset : kMostBytes;
    std::string bytes(static_cast<std::size_t>(std::min(until, kMostBytes)), '\0');
    const auto got = readFully(*log_.source, 0, bytes);
    if (!got) return std::unexpected(ioError(got.error(), "read"));
    bytes.resize(*got);
    return bytes;
  });
}

// Under the lock and before anything is changed: whether the file that has the session's name now may be written to.
Result<void> LogParts::checkHeader() {
  if (headerChecked_ || !options_.mayAppend) return {};
  auto header = withIndex([&]() -> Result<std::vector<std::string>> {
    if (index_.summary().count == 0) return std::vector<std::string>();
    return fetch({0});
  });
  if (!header) return std::unexpected(header.error());
  if (header->empty()) return {};  // settle() says what is wrong
  const FirstLine line{.text = header->front(), .offset = index_.record(0).offset, .path = log_.path()};
  if (auto may = options_.mayAppend(line); !may) return may;
  headerChecked_ = true;
  return {};
}

Result<std::optional<Ordinal>> LogParts::find(std::string_view id) {
  const std::lock_guard lock(mutex_);
  return withIndex([&]() -> Result<std::optional<Ordinal>> { return index_.find(id, confirmer()); });
}

Result<std::vector<Ordinal>> LogParts::select(Ordinal from, std::size_t limit, std::optional<EntryKind> kind,
                                              bool newestFirst) {
  const std::lock_guard lock(mutex_);
  return withIndex([&]() -> Result<std::vector<Ordinal>> {
    std::vector<Ordinal> wanted;
    const Ordinal count = index_.summary().count;
    const Ordinal total = count > from ? count - from : 0;
    for (Ordinal i = 0; i < total && wanted.size() < limit; ++i) {
      const Ordinal ordinal = newestFirst ? count - 1 - i : from + i;
      if (!kind || index_.record(ordinal).kind == *kind) wanted.push_back(ordinal);
    }
    return wanted;
  });
}

Result<std::vector<Ordinal>> LogParts::controls() {
  const std::lock_guard lock(mutex_);
  return withIndex([&]() -> Result<std::vector<Ordinal>> {
    std::vector<Ordinal> chain;
    for (Ordinal i = index_.summary().lastControl; i != kNoOrdinal && !index_.damaged();) {
      chain.push_back(i);
      i = index_.record(i).previousControl;
    }
    std::ranges::reverse(chain);
    return chain;
  });
}

// Follows parents upwards. Every parent has a smaller ordinal, so this ends.
Result<LogPath> LogParts::branch(Ordinal leaf, std::size_t limit) {
  const std::lock_guard lock(mutex_);
  return withIndex([&]() -> Result<LogPath> {
    LogPath path;
    for (Ordinal at = leaf; at < index_.summary().count && path.ordinals.size() < limit;) {
      path.ordinals.push_back(at);
      const Ordinal parent = index_.record(at).parent;
      if (index_.damaged()) break;
      if (parent == kElsewhere) {
        auto lines = fetch({at});
        if (!lines) return std::unexpected(lines.error());
        if (!lines->empty()) path.continuesAt = json::findString(lines->front(), "parentId").value_or("");
      }
      at = parent;
    }
    std::ranges::reverse(path.ordinals);
    return path;
  });
}

Result<std::vector<std::string>> LogParts::read(const std::vector<Ordinal>& ordinals) {
  std::vector<std::string> lines;
  lines.reserve(ordinals.size());
  auto done = readLines(ordinals, [&](const StoredLine& line) {
    lines.emplace_back(line.text);
    return line.holds();
  });
  if (!done) return std::unexpected(done.error());
  return lines;
}

Result<void> LogParts::readAll(const std::function<bool(Ordinal, const std::string&)>& use) {
  constexpr std::size_t kPart = 256;
  std::string last;
  for (Ordinal from = 0;;) {
    // The last line once more: the same one stands behind the same ones, since its seal covers theirs.
    const Ordinal again = from > 0 ? 1 : 0;
    auto lines = readFrom(from - again, kPart + again);
    if (!lines) return std::unexpected(lines.error());
    if (again > 0 && (lines->empty() || lines->front() != last)) return changedWhileRead(path());
    if (lines->size() == again) return {};
    for (std::size_t i = again; i < lines->size(); ++i) {
      if (!use(from++, (*lines)[i])) return {};
    }
    last = std::move(lines->back());
  }
}

Result<std::vector<std::string>> LogParts::readFrom(Ordinal from, std::size_t limit) {
  const std::lock_guard lock(mutex_);
  return withIndex([&]() -> Result<std::vector<std::string>> {
    std::vector<Ordinal> ordinals;
    for (Ordinal i = from; i < index_.summary().count && ordinals.size() < limit; ++i) ordinals.push_back(i);
    return fetch(ordinals);
  });
}

Result<std::vector<Entry>> LogParts::readEntries(const std::vector<Ordinal>& ordinals) {
  std::vector<Entry> entries;
  entries.reserve(ordinals.size());
  std::optional<Error> damage;
  auto done = readLines(ordinals, [&](const StoredLine& line) {
    bool holds = true;
    auto decoded = decodeLine(line, entries, holds);
    if (!decoded && !damage) damage = std::move(decoded.error());
    return holds;
  });
  if (!done) return std::unexpected(done.error());
  if (damage) return std::unexpected(std::move(*damage));
  return entries;
}

// Adds the entry of a line, or sets `holds` to false.
Result<void> LogParts::decodeLine(const StoredLine& line, std::vector<Entry>& entries, bool& holds) {
  if ((line.previous || line.known) && &serializer_ == &jsonEntrySerializer()) {
    Entry& entry = entries.emplace_back();
    const auto tail = line.known && kept_.payloadLast.contains(line.keptAt) ? LineTail::Payload : LineTail::Unknown;
    const SealedRead read =
        line.known ? readKnownEntry(line.text, tail, entry) : readSealedEntry(line.text, *line.previous, entry);
    if (read == SealedRead::Good) {
      if (line.keptAt != 0 && tail == LineTail::Unknown && entry.meta.empty()) kept_.payloadLast.insert(line.keptAt);
      return {};
    }
    entries.pop_back();
    holds = read != SealedRead::WrongSeal;
    if (!holds) return {};
  }
  holds = line.holds();
  if (!holds) return {};
  auto entry = serializer_.decode(line.text);
  if (!entry) return std::unexpected(entry.error());
  entries.push_back(std::move(*entry));
  return {};
}

Result<void> LogParts::readLines(const std::vector<Ordinal>& ordinals, const UseLine& use) {
  const std::lock_guard lock(mutex_);
  if (auto fresh = refresh(); !fresh) return std::unexpected(fresh.error());
  const auto known = [&](Ordinal ordinal) { return ordinal < index_.summary().count; };
  if (std::ranges::all_of(ordinals, known)) {
    auto done = forEachLine(ordinals, use);
    if (!done || (!readMismatch_ && !index_.damaged())) return done;
  }
  if (auto fresh = rebuild(); !fresh) return std::unexpected(fresh.error());
  return changedWhileRead(log_.path());
}

Result<std::uint64_t> LogParts::scanWhole(ScanSink& sink) {
  const std::lock_guard lock(mutex_);
  if (auto fresh = refresh(); !fresh) return std::unexpected(fresh.error());
  ScanState state;
  const auto trailing = scanLog(*log_.source, serializer_, state, sink);
  if (!trailing) return std::unexpected(ioError(trailing.error(), "read"));
  if (log_.source->damagedAt()) sink.onProblem(ProblemKind::Damage, 0, 0, unpackError(log_).message);
  return *trailing;
}

}  // namespace bough
