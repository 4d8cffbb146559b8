// Catalog: what is derived from all sessions of a store. A row a session, keys and titles, full-text search, usage,
// retention.
//
// It lives in <store>/catalog.db (SQLite), beside the logs, and may be deleted at any time: it is rebuilt from them.
// What is forgotten then is which sessions are missing, and what logs held that became shorter. Appends know nothing of
// it. catchUp() reads what is new, session by session, and remembers how far it came; the other calls answer from that.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bough/error.h"
#include "bough/message.h"
#include "bough/store.h"

namespace BOUGH_PUBLIC bough {

// What sessions used: tokens, and what they cost by a table of prices.

/// Dollars for a million tokens.
struct ModelPrice {
  std::string model = {};  ///< The model's name, or its beginning when it ends in `*`.
  double input = 0;
  double output = 0;
  double cacheRead = 0;
  double cacheWrite = 0;  ///< For five minutes.

  /// Anthropic, which alone has it, charges twice the input.
  [[nodiscard]] double cacheWriteHour() const { return 2 * input; }
};

/// Prices of models, the most exact name first. Reasoning is part of the output. A const table may be used from any
/// thread.
class PriceTable {
 public:
  /// The table that comes with bough (docs/prices.md). Lives as long as the program.
  static const PriceTable& builtIn();
  /// Reads a table: lines of `model input output cacheRead cacheWrite` in dollars for a million tokens, `#` begins a
  /// comment; at most 10,000 lines and a mebibyte. InvalidArgument names the line that is wrong.
  [[nodiscard]] static Result<PriceTable> parse(std::string_view text);

  /// The price of the longest name that matches; null when none does. Lives as long as the table.
  [[nodiscard]] const ModelPrice* find(std::string_view model) const;
  /// None when the table does not know the model and anything was used.
  [[nodiscard]] std::optional<double> cost(std::string_view model, const Usage& usage) const;
  [[nodiscard]] const std::vector<ModelPrice>& prices() const { return prices_; }

