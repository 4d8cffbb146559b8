// From a session to what a model gets: the context of a branch, saved turns, unfinished tool calls, and migration to
// another provider.
//
// A context is derived from one branch and never stored: the same branch and options give the same bytes. Its report
// lists everything that was altered on the way, with the entry it happened to. See docs/context.md.
//
// Threads: the calls keep no state between them and may come from any thread, also with the same store. Failures:
// besides the errors that each call names, those of Session's calls. Memory: a context, a list of unfinished calls and
// a migration hold their entries in memory; when the machine does not have enough memory, the call returns Unsupported
// before it begins.
#pragma once

#include <bough/convert.h>
#include <bough/message.h>
#include <bough/store.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace BOUGH_PUBLIC bough {

/// What a context is for, and what it contains.
struct ContextOptions {
  Dialect dialect = Dialect::Anthropic;            ///< The API that the context is for.
  std::string at = {};                             ///< The branch that ends in this entry; empty: the head.
  std::optional<std::uint64_t> budgetTokens = {};  ///< Keep only the newest turns that fit.
  bool keepPendingCalls = false;  ///< Leave tool calls at the end unanswered because the caller will run them.
  bool strict = false;            ///< Fail at the first message that breaks the rules of its dialect.
  std::optional<std::string> systemPrompt = {};  ///< Replaces the recorded system prompt.
  std::optional<std::string> tools = {};         ///< A JSON list in any dialect; replaces the recorded tools.
  bool thinkingAsText = false;                   ///< Write readable reasoning of other providers as text.

  bool operator==(const ContextOptions&) const = default;
};

/// One message of a context, and the entries it came from.
struct ContextMessage {
  std::string_view json = {};  ///< A part of Context::messages. In some dialects several values, with commas.
  std::vector<std::string> entryIds = {};  ///< Empty when it was added because the API demands it.
  bool verbatim = false;                   ///< It is the stored bytes, unchanged.
};

/// What a model gets. Can be moved but not copied, because `parts` point into `messages`.
struct Context {
  Context() = default;
  Context(Context&&) = default;
  Context& operator=(Context&&) = default;

  std::string sessionId = {};  ///< The session of the branch.
  std::string headId = {};     ///< The entry that the branch ends in; empty when it has none.
  Dialect dialect = Dialect::Anthropic;
  std::string messages = "[]";             ///< A JSON list, as the API takes it.
  std::string system = {};                 ///< The value of the request's member for it; may be empty.
  std::string tools = {};                  ///< A JSON list; empty when there are no tools.
  std::string model = {};                  ///< The current model at the head; empty when the branch names none.
  std::string provider = {};               ///< The provider of that model, when the branch names it.
  bool foreignModel = false;               ///< The model belongs to another provider, so the request does not name it.
  std::string thinkingLevel = {};          ///< The current level at the head; empty when the branch names none.
  std::vector<ContextMessage> parts = {};  ///< One part per message, in the order of `messages`.
  std::uint64_t tokens = 0;                ///< Of system, tools and messages; counted or estimated.
  std::uint64_t countedTokens = 0;         ///< How many of these come from recorded usage.
  std::uint64_t turnsLeftOut = 0;          ///< Left out by the budget; a minimum when older entries were not read.
  std::uint64_t messagesLeftOut = 0;       ///< The number of messages in these turns.
  std::string firstEntryId = {};           ///< The oldest entry whose message is included; may be empty.
  std::string summaryEntryId = {};         ///< The compaction summary at the start; empty when there is none.
  CompatibilityReport report = {};         ///< What was altered, left out or added, entry by entry.

  /// Returns the members of the request as one object, each under the API's name: the model, when it is known and
  /// belongs to the provider; system, tools and messages; and for Anthropic `max_tokens` of 4096, because the API
  /// demands it.
  [[nodiscard]] std::string requestJson() const;
};

/// Builds the context of a branch; stores nothing. Reads backward from the end of the branch to the newest compaction
/// summary, and with a budget only about as much as the budget holds.
///
/// NotFound: there is no such session or entry. InvalidArgument: the newest turn alone exceeds the budget; `tools` is
/// not a JSON list of objects; or, with `strict`, a message cannot be read. Damaged: with `strict`, a line of the
/// branch is unreadable. Unsupported: the dialect is Plain, or the branch is larger than memory.
[[nodiscard]] Result<Context> buildContext(SessionStore& store, const std::string& sessionId,
                                           const ContextOptions& options = {});

