// Reads a transcript: opens it, recognizes its agent, and passes its records to the agent's reader.
#include <fmt/format.h>

#include <algorithm>

#include "base/system/named_file.h"
#include "base/text/counted.h"
#include "base/text/utf8.h"
#include "base/try.h"
#include "transcript/model/agent.h"
#include "transcript/model/carried.h"
#include "transcript/source/database.h"
#include "transcript/source/short_texts.h"

namespace bough {
namespace {

using namespace transcript;

constexpr std::size_t kBeginningBytes = std::size_t{64} << 10;
constexpr std::size_t kMaxDocumentBytes = std::size_t{128} << 20;

// Provides the beginning that was read to recognize a file, and then the rest of it.
class Resumed : public ByteSource {
 public:
  Resumed(std::string_view beginning, ByteSource& rest) : beginning_(beginning), rest_(rest) {}
  Result<std::size_t> read(std::span<char> out) override {
    if (beginning_.empty()) return rest_.read(out);
    const std::size_t count = std::min(out.size(), beginning_.size());
    beginning_.copy(out.data(), count);
    beginning_.remove_prefix(count);
    return count;
  }
  [[nodiscard]] std::optional<std::uint64_t> sizeBytes() const override { return rest_.sizeBytes(); }

 private:
  std::string_view beginning_;
  ByteSource& rest_;
};

// Appends to `bytes`, including what was read before an error.
Result<void> readInto(std::string& bytes, ByteSource& source, std::size_t limitBytes) {
  while (bytes.size() < limitBytes) {
    const std::size_t had = bytes.size();
    const std::size_t wanted = std::min(limitBytes, had + kBeginningBytes);
    Result<std::size_t> got = std::size_t{0};
    bytes.resize_and_overwrite(wanted, [&](char* data, std::size_t) {  // there may be room for more
      got = source.read(std::span(data, wanted).subspan(had));
      return had + got.value_or(0);
    });
    if (!got) return std::unexpected(got.error());
    if (*got == 0) break;
  }
  return {};
}

Result<std::string> readUpTo(ByteSource& source, std::size_t limitBytes, std::size_t expectedBytes = 0) {
  std::string bytes;
  // One extra chunk, to detect the end.
  if (expectedBytes > 0) bytes.reserve(std::min(limitBytes, expectedBytes + kBeginningBytes));
  BOUGH_TRY(readInto(bytes, source, limitBytes));
  return bytes;
}

// Reads a file that is one JSON document. Its size is requested beforehand, so that memory holds it only once.
Result<std::string> readWholeDocument(ByteSource& source, const std::string& path) {
  const std::uint64_t known = source.sizeBytes().value_or(0);
  std::string document;
  if (known <= kMaxDocumentBytes) {
    BOUGH_TRY(document, readUpTo(source, kMaxDocumentBytes + 1, known));
  }
  if (known <= kMaxDocumentBytes && document.size() <= kMaxDocumentBytes) return document;
  return fail(ErrorCode::Unsupported,
              fmt::format("{}: a JSON document of more than {} MiB", path, kMaxDocumentBytes >> 20),
              "only files of lines can be larger");
}

// The first bytes of a file, and the agent that wrote it.
struct Begun {
  std::string bytes;
  Result<const Agent*> agent = nullptr;
};

// A first record may be long (a picture, instructions); then more is read until it is whole. Reads at least
// `leastBytes`; with `wholeLine`, at least one line.
Result<Begun> readBeginning(ByteSource& source, const std::string& path, std::size_t leastBytes, bool wholeLine) {
  constexpr std::size_t kMostBytes = kMaxTranscriptLineBytes + (std::size_t{1} << 20);
  constexpr std::ptrdiff_t kEnoughLines = 32;
  Begun begun;
  for (std::size_t wanted = leastBytes;; wanted = std::min(wanted * 4, kMostBytes)) {
    // A compressed file may break off: its readable beginning is enough to recognize the agent.
    const auto read = readInto(begun.bytes, source, wanted);
    if (!read && isBlank(begun.bytes)) return std::unexpected(read.error());
    if (begun.bytes.size() < wanted && isBlank(begun.bytes)) {
      begun.agent = fail(ErrorCode::Unsupported, "the file is empty", "an agent that is at work may fill it");
      break;
    }
    begun.agent = recognize(begun.bytes, path);
    if (begun.agent && (!wholeLine || begun.bytes.contains('\n'))) break;
    if (!read && !begun.agent) return std::unexpected(read.error());
    if (begun.bytes.size() < wanted || wanted == kMostBytes) break;
    if (!begun.agent && std::ranges::count(begun.bytes, '\n') >= kEnoughLines) break;
  }
  if (!begun.agent) begun.agent.error().message = fmt::format("{}: {}", path, begun.agent.error().message);
  return begun;
}

// Returns the name of a session whose file does not name it: the file name up to its first dot.
std::string stemOf(const std::string& path) {
  if (const auto place = placeInDatabase(path)) return place->session.substr(0, place->session.find('.', 1));
  const std::string name = path.substr(path.rfind('/') + 1);
  return name.substr(0, name.find('.'));
}

class Driver {
 public:
  Driver(const Agent& agent, const std::string& path, const ReadTranscriptOptions& options, const Builder::Use& use)
      : Driver(agent, path, stemOf(path), options, use) {}

