// Catalog: data derived from all sessions of a store: one row per session, keys and titles, full-text search, usage,
// retention.
//
// It is kept in <store>/catalog.db (SQLite), beside the logs. It may be deleted at any time and is rebuilt from the
// logs. Only two facts are lost then: which sessions are missing, and which logs became shorter. Appends do not update
// it: catchUp() reads what is new, session by session, and remembers how far it came. The other calls answer from that.
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

// What sessions used: tokens, and what the tokens cost by a table of prices.

/// Prices in dollars per million tokens.
struct ModelPrice {
  std::string model = {};  ///< The model's name, or a prefix that ends in `*`.
  double input = 0;
  double output = 0;
  double cacheRead = 0;
  double cacheWrite = 0;  ///< Of a cache entry that is kept for five minutes.

  /// Returns the price of a cache write that is kept for an hour. Only Anthropic has it, at twice the input price.
  [[nodiscard]] double cacheWriteHour() const { return 2 * input; }
};

/// Prices of models, the most specific name first. Reasoning counts as output. Any thread may use a const table.
class PriceTable {
 public:
  /// Returns the table that comes with bough (docs/prices.md). It lives as long as the program.
  static const PriceTable& builtIn();
  /// Parses a table: lines of `model input output cacheRead cacheWrite`, in dollars per million tokens; `#` starts a
  /// comment. At most 10,000 lines and 1 MiB. InvalidArgument names the wrong line.
  [[nodiscard]] static Result<PriceTable> parse(std::string_view text);

  /// Returns the price with the longest matching name; null when none matches. Lives as long as the table.
  [[nodiscard]] const ModelPrice* find(std::string_view model) const;
  /// Returns the cost in dollars; std::nullopt when tokens were used and the table does not know the model.
  [[nodiscard]] std::optional<double> cost(std::string_view model, const Usage& usage) const;
  [[nodiscard]] const std::vector<ModelPrice>& prices() const { return prices_; }

 private:
  std::vector<ModelPrice> prices_;
};

/// What one session used of one model.
struct ModelUsage {
  std::string model = {};  ///< Empty when no message named the model.
  std::uint64_t messages = 0;
  Usage tokens = {};
  std::optional<double> costUsd = {};  ///< std::nullopt when the price, or the usage of any answer, is unknown.
};

/// How usage is grouped.
enum class UsageBy : std::uint8_t {
  Day,
  Week,
  Month,
  Session,
  Key,
  Model,
  Branch,  ///< The branches of one session: UsageOptions::session.
  Hour,
  Block,   ///< Five hours; starts with the hour of the first answer after the block before.
  Folder,  ///< The folder that the session was created for.
};

/// What to sum up. All conditions that are set must hold.
struct UsageOptions {
  UsageBy by = UsageBy::Day;
  std::optional<std::uint64_t> sinceMs = {};  ///< Answers at or after this time, in ms since 1970.
  std::optional<std::uint64_t> untilMs = {};  ///< Answers before this time.
  std::string session = {};                   ///< Only this session. Required for UsageBy::Branch.
  std::string agent = {};                     ///< See SessionFilter::agent.
  std::string cwd = {};                       ///< See SessionFilter::cwd.
  std::string key = {};                       ///< See SessionFilter::key.
  std::string model = {};                     ///< Only answers of this model.
  std::vector<std::string> writtenBy = {};    ///< See SessionFilter::writtenBy.
  bool localTime = false;                     ///< Use days of the machine's time zone instead of UTC.
  const PriceTable* prices = nullptr;         ///< The built-in table when null.
};

