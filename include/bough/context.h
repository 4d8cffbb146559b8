// From a session to what a model gets: the context of a branch, saved turns, unfinished tool calls, and migration to
// another provider.
//
// A context is derived from one branch and never stored: the same branch and options give the same bytes. Everything
// that was altered on the way is in its report, with the entry it happened to. See docs/context.md.
//
// Threads: the calls keep nothing between them and may come from any thread, with one store too. Failures: besides what
// each call names, those of Session's calls. Memory: a context, a list of unfinished calls and a migration are made of
// entries in memory; where that would take more than the machine has, the call returns Unsupported before it begins.
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

/// What a context is for, and what goes into it.
struct ContextOptions {
  Dialect dialect = Dialect::Anthropic;            ///< Whose API the context is for.
  std::string at = {};                             ///< The branch that ends in this entry; empty: the head's.
  std::optional<std::uint64_t> budgetTokens = {};  ///< Only the newest turns that fit.
  bool keepPendingCalls = false;  ///< Leave tool calls at the end unanswered: the caller is about to run them.
  bool strict = false;            ///< Fail at the first message that is not what its dialect says.
  std::optional<std::string> systemPrompt = {};  ///< Text that takes the place of the recorded system prompt.
  std::optional<std::string> tools = {};         ///< A JSON list, in any dialect, in place of the recorded tools.
  bool thinkingAsText = false;                   ///< Write readable reasoning of other providers as text.

  bool operator==(const ContextOptions&) const = default;
};

/// One message of a context, and where it came from.
struct ContextMessage {
  std::string_view json = {};  ///< In Context::messages. Some dialects have several values here, with commas.
  std::vector<std::string> entryIds = {};  ///< Empty when it was added because the API demands it.
  bool verbatim = false;                   ///< The stored bytes.
};

/// What a model gets. Moves, but does not copy: `parts` point into `messages`.
struct Context {
  Context() = default;
  Context(Context&&) = default;
  Context& operator=(Context&&) = default;

  std::string sessionId = {};  ///< Whose branch it is.
  std::string headId = {};     ///< The entry the branch ends in; empty when there is none.
  Dialect dialect = Dialect::Anthropic;
  std::string messages = "[]";             ///< A JSON list, as the API takes it.
  std::string system = {};                 ///< The value of the request's own member for it; empty when there is none.
  std::string tools = {};                  ///< A JSON list; empty when there are none.
  std::string model = {};                  ///< In force at the head; empty when the branch does not say.
  std::string provider = {};               ///< Of that model, where the branch says.
  bool foreignModel = false;               ///< The model is another provider's, so a request does not name it.
  std::string thinkingLevel = {};          ///< In force at the head; empty when the branch does not say.
  std::vector<ContextMessage> parts = {};  ///< Message by message, in the order of `messages`.
  std::uint64_t tokens = 0;                ///< Of system, tools and messages, counted or estimated.
  std::uint64_t countedTokens = 0;         ///< How many of them come from recorded usage.
  std::uint64_t turnsLeftOut = 0;          ///< By the budget; at least so many when older entries were not read.
  std::uint64_t messagesLeftOut = 0;       ///< Their messages.
  std::string firstEntryId = {};           ///< The oldest entry whose message is in it; empty when there is none.
  std::string summaryEntryId = {};         ///< The compaction summary it begins with; empty when there is none.
  CompatibilityReport report = {};         ///< What was altered, left out or added, entry by entry.

  /// The request's members as one object, each under the API's name: the model, where it is known and the provider's
  /// own; system, tools, messages; and for Anthropic, which demands it, `max_tokens` of 4096.
  [[nodiscard]] std::string requestJson() const;
};

/// Builds the context of a branch; stores nothing. Reads from the branch's end back to the newest compaction summary,
/// and with a budget about as much as that holds.
///
/// NotFound: there is no such session or entry. InvalidArgument: the newest turn alone exceeds the budget; `tools` is
/// not a JSON list of objects; or, with strict, a message cannot be read. Damaged: with strict, a line of the branch is
/// unreadable. Unsupported: the dialect is Plain, or the branch is larger than memory.
[[nodiscard]] Result<Context> buildContext(SessionStore& store, const std::string& sessionId,
                                           const ContextOptions& options = {});

