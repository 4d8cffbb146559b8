// Writes a session that was imported and not changed since as the original bytes of its agent, entry by entry. However
// long the session is, only a few of its entries are in memory.
#include <optional>

#include "base/json/json_scan.h"
#include "base/try.h"
#include "transcript/model/facts.h"
#include "transcript/model/origin.h"

namespace bough {
namespace {

using namespace transcript;

constexpr std::uint64_t kCopiedAtOnce = 16;  // an entry may have 32 MiB

class Copying {
 public:
  Copying(SessionStore& store, const std::string& sessionId, const std::string& agent)
      : store_(store), sessionId_(sessionId), agent_(agent) {}

  // Returns whether the session consists only of the lines of one whole file.
  Result<bool> check() {
    BOUGH_TRY(const auto state, store_.sessionState(sessionId_));
    if (state.origin || state.problemCount > 0) return false;
    BOUGH_TRY(each([&](std::uint64_t sequence, const Entry& entry) { return checkEntry(sequence, entry); }));
    return isWhole_ && written_.entries > 0;
  }

  Result<WrittenTranscript> write(const std::function<Result<void>(std::string_view)>& out) {
    Result<void> done;
    BOUGH_TRY(each([&](std::uint64_t sequence, const Entry& entry) {
      const auto origin = originOf(entry);
      if (!origin || !origin->hasLine || (origin->torn && sequence != lastLine_)) return true;
      const auto line = lineOf(entry);
      done = line ? out(*line) : fail(ErrorCode::Conflict, "the session changed while it was written", "try again");
      return done.has_value();
    }));
    BOUGH_TRY(done);
    written_.verbatim = written_.entries;
    written_.sameBytes = true;
    return written_;
  }

  [[nodiscard]] const std::vector<Entry>& facts() const { return facts_; }

 private:
  Result<void> each(const std::function<bool(std::uint64_t, const Entry&)>& use) {
    bool goesOn = true;
    for (std::uint64_t from = 0; goesOn;) {
      std::uint64_t count = 0;
      BOUGH_TRY(store_.readOwnEntries(sessionId_, from, kCopiedAtOnce, [&](std::uint64_t sequence, const Entry& entry) {
        ++count;
        goesOn = goesOn && use(sequence, entry);
      }));
      if (count == 0) return {};
      from += count;
    }
    return {};
  }

  bool checkEntry(std::uint64_t sequence, const Entry& entry) {
    if (sequence == 0 && entry.type == entry_type::kSessionHeader) return true;
    if (holdsFacts(entry)) {
      facts_.assign(1, entry);
      return true;
    }
    // An import notes where the agent left off.
    if (entry.type == entry_type::kHead && json::findMember(entry.payload, "transcript")) return true;
    const auto origin = originOf(entry);
    isWhole_ = origin && origin->agent == agent_ && !origin->carries && !entry.redacted && fits(*origin, entry);
    if (!isWhole_) return false;
    ++written_.entries;
    if (!origin->hasLine) return true;
    if (wasTorn_) --written_.entries;  // the whole line replaced it
    wasTorn_ = origin->torn;
    lastLine_ = sequence;
    return true;
  }

  // Returns whether the line begins where the previous line ends.
  bool fits(const Origin& origin, const Entry& entry) {
    if (!origin.hasLine) return origin.sizeBytes == 0;
    if (origin.offset != end_ || !lineOf(entry)) return false;
    if (!origin.torn) end_ += origin.sizeBytes;
    return true;
  }

  SessionStore& store_;
  const std::string& sessionId_;
  const std::string& agent_;
  std::vector<Entry> facts_;
  WrittenTranscript written_;
  bool isWhole_ = true;
  bool wasTorn_ = false;
  std::uint64_t lastLine_ = 0;  // sequence of its entry
  std::uint64_t end_ = 0;       // end of the lines so far
};

}  // namespace

Result<std::optional<CopiedTranscript>> copyTranscript(SessionStore& store, const std::string& sessionId,
                                                       const std::string& agent,
                                                       const std::function<Result<void>(std::string_view)>& out) {
  Copying copying(store, sessionId, agent);
  BOUGH_TRY(const bool isWhole, copying.check());
  if (!isWhole || copying.facts().empty()) return std::nullopt;
  CopiedTranscript copied{.facts = importedFacts(copying.facts()), .written = {}};
  if (copied.facts.agent != agent) return std::nullopt;
  BOUGH_TRY(copied.written, copying.write(out));
  return copied;
}

}  // namespace bough
