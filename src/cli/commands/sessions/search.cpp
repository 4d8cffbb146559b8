#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/text/counted.h"
#include "base/text/shell_word.h"
#include "base/text/text.h"
#include "base/try.h"
#include "catalog/external_search.h"
#include "catalog/search/similar_query.h"
#include "cli/commands/commands.h"
#include "cli/commands/sessions/search_view.h"
#include "cli/names/agents_view.h"
#include "cli/names/catalog_view.h"
#include "cli/names/damage.h"
#include "cli/names/entry_name.h"
#include "cli/names/foreign.h"
#include "cli/names/session_name.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"
#include "cli/views/text_matcher.h"

namespace bough::cli::search_command {
namespace {

struct Options {
  std::string agents;
  FilterOptions filter;
  std::vector<std::string> words;
  std::string session;
  std::vector<std::string> roles;
  std::vector<std::string> dashWords;
  std::uint64_t limit = 0;  // 0: not given
  std::uint64_t around = 0;
  std::string branch;
  bool fixed = false;
  bool regex = false;
  bool ignoreCase = false;
  bool sessionsWith = false;

  [[nodiscard]] std::size_t shown() const {
    constexpr std::size_t kDefault = 20;
    return limit == 0 ? kDefault : static_cast<std::size_t>(limit);
  }
};

// Returns true when other agents' sessions are searched, in their files.
bool isExternal(const Options& options) {
  return !options.agents.empty() && options.session.empty();
}

// Restores phrases: a word with blanks was in quotation marks before the shell removed them. The same applies after a
// dash.
std::string queryOf(const Options& options) {
  const auto quoted = [](const std::string& word, bool alone) {
    const bool phrase = word.find(' ') != std::string::npos && word.find('"') == std::string::npos;
    return phrase && !alone ? "\"" + word + "\"" : word;
  };
  std::string query;
  for (const std::string& word : options.words) {
    query += (query.empty() ? "" : " ") + quoted(word, options.words.size() == 1 && options.dashWords.empty());
  }
  for (const std::string& word : options.dashWords) query += " -" + quoted(word.substr(1), false);
  return query;
}

// Best first; equal hits newest first.
void orderHits(std::vector<SearchHit>& hits) {
  std::ranges::stable_sort(hits, [](const SearchHit& left, const SearchHit& right) {
    constexpr double kSame = 1e-6;
    if (std::abs(left.score - right.score) > kSame) return left.score > right.score;
    return left.timeMs > right.timeMs;
  });
}

// A hit whose text cannot be read any more is shown without the text.
void reportMissingTexts(const std::vector<SearchHit>& hits) {
  const auto isMissing = [](const SearchHit& hit) { return hit.excerpt.empty(); };
  const auto first = std::ranges::find_if(hits, isMissing);
  if (first == hits.end()) return;
  const auto count = static_cast<std::uint64_t>(std::ranges::count_if(hits, isMissing));
  printMessage(fmt::format("the text of {} cannot be read now; `bough verify {}` says why",
                           counted(count, "hit", "hits"), exactName(first->sessionId)));
}

Result<std::vector<SearchHit>> searchIndex(Catalog& catalog, const std::string& query, const SessionFilter& filter,
                                           const Options& options, std::size_t limit) {
  SearchOptions asked{.filter = filter, .roles = options.roles, .limit = limit};
  if (options.sessionsWith) asked.excerptTokens = 0;
  BOUGH_TRY(auto hits, catalog.search(query, asked));
  for (SearchHit& hit : hits) hit.excerpt = joinPhrases(hit.excerpt, query);
  orderHits(hits);
  if (!options.roles.empty()) return hits;
  BOUGH_TRY(auto titles, searchTitles(catalog, query, filter, limit));
  hits.insert(hits.begin(), std::make_move_iterator(titles.begin()), std::make_move_iterator(titles.end()));
  return hits;
}

Result<catalog::ScanQuery> textQueryOf(const Options& options) {
  const std::string pattern = fmt::format("{}", fmt::join(options.words, " "));
  if (pattern.empty())
    return fail(ErrorCode::InvalidArgument, "there is no text to look for", "write it after --fixed or --regex");
  if (options.fixed) return TextMatcher::fixed(pattern, options.ignoreCase).scan();
  BOUGH_TRY(const auto matcher, TextMatcher::regex(pattern, options.ignoreCase));
  return matcher.scan();
}

// Lists sessions, newest first, in pages of growing size, so that hits in the first sessions are shown at once.
class SessionPages {
 public:
  SessionPages(const CatalogView& view, SessionFilter filter) : view_(view), filter_(std::move(filter)) {
    filter_.sinceMs = filter_.untilMs = {};  // these filter entries, not sessions
  }