/// Keeps the last contexts that were built. One is built again when its session, or one whose history it shares, was
/// appended to: that is also how a head moves and an entry is redacted. All calls may come from any thread. Call
/// clear() before a store goes whose contexts it holds.
class ContextCache {
 public:
  /// `capacity`: how many contexts are kept; those that were not used for the longest time go first.
  explicit ContextCache(std::size_t capacity = 16);
  ~ContextCache();

  /// As buildContext. A context that is kept costs one look at the session and at each whose history it shares. It
  /// stays valid for its holder, whatever happens to the cache; failures are not kept.
  [[nodiscard]] Result<std::shared_ptr<const Context>> get(SessionStore& store, const std::string& sessionId,
                                                           const ContextOptions& options = {});
  void clear();
  /// How many calls of get() needed no building.
  [[nodiscard]] std::uint64_t hits() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// How many tokens a text has, by the kinds of characters in it. Within 25% of o200k (docs/benchmarks.md).
std::uint64_t estimateTokens(std::string_view text);

/// A tool call on the branch that has no result there.
struct UnfinishedToolCall {
  std::string entryId = {};     ///< The entry that holds the call.
  std::string toolCallId = {};  ///< Empty when the provider wrote none.
  std::string name = {};
  std::string input = {};        ///< As stored: JSON, or a JSON string.
  bool started = false;          ///< A `tool_start` says that it was about to run: it may have had its effect.
  std::string startedEntryId{};  ///< That entry.
};

/// What a crash left open on the branch that ends in `at` (the head when empty), oldest first: tool calls without a
/// result after the newest compaction summary. Redacted calls are not among them. Stores nothing.
[[nodiscard]] Result<std::vector<UnfinishedToolCall>> unfinishedToolCalls(SessionStore& store,
                                                                          const std::string& sessionId,
                                                                          const std::string& at = {});

/// One block of a turn.
struct TurnBlock {
  Role role = Role::Assistant;
  BlockKind kind = BlockKind::Text;  ///< Text, Thinking, RedactedThinking, ToolCall, ToolResult, Refusal.
  std::string text{};                ///< Text, Thinking, Refusal; of a result, what the tool returned.
  std::string id{};                  ///< ToolCall, ToolResult: the call's.
  std::string name{};                ///< ToolCall, ToolResult: the tool's.
  std::string input{};               ///< ToolCall: a JSON value; empty for {}.
  std::string signature{};           ///< What proves the block to its provider.
  bool isError = false;              ///< ToolResult.
};

/// What a turn took.
struct TurnTotals {
  Usage usage{};                   ///< Of all its answers.
  std::uint64_t withoutUsage = 0;  ///< Answers of which the provider did not say what they used: missing in `usage`.
  std::uint64_t durationMs = 0;
  std::uint64_t toolCount = 0;  ///< Counted from the turn's tool calls when 0.
  std::string model{};          ///< What answered; empty when that is not known.
  std::string stopReason{};     ///< Of the last answer, in the provider's word.
};

/// How the entries of a turn are stored.
struct TurnOptions {
  std::string runId{};                     ///< Of all its entries; may be empty.
  std::optional<Durability> durability{};  ///< The store's when left out.
};

/// Saves a turn while it happens: each block is an entry of its own, durable (or buffered) when the call returns, so
/// that a crash loses what had not come yet and nothing else. Its blocks continue one another whatever others append.
/// One thread. Costs an append each.
class TurnSaver {
 public:
  /// `parentId`: the entry the turn continues; empty for the head. The store must outlive it.
  TurnSaver(SessionStore& store, std::string sessionId, TurnOptions options = {}, std::string parentId = {});