 private:
  std::vector<ModelPrice> prices_;
};

/// What one session used of one model.
struct ModelUsage {
  std::string model = {};  ///< Empty when no message said which.
  std::uint64_t messages = 0;
  Usage tokens = {};
  std::optional<double> costUsd = {};  ///< None when the price is unknown, or what all of the answers used.
};

/// What usage is summed up by.
enum class UsageBy : std::uint8_t {
  Day,
  Week,
  Month,
  Session,
  Key,
  Model,
  Branch,  ///< Of one session: UsageOptions::session.
  Hour,
  Block,   ///< Five hours, from the hour of the first answer after the block before.
  Folder,  ///< The folder that sessions were made for.
};

/// What to sum up. Everything that is set must hold.
struct UsageOptions {
  UsageBy by = UsageBy::Day;
  std::optional<std::uint64_t> sinceMs = {};  ///< Answers at or after, in milliseconds since 1970.
  std::optional<std::uint64_t> untilMs = {};  ///< Answers before.
  std::string session = {};                   ///< Only this one. Branches need one.
  std::string agent = {};                     ///< As SessionFilter::agent.
  std::string cwd = {};                       ///< As SessionFilter::cwd.
  std::string key = {};                       ///< As SessionFilter::key.
  std::string model = {};                     ///< Only answers of this one.
  std::vector<std::string> writtenBy = {};    ///< As SessionFilter::writtenBy.
  bool localTime = false;                     ///< Days of the machine's time zone instead of UTC.
  const PriceTable* prices = nullptr;         ///< The built-in table when null.
};

/// The sum of one group.
struct UsageRow {
  std::string name = {};   ///< "2026-11-14", "2026-W46", "2026-11", "2026-11-14 09:00", a session, a key, a model, a
                           ///< folder, the id of a branch's last entry.
  std::string title = {};  ///< Of the session, by session.
  std::vector<std::string> models = {};  ///< Sorted.
  std::uint64_t messages = 0;            ///< Answers.
  /// Of these, answers from other agents' files that have no id of their request: a copy of one that differs in time or
  /// place counts again. Without such answers the sums are certain: each request counts once.
  std::uint64_t withoutId = 0;
  std::uint64_t withoutUsage = 0;  ///< Of these, answers of which nobody said what they used: missing in the sums.
  Usage tokens = {};
  double costUsd = 0;     ///< Of the models whose price is known.
  bool costKnown = true;  ///< False when a price, or what an answer used, is unknown: that is missing in costUsd.
  std::vector<ModelUsage> byModel = {};  ///< The same model by model, in the order of `models`.
  std::uint64_t startMs = 0;             ///< When a block begins; 0 in every other group.
};

/// What one answer cost, for sumUsage.
struct AnswerUsage {
  std::uint64_t id = 0;  ///< The same for all copies of one answer.
  bool certain = false;  ///< Whether `id` was made from the answer's own id.
  std::string_view session = {};
  std::string_view model = {};
  std::uint64_t timeMs = 0;
  Usage tokens = {};
};

struct UsageReport {
  std::vector<UsageRow> rows = {};  ///< By time: ascending. Else the costliest first.
  UsageRow total = {};
  std::vector<std::string> unknownModels = {};  ///< Without a price.
};

/// Sums up answers that are in no catalog, as Catalog::usage does: each counts once, in that session whose name comes
/// first. By day, week, month, hour or model; of the conditions, the times and the model count.
UsageReport sumUsage(std::vector<AnswerUsage> answers, const UsageOptions& options);

/// What there is to say first about a session.
enum class SessionCondition : std::uint8_t {
  Live,
  Archived,
  Unfinished,  ///< The head is a tool call without a result.
  Damaged,     ///< Something of it, or all, cannot be read; SessionSummary::problem says what.
  Missing,     ///< It was here, and its log is gone, though nobody removed it with bough. rebuild() forgets it.
};
/// "live", "archived", "unfinished", "damaged", "missing".
std::string_view toString(SessionCondition condition);

enum class TitleSource : std::uint8_t {
  None,
  Message,    ///< The beginning of the user message that was said first; of equally old ones, of the first in the log.
  Generated,  ///< A session_info entry with "titleSource":"generated": an agent's; takes the place of Message.
  Given,      ///< Any other session_info entry with a title: a person's. Only another given one replaces it.
};
std::string_view toString(TitleSource source);

/// One row. Entries count in the session whose log holds them: a fork adds nothing for what it shares.
struct SessionSummary {
  std::string sessionId = {};
  std::string key = {};
  std::string agent = {};  ///< Out of the key.
  /// The agent from whose transcript it was imported; empty when it was not. In a list of files that are in no store:
  /// the agents that have a file of the session, with commas.
  std::string writtenBy = {};
  std::string cwd = {};
  std::string title = {};
  TitleSource titleSource = TitleSource::None;
  std::optional<ForkOrigin> origin = {};
  std::uint64_t createdMs = 0;     ///< When it was made in the store.
  std::uint64_t activeMs = 0;      ///< When its last entry was said; of an imported session, before createdMs.
  std::uint64_t durationMs = 0;    ///< From the first entry of the conversation to the last.
  std::uint64_t userMessages = 0;  ///< Of what the user said; tool results are toolMessages.
  std::uint64_t assistantMessages = 0;
  std::uint64_t toolMessages = 0;  ///< Messages that hold nothing but tool results.
  std::uint64_t systemMessages = 0;
  std::uint64_t toolCalls = 0;
  std::uint64_t toolFailures = 0;  ///< Calls whose result says that the tool failed.
  Usage tokens = {};               ///< Of all models.
  /// Tokens and cost model by model, the most output first. Catalog::session and Catalog::list fill it.
  std::vector<ModelUsage> models = {};
  std::uint64_t entries = 0;   ///< Own ones, the header among them.
  std::uint64_t bytes = 0;     ///< Of its log, packed or not.
  std::uint64_t branches = 0;  ///< Leaves of its tree.
  SessionCondition condition = SessionCondition::Live;
  std::string problem = {};  ///< For people: what of it cannot be read. Empty when nothing is wrong.
  std::string headId = {};   ///< Empty before the first entry.
  bool pinned = false;       ///< Never expires.
  std::optional<std::uint64_t> timeToLiveMs = {};  ///< Its own; none: the store's counts.
};

/// Which sessions. Everything that is set must hold.
struct SessionFilter {
  std::string agent = {};                   ///< The agent in its key.
  std::string key = {};                     ///< The whole key, or with a `*` at its end the beginning.
  std::string cwd = {};                     ///< The folder, or one above it.
  std::string title = {};                   ///< Part of it; letter case and accents do not count.
  bool named = false;                       ///< With a title that is not the beginning of its first message.
  std::string session = {};                 ///< One session's id.
  std::vector<std::string> writtenBy = {};  ///< Imported from a transcript of one of these agents; any when empty.
  std::optional<SessionCondition> condition = {};
  bool withProblem = false;                   ///< Of which SessionSummary::problem says something.
  std::optional<std::uint64_t> sinceMs = {};  ///< Active at or after; search: written at or after.
  std::optional<std::uint64_t> untilMs = {};  ///< Active before; search: written before.
};

/// What a list is sorted by: the latest or the greatest first, titles from A to Z. Of equal sessions, the one active
/// last comes first.
enum class ListOrder : std::uint8_t {
  Active,
  Created,
  Title,     ///< Then by key. Sessions without a title come after the others. The case of ASCII letters does not count.
  Messages,  ///< Of all roles.
  Size,
  Branches,
  Tokens,  ///< Input, output, and both of the provider's cache.
  Cost,    ///< By ListOptions::prices. A model without a price adds nothing.
};

/// The place of a session in a list by activity: of a row, its `activeMs` and its `sessionId`.
struct ListPlace {
  std::uint64_t activeMs = 0;
  std::string sessionId = {};
};

/// A page of a list.
struct ListOptions {
  SessionFilter filter = {};
  std::size_t limit = 50;  ///< At most so many rows, all in memory.
  std::size_t skip = 0;    ///< Leave out so many first.
  /// Only sessions after this place, which need not be there any more. In ListOrder::Active alone.
  std::optional<ListPlace> after = {};
  ListOrder order = ListOrder::Active;
  bool reverse = false;                ///< The same order from its other end.
  bool models = true;                  ///< Fill SessionSummary::models, which takes one more look a row.
  const PriceTable* prices = nullptr;  ///< What models cost; the built-in table when null.
};

/// What a name may mean.
struct NameMatch {
  enum class Kind : std::uint8_t { None, Id, Key, IdPrefix, Title };
  Kind kind = Kind::None;
  /// One when the name is clear. With Key: the key's current session.
  std::vector<SessionSummary> sessions = {};
};

/// Where to search, and how much of it to return.
struct SearchOptions {
  SessionFilter filter = {};            ///< Of the sessions.
  std::vector<std::string> roles = {};  ///< Any of user, assistant, tool, system, summary; all when empty.
  std::size_t limit = 20;               ///< At most so many hits.
  std::size_t excerptTokens = 24;  ///< How many words of an excerpt; 0: no excerpts, which saves reading the texts.
};

/// An entry that was found.
struct SearchHit {
  std::string sessionId = {};
  std::string title = {};  ///< Of the session.
  std::string entryId = {};
  std::string role = {};     ///< user, assistant, tool, system, summary; other: words that were only shown to people.
  std::uint64_t timeMs = 0;  ///< When it was written.
  double score = 0;          ///< The greater, the better.
  /// A stretch of the text; what was found is between kMarkBegin and kMarkEnd.
  std::string excerpt = {};
};
inline constexpr char kMarkBegin = '\x01';
inline constexpr char kMarkEnd = '\x02';

struct CatchUpProgress {
  std::uint64_t doneSessions = 0;
  std::uint64_t totalSessions = 0;
  std::uint64_t doneBytes = 0;   ///< Of entries that were read.
  std::uint64_t totalBytes = 0;  ///< About how much there is to read, of a store in a folder; 0 of others.
};

/// How much to take in.
struct CatchUpOptions {
  bool search = false;      ///< Take in the text for search() too.
  bool everything = false;  ///< Look at every session, whatever the store says has changed.
  /// Does not look at every session when that is due, as it is every ten minutes in a large store, but says so in
  /// CatchUpReport::due: it takes some tenths of a second. Call again with `everything` when there is time.
  bool leaveDue = false;
  /// Called before the first session, when there is one to look into, then now and then; false stops, and what was
  /// taken in until then stays.
  std::function<bool(const CatchUpProgress&)> progress = {};
};

struct CatchUpReport {
  std::uint64_t sessions = 0;           ///< Looked into, because they had changed.
  std::uint64_t entries = 0;            ///< Taken in.
  std::uint64_t removed = 0;            ///< Sessions that are gone.
  bool due = false;                     ///< See CatchUpOptions::leaveDue.
  std::vector<std::string> notes = {};  ///< For people: what was wrong and what was done about it.
};

struct CatalogOptions {
  bool inMemory = false;     ///< Keep it in memory, whatever the store is.
  int busyTimeoutMs = 3000;  ///< How long another process may keep us from writing.
};

/// A session whose time is over.
struct ExpiredSession {
  SessionSummary session = {};
  std::uint64_t expiredMs = 0;  ///< When its time was over.
};

/// What is searched for, taken apart: an entry must hold a term of each group, and none of `without`. Words are as the
/// index has them (letter case and accents are gone).
struct SearchWords {
  struct Term {
    std::vector<std::string> words = {};  ///< In this order.
    bool isBeginning = false;             ///< The last word may go on.
  };
  std::vector<std::vector<Term>> groups = {};
  std::vector<Term> without = {};
};

/// What was used of one model, in one group of those that were asked for.
struct UsageSum {
  std::string name = {};   ///< Of the group: a quarter of an hour since 1970, a session, a key, a model, a tip.
  std::string title = {};  ///< Of the session, by session.
  std::string model = {};
  std::uint64_t messages = 0;      ///< An answer that several of the chosen sessions hold counts once.
  std::uint64_t withoutId = 0;     ///< As UsageRow::withoutId.
  std::uint64_t withoutUsage = 0;  ///< As UsageRow::withoutUsage.
  Usage tokens = {};
};

/// What a session holds that a source has not taken in.
struct SessionGrowth {
  SessionState state = {};
  Entry header = {};
  std::uint64_t first = 0;          ///< The sequence of the first of these.
  std::vector<Entry> entries = {};  ///< Up to the session's end, with their attachments.
};

/// A session as a catalog keeps it in a source.
struct CatalogedSession {
  SessionSummary summary = {};         ///< Without `models`; CatalogChange::answers says what `tokens` grow by.
  std::string stamp = {};              ///< What the session was like when it was taken in.
  std::uint64_t taken = 0;             ///< So many entries are in the numbers.
  std::uint64_t indexed = 0;           ///< So many can be searched.
  std::vector<std::string> tips = {};  ///< The last entry of each branch; CatalogedAnswer::branch counts them from 1.
  std::string rest = {};               ///< What else is needed to go on from here. Only the catalog looks into it.
  std::optional<SessionGrowth> growth = {};  ///< In outdated(), when that is little. None: the catalog reads it.
};

/// What one answer of a session used.
struct CatalogedAnswer {
  std::int64_t id = 0;      ///< The same in every session that holds the answer; see UsageSum::messages.
  std::uint64_t first = 0;  ///< The sequence of its first entry.
  std::uint32_t branch = 0;
  std::uint64_t quarter = 0;  ///< Of an hour, since 1970.
  std::string model = {};
  bool certain = true;  ///< False: it counts in UsageSum::withoutId.
  Usage tokens = {};
};

/// The text of an entry that can be searched.
struct SearchText {
  std::uint64_t sequence = 0;
  std::string entryId = {};
  std::string role = {};
  std::uint64_t timeMs = 0;
  std::string text = {};
  std::vector<std::string> words = {};  ///< In their order, as SearchWords has them.
};

/// A session that has changed: what a source keeps in the place of what it had.
struct CatalogChange {
  CatalogedSession before = {};  ///< As outdated() gave it.
  CatalogedSession after = {};
  /// To be added. An answer that the session has already keeps its place, and of each number the greater.
  std::vector<CatalogedAnswer> answers = {};
  std::vector<SearchText> texts = {};      ///< To be added.
  std::vector<std::string> redacted = {};  ///< The text of these entries must go.
};

/// Answers a catalog's questions where the sessions are. A backend may have one (StorageBackend::catalog); for all
/// others catalog.db answers. The calls mean what those of Catalog mean and may come from any thread. Prices are added
/// by the catalog.
///
/// A source may leave it to the catalog to read the sessions: outdated() then names those that have changed, and
/// keep() takes what was found in them.
class CatalogSource {
 public:
  virtual ~CatalogSource() = default;
  [[nodiscard]] virtual Result<std::vector<SessionSummary>> list(const ListOptions& options) = 0;
  [[nodiscard]] virtual Result<std::uint64_t> count(const SessionFilter& filter) = 0;
  [[nodiscard]] virtual Result<SessionSummary> session(const std::string& sessionId) = 0;
  [[nodiscard]] virtual Result<std::optional<std::string>> currentSession(std::string_view key,
                                                                          std::string_view cwd) = 0;
  [[nodiscard]] virtual Result<NameMatch> findByName(std::string_view name, std::size_t limit) = 0;
  /// SearchHit::excerpt is the whole text; the catalog cuts it.
  [[nodiscard]] virtual Result<std::vector<SearchHit>> search(const SearchWords& words,
                                                              const SearchOptions& options) = 0;
  [[nodiscard]] virtual Result<std::vector<UsageSum>> usage(const UsageOptions& options) = 0;
  /// `defaultTimeToLiveMs`: none when neither the caller nor the store's settings name one.
  [[nodiscard]] virtual Result<std::vector<ExpiredSession>> expired(
      std::uint64_t nowMs, std::optional<std::uint64_t> defaultTimeToLiveMs) = 0;

