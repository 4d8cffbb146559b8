// The loop: stores what the user says, then the model's answer, then runs the tools that the answer asks for, and
// repeats until the model stops.
//
// The loop keeps no state. It reads everything it needs from the session at the start, and stores every step before it
// acts on it:
//   1. the user's message,
//   2. the assistant's message, complete, before any of its tools runs,
//   3. `tool_start` before each tool, and the tool's result as soon as it exists,
//   4. the totals of the turn, with the last message.
// So a crash at any point leaves a session from which resumeTurn can continue.
//
// A call runs a whole turn on the caller's thread and returns when the turn is over. Up to eight tools run at the same
// time, on threads that end before the turn does. Turns may run at the same time in different sessions, and also in one
// session: its writers are distinguished by the tail that each of them has seen (OnConflict) and by their turn numbers.
#pragma once

#include <bough/context.h>
#include <bough/store.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bough/agent/provider.h"
#include "bough/agent/tools.h"

namespace bough::agent {

/// What happens in a turn. An event marked "Stored" is sent after its entry was appended, with the store's durability.
/// The members that an event sets are listed.
enum class EventKind : std::uint8_t {
  UserMessage,       ///< Stored. `text`
  Thinking,          ///< A piece of reasoning.
  Text,              ///< A piece of the answer.
  ToolCall,          ///< The model starts to write a call. `name`
  AssistantMessage,  ///< Stored. `text` is its text; `usage`
  ToolStart,         ///< Stored; the tool runs now. `toolCallId`, `name`, `text`: the arguments
  ToolResult,        ///< Stored. `toolCallId`, `name`, `text`, `isError`
  Retry,             ///< The request is sent again. `text`: the reason; `waitMs`
  Notice,            ///< Information for the user. `text`
  Aborted,           ///< The turn ended early. `text`; `isError` when the call that runs the turn fails with it
  TurnEnd,           ///< `usage`, `durationMs`, `toolCount`, `contextTokens`
};
/// Returns "user_message", "tool_start" …: the names that `bough chat --json` prints.
std::string_view toString(EventKind kind);

/// One event. Members that its kind does not list are empty.
struct AgentEvent {
  EventKind kind = EventKind::Notice;
  std::string text{};              ///< Pieces of reasoning and answers may end in the middle of a word.
  std::string entryId{};           ///< The stored entry; with TurnEnd, the last one.
  std::string toolCallId{};        ///< From the provider; may be empty or not unique.
  std::string name{};              ///< Name of the tool.
  bool isError = false;            ///< The tool failed or was refused; with Notice and Aborted: something went wrong.
  std::uint64_t waitMs = 0;        ///< Until the next attempt.
  Usage usage{};                   ///< Of one answer; with TurnEnd, of the whole turn.
  std::uint64_t withoutUsage = 0;  ///< See TurnTotals::withoutUsage; 1 for one answer without usage.
  std::uint64_t durationMs = 0;
  std::uint64_t toolCount = 0;
  std::uint64_t contextTokens = 0;  ///< Of the last request.
};

/// What to do when the session has grown since the caller last read it.
enum class OnConflict : std::uint8_t {
  Refuse,  ///< Fail with Conflict; nothing is appended.
  Branch,  ///< Continue from the entry that was last read, on a new branch.
};

/// What to do with a call that was running when the program ended, and that is not safe to repeat.
struct RecoveryChoice {
  enum class Action : std::uint8_t { Unknown, RunAgain, Skip, GiveResult };
  Action action = Action::Unknown;  ///< Unknown: tell the model that the outcome is unknown.
  std::string text{};               ///< GiveResult: the result.
};

/// The user interface of the loop. Events of tools come from several threads, one event at a time; everything else,
/// including all questions, comes from the thread of the turn. The turn waits until each call returns. References are
/// valid only during the call.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void onEvent(const AgentEvent& event) = 0;
  /// Returns whether a call may run. False: the model is told, and the turn continues. std::nullopt: no one can be
  /// asked; the model is told that as well. Not called with LoopOptions::askNothing.
  virtual std::optional<bool> allow(const ToolCall& call, const std::string& question) = 0;
  /// Like allow(), with everything known about the call: what a permanent permission covers, and what would change.
  virtual std::optional<bool> allowPrepared(const ToolCall& call, const PreparedCall& prepared) {
    return allow(call, *prepared.question);
  }
  /// Decides what to do with a call that was running when the program ended. resumeTurn asks for each such call, except
  /// calls that had not started and tools that are safe to repeat; those are run.
  virtual RecoveryChoice recover(const UnfinishedToolCall& call) = 0;
};