/// The sum of one group.
struct UsageRow {
  std::string name = {};   ///< "2026-11-14", "2026-W46", "2026-11", "2026-11-14 09:00"; a session, a key, a model, a
                           ///< folder; or the id of a branch's last entry.
  std::string title = {};  ///< The session's title, when grouped by session.
  std::vector<std::string> models = {};  ///< Sorted.
  std::uint64_t messages = 0;            ///< Number of answers.
  /// How many of these answers come from other agents' files and have no request id. If a copy of such an answer has
  /// another time or place, it counts twice. All other answers count exactly once.
  std::uint64_t withoutId = 0;
  std::uint64_t withoutUsage = 0;  ///< How many of these answers have no recorded usage; the sums lack them.
  Usage tokens = {};
  double costUsd = 0;     ///< Of the models whose price is known.
  bool costKnown = true;  ///< False when a price or an answer's usage is unknown and costUsd lacks it.
  std::vector<ModelUsage> byModel = {};  ///< The same sums per model, in the order of `models`.
  std::uint64_t startMs = 0;             ///< When a block starts; 0 for all other groups.
};

/// What one answer used, for sumUsage.
struct AnswerUsage {
  std::uint64_t id = 0;  ///< The same for all copies of one answer.
  bool certain = false;  ///< `id` was made from the answer's own id.
  std::string_view session = {};
  std::string_view model = {};
  std::uint64_t timeMs = 0;
  Usage tokens = {};
};

struct UsageReport {
  std::vector<UsageRow> rows = {};  ///< Groups of time: ascending. Otherwise the most expensive first.
  UsageRow total = {};
  std::vector<std::string> unknownModels = {};  ///< Models without a price.
};

/// Sums up answers that are in no catalog, as Catalog::usage does. Each answer counts once, in the session whose name
/// sorts first. Groups by day, week, month, hour or model; of the conditions, only the times and the model apply.
UsageReport sumUsage(std::vector<AnswerUsage> answers, const UsageOptions& options);

/// The most important condition of a session.
enum class SessionCondition : std::uint8_t {
  Live,
  Archived,
  Unfinished,  ///< The head is a tool call without a result.
  Damaged,     ///< All or part of it cannot be read; see SessionSummary::problem.
  Missing,     ///< The log is gone, although it was not removed with bough. rebuild() forgets it.
};
/// Returns "live", "archived", "unfinished", "damaged" or "missing".
std::string_view toString(SessionCondition condition);

enum class TitleSource : std::uint8_t {
  None,
  Message,    ///< The start of the earliest user message; of equally old ones, the first in the log.
  Generated,  ///< A session_info entry with "titleSource":"generated", by an agent; replaces Message.
  Given,      ///< Any other session_info entry with a title, by a person; only another Given replaces it.
};
std::string_view toString(TitleSource source);

/// One row of the catalog. An entry counts in the session whose log holds it: a fork does not count what it shares.
struct SessionSummary {
  std::string sessionId = {};
  std::string key = {};
  std::string agent = {};  ///< From the key.
  /// The agent whose transcript was imported; empty when the session was not imported. In a list of files that are in
  /// no store: all agents that have a file of the session, separated by commas.
  std::string writtenBy = {};
  std::string cwd = {};
  std::string title = {};
  TitleSource titleSource = TitleSource::None;
  std::optional<ForkOrigin> origin = {};
  std::uint64_t createdMs = 0;     ///< When the session was created in the store.
  std::uint64_t activeMs = 0;      ///< Time of the last entry; before createdMs for imported sessions.
  std::uint64_t durationMs = 0;    ///< From the first to the last entry of the conversation.
  std::uint64_t userMessages = 0;  ///< Messages of the user, without tool results.
  std::uint64_t assistantMessages = 0;
  std::uint64_t toolMessages = 0;  ///< Messages that hold only tool results.
  std::uint64_t systemMessages = 0;
  std::uint64_t toolCalls = 0;
  std::uint64_t toolFailures = 0;  ///< Calls whose result reports a failure.
  Usage tokens = {};               ///< Sum over all models.
  /// Tokens and cost per model, the most output first. Only Catalog::session and Catalog::list fill it.
  std::vector<ModelUsage> models = {};
  std::uint64_t entries = 0;   ///< Its own entries, including the header.
  std::uint64_t bytes = 0;     ///< Size of its log, compressed or not.
  std::uint64_t branches = 0;  ///< Leaves of its tree.
  SessionCondition condition = SessionCondition::Live;
  std::string problem = {};  ///< For people: what cannot be read. Empty when everything can.
  std::string headId = {};   ///< Empty before the first entry.
  bool pinned = false;       ///< Never expires.
  std::optional<std::uint64_t> timeToLiveMs = {};  ///< Its own; std::nullopt: use the store's.
};

