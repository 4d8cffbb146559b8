#include "log/source/scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text/utf8.h"

#include "base/try.h"
#include "bough/entry.h"
#include "log/source/line_reader.h"

namespace bough {
namespace {

// A line that is held back until its batch is complete.
struct HeldLine {
  std::uint64_t offset = 0;
  std::uint32_t length = 0;
  std::string id;
  std::optional<std::string> parentId;
  std::string type;
  std::string text;  // as in ScannedLine
  bool canonical = true;
  bool chained = false;
  bool unproven = false;  // the seal before it is missing, so its own seal proves nothing

  [[nodiscard]] ScannedLine view() const {
    ScannedLine line{.offset = offset, .length = length, .keys = {}, .chained = chained, .text = text};
    line.keys.id = id;
    if (parentId) line.keys.parentId = *parentId;
    line.keys.type = type;
    line.keys.canonical = canonical;
    return line;
  }
};

// A line that may turn out to be torn or damaged. Either readable (`held`) or not (`reason`).
struct Suspect {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::optional<HeldLine> held;
  std::string_view reason;
};

bool needsText(std::string_view type) {
  return isControlType(type) || type == entry_type::kSessionHeader;
}

// Checks that each line's seal is chained to the one before it.
class SealChain {
 public:
  enum class Verdict : std::uint8_t { Good, Repaired, Unverifiable, Bad };

  explicit SealChain(const ScanState& state) : lastSeal_(state.lastSeal), sealLost_(state.sealLost) {}

  /// The last seal as it is in the file.
  [[nodiscard]] const SealDigits& last() const { return lastSeal_; }
  /// True when the last line has no seal, but may have had one.
  [[nodiscard]] bool isSealLost() const { return sealLost_; }

  // Tries the seal of the line before as it is in the file, then the seal that the damaged line before should have had.
  Verdict check(const LineReader::Line& line, std::string_view text, const Seal& seal) {
    const std::string_view body = text.substr(0, seal.bodyLength);
    const bool swept = line.text.data() == text.data() && line.sweep.summed <= body.size();
    const auto digits = swept ? endSeal(line.sweep.crc, body.substr(line.sweep.summed), seal.placeText)
                              : sealDigits(lastSeal_, body, seal.placeText);
    const SealDigits repaired = std::exchange(repairedSeal_, std::nullopt);
    const bool lost = std::exchange(sealLost_, false);
    lastSeal_ = seal.digits;
    if (digits == seal.digits) return Verdict::Good;
    if (repaired && sealDigits(repaired, body, seal.placeText) == seal.digits) return Verdict::Repaired;
    if (lost) return Verdict::Unverifiable;
    repairedSeal_ = digits;
    return Verdict::Bad;
  }
  void noteUnsealed() {
    repairedSeal_.reset();
    sealLost_ = true;
  }
  void noteTooLong() { sealLost_ = true; }

 private:
  SealDigits lastSeal_;
  SealDigits repairedSeal_;  // the seal that the damaged line before should have had
  bool sealLost_;
};

class LogScan {
 public:
  LogScan(ByteSource& source, const EntrySerializer& serializer, ScanState& state, ScanSink& sink)
      : source_(source), serializer_(serializer), state_(state), sink_(sink), seals_(state) {}

  SysResult<std::uint64_t> run() {
    LineReader reader(source_, state_.offset);
    bool afterMissingEnd = state_.lacksLineEnd;
    for (;;) {
      sink_.onUpcoming(reader.upcoming());
      BOUGH_TRY(const auto next, reader.next(beginSeal(seals_.last())));
      if (!next) break;
      end_ = next->offset + next->length + (next->hasEnd ? 1 : 0);
      hasEnd_ = next->hasEnd;
      const bool restOfLast = afterMissingEnd && next->length == 0;
      afterMissingEnd = false;
      if (restOfLast) {
        advanceTo(end_);
      } else {
        line(*next);
      }
      if (end_ >= state_.countedBytes) reportCounted();
    }
    reportCounted();
    // Nobody writes bytes that cannot be unpacked, and they may belong to the suspects: so the suspects are damaged,
    // not torn.
    if (source_.damagedAt()) {
      suspectHeldLines();
      reportSuspects();
      advanceTo(end_);
    }
    if (end_ <= state_.offset) return 0;
    sink_.onTorn(tornReason());
    return end_ - state_.offset;
  }