/// Caches the contexts that were built last. A context is rebuilt after an append to its session or to a session whose
/// history it shares; moving the head and redacting an entry are appends, too. Calls may come from any thread. Call
/// clear() before a store is destroyed whose contexts are in the cache.
class ContextCache {
 public:
  /// `capacity`: the number of contexts to keep; the least recently used one is dropped first.
  explicit ContextCache(std::size_t capacity = 16);
  ~ContextCache();

  /// Same as buildContext. A cached context costs one look at the session and at each session whose history it shares.
  /// The returned context stays valid whatever happens to the cache. Failures are not cached.
  [[nodiscard]] Result<std::shared_ptr<const Context>> get(SessionStore& store, const std::string& sessionId,
                                                           const ContextOptions& options = {});
  void clear();
  /// Returns how many calls of get() were answered from the cache.
  [[nodiscard]] std::uint64_t hits() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Estimates how many tokens a text has, from the kinds of its characters. Within 25% of o200k (docs/benchmarks.md).
std::uint64_t estimateTokens(std::string_view text);

/// A tool call on the branch that has no result on the branch.
struct UnfinishedToolCall {
  std::string entryId = {};     ///< The entry that holds the call.
  std::string toolCallId = {};  ///< Empty when the provider set none.
  std::string name = {};
  std::string input = {};        ///< As stored: JSON, or a JSON string.
  bool started = false;          ///< A `tool_start` entry exists: the tool may have had its effect.
  std::string startedEntryId{};  ///< That `tool_start` entry.
};

/// Returns the tool calls that a crash left without a result, oldest first: on the branch that ends in `at` (empty: the
/// head), after the newest compaction summary. Leaves out redacted calls. Stores nothing.
[[nodiscard]] Result<std::vector<UnfinishedToolCall>> unfinishedToolCalls(SessionStore& store,
                                                                          const std::string& sessionId,
                                                                          const std::string& at = {});

/// One block of a turn.
struct TurnBlock {
  Role role = Role::Assistant;
  BlockKind kind = BlockKind::Text;  ///< Text, Thinking, RedactedThinking, ToolCall, ToolResult, Refusal.
  std::string text{};                ///< Text, Thinking, Refusal; for a result, what the tool returned.
  std::string id{};                  ///< ToolCall, ToolResult: the id of the call.
  std::string name{};                ///< ToolCall, ToolResult: the name of the tool.
  std::string input{};               ///< ToolCall: a JSON value; empty means {}.
  std::string signature{};           ///< The provider's proof that the block is genuine.
  bool isError = false;              ///< ToolResult.
};

/// What a turn used.
struct TurnTotals {
  Usage usage{};                   ///< The sum over all its answers.
  std::uint64_t withoutUsage = 0;  ///< Answers without recorded usage; `usage` lacks them.
  std::uint64_t durationMs = 0;
  std::uint64_t toolCount = 0;  ///< 0: count the tool calls of the turn.
  std::string model{};          ///< The model that answered; empty when unknown.
  std::string stopReason{};     ///< Of the last answer, as the provider named it.
};

/// How the entries of a turn are stored.
struct TurnOptions {
  std::string runId{};                     ///< Of all its entries; may be empty.
  std::optional<Durability> durability{};  ///< std::nullopt: the store's.
};

/// Saves a turn while it happens. Each block becomes an entry that is durable (or buffered) when the call returns, so a
/// crash loses only the blocks that had not arrived. Each block continues the previous block, even when others append
/// to the session. Use it from one thread. Costs one append per block.
class TurnSaver {
 public:
  /// `parentId`: the entry that the turn continues; empty: the head. The store must outlive this object.
  TurnSaver(SessionStore& store, std::string sessionId, TurnOptions options = {}, std::string parentId = {});