/// Which sessions to select. All conditions that are set must hold.
struct SessionFilter {
  std::string agent = {};                   ///< The agent in its key.
  std::string key = {};                     ///< The whole key, or a prefix that ends in `*`.
  std::string cwd = {};                     ///< This folder, or a folder below it.
  std::string title = {};                   ///< A part of the title, without regard to case and accents.
  bool named = false;                       ///< Only sessions whose title is not taken from a message.
  std::string session = {};                 ///< Only sessions with a title that is not taken from a message.
  std::vector<std::string> writtenBy = {};  ///< Imported from one of these agents; empty: any session.
  std::optional<SessionCondition> condition = {};
  bool withProblem = false;                   ///< Only sessions with a SessionSummary::problem.
  std::optional<std::uint64_t> sinceMs = {};  ///< Active at or after this time; search: written then.
  std::optional<std::uint64_t> untilMs = {};  ///< Active before this time; search: written before it.
};

/// The order of a list: latest or greatest first, titles from A to Z. Ties are ordered by activity, latest first.
enum class ListOrder : std::uint8_t {
  Active,
  Created,
  Title,     ///< Then by key. Sessions without a title come last. ASCII case is ignored.
  Messages,  ///< Of all roles.
  Size,
  Branches,
  Tokens,  ///< Input, output, cache reads and cache writes.
  Cost,    ///< By ListOptions::prices. A model without a price counts as 0.
};

/// The place of a row in a list by activity: its `activeMs` and its `sessionId`.
struct ListPlace {
  std::uint64_t activeMs = 0;
  std::string sessionId = {};
};

/// A page of a list.
struct ListOptions {
  SessionFilter filter = {};
  std::size_t limit = 50;  ///< Maximum number of rows, all in memory.
  std::size_t skip = 0;    ///< Number of rows to skip first.
  /// Only sessions after this place; the session there may have been removed. Only for ListOrder::Active.
  std::optional<ListPlace> after = {};
  ListOrder order = ListOrder::Active;
  bool reverse = false;                ///< Reverse the order.
  bool models = true;                  ///< Fill SessionSummary::models; costs one more lookup per row.
  const PriceTable* prices = nullptr;  ///< For the costs; null: the built-in table.
};

/// What a name may refer to.
struct NameMatch {
  enum class Kind : std::uint8_t { None, Id, Key, IdPrefix, Title };
  Kind kind = Kind::None;
  /// One session when the name is unambiguous. With Kind::Key: the key's current session.
  std::vector<SessionSummary> sessions = {};
};

/// Where to search, and how much to return.
struct SearchOptions {
  SessionFilter filter = {};            ///< Of the sessions.
  std::vector<std::string> roles = {};  ///< Any of user, assistant, tool, system, summary; empty: all.
  std::size_t limit = 20;               ///< Maximum number of hits.
  std::size_t excerptTokens = 24;  ///< Words per excerpt; 0: no excerpts, which saves reading the texts.
};

/// One entry that matches.
struct SearchHit {
  std::string sessionId = {};
  std::string title = {};  ///< Title of the session.
  std::string entryId = {};
  std::string role = {};     ///< user, assistant, tool, system, summary; other: text shown to people only.
  std::uint64_t timeMs = 0;  ///< When it was written.
  double score = 0;          ///< Greater is better.
  /// A part of the text; each match is between kMarkBegin and kMarkEnd.
  std::string excerpt = {};
};
inline constexpr char kMarkBegin = '\x01';
inline constexpr char kMarkEnd = '\x02';

