// Searching sessions without the index: reads their files, several parts of them at a time.
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

/// A stretch of a text with what was found in it marked, as SearchHit::excerpt; none when nothing is.
using ExcerptOf = std::function<Result<std::optional<std::string>>(std::string_view text)>;

/// What is looked for.
struct ScanQuery {
  std::vector<std::string> anchors = {};  ///< Each entry that matches holds one; none: nothing is known.
  AnchorForm form = AnchorForm::Bytes;
  std::function<Result<ExcerptOf>()> matcher = {};  ///< Called once for each thread.
  bool titles = false;                              ///< Look at titles that were given, too.
};

/// Words as Catalog::search takes them. InvalidArgument when there is nothing to look for.
Result<ScanQuery> scanForWords(std::string_view query);

struct ScanOptions {
  std::vector<std::string> roles = {};
  std::optional<std::uint64_t> sinceMs = {};
  std::optional<std::uint64_t> untilMs = {};
  std::size_t mostOfSession = SIZE_MAX;  ///< Only so many entries of a session, the newest.
};

/// Looks through sessions, several at a time, and gives what it finds in their order, the newest entry of each first.
/// A hit in a title has no entry; hits have no title and no score. Ends when `use` returns false. Sessions that cannot
/// be read are named to `problem`.
void scanSessions(SessionStore& store, const std::vector<std::string>& sessions, const ScanQuery& query,
                  const ScanOptions& options, const std::function<bool(SearchHit&)>& use,
                  const std::function<void(const std::string& sessionId, const Error&)>& problem);

/// The sessions of a filter, its times ignored, most recent first. The files are asked, because the catalog may not
/// know all of them yet.
Result<std::vector<std::string>> sessionsByFile(SessionStore& store, const SessionFilter& filter);

/// A session's title, read from its log.
Result<std::string> readTitle(SessionStore& store, const std::string& sessionId);

}  // namespace bough::catalog