 private:
  using Verdict = SealChain::Verdict;

  void line(const LineReader::Line& line) {
    std::string_view text = line.text;
    if (line.tooLong) {
      seals_.noteTooLong();
      return suspect(line, "the line is longer than 128 MiB");
    }
    if (line.offset == 0 && text.starts_with(kByteOrderMark)) {
      text.remove_prefix(kByteOrderMark.size());
      sink_.onProblem(ProblemKind::LineEnding, 0, kByteOrderMark.size(), "a byte order mark");
    }
    if (text.ends_with('\r')) {
      text.remove_suffix(1);
      reportProblem(ProblemKind::LineEnding, line, "the line ends in CRLF");
    }
    if (text.find_first_not_of(" \t") == std::string_view::npos) {
      reportProblem(ProblemKind::LineEnding, line, "a blank line");
      if (suspects_.empty() && held_.empty() && line.hasEnd) advanceTo(end_);
      return;
    }
    if (const auto seal = findSeal(text)) {
      sealed(line, text, *seal);
    } else {
      unsealed(line, text);
    }
  }

  void sealed(const LineReader::Line& line, std::string_view text, const Seal& seal) {
    const Verdict verdict = seals_.check(line, text, seal);
    chained_ = verdict == Verdict::Good;
    if (verdict == Verdict::Bad) {
      return suspect(line, "its seal does not match: the line was changed, or one before it is missing");
    }
    std::string storage;
    std::string_view reason;
    auto keys = verdict == Verdict::Unverifiable ? std::nullopt : readCanonicalKeys(text);
    if (!keys) keys = readWhole(text, storage, reason);
    if (!keys) return suspect(line, reason);
    unproven_ = verdict == Verdict::Unverifiable;
    reportOrder(line, *keys);
    place(line, text, *keys, seal);
  }

  // Returns the keys of a line that has no seal or begins in another way, if the whole line is an entry.
  std::optional<LineKeys> readWhole(std::string_view text, std::string& storage, std::string_view& reason) {
    auto keys = readAnyKeys(text, storage, reason);
    if (!keys) return std::nullopt;
    if (!serializer_.decode(text)) {
      reason = "the line is not an entry";
      return std::nullopt;
    }
    keys->canonical = readCanonicalKeys(text).has_value();
    return keys;
  }

  void reportOrder(const LineReader::Line& line, const LineKeys& keys) {
    if (!keys.canonical)
      reportProblem(ProblemKind::Unsealed, line, "its first members are not written as format 1 writes them");
  }

  // Adds a readable sealed line to its batch.
  void place(const LineReader::Line& line, std::string_view text, const LineKeys& keys, const Seal& seal) {
    const bool continues = seal.place == held_.size() + 1 && (held_.empty() || seal.count == heldCount_);
    if (!continues) suspectHeldLines();
    if (seal.place == 1 && seal.count == 1) return commitOne(line, text, keys);
    if (!continues && seal.place != 1) {
      suspects_.push_back({.offset = line.offset, .bytes = line.length, .held = hold(line, text, keys), .reason = {}});
      return;
    }
    heldCount_ = seal.count;
    held_.push_back(hold(line, text, keys));
    if (seal.place == seal.count) commitHeld();
  }

  void unsealed(const LineReader::Line& line, std::string_view text) {
    std::string storage;
    std::string_view reason;
    const auto keys = readWhole(text, storage, reason);
    seals_.noteUnsealed();
    if (!keys) return suspect(line, reason);
    suspectHeldLines();
    unproven_ = false;
    if (hadSeal(text)) {
      reportProblem(ProblemKind::BrokenBatch, line, "its seal was changed, so nothing proves the line");
    } else {
      reportProblem(ProblemKind::Unsealed, line, "the line has no seal");
    }
    reportOrder(line, *keys);
    chained_ = false;
    commitOne(line, text, *keys);
  }

  [[nodiscard]] HeldLine hold(const LineReader::Line& line, std::string_view text, const LineKeys& keys) const {
    HeldLine held{.offset = line.offset,
                  .length = static_cast<std::uint32_t>(line.length),
                  .id = std::string(keys.id),
                  .parentId = std::nullopt,
                  .type = std::string(keys.type),
                  .text = {},
                  .canonical = keys.canonical,
                  .chained = chained_,
                  .unproven = unproven_};
    if (keys.parentId) held.parentId = std::string(*keys.parentId);
    if (needsText(keys.type)) held.text = text;
    return held;
  }