  /// Each appends one entry and returns its id. InvalidArgument: a call lacks its id or name, its input is not JSON, a
  /// result lacks the id of its call, or the block is of a kind that a turn does not have. Otherwise fails as
  /// Session::append does; nothing is stored then, and the next block continues the one before.
  [[nodiscard]] Result<std::string> userText(std::string_view text);
  [[nodiscard]] Result<std::string> assistantText(std::string_view text);
  [[nodiscard]] Result<std::string> thinking(std::string_view text, std::string_view signature = {});
  [[nodiscard]] Result<std::string> toolUse(std::string_view toolCallId, std::string_view name,
                                            std::string_view inputJson);
  /// Says that a tool is about to run: after a crash it may have had its effect.
  [[nodiscard]] Result<std::string> toolStart(std::string_view toolCallId, std::string_view name);
  [[nodiscard]] Result<std::string> toolResult(std::string_view toolCallId, std::string_view content,
                                               bool isError = false);
  [[nodiscard]] Result<std::string> block(const TurnBlock& block);
  /// A message as a provider wrote it, verbatim. InvalidArgument when it is not one of that dialect.
  [[nodiscard]] Result<std::string> message(Dialect dialect, std::string_view json);
  /// Ends the turn with what it took: usage that its messages say themselves is not counted again.
  [[nodiscard]] Result<std::string> end(TurnTotals totals);

 private:
  [[nodiscard]] Result<std::string> append(std::string_view type, std::string payload);

  SessionStore* store_;
  std::string sessionId_;
  TurnOptions options_;
  std::string parentId_;
  std::uint64_t toolCount_ = 0;
  Usage counted_{};  // What the messages of the turn say themselves.
};

/// A whole turn at once.
struct Turn {
  std::vector<TurnBlock> blocks = {};
  TurnTotals totals{};
};

/// Saves a turn as one batch after the head, an entry a block, with what it took after them: all of it is stored, or
/// nothing. Fails as TurnSaver::block does.
[[nodiscard]] Result<AppendResult> saveTurn(SessionStore& store, const std::string& sessionId, const Turn& turn,
                                            const TurnOptions& options = {});

/// What checkCompatibility of a document is, for the branch of a session that ends in `at` (the head when empty): which
/// entries lose what, and whether each signature stays valid. Stores nothing. A long session is looked at part by part.
/// InvalidArgument when it has no entries yet; Unsupported for Plain and Bough.
[[nodiscard]] Result<CompatibilityReport> checkCompatibility(SessionStore& store, const std::string& sessionId,
                                                             Dialect target, const std::string& at = {});

struct MigrateOptions {
  std::string at{};      ///< The branch that ends in this entry; empty: the head's.
  NewSession session{};  ///< The new session's id, key, cwd and title; the title is the source's when empty.
  bool strict = false;   ///< Fail at the first message that is not what its dialect says.
};

/// What a migration made.
struct ProviderMigration {
  std::string sessionId = {};  ///< The new session.
  std::string sourceSessionId = {};
  std::string sourceEntryId = {};  ///< The end of the branch that was migrated.
  Dialect from = Dialect::Bough;
  Dialect to = Dialect::Bough;
  std::string migratedAt = {};  ///< RFC 3339.
  std::uint64_t nodes = 0;      ///< Messages of the new session.
  std::uint64_t verbatim = 0;   ///< Of these, as their authors wrote them.
  std::uint64_t synthetic = 0;  ///< Of these, added because the target demands them.
  CompatibilityReport report = {};
};

/// Makes a fork of a session whose messages are in the target's dialect. Each says in its meta what it came from; the
/// fork says in its session_info what was migrated, from where to where and when. The source is untouched. A session
/// that was migrated before comes back exactly: every message that was not edited is the bytes its author wrote, and
/// what was only added for the other provider's sake is gone.
///
/// InvalidArgument: the branch has no entries yet, or with strict, a message cannot be read. Damaged: with strict, a
/// line or the way back of an earlier migration is lost. Unsupported: the target is Plain or Bough, the store keeps no
/// attachments (the way back is one), or the session takes more memory than there is, seven times its size. Costs a
/// fork and one append of the whole branch, synced.
[[nodiscard]] Result<ProviderMigration> migrate(SessionStore& store, const std::string& sessionId, Dialect target,
                                                const MigrateOptions& options = {});

}  // namespace BOUGH_PUBLIC bough