struct CatchUpProgress {
  std::uint64_t doneSessions = 0;
  std::uint64_t totalSessions = 0;
  std::uint64_t doneBytes = 0;   ///< Of the entries that were read.
  std::uint64_t totalBytes = 0;  ///< An estimate, for stores in a folder; otherwise 0.
};

/// What catchUp() should read.
struct CatchUpOptions {
  bool search = false;      ///< Also index the text, for search().
  bool everything = false;  ///< Check every session, whatever the store reports as changed.
  /// In a large store, every session is checked once in ten minutes, which takes some tenths of a second. With leaveDue
  /// this check is not made; CatchUpReport::due tells that it is due. Call again with `everything` when there is time.
  bool leaveDue = false;
  /// Called before the first session when there is one to read, then from time to time. Returning false stops; what was
  /// read until then is kept.
  std::function<bool(const CatchUpProgress&)> progress = {};
};

struct CatchUpReport {
  std::uint64_t sessions = 0;           ///< Sessions that were read because they had changed.
  std::uint64_t entries = 0;            ///< Entries that were read.
  std::uint64_t removed = 0;            ///< Sessions that no longer exist.
  bool due = false;                     ///< See CatchUpOptions::leaveDue.
  std::vector<std::string> notes = {};  ///< For people: what was wrong and how it was handled.
};

struct CatalogOptions {
  bool inMemory = false;     ///< Keep the catalog in memory, for any store.
  int busyTimeoutMs = 3000;  ///< How long to wait while another process writes.
};

/// A session whose time to live has passed.
struct ExpiredSession {
  SessionSummary session = {};
  std::uint64_t expiredMs = 0;  ///< When it expired.
};

/// A parsed query: an entry must contain a term of each group, and none of `without`. Words are in the form of the
/// index, without case and accents.
struct SearchWords {
  struct Term {
    std::vector<std::string> words = {};  ///< In this order.
    bool isBeginning = false;             ///< The last word is a prefix.
  };
  std::vector<std::vector<Term>> groups = {};
  std::vector<Term> without = {};
};

/// The sum of one model in one of the requested groups.
struct UsageSum {
  std::string name = {};   ///< The group: a quarter-hour since 1970, a session, key, model or tip.
  std::string title = {};  ///< The session's title, when grouped by session.
  std::string model = {};
  std::uint64_t messages = 0;      ///< An answer that several selected sessions hold counts once.
  std::uint64_t withoutId = 0;     ///< See UsageRow::withoutId.
  std::uint64_t withoutUsage = 0;  ///< See UsageRow::withoutUsage.
  Usage tokens = {};
};

/// The part of a session that a source has not read yet.
struct SessionGrowth {
  SessionState state = {};
  Entry header = {};
  std::uint64_t first = 0;          ///< The sequence of the first of `entries`.
  std::vector<Entry> entries = {};  ///< Up to the session's end, attachments included.
};

/// A session as a source stores it for the catalog.
struct CatalogedSession {
  SessionSummary summary = {};         ///< Without `models`; CatalogChange::answers says what to add to `tokens`.
  std::string stamp = {};              ///< The session's stamp when it was read.
  std::uint64_t taken = 0;             ///< Number of entries that are counted.
  std::uint64_t indexed = 0;           ///< Number of entries that can be searched.
  std::vector<std::string> tips = {};  ///< The last entry of each branch; CatalogedAnswer::branch counts from 1.
  std::string rest = {};               ///< What else is needed to continue from here; only the catalog reads it.
  std::optional<SessionGrowth> growth = {};  ///< From outdated(), when little is new; otherwise the catalog reads it.
};

/// What one answer of a session used.
struct CatalogedAnswer {
  std::int64_t id = 0;      ///< The same in every session with this answer; see UsageSum::messages.
  std::uint64_t first = 0;  ///< The sequence of its first entry.
  std::uint32_t branch = 0;
  std::uint64_t quarter = 0;  ///< Quarter-hours since 1970.
  std::string model = {};
  bool certain = true;  ///< False: it counts in UsageSum::withoutId.
  Usage tokens = {};
};