struct LoopOptions {
  /// Replaces the system prompt and the tools that the session recorded (`runtime_init`). std::nullopt: they stay
  /// unchanged, byte for byte, because signatures of reasoning depend on them.
  std::optional<std::string> systemPrompt = {};
  std::string thinkingLevel = {};  ///< See ModelRequest::thinkingLevel.
  bool askNothing = false;         ///< Run every tool without a question (--yes).
  OnConflict onConflict = OnConflict::Refuse;
  /// The turn that the caller has already begun (Session::leaseTurn). std::nullopt: the loop begins a turn after the
  /// first append, except with OnConflict::Branch, which does not take the session from other writers.
  std::optional<std::uint64_t> turn = {};
  std::size_t maxSteps = 200;      ///< Answers of the model in one turn; after that many the turn is aborted.
  double compactShare = 0.8;       ///< Compact when the context exceeds this share of the window; 0: never.
  std::uint64_t windowTokens = 0;  ///< 0: determined by the model's name.
};

/// What the loop works with. Everything belongs to the caller and must outlive the call. A provider and a listener can
/// serve one turn at a time.
struct Agent {
  SessionStore& store;
  Provider& provider;
  const std::vector<Tool>& tools;
  const ToolEnvironment& environment;
  Listener& listener;
  const CancelToken& cancel;
  LoopOptions options = {};
};

/// Where a turn starts: the session as the caller last read it.
struct StartingPoint {
  std::string sessionId = {};
  std::string headId = {};  ///< The entry that the turn continues; empty: it starts the conversation.
  std::string tailId = {};  ///< Tells whether the session has grown since.
};
/// Returns the session's current head and tail. Fails as Session::state does.
[[nodiscard]] Result<StartingPoint> startingPoint(SessionStore& store, const std::string& sessionId);

/// The result of a turn.
struct TurnReport {
  StartingPoint end = {};  ///< Where the next turn starts.
  TurnTotals totals = {};  ///< What the turn used, including tools.
  std::string text = {};   ///< The text of the last answer.
  bool aborted = false;    ///< The token or LoopOptions::maxSteps stopped the turn.
  /// Why the last answer is unusable: refused, blocked, cut off or empty. Empty when nothing is wrong.
  std::string problem{};
  std::uint64_t contextTokens = 0;  ///< Of the last request.
};

/// The result of a compaction.
struct CompactionReport {
  std::string entryId = {};           ///< The summary.
  std::string firstKeptEntryId = {};  ///< The oldest entry that is still in the context itself.
  std::uint64_t messages = 0;         ///< How many messages the summary replaces.
};

/// A message of the user: a text and attached content.
struct UserMessage {
  UserMessage(std::string said) : text(std::move(said)) {}  // NOLINT(google-explicit-constructor): a text is a message
  UserMessage(const char* said) : text(said) {}             // NOLINT(google-explicit-constructor)
  std::string text = {};
  std::vector<std::string> blocks{};  ///< Content blocks in the dialect `bough`, after the text: files, images.
};
/// Returns a content block that holds a text.
std::string textBlock(std::string_view text);

/// Runs a turn. Fails when nothing could be stored or no answer came; what was stored before stays. A turn that failed
/// for good is closed with its reason (`turn_aborted`). A turn that may succeed on another attempt (Error::retryable)
/// stays open, and resumeTurn finishes it. A cancelled turn is not a failure: its report says `aborted`.
///
/// Conflict: the session has grown since `start`, and nothing is stored; or another turn has begun meanwhile, and this
/// turn ends. Io: the provider refused or failed; the message quotes it. Otherwise the errors of Session::append. Costs
/// a context and a request per answer, an append for each of the entries listed above, and a compaction (one more
/// request) when the context has grown too large.
[[nodiscard]] Result<TurnReport> runTurn(const Agent& agent, const StartingPoint& start, const UserMessage& message);

enum class ResumeWhat : std::uint8_t {
  Own,           ///< Only turns that this loop started.
  AlsoMessages,  ///< Also answer a last message that another program appended, because the user asks for it.
};

/// Finishes an interrupted turn: one that this loop started, and that neither reached its end nor recorded why it
/// ended. Does nothing, and sends nothing, when there is none. Calls without a result run first; Listener::recover is
/// asked about those that may have had their effect. Fails as runTurn does; a second failure of the provider closes the
/// turn.
[[nodiscard]] Result<TurnReport> resumeTurn(const Agent& agent, const StartingPoint& start,
                                            ResumeWhat what = ResumeWhat::Own);

/// Returns true when resumeTurn has a turn of this loop to finish. Reads the end of the branch.
[[nodiscard]] Result<bool> isInterrupted(SessionStore& store, const StartingPoint& start);

}  // namespace bough::agent
