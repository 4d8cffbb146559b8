#include "store/file/parts/counted_places.h"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/system/file_io.h"
#include "base/try.h"
#include "log/format/line.h"
#include "log/source/scan.h"
#include "store/file/parts/catalog_row.h"
#include "store/rules/header.h"

namespace bough {
namespace {

constexpr std::pair<std::string_view, LogForm> kForms[] = {
    {".jsonl", LogForm::Plain}, {".jsonl.zst", LogForm::Zstd}, {".jsonl.gz", LogForm::Gzip}};

// Returns std::nullopt when there is no such file, or when it is a link or a folder.
Result<std::optional<OpenLog>> openFile(const std::shared_ptr<Directory>& folder, const std::string& name,
                                        LogForm form) {
  if (form != LogForm::Plain) {
    auto packed = openPacked(folder, name, form);
    if (packed) return std::move(*packed);
    if (packed.error().code == ErrorCode::NotFound || packed.error().code == ErrorCode::Damaged) return std::nullopt;
    return std::unexpected(std::move(packed).error());
  }
  OpenLog log{.form = form, .file = {}, .source = {}, .folder = folder, .name = name, .info = {}};
  auto file = folder->open(name, OpenMode::Read);
  if (!file && isNoFile(file.error())) return std::nullopt;
  if (!file) return std::unexpected(systemError(file.error(), "open", log.path()));
  log.file = std::move(*file);
  log.source = plainSource(log.file);
  return log;
}

// Returns the first line without its line end; empty when it is longer than any line may be.
Result<std::string> firstLineOf(const OpenLog& log) {
  constexpr std::size_t kMostBytes = std::size_t{128} << 20;
  std::string text;
  for (std::size_t want = 1024; want <= kMostBytes; want *= 8) {
    text.resize(want);
    const auto got = readFully(*log.source, 0, text);
    if (!got) return std::unexpected(readError(log, got.error(), "read"));
    text.resize(*got);
    if (const std::size_t end = text.find('\n'); end != std::string::npos) return text.substr(0, end);
    if (*got < want) return text;
  }
  return {};
}

// Returns the number of bytes in an archive, all of which were complete when it was packed. Returns 0 when the archive
// is of another log.
Result<std::uint64_t> bytesIn(const OpenLog& archive, std::string_view firstLine, const EntrySerializer& serializer) {
  BOUGH_TRY(const std::string line, firstLineOf(archive));
  if (line != firstLine) return 0;
  ScanState state;
  NullSink sink;
  const auto scanned = scanLog(*archive.source, serializer, state, sink);
  if (!scanned) return std::unexpected(readError(archive, scanned.error(), "read"));
  if (archive.source->damagedAt()) return std::unexpected(unpackError(archive));
  return state.offset;
}

// Returns the origin in a log's first line, which may be damaged.
std::optional<ForkOrigin> originIn(const std::string& line, const EntrySerializer& serializer) {
  const auto first = serializer.decode(bareLine(line));
  return first ? readHeader(*first).origin : originNamedIn(line);
}

// Asks one after the other, and records the first that could not be asked.
class CountedElsewhereQuery {
 public:
  CountedElsewhereQuery(const CountingPlaces& places, const std::string& sessionId, std::string_view firstLine)
      : places_(places), sessionId_(sessionId), firstLine_(firstLine) {}

  CountedElsewhere run(std::string_view headerId) {
    note(askCatalog(headerId, kCatalogFile));
    if (!wasWrittenAfter(kDamagedCatalogFile)) note(askCatalog(headerId, kDamagedCatalogFile));
    for (const auto& folder : {places_.folders.archive, places_.folders.sessions}) {
      for (const auto& [ending, form] : kForms) {
        if (folder && form != LogForm::Plain) note(askArchive(folder, sessionId_ + std::string(ending), form));
      }
    }
    for (const auto& folder : {places_.folders.sessions, places_.folders.archive}) {
      if (folder) note(askForksIn(folder));
    }
    note(askTrash());
    return std::move(counted_);
  }

 private:
  void note(Result<void> asked) {
    if (!asked && !counted_.askFailure) counted_.askFailure = std::move(asked).error();
  }

  // Returns true when the log was written to after the file was put in place: then the file says nothing about the end
  // of the log.
  [[nodiscard]] bool wasWrittenAfter(const char* file) const {
    constexpr std::uint64_t kTickNs = 20'000'000;
    const auto put = places_.root.info(file);
    const auto log = places_.folders.sessions->info(sessionId_ + ".jsonl");
    return put && log && log->modifiedNs > put->changedNs + kTickNs;
  }

  Result<void> askCatalog(std::string_view headerId, const char* file) {
    BOUGH_TRY(const auto row, readCatalogRow(places_.root.path(), sessionId_, file));
    if (row && row->headerId == headerId) counted_.bytes = std::max(counted_.bytes, row->bytes);
    return {};
  }

  Result<void> askArchive(const std::shared_ptr<Directory>& folder, const std::string& name, LogForm form) {
    BOUGH_TRY(const auto archive, openFile(folder, name, form));
    if (!archive) return {};
    BOUGH_TRY(const std::uint64_t bytes, bytesIn(*archive, firstLine_, places_.serializer));
    counted_.bytes = std::max(counted_.bytes, bytes);
    return {};
  }

  Result<void> askTrash() {
    auto folder = places_.root.openDirectory(places_.trash, /*create=*/false);
    if (!folder && folder.error() == ENOENT) return {};
    const std::string path = places_.root.path() + "/" + std::string(places_.trash);
    if (!folder) return std::unexpected(systemError(folder.error(), "open", path));
    return askForksIn(std::move(*folder));
  }

  Result<void> askForksIn(const std::shared_ptr<Directory>& folder) {
    BOUGH_TRY(const auto names, orError(folder->list(), "list", folder->path()));
    for (const std::string& name : names) {
      for (const auto& [ending, form] : kForms) {
        if (name.ends_with(ending)) note(askFork(folder, name, form));
      }
    }
    return {};
  }

  Result<void> askFork(const std::shared_ptr<Directory>& folder, const std::string& name, LogForm form) {
    BOUGH_TRY(const auto fork, openFile(folder, name, form));
    if (!fork) return {};
    BOUGH_TRY(const std::string line, firstLineOf(*fork));
    if (!line.contains(sessionId_)) return {};
    auto origin = originIn(line, places_.serializer);
    if (origin && origin->sessionId == sessionId_) counted_.entryIds.push_back(std::move(origin->entryId));
    return {};
  }

  const CountingPlaces& places_;
  const std::string& sessionId_;
  const std::string_view firstLine_;
  CountedElsewhere counted_;
};

}  // namespace

CountedElsewhere countedElsewhere(const CountingPlaces& places, const std::string& sessionId,
                                  std::string_view firstLine) {
  const auto header = places.serializer.decode(bareLine(firstLine));
  return CountedElsewhereQuery(places, sessionId, firstLine).run(header ? header->id : "");
}

}  // namespace bough