  [[nodiscard]] std::string_view tornReason() const {
    const auto unread = std::ranges::find_if(suspects_, [](const Suspect& suspect) { return !suspect.held; });
    return unread != suspects_.end() ? unread->reason : "lines of a batch are missing";
  }

  void suspect(const LineReader::Line& line, std::string_view reason) {
    suspectHeldLines();
    const std::uint64_t bytes = line.length + (line.hasEnd ? 1 : 0);
    if (!suspects_.empty()) {
      Suspect& last = suspects_.back();
      // A run of unreadable lines becomes one suspect, so that a file of garbage needs little memory.
      if (!last.held && last.reason == reason && last.offset + last.bytes == line.offset) {
        last.bytes += bytes;
        return;
      }
    }
    suspects_.push_back({.offset = line.offset, .bytes = bytes, .held = std::nullopt, .reason = reason});
  }

  void suspectHeldLines() {
    for (HeldLine& held : held_) {
      const std::uint64_t offset = held.offset;
      const std::uint64_t length = held.length;
      suspects_.push_back({.offset = offset, .bytes = length, .held = std::move(held), .reason = {}});
    }
    held_.clear();
  }

  // Lines that an index has counted are damaged, not torn, even if no complete batch follows them.
  void reportCounted() {
    if (state_.offset >= state_.countedBytes || state_.offset >= end_ || !sink_.agreesWithCountedIndex()) return;
    suspectHeldLines();
    reportSuspects();
    advanceTo(end_);
  }

  // A complete batch follows, so the suspects before it are damage in the middle of the file.
  void reportSuspects() {
    for (const Suspect& suspect : suspects_) {
      if (suspect.held) {
        sink_.onProblem(ProblemKind::BrokenBatch, suspect.offset, suspect.bytes,
                        "lines of the batch that this entry belongs to are missing");
        sink_.onLine(suspect.held->view());
      } else {
        sink_.onProblem(ProblemKind::Damage, suspect.offset, suspect.bytes, suspect.reason);
      }
    }
    suspects_.clear();
  }

  void commitOne(const LineReader::Line& line, std::string_view text, const LineKeys& keys) {
    reportSuspects();
    if (unproven_) reportUnproven(line.offset, line.length);
    sink_.onLine({.offset = line.offset,
                  .length = static_cast<std::uint32_t>(line.length),
                  .keys = keys,
                  .chained = chained_,
                  .text = needsText(keys.type) ? text : std::string_view()});
    advanceTo(end_);
  }

  void commitHeld() {
    reportSuspects();
    for (const HeldLine& held : held_) {
      if (held.unproven) reportUnproven(held.offset, held.length);
      sink_.onLine(held.view());
    }
    held_.clear();
    advanceTo(end_);
  }

  void advanceTo(std::uint64_t offset) {
    state_.offset = offset;
    state_.lastSeal = seals_.last();
    state_.lacksLineEnd = !hasEnd_;
    state_.sealLost = seals_.isSealLost();
  }

  void reportProblem(ProblemKind kind, const LineReader::Line& line, std::string_view message) {
    sink_.onProblem(kind, line.offset, line.length, message);
  }

  // Called when the line counts. In a torn batch, the line is reported as part of the torn bytes.
  void reportUnproven(std::uint64_t offset, std::uint64_t length) {
    sink_.onProblem(ProblemKind::BrokenBatch, offset, length, "the seal before it is gone, so its own proves nothing");
  }

  ByteSource& source_;
  const EntrySerializer& serializer_;
  ScanState& state_;
  ScanSink& sink_;
  SealChain seals_;
  bool chained_ = false;   // of the current line
  bool unproven_ = false;  // of the current line
  std::vector<HeldLine> held_;
  std::uint32_t heldCount_ = 0;
  std::vector<Suspect> suspects_;
  std::uint64_t end_ = 0;
  bool hasEnd_ = true;
};

}  // namespace

SysResult<std::uint64_t> scanLog(ByteSource& source, const EntrySerializer& serializer, ScanState& state,
                                 ScanSink& sink) {
  return LogScan(source, serializer, state, sink).run();
}

}  // namespace bough
