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
              fmt::format("session {} is another one in {}, from its entry {} on", sessionId, to.backend->describe(),
                          sequence),
              "`bough sync` joins sessions that were written to in two places")
      .error();
}

Result<CopiedSession> copyOne(StoreSide& from, StoreSide& to, const std::string& sessionId) {
  CopiedSession copied{.sessionId = sessionId};
  BOUGH_TRY(const auto header, findHeader(from, sessionId));
  if (!header) return fail(ErrorCode::NotFound, fmt::format("there is no session {}", sessionId));
  std::string tail;
  bool atEnd = false;  // of what the target has
  for (std::uint64_t next = 0;;) {
    BOUGH_TRY(const auto part, readPart(from, sessionId, next));
    // Made only now, so that a session that cannot be read leaves none in the target.
    if (next == 0) {
      BOUGH_TRY(makeSession(from, to, sessionId, *header));
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
    copied.presentEntries += known.size();
    atEnd |= known.size() < part.size();
    const std::vector<Entry> rest(part.begin() + static_cast<std::ptrdiff_t>(known.size()), part.end());
    BOUGH_TRY(appendAll(to, sessionId, rest, tail));
    copied.copiedEntries += rest.size();
    next += part.size();
  }
  return copied;
}

Result<std::vector<CopiedSession>> copyLineage(StoreSide& from, StoreSide& to, const std::string& sessionId) {
  BOUGH_TRY(const auto lineage, lineageOf({&from}, sessionId));
  std::vector<CopiedSession> copied;
  for (const std::string& each : lineage) {
    BOUGH_TRY(auto one, copyOne(from, to, each));
    copied.push_back(std::move(one));
  }
  return copied;
}

}  // namespace

Result<std::vector<CopiedSession>> copySession(StoreSide& from, StoreSide& to, const std::string& sessionId) {
  auto copied = copyLineage(from, to, sessionId);
  // Somebody may remove a session from the target meanwhile. One that is gone from the source is not found again.
  if (!copied && copied.error().code == ErrorCode::NotFound) copied = copyLineage(from, to, sessionId);
  return copied;
}

}  // namespace bough