  struct Outdated {
    std::vector<CatalogedSession> sessions = {};  ///< By id. One that is new has its id, its stamp and nothing else.
    std::uint64_t total = 0;                      ///< With those that did not fit.
  };
  /// Sessions that have changed since they were taken in; with `search` also those whose text was not taken in.
  /// `after`: only those whose ids come after it, by their bytes; it need not be an id. Where a `taken` is not 0, the
  /// log has only grown since.
  [[nodiscard]] virtual Result<Outdated> outdated(bool search, const std::string& after, std::size_t limit);
  /// Each by itself and only if it is still as `before` says; another process may have been first. When that has kept
  /// less than `after`, this or the next question fails with Conflict: the catalog looks at outdated() again. ReadOnly
  /// when this process may not. A source may wait with a little until it is asked next, and answer both at once; then
  /// the question fails when this fails.
  [[nodiscard]] virtual Result<void> keep(const std::vector<CatalogChange>& changes);
  /// Makes every session outdated, and forgets those that are gone. What is kept of the others may answer until it is
  /// read again.
  [[nodiscard]] virtual Result<void> forgetAll();
};

/// One thread at a time; several processes may use one store's catalog. Must not outlive its store.
///
/// Everything but catchUp and rebuild answers from what was taken in; nothing else changes the sessions. Besides what a
/// call names it may return Busy (another process keeps the file locked for longer than busyTimeoutMs), NoSpace or Io,
/// and over a database Unavailable or Timeout. A file that turns out damaged is replaced, and notes() says so.
///
/// fork(2): SQLite cannot share a connection with a child. A process that was forked while a catalog was open builds
/// its catalogs in memory, and notes() says so; fork first and open the catalog afterwards where that takes too long.
/// A fork waits until no thread is inside SQLite.
class Catalog {
 public:
  /// Opens the catalog of a store, and makes it when it is missing. One that cannot be used (damaged, of another
  /// version, not writable and out of date) is replaced or kept in memory; notes() says so.
  [[nodiscard]] static Result<std::unique_ptr<Catalog>> open(SessionStore& store, const CatalogOptions& options = {});
  ~Catalog();