  Driver(const Agent& agent, const std::string& path, const std::string& sessionId,
         const ReadTranscriptOptions& options, const Builder::Use& use)
      : agent_(agent),
        reader_(agent.makeReader()),
        impliedId_(sessionId),
        // A document is rewritten as a whole each time, so earlier offsets mean nothing.
        fromOffset_(agent.framing == Framing::Lines ? options.fromOffset : 0),
        builder_(agent.name,
                 {.fromOffset = fromOffset_, .withoutLines = options.withoutLines, .wasGiven = options.wasGiven}, use),
        mayShorten_(options.withoutLines && options.longestText && agent.canShortenTexts),
        longestText_(options.longestText) {
    builder_.facts.sessionId = impliedId_;
    builder_.path = path;
  }

  // `beginning`: bytes that were already read from the source.
  Result<TranscriptReport> run(ByteSource& source, std::string beginning = {}) {
    BOUGH_TRY(agent_.framing == Framing::Lines ? readLines(source, std::move(beginning))
                                               : readDocument(source, beginning));
    reader_->end(builder_);
    if (builder_.error()) return std::unexpected(*builder_.error());
    TranscriptReport report = builder_.end();
    if (session_) session_->addTo(report.facts, impliedId_);
    report.bytes = bytes_;
    report.coveredBytes = coveredBytes_;
    return report;
  }

 private:
  Result<void> readLines(ByteSource& source, std::string beginning) {
    LineRecords records(source, agent_.isRecord, fromOffset_, std::move(beginning));
    while (true) {
      BOUGH_TRY(const auto record, records.next());
      if (!record) return {};
      BOUGH_TRY(readRecord(*record));
    }
  }

  Result<void> readDocument(ByteSource& rest, std::string_view beginning) {
    Resumed source(beginning, rest);
    BOUGH_TRY(const std::string document, readWholeDocument(source, builder_.path));
    BOUGH_TRY(auto records, documentRecords(document, agent_.listName, agent_.isRecord));
    for (Record& record : records) {
      const bool isRepaired = record.kind == RecordKind::Json && !isUtf8(record.text);
      const std::string repaired = isRepaired ? repairUtf8(record.text) : std::string();
      if (isRepaired) {
        record.text = repaired;
        record.repaired = true;
        if (record.reason.empty()) record.reason = "bytes that are not UTF-8";
      }
      BOUGH_TRY(readRecord(record));
    }
    return {};
  }

  Result<void> readRecord(const Record& record) {
    bytes_ = record.offset + record.sizeBytes;
    if (record.kind != RecordKind::Torn) coveredBytes_ = bytes_;
    if (record.kind == RecordKind::Json) {
      if (auto carried = record.repaired ? std::nullopt : carriedIn(record.text)) {
        reader_->flushHeld(builder_);
        noteSession(*carried);
        builder_.carry(record, std::move(*carried));
        mayShorten_ = false;  // lines that are joined with this one must be where they are in the file
      }
      const bool lacksHeader = !sawRecord_ && agent_.isHeader != nullptr && !agent_.isHeader(record.text);
      if (lacksHeader) builder_.damage(record, "the file does not begin with its header");
      sawRecord_ = true;
      reader_->record(mayShorten_ ? shortened(record) : record, builder_);
    } else {
      reader_->notJson(record, builder_);
    }
    if (builder_.error()) return std::unexpected(*builder_.error());
    return {};
  }

  // The first line that carries entries also carries what the session is.
  void noteSession(const Carried& carried) {
    if (std::exchange(sawCarried_, true) || carried.entries.empty()) return;
    session_ = carriedSessionIn(carried.entries.front());
  }

  Record shortened(const Record& record) {
    const std::size_t longest = longestText_();
    if (record.text.size() <= longest) return record;
    shortenTexts(record.text, longest, short_);
    Record out = record;
    out.raw = out.text = short_;
    return out;
  }