/// The searchable text of an entry.
struct SearchText {
  std::uint64_t sequence = 0;
  std::string entryId = {};
  std::string role = {};
  std::uint64_t timeMs = 0;
  std::string text = {};
  std::vector<std::string> words = {};  ///< In order, in the form of SearchWords.
};

/// A changed session: what a source stores in place of the old row.
struct CatalogChange {
  CatalogedSession before = {};  ///< As outdated() returned it.
  CatalogedSession after = {};
  /// To add. If the session already has an answer, it keeps its place, and the greater of each two numbers counts.
  std::vector<CatalogedAnswer> answers = {};
  std::vector<SearchText> texts = {};      ///< To add.
  std::vector<std::string> redacted = {};  ///< Entries whose text must be removed.
};

/// Answers the questions of a catalog inside the backend. A backend may have one (StorageBackend::catalog); otherwise
/// catalog.db answers. Its calls mean the same as those of Catalog and may come from any thread. The catalog adds the
/// prices.
///
/// A source may let the catalog read the sessions: outdated() then returns the changed ones, and keep() stores what the
/// catalog found in them.
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
  /// `defaultTimeToLiveMs`: std::nullopt when neither the caller nor the store's settings have one.
  [[nodiscard]] virtual Result<std::vector<ExpiredSession>> expired(
      std::uint64_t nowMs, std::optional<std::uint64_t> defaultTimeToLiveMs) = 0;

  struct Outdated {
    std::vector<CatalogedSession> sessions = {};  ///< By id. A new session has only its id and its stamp.
    std::uint64_t total = 0;                      ///< Including those beyond `limit`.
  };
  /// Returns the sessions that changed since they were read; with `search`, also those whose text was not indexed.
  /// `after`: only ids that sort after this one by bytes; it need not exist. Where `taken` is not 0, the log has only
  /// grown since.
  [[nodiscard]] virtual Result<Outdated> outdated(bool search, const std::string& after, std::size_t limit);
  /// Stores each change independently, and only if the stored row still equals `before`, because another process may
  /// have been first. If that process stored less than `after`, this call or the next question fails with Conflict, and
  /// the catalog calls outdated() again. ReadOnly when this process may not write. A source may delay a small change
  /// and store it with the next question; that question then fails if storing fails.
  [[nodiscard]] virtual Result<void> keep(const std::vector<CatalogChange>& changes);
  /// Makes every session outdated, and drops sessions that no longer exist. The remaining rows may answer questions
  /// until they are read again.
  [[nodiscard]] virtual Result<void> forgetAll();
};

/// The catalog of one store. Use it from one thread at a time; several processes may use the catalog of one store. Must
/// not outlive its store.
///
/// Only catchUp and rebuild read the sessions; all other calls answer from what they read, and nothing here changes the
/// sessions. Besides the errors that each call names, every call may return Busy (another process keeps the file locked
/// for longer than busyTimeoutMs), NoSpace or Io, and over a database Unavailable or Timeout. A damaged file is
/// replaced; notes() tells.
///
/// fork(2): SQLite cannot share a connection with a child. A process that was forked while a catalog was open builds
/// its catalogs in memory, and notes() tells. Where that takes too long, fork first and open the catalog afterwards. A
/// fork waits until no thread is inside SQLite.
class Catalog {
 public:
  /// Opens the catalog of a store, and creates it when it is missing. A catalog that cannot be used (damaged, of
  /// another version, or out of date and read-only) is replaced or built in memory; notes() tells.
  [[nodiscard]] static Result<std::unique_ptr<Catalog>> open(SessionStore& store, const CatalogOptions& options = {});
  ~Catalog();

  /// Returns what happened on opening, for people.
  [[nodiscard]] const std::vector<std::string>& notes() const;