  /// Each of these calls appends one entry and returns its id. InvalidArgument: a call has no id or name, its input is
  /// not JSON, a result has no call id, or a turn cannot have a block of this kind. Otherwise fails as Session::append
  /// does. After a failure nothing is stored, and the next block continues the previous one.
  [[nodiscard]] Result<std::string> userText(std::string_view text);
  [[nodiscard]] Result<std::string> assistantText(std::string_view text);
  [[nodiscard]] Result<std::string> thinking(std::string_view text, std::string_view signature = {});
  [[nodiscard]] Result<std::string> toolUse(std::string_view toolCallId, std::string_view name,
                                            std::string_view inputJson);
  /// Records that a tool is about to run. After a crash this tells that the tool may have had its effect.
  [[nodiscard]] Result<std::string> toolStart(std::string_view toolCallId, std::string_view name);
  [[nodiscard]] Result<std::string> toolResult(std::string_view toolCallId, std::string_view content,
                                               bool isError = false);
  [[nodiscard]] Result<std::string> block(const TurnBlock& block);
  /// Appends a message verbatim, as a provider wrote it. InvalidArgument when it is not a message of that dialect.
  [[nodiscard]] Result<std::string> message(Dialect dialect, std::string_view json);
  /// Ends the turn and records its totals. Usage that the messages report themselves is not counted twice.
  [[nodiscard]] Result<std::string> end(TurnTotals totals);

 private:
  [[nodiscard]] Result<std::string> append(std::string_view type, std::string payload);

  SessionStore* store_;
  std::string sessionId_;
  TurnOptions options_;
  std::string parentId_;
  std::uint64_t toolCount_ = 0;
  Usage counted_{};  // Usage that the messages of the turn reported themselves.
};

/// A whole turn.
struct Turn {
  std::vector<TurnBlock> blocks = {};
  TurnTotals totals{};
};

/// Saves a turn after the head as one batch, with one entry per block and then the totals: either all of it is stored,
/// or nothing. Fails as TurnSaver::block does.
[[nodiscard]] Result<AppendResult> saveTurn(SessionStore& store, const std::string& sessionId, const Turn& turn,
                                            const TurnOptions& options = {});

/// Reports what a migration to `target` would do to the branch that ends in `at` (empty: the head): what each entry
/// loses, and whether each signature stays valid. This is checkCompatibility (convert.h) for a session. Stores nothing.
/// Reads a long session in parts. InvalidArgument when the session has no entries yet; Unsupported for Plain and Bough.
[[nodiscard]] Result<CompatibilityReport> checkCompatibility(SessionStore& store, const std::string& sessionId,
                                                             Dialect target, const std::string& at = {});

struct MigrateOptions {
  std::string at{};      ///< The branch that ends in this entry; empty: the head.
  NewSession session{};  ///< The new session's id, key, cwd and title; empty title: the source's.
  bool strict = false;   ///< Fail at the first message that breaks the rules of its dialect.
};

/// The result of a migration.
struct ProviderMigration {
  std::string sessionId = {};  ///< The new session.
  std::string sourceSessionId = {};
  std::string sourceEntryId = {};  ///< The end of the migrated branch.
  Dialect from = Dialect::Bough;
  Dialect to = Dialect::Bough;
  std::string migratedAt = {};  ///< RFC 3339.
  std::uint64_t nodes = 0;      ///< Messages in the new session.
  std::uint64_t verbatim = 0;   ///< How many of them are unchanged bytes of their authors.
  std::uint64_t synthetic = 0;  ///< How many of them were added because the target demands them.
  CompatibilityReport report = {};
};

/// Makes a fork of a session in which all messages are in the target's dialect. The meta of each message names its
/// source; the session_info of the fork records what was migrated, from which dialect to which, and when. The source is
/// not changed. When a session is migrated back, every message that was not edited is again the bytes that its author
/// wrote, and messages that were only added for the other provider are gone.
///
/// InvalidArgument: the branch has no entries yet; or, with `strict`, a message cannot be read. Damaged: with `strict`,
/// a line or the WayBack of an earlier migration is lost. Unsupported: the target is Plain or Bough; the store has no
/// attachments (the WayBack is an attachment); or the session needs more memory than there is, seven times its size.
/// Costs a fork and one synced append of the whole branch.
[[nodiscard]] Result<ProviderMigration> migrate(SessionStore& store, const std::string& sessionId, Dialect target,
                                                const MigrateOptions& options = {});

}  // namespace BOUGH_PUBLIC bough