  const Agent& agent_;
  std::unique_ptr<Reader> reader_;
  std::string impliedId_;                  // the session id that the name of the file implies
  std::optional<CarriedSession> session_;  // what the file carries of its session
  bool sawCarried_ = false;
  std::uint64_t fromOffset_;
  Builder builder_;
  std::uint64_t bytes_ = 0;
  std::uint64_t coveredBytes_ = 0;
  bool sawRecord_ = false;
  bool mayShorten_;
  std::function<std::size_t()> longestText_;
  std::string short_;
};

}  // namespace

Result<TranscriptReport> transcript::readSource(const Agent& agent, ByteSource& bytes, const std::string& sessionId,
                                                const Builder::Use& use) {
  return Driver(agent, {}, sessionId, {}, use).run(bytes);
}

std::string damageText(const TranscriptReport& report) {
  const std::uint64_t places = report.recovered + report.unreadable;
  if (places == 0) return {};
  const std::string first =
      report.damage.empty()
          ? std::string()
          : fmt::format(", the first at byte {}: {}", report.damage.front().offset, report.damage.front().reason);
  return fmt::format("{} damaged ({} read all the same, {} not){}", counted(places, "place is", "places are"),
                     report.recovered, report.unreadable, first);
}

Result<std::string> recognizeTranscript(const std::string& path) {
  BOUGH_TRY(const auto file, openFile(path));
  BOUGH_TRY(const auto begun, readBeginning(*file, path, kBeginningBytes, /*wholeLine=*/false));
  if (!begun.agent) return std::unexpected(begun.agent.error());
  return std::string((*begun.agent)->name);
}

Result<std::string> linesOfDocument(const std::string& path) {
  BOUGH_TRY(const auto file, openFile(path));
  BOUGH_TRY(const std::string document, readWholeDocument(*file, path));
  BOUGH_TRY(auto agent, recognize(std::string_view(document).substr(0, kBeginningBytes), path));
  if (agent->framing != Framing::Document) {
    return fail(ErrorCode::InvalidArgument, fmt::format("{} is a file of lines already", path), "");
  }
  BOUGH_TRY(const auto records, documentRecords(document, agent->listName, agent->isRecord));
  std::string lines;
  for (const Record& record : records) {
    if (record.kind == RecordKind::Torn || record.kind == RecordKind::Damaged) {
      return fail(ErrorCode::Damaged, fmt::format("{} breaks off at byte {}: {}", path, record.offset, record.reason),
                  "`bough show` reads what is whole");
    }
    if (record.kind != RecordKind::Json) continue;
    // Line breaks occur only between tokens.
    for (const char c : record.text) {
      if (c != '\n' && c != '\r') lines += c;
    }
    lines += '\n';
  }
  return lines;
}

Result<TranscriptFacts> peekTranscript(const std::string& path) {
  constexpr std::size_t kPeekBytes = std::size_t{256} << 10;
  BOUGH_TRY(const auto file, openFile(path));
  BOUGH_TRY(const auto begun, readBeginning(*file, path, kPeekBytes, /*wholeLine=*/true));
  const auto& agent = begun.agent;
  if (!agent) return std::unexpected(agent.error());
  const auto source = fromMemory(begun.bytes);
  const Builder::Use ignore = [](Entry&&) { return Result<void>(); };
  const ReadTranscriptOptions how{.agent = {}, .fromOffset = 0, .withoutLines = true};
  BOUGH_TRY(TranscriptReport report, Driver(**agent, path, how, ignore).run(*source));
  // Reading the file itself reports problems with the files next to it.
  if ((*agent)->addFactsBeside != nullptr) (void)(*agent)->addFactsBeside(path, report.facts);
  return std::move(report.facts);
}

Result<void> readTranscriptBytes(const std::string& path, const std::function<bool(std::string_view piece)>& use) {
  constexpr std::size_t kPieceBytes = std::size_t{256} << 10;
  BOUGH_TRY(const auto file, openFile(path));
  std::string buffer(kPieceBytes, '\0');
  while (true) {
    BOUGH_TRY(const std::size_t got, file->read(std::span(buffer)));
    if (got == 0 || !use(std::string_view(buffer).substr(0, got))) return {};
  }
}

Result<TranscriptReport> readTranscript(const std::string& path, const ReadTranscriptOptions& options,
                                        const std::function<Result<void>(Entry&&)>& use) {
  BOUGH_TRY(const auto file, openFile(path));
  BOUGH_TRY(auto begun, readBeginning(*file, path, kBeginningBytes, /*wholeLine=*/false));
  auto& agent = begun.agent;
  if (!options.agent.empty() && (!agent || (*agent)->name != options.agent)) {
    const Agent* named = findAgent(options.agent);
    if (named == nullptr) {
      return fail(ErrorCode::InvalidArgument, fmt::format("bough knows no agent \"{}\"", options.agent), "");
    }
    agent = named;
  }
  if (!agent) return std::unexpected(agent.error());
  BOUGH_TRY(TranscriptReport report, Driver(**agent, path, options, use).run(*file, std::move(begun.bytes)));
  const auto beside =
      (*agent)->addFactsBeside == nullptr ? Result<void>() : (*agent)->addFactsBeside(path, report.facts);
  if (beside) return report;
  ++report.unreadable;
  if (report.damage.size() < TranscriptReport::kMaxDamage) report.damage.push_back({.reason = beside.error().message});
  return report;
}

}  // namespace bough