  /// Reads what is new. Busy when another process keeps the catalog locked; the old content can still be read. A
  /// session that cannot be read does not block the others; a note names it. Costs a check for changes and a read of
  /// the new entries; the first call reads every session, and with `search` all of their text once more.
  [[nodiscard]] Result<CatchUpReport> catchUp(const CatchUpOptions& options = {});
  /// Rebuilds the catalog from all sessions. ReadOnly when the file cannot be written. Waits two minutes for a lock.
  [[nodiscard]] Result<CatchUpReport> rebuild(const CatchUpOptions& options = {});

  /// Returns the defects of the catalog's file, for people; empty when there are none. With `deep`, also reads every
  /// session again and compares. rebuild() repairs defects. Finds nothing in a catalog that the backend answers.
  [[nodiscard]] Result<std::vector<std::string>> check(bool deep = false);

  /// Returns sessions in the requested order. `after` continues a list by activity even when sessions were added or
  /// removed; InvalidArgument for other orders. `skip` continues a list in any order, if no session changes meanwhile.
  [[nodiscard]] Result<std::vector<SessionSummary>> list(const ListOptions& options = {});
  [[nodiscard]] Result<std::uint64_t> count(const SessionFilter& filter = {});
  /// Returns one row, with its models. NotFound when there is none. `prices`: null means the built-in table.
  [[nodiscard]] Result<SessionSummary> session(const std::string& sessionId, const PriceTable* prices = nullptr);
  /// Returns the newest session with this key, or with this key and folder; std::nullopt when there is none.
  [[nodiscard]] Result<std::optional<std::string>> currentSession(std::string_view key, std::string_view cwd = {});
  /// Returns the first kind of match: id, key, id prefix or part of a title. Finding nothing is not an error.
  [[nodiscard]] Result<NameMatch> findByName(std::string_view name, std::size_t limit = 10);

  /// Returns matching entries, best first; docs/search.md describes the query. InvalidArgument tells what is wrong with
  /// it. Call catchUp with `search` first: text that was not indexed is not found.
  [[nodiscard]] Result<std::vector<SearchHit>> search(std::string_view query, const SearchOptions& options = {});

  /// Sums up usage. An answer that several selected sessions hold counts once. InvalidArgument for UsageBy::Branch
  /// without a session.
  [[nodiscard]] Result<UsageReport> usage(const UsageOptions& options = {});

  /// Returns expired sessions, the oldest first: not pinned, and inactive for longer than their own time to live, or
  /// else the default (this argument, or StoreSettings::timeToLiveMs). Never returns damaged or missing sessions.
  /// Removes nothing: pass the sessions and their tails to StoreMaintenance::trash.
  using Expired = ExpiredSession;
  [[nodiscard]] Result<std::vector<Expired>> expired(std::uint64_t nowMs,
                                                     std::optional<std::uint64_t> defaultTimeToLiveMs = {});

 private:
  struct State;
  explicit Catalog(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// The parts of a key: `agent:channel:peer` or `agent:<agentId>:<channel>:<peerKind>:<peerId>`.
struct SessionKey {
  std::string agent = {};
  std::string channel = {};
  std::string peerKind = {};  ///< Empty in the short form.
  std::string peer = {};
};
/// Returns std::nullopt when the key has neither form. No part is empty, and only the last part may contain a colon.
std::optional<SessionKey> parseSessionKey(std::string_view key);

/// Returns the title of a session in the trash; may be empty. Reads its log twice. NotFound as for exportTrashed.
[[nodiscard]] Result<std::string> trashedTitle(SessionStore& store, const std::string& trashId);

/// The content of a session_info entry; members that are not set stay unchanged.
struct SessionInfo {
  std::optional<std::string> title = {};
  TitleSource titleSource = TitleSource::Given;  ///< Given or Generated.
  std::optional<bool> pinned = {};
  std::optional<std::uint64_t> timeToLiveMs = {};  ///< 0 removes it.
};
/// Appends it, with the store's durability; catalogs show it after their next catchUp. Fails as Session::append does.
[[nodiscard]] Result<AppendResult> appendSessionInfo(SessionStore& store, const std::string& sessionId,
                                                     const SessionInfo& info);

}  // namespace BOUGH_PUBLIC bough
