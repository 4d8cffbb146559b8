// Searches sessions without the index: reads their files, several parts at a time.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bough/catalog.h"
#include "bough/store.h"
#include "catalog/search/line_filter.h"

namespace bough::catalog {

/// Returns an excerpt with the matches marked, like SearchHit::excerpt; std::nullopt when the text does not match.
using ExcerptOf = std::function<Result<std::optional<std::string>>(std::string_view text)>;

/// What to search for.
struct ScanQuery {
  std::vector<std::string> anchors = {};  ///< Each matching entry contains one of these. Empty: unknown.
  AnchorForm form = AnchorForm::Bytes;
  std::function<Result<ExcerptOf>()> matcher = {};  ///< Called once per thread.
  bool titles = false;                              ///< Also search given titles.
};

/// Returns a query for words, with the syntax of Catalog::search. Returns InvalidArgument when there is nothing to
/// search for.
Result<ScanQuery> scanForWords(std::string_view query);

struct ScanOptions {
  std::vector<std::string> roles = {};
  std::optional<std::uint64_t> sinceMs = {};
  std::optional<std::uint64_t> untilMs = {};
  std::size_t maxHitsPerSession = SIZE_MAX;  ///< The limit of entries per session, newest first.
};

/// Searches sessions, several at a time, and returns hits in the order of `sessions`, newest entry first within each. A
/// hit in a title has no entry; hits have neither title nor score. Stops when `use` returns false. Calls `problem` for
/// sessions that cannot be read.
void scanSessions(SessionStore& store, const std::vector<std::string>& sessions, const ScanQuery& query,
                  const ScanOptions& options, const std::function<bool(SearchHit&)>& use,
                  const std::function<void(const std::string& sessionId, const Error&)>& problem);

/// Returns the sessions that match a filter, ignoring its times, most recent first. Looks at the files, because the
/// catalog may not contain all sessions yet.
Result<std::vector<std::string>> sessionsByFile(SessionStore& store, const SessionFilter& filter);

/// Reads a session's title from its log.
Result<std::string> readTitle(SessionStore& store, const std::string& sessionId);

}  // namespace bough::catalog
