#include "bough/store.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/try.h"
#include "store/copy/session_part.h"
#include "store/rules/erasure.h"

namespace bough {

using namespace copying;

namespace {

Error differs(const StoreSide& to, const std::string& sessionId, std::uint64_t sequence) {
  return fail(ErrorCode::Conflict,
              fmt::format("session {} differs in {}, from entry {} on", sessionId, to.backend->describe(), sequence),
              "`bough sync` joins sessions that were written to in two places")
      .error();
}

// `copied` is what earlier tries copied.
Result<void> copyOne(StoreSide& from, StoreSide& to, CopiedSession& copied, SeenSessions& seen) {
  const std::string& sessionId = copied.sessionId;
  BOUGH_TRY(const auto header, findHeader(from, sessionId));
  if (!header) return fail(ErrorCode::NotFound, fmt::format("there is no session {}", sessionId));
  BOUGH_TRY(const auto there, findHeader(to, sessionId));
  if (!there) copied.copiedEntries = 0;
  const std::uint64_t before = copied.copiedEntries;
  std::uint64_t present = 0;
  std::string tail;
  bool atEnd = false;  // of the target's entries
  for (std::uint64_t next = 0;;) {
    BOUGH_TRY(const auto part, readPart(from, sessionId, next));
    // Create the session only after the first read, so that an unreadable session leaves nothing in the target.
    if (next == 0) {
      BOUGH_TRY(makeSession(from, to, sessionId, *header));
      seen.add(to, sessionId);
    }
    std::vector<Entry> known;
    if (!atEnd) {
      BOUGH_TRY(known, readCount(to, sessionId, next, std::max<std::size_t>(part.size(), 1), &from));
    }
    if (known.size() > part.size()) return std::unexpected(differs(to, sessionId, next));
    if (part.empty()) break;
    for (std::size_t i = 0; i < known.size(); ++i) {
      if (!isSame(part[i], known[i])) {
        const bool here = isErasedPayload(part[i].payload);
        if (part[i].id == known[i].id && here != isErasedPayload(known[i].payload)) {
          return std::unexpected(erasedInOne(sessionId, part[i].id, here ? from : to, here ? to : from));
        }
        return std::unexpected(differs(to, sessionId, next + i));
      }
      tail = known[i].id;
    }
    present += known.size();
    atEnd |= known.size() < part.size();
    const std::vector<Entry> rest(part.begin() + static_cast<std::ptrdiff_t>(known.size()), part.end());
    BOUGH_TRY(appendAll(to, sessionId, rest, tail, copied.copiedEntries));
    next += part.size();
  }
  copied.presentEntries = present - std::min(present, before);
  return {};
}

// `done` is what earlier tries copied.
Result<std::vector<CopiedSession>> copyLineage(StoreSide& from, StoreSide& to, const std::string& sessionId,
                                               std::vector<CopiedSession>& done, SeenSessions& seen) {
  BOUGH_TRY(const auto lineage, lineageOf({&from}, sessionId));
  std::vector<CopiedSession> copied;
  for (const std::string& each : lineage) {
    auto known = std::ranges::find(done, each, &CopiedSession::sessionId);
    if (known == done.end()) known = done.insert(known, {.sessionId = each});
    BOUGH_TRY(copyOne(from, to, *known, seen));
    copied.push_back(*known);
  }
  return copied;
}

}  // namespace

Result<std::vector<CopiedSession>> copySession(StoreSide& from, StoreSide& to, const std::string& sessionId) {
  std::vector<CopiedSession> done;
  for (int tries = 1;; ++tries) {
    SeenSessions seen;
    auto copied = copyLineage(from, to, sessionId, done, seen);
    // Retry when somebody has removed a session from the target meanwhile.
    if (copied || tries == kRemovalTries || !seen.isCausedByRemoval(copied.error())) return copied;
  }
}

}  // namespace bough