  /// What happened on opening, for people.
  [[nodiscard]] const std::vector<std::string>& notes() const;

  /// Takes in what is new. Busy when another process keeps the catalog locked: what was known stays readable. A session
  /// that cannot be read does not keep the others back: a note names it. Costs a look at what has changed and a read of
  /// the entries that are new; the first one reads every session, and with `search` again all their text.
  [[nodiscard]] Result<CatchUpReport> catchUp(const CatchUpOptions& options = {});
  /// Forgets everything, then takes all in again. ReadOnly when the file cannot be written. Waits two minutes for
  /// others.
  [[nodiscard]] Result<CatchUpReport> rebuild(const CatchUpOptions& options = {});

  /// What is wrong inside its file, for people; empty when nothing is. With `deep` every session is read again and
  /// compared as well. rebuild() puts it right. Nothing is ever found in a catalog that the backend answers.
  [[nodiscard]] Result<std::vector<std::string>> check(bool deep = false);

  /// In the order that the options name. `after` continues a list by activity whatever was added or removed meanwhile;
  /// `skip` continues a list in every order, of sessions that stay as they are. InvalidArgument for `after` in another.
  [[nodiscard]] Result<std::vector<SessionSummary>> list(const ListOptions& options = {});
  [[nodiscard]] Result<std::uint64_t> count(const SessionFilter& filter = {});
  /// One row, with its models. NotFound when there is none. `prices`: the built-in table when null.
  [[nodiscard]] Result<SessionSummary> session(const std::string& sessionId, const PriceTable* prices = nullptr);
  /// The session made last under this key, or under this key in this folder; none when there is none.
  [[nodiscard]] Result<std::optional<std::string>> currentSession(std::string_view key, std::string_view cwd = {});
  /// An id, a key, the beginning of ids or part of titles, whichever matches first in this order; none is no error.
  [[nodiscard]] Result<NameMatch> findByName(std::string_view name, std::size_t limit = 10);