  // Returns an empty list when there are no more.
  Result<std::vector<std::string>> next() {
    std::vector<std::string> sessions;
    if (size_ == 0) return sessions;
    if (view_.isOutOfDate && !view_.isDatabase) {
      // The catalog does not know all sessions yet.
      size_ = 0;
      return catalog::sessionsByFile(*view_.store, filter_);
    }
    BOUGH_TRY(const auto rows,
              view_.catalog->list({.filter = filter_, .limit = size_, .after = after_, .models = false}));
    for (const SessionSummary& row : rows) sessions.push_back(row.sessionId);
    if (!rows.empty()) after_ = {.activeMs = rows.back().activeMs, .sessionId = rows.back().sessionId};
    size_ = rows.size() < size_ ? 0 : std::min(size_ * kGrowth, kMostRows);
    return sessions;
  }

 private:
  static constexpr std::size_t kGrowth = 8;
  static constexpr std::size_t kMostRows = 20'000;  // in memory
  const CatalogView& view_;
  SessionFilter filter_;
  std::size_t size_ = 100;
  std::optional<ListPlace> after_ = {};
};

std::string titleOf(const CatalogView& view, const std::string& sessionId) {
  if (view.isOutOfDate) return catalog::readTitle(*view.store, sessionId).value_or("");
  const auto row = view.catalog->session(sessionId);
  return row ? row->title : "";
}

// Shows a hit as soon as it is found; null: all hits are shown at the end.
using ShowHit = std::function<void(const SearchHit&)>;

// Searches the text of the sessions themselves, newest session first.
Result<std::vector<SearchHit>> scan(const CatalogView& view, const catalog::ScanQuery& query,
                                    const SessionFilter& filter, const Options& options, std::size_t limit,
                                    const ShowHit& show = {}, std::size_t mostSessions = SIZE_MAX) {
  std::vector<SearchHit> hits;
  std::map<std::string, std::string> titles;
  const auto take = [&](SearchHit& hit) {
    const auto [known, isNew] = titles.try_emplace(hit.sessionId);
    if (isNew) known->second = titleOf(view, hit.sessionId);
    hit.title = known->second;
    if (show && hits.size() < options.shown()) show(hit);
    hits.push_back(std::move(hit));
    return hits.size() < limit && !outputClosed();
  };
  const auto nameProblem = [&](const std::string& sessionId, const Error& error) {
    printMessage(fmt::format("note: {} was not searched to its end: {}",
                             nameWithTitle({.sessionId = sessionId, .title = titleOf(view, sessionId)}),
                             text::printable(error.message)));
  };
  SessionPages pages(view, filter);
  for (std::size_t scanned = 0;;) {
    BOUGH_TRY(auto sessions, pages.next());
    sessions.resize(std::min(sessions.size(), mostSessions - scanned));
    scanned += sessions.size();
    if (sessions.empty() || hits.size() >= limit || outputClosed()) return hits;
    const catalog::ScanOptions how{
        .roles = options.roles, .sinceMs = filter.sinceMs, .untilMs = filter.untilMs, .maxHitsPerSession = limit};
    isExternal(options) ? catalog::searchExternalSessions(view.store->folder(), sessions, query, how, take, nameProblem)
                        : catalog::scanSessions(*view.store, sessions, query, how, take, nameProblem);
  }
}

// Returns at most `limit` hits.
using Find = std::function<Result<std::vector<SearchHit>>(std::size_t limit)>;

// Returns only hits on one branch; if `branch` is empty, all. Searches with growing limits until enough hits are on it.
Result<std::vector<SearchHit>> findInBranch(SessionStore& store, const std::string& session, const std::string& branch,
                                            std::size_t wanted, const Find& find) {
  if (branch.empty()) return find(wanted);
  constexpr std::size_t kGrowth = 8;
  BOUGH_TRY(const auto leaf, resolveEntry(store, session, branch));
  BOUGH_TRY(const auto tree, store.loadTree(session));
  BOUGH_TRY(const auto end, store.sequenceOf(session, leaf));
  const std::vector<Sequence> path = tree.path(end);
  const auto isElsewhere = [&](const SearchHit& hit) {
    const auto node = hit.entryId.empty() ? Result<Sequence>(kNoSequence) : store.sequenceOf(session, hit.entryId);
    return !node || !std::ranges::binary_search(path, *node);
  };
  std::size_t found = 0;
  for (std::size_t limit = wanted;; limit *= kGrowth) {
    BOUGH_TRY(auto hits, find(limit));
    const bool isAll = hits.size() <= std::exchange(found, hits.size());
    std::erase_if(hits, isElsewhere);
    if (isAll || hits.size() >= wanted) return hits;
  }
}

// Searches for words, with or without the index.
Result<std::vector<SearchHit>> findWords(const CatalogView& view, const std::string& query, const SessionFilter& filter,
                                         const Options& options, std::size_t limit, const ShowHit& show = {},
                                         std::size_t mostSessions = SIZE_MAX) {
  if (!view.isOutOfDate && !isExternal(options)) return searchIndex(*view.catalog, query, filter, options, limit);
  BOUGH_TRY(const auto asked, catalog::scanForWords(query));
  std::vector<SearchHit> titles;
  if (isExternal(options) && options.roles.empty()) {
    BOUGH_TRY(titles, searchTitles(*view.catalog, query, filter, limit));
    for (const SearchHit& hit : titles) {
      if (show) show(hit);
    }
  }
  BOUGH_TRY(auto hits, scan(view, asked, filter, options, limit, show, mostSessions));
  hits.insert(hits.begin(), std::make_move_iterator(titles.begin()), std::make_move_iterator(titles.end()));
  return hits;
}

// The limit for guesses without an index: only the newest sessions are read, because nobody should wait for a guess.
constexpr std::size_t kGuessedSessions = 2'000;

Result<bool> isFound(const CatalogView& view, const std::string& query, const SessionFilter& filter,
                     const Options& options) {
  const Find find = [&](std::size_t most) {
    return findWords(view, query, filter, options, most, {}, kGuessedSessions);
  };
  BOUGH_TRY(const auto hits, findInBranch(*view.store, filter.session, options.branch, 1, find));
  return !hits.empty();
}

// Returns the word in the sessions' texts that is most similar to `word`; of equally similar words the most frequent.
std::string similarInTexts(const CatalogView& view, const std::string& word, const SessionFilter& filter,
                           const Options& options) {
  constexpr std::size_t kMost = 100;  // entries to examine
  const auto matcher = TextMatcher::misspelled(word);
  if (!matcher) return {};
  catalog::ScanQuery asked = matcher->scan();
  asked.matcher = [matcher] {
    return Result<catalog::ExcerptOf>([matcher](std::string_view text) -> Result<std::optional<std::string>> {
      const auto place = matcher->find(text);
      return place ? std::optional(std::string(text.substr(place->begin, place->end - place->begin))) : std::nullopt;
    });
  };
  const auto hits = scan(view, asked, filter, options, kMost, {}, kGuessedSessions);
  std::map<std::string, std::size_t> counts;
  std::string best;
  for (const SearchHit& hit : hits.value_or(std::vector<SearchHit>())) {
    if (++counts[hit.excerpt] > counts[best]) best = hit.excerpt;
  }
  return best;
}

// Returns the query with words that occur nowhere replaced. Used without the index, and for Chinese, because the index
// treats each Chinese character as a word. Empty when nothing changes.
std::string similarByScan(const CatalogView& view, const std::string& query, const SessionFilter& filter,
                          const Options& options) {
  constexpr std::size_t kMostWords = 4;
  std::string other;
  std::size_t words = 0;
  for (std::size_t at = 0; at < query.size();) {
    const std::size_t end = std::min(query.find_first_of(" \"", at), query.size());
    const std::string word = query.substr(at, end - at);
    std::string meant;
    const bool isWord = !word.empty() && word != "OR" && !word.starts_with('-') && words++ < kMostWords;
    const bool isNowhere = isWord && (word == query || !isFound(view, word, filter, options).value_or(true));
    if (isNowhere) meant = similarInTexts(view, word, filter, options);
    other += meant.empty() ? word : meant;
    if (end < query.size()) other += query[end];
    at = end + 1;
  }
  return other == query ? "" : other;
}

// Suggests a query that was perhaps meant, if that query finds something.
void reportNothingFound(const CatalogView& view, const std::string& query, const SessionFilter& filter,
                        const Options& options) {
  const auto suggest = [&](const std::string& other) {
    if (other.empty() || !isFound(view, other, filter, options).value_or(false)) return false;
    const std::string shown = other.contains('"') ? other : fmt::format("\"{}\"", other);
    printMessage(fmt::format("nothing found; did you mean {}?", text::printable(shown)));
    return true;
  };
  if (!options.fixed && !options.regex) {
    const bool isAscii = std::ranges::all_of(query, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
    if (suggest(withoutOperators(query)) || suggest(withBeginnings(query))) return;
    // Only a store in a folder has the index in a file.
    const bool indexed = !view.isOutOfDate && !isExternal(options);
    const auto similar = indexed ? catalog::similarQuery(view.store->folder(), query)
                                 : Result<std::string>(fail(ErrorCode::NotFound, "there is no index"));
    if (similar && suggest(*similar)) return;
    if ((!similar || !isAscii) && suggest(similarByScan(view, query, filter, options))) return;
  }
  printMessage("nothing found");
}

AroundOf aroundOf(const CatalogView& view, const Options& options) {
  if (options.around == 0) return {};
  return [&](const SearchHit& hit) -> Result<Around> {
    if (!isExternal(options)) {
      std::string leaf;
      if (!options.branch.empty()) {
        BOUGH_TRY(leaf, resolveEntry(*view.store, hit.sessionId, options.branch));
      }
      return readAround(*view.store, hit, options.around, leaf);
    }
    BOUGH_TRY(const auto session, openListedSession(hit.sessionId));
    return readAround(*session.store, hit, options.around);
  };
}

Result<void> checkOptions(const Options& options) {
  if (options.words.empty() && options.dashWords.empty()) {
    // The value of --agents is optional, so the word after it was taken as the value.
    return fail(ErrorCode::InvalidArgument, "WORDS is required",
                options.agents.empty() || options.agents == "all"
                    ? "`bough help search` explains it"
                    : fmt::format("{0} was taken for the list of --agents; write --agents=all {0}",
                                  shellWord(text::printable(options.agents))));
  }
  if (options.fixed && options.regex) {
    return fail(ErrorCode::InvalidArgument, "--fixed and --regex cannot be given together", "leave one of them out");
  }
  if (options.ignoreCase && !options.fixed && !options.regex) {
    return fail(ErrorCode::InvalidArgument, "--ignore-case is for --fixed and --regex",
                "leave it out: words are found in every case");
  }
  if (!options.dashWords.empty() && (options.fixed || options.regex)) {
    return fail(ErrorCode::InvalidArgument, fmt::format("there is no option {}", options.dashWords.front()),
                "write the pattern after --, as in `bough search --fixed -- -Wall`");
  }
  if (options.words.empty()) {
    const std::string& word = options.dashWords.front();
    return fail(ErrorCode::InvalidArgument,
                fmt::format("{} excludes entries, but there is no word to look for", text::excerpt(word, 40)),
                fmt::format("add at least one word, as in `bough search error {}`; to look for {} itself, write "
                            "`bough search --fixed -- {}`",
                            shellWord(word), text::excerpt(word, 40), shellWord(word)));
  }
  if (!options.branch.empty() && options.session.empty()) {
    return fail(ErrorCode::InvalidArgument, "--branch needs a session", "name it with --in SESSION");
  }
  return {};
}

Result<ExitCode> run(const Context& context, const Options& options) {
  BOUGH_TRY(checkOptions(options));
  BOUGH_TRY(auto filter, options.filter.filter());
  const bool scans = options.fixed || options.regex;
  const std::string query = queryOf(options);
  if (isExternal(options)) {
    BOUGH_TRY(filter.writtenBy, parseAgents(options.agents));
  }
  // --strict checks every session first.
  const WhenOutOfDate whenOutOfDate = context.strict ? WhenOutOfDate::Update : WhenOutOfDate::Leave;
  BOUGH_TRY(auto view, isExternal(options) ? openAgentsView(options.agents)
                       : options.session.empty()
                           ? openCatalogView(context, /*search=*/!scans, whenOutOfDate)
                           : openCatalogViewOf(context, options.session, /*search=*/!scans, whenOutOfDate));
  filter.session = view.sessionId;
  BOUGH_TRY(reportDamagedSessions(context, *view.catalog,
                                  {.agent = filter.agent,
                                   .key = filter.key,
                                   .cwd = filter.cwd,
                                   .session = filter.session,
                                   .writtenBy = filter.writtenBy}));
  constexpr std::size_t kCounted = 200'000;  // the limit for counting hits, which are in memory
  const std::size_t limit = options.sessionsWith ? kCounted : options.shown() + 1;
  const AroundOf around = aroundOf(view, options);
  std::optional<Pager> pager;  // begins with the first hit
  ShowHit show;
  const bool isScan = scans || view.isOutOfDate || isExternal(options);
  if (isScan && !context.json && !options.sessionsWith && options.branch.empty()) {
    show = [&](const SearchHit& hit) {
      if (!pager) pager.emplace();
      printHits({hit}, around);
    };
  }
  const Find find = [&](std::size_t most) -> Result<std::vector<SearchHit>> {
    if (!scans) return findWords(view, query, filter, options, most, show);
    BOUGH_TRY(const auto pattern, textQueryOf(options));
    return scan(view, pattern, filter, options, most, show);
  };
  BOUGH_TRY(auto hits, findInBranch(*view.store, filter.session, options.branch, limit, find));
  pager.reset();
  // Start this after the scan, which needs every core. The copy of another agent's file is removed with this command.
  if (view.isOutOfDate && !view.cannotUpdate && view.temporaryFiles == nullptr) startBackgroundUpdate(view);
  if (options.sessionsWith && hits.size() >= kCounted) {
    printMessage(
        fmt::format("note: only {} were counted, and there may be more; --since, --in or another word finds fewer",
                    counted(hits.size(), "entry", "entries")));
  }
  const bool more = !options.sessionsWith && hits.size() > options.shown();
  if (more) hits.resize(options.shown());
  if (!isScan && !options.sessionsWith) reportMissingTexts(hits);
  if (hits.empty() && !context.json) {
    reportNothingFound(view, query, filter, options);
  } else if (options.sessionsWith) {
    const Pager listed(!context.json);
    printSessionsWith(hits, options.limit == 0 ? SIZE_MAX : options.shown(), context.json);
  } else if (context.json) {
    printHitsJson(hits, more, around);
  } else {
    if (!show) {
      const Pager paged;
      printHits(hits, around);
    }
    if (more)
      printMessage(fmt::format("showing the {} {}; --limit N shows more", isScan ? "newest" : "best", hits.size()));
  }
  return hits.empty() ? kProblem : kDone;
}

}  // namespace

Command define() {
  auto options = std::make_shared<Options>();
  std::vector<Option> definitions = {
      {.name = "WORDS", .help = "What to look for", .target = &options->words, .required = true, .mayBeEmpty = true}};
  for (Option& each : options->filter.definitions()) definitions.push_back(std::move(each));
  definitions.push_back({.name = "--in",
                         .help = "Only in this session",
                         .target = &options->session,
                         .value = "SESSION",
                         .conflictsWith = {"--agents"}});
  definitions.push_back({.name = "--session",
                         .help = "The same as --in",
                         .target = &options->session,
                         .value = "SESSION",
                         .conflictsWith = {"--in", "--agents"}});
  definitions.push_back({.name = "--branch",
                         .help = "With --in, only in the branch that ends in this entry",
                         .target = &options->branch,
                         .value = "ENTRY"});
  definitions.push_back({.name = "--fixed",
                         .help = "Look for exactly this text in the sessions themselves, not for words in the index",
                         .target = &options->fixed});
  definitions.push_back({.name = "--regex",
                         .help = "As --fixed, with a regular expression as in `rg` or `grep -E`",
                         .target = &options->regex});
  definitions.push_back({.name = "--ignore-case",
                         .help = "With --fixed or --regex, ignore the case of the letters A to Z",
                         .target = &options->ignoreCase});
  definitions.push_back({.name = "-C,--context",
                         .help = "Show N messages before and after each entry that was found",
                         .target = &options->around,
                         .value = "N",
                         .most = 100});
  definitions.push_back({.name = "--sessions-with",
                         .help = "List sessions instead of entries, with the number of entries found in each",
                         .target = &options->sessionsWith,
                         .conflictsWith = {"--context"}});
  definitions.push_back({.name = "--role",
                         .help = "Only messages of this role; may be repeated",
                         .target = &options->roles,
                         .choices = {"user", "assistant", "tool", "system", "summary"},
                         .value = "ROLE"});
  definitions.push_back(
      {.name = "-n,--limit",
       .help = "Show at most N entries (default: 20); with --sessions-with, N sessions (default: all)",
       .target = &options->limit,
       .value = "N"});
  definitions.push_back(
      {.name = "--agents",
       .help = "Show sessions of other agents on this machine instead: all, or names separated by commas",
       .target = &options->agents,
       .value = "LIST",
       .valueWhenBare = "all"});
  return {
      .name = "search",
      .summary = "Find entries by the words in them, best match first",
      .details =
          "Searches titles, messages, thinking, tool calls and their results. All words must occur in the entry. \"two "
          "words\" is a phrase, begin* matches every word that begins with begin, -word excludes entries that "
          "contain word, and one OR other matches either. Letter case and accents do not matter. Chinese and "
          "Japanese are found by one character or more. --fixed and --regex read the sessions themselves, several at "
          "a time, the newest first; the first search of a large store does the same while the index is built. The "
          "exit code "
          "is 1 when nothing is found.",
      .examples =
          "  bough search parse error\n"
          "  bough search '\"connection refused\" -test*' --role tool --since 7d\n"
          "  bough search --regex 'E[0-9]{4}' --in SESSION -C 1\n"
          "  bough search 東京 --json",
      .options = std::move(definitions),
      .run = [options](const Context& context) { return run(context, *options); },
      .dashWords = &options->dashWords,
  };
}

}  // namespace bough::cli::search_command