  /// Entries that match, best first; see docs/search.md for the query. InvalidArgument says what is wrong with it.
  /// Call catchUp with `search` first: what was not taken in is not found.
  [[nodiscard]] Result<std::vector<SearchHit>> search(std::string_view query, const SearchOptions& options = {});

  /// Sums up what was used. An answer that several of the chosen sessions hold counts once. InvalidArgument for
  /// branches without a session.
  [[nodiscard]] Result<UsageReport> usage(const UsageOptions& options = {});

  /// Sessions whose time is over: not pinned, and not active for as long as their own time to live says, or else the
  /// default: the one given here, or the store's (StoreSettings::timeToLiveMs). The oldest first; never one that is
  /// damaged or missing. Removes nothing: StoreMaintenance::trash with the session's tail does.
  using Expired = ExpiredSession;
  [[nodiscard]] Result<std::vector<Expired>> expired(std::uint64_t nowMs,
                                                     std::optional<std::uint64_t> defaultTimeToLiveMs = {});

 private:
  struct State;
  explicit Catalog(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Parts of a key: `agent:channel:peer` or `agent:<agentId>:<channel>:<peerKind>:<peerId>`.
struct SessionKey {
  std::string agent = {};
  std::string channel = {};
  std::string peerKind = {};  ///< Empty in the short form.
  std::string peer = {};
};
/// None when the key has neither form. No part is empty, and only the last may hold a colon.
std::optional<SessionKey> parseSessionKey(std::string_view key);

/// The title that a session in the trash had; empty when it had none. Reads its log twice. NotFound as exportTrashed.
[[nodiscard]] Result<std::string> trashedTitle(SessionStore& store, const std::string& trashId);

/// What a session_info entry says; what is left out stays as it was.
struct SessionInfo {
  std::optional<std::string> title = {};
  TitleSource titleSource = TitleSource::Given;  ///< Given or Generated.
  std::optional<bool> pinned = {};
  std::optional<std::uint64_t> timeToLiveMs = {};  ///< 0 takes it away.
};
/// Appends it, with the store's durability; catalogs show it after their next catchUp. Fails as Session::append does.
[[nodiscard]] Result<AppendResult> appendSessionInfo(SessionStore& store, const std::string& sessionId,
                                                     const SessionInfo& info);

}  // namespace BOUGH_PUBLIC bough
