// The loop: what the user says goes into the session, the model's answer after it, then the tools it asks for, until
// the model stops.
//
// It keeps no state. Everything it knows is read from the session at the beginning and written to it before it acts:
//   1. the user's message,
//   2. the assistant's message, whole, before any of its tools runs,
//   3. `tool_start` before each tool, its result as soon as it is there,
//   4. with the last message, what the turn took.
// So a crash at any point leaves a session from which resumeTurn goes on.
//
// A call runs a whole turn on the caller's thread and returns when it is over. Up to eight tools run at a time, on
// threads that end before the turn does. Different sessions may have turns at the same time; so may one session, whose
// writers are told apart by the tail that each has seen (OnConflict) and by the number of its turn.
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

/// What happens in a turn. An event that says "Stored" comes after its entry was appended, with the store's durability.
enum class EventKind : std::uint8_t {
  UserMessage,       ///< Stored. `text`
  Thinking,          ///< A piece of reasoning.
  Text,              ///< A piece of the answer.
  ToolCall,          ///< The model begins to write a call. `name`
  AssistantMessage,  ///< Stored. `text` is its text; `usage`
  ToolStart,         ///< Stored; it runs now. `toolCallId`, `name`, `text`: the arguments
  ToolResult,        ///< Stored. `toolCallId`, `name`, `text`, `isError`
  Retry,             ///< The provider is asked again. `text` says why, `waitMs` when
  Notice,            ///< Something worth knowing. `text`
  Aborted,           ///< The turn ended early: `text`; `isError` when the call that runs the turn fails with it
  TurnEnd,           ///< `usage`, `durationMs`, `toolCount`, `contextTokens`
};
/// "user_message", "tool_start" …: the names that `bough chat --json` prints.
std::string_view toString(EventKind kind);

/// One event. Members that its kind does not name are empty.
struct AgentEvent {
  EventKind kind = EventKind::Notice;
  std::string text{};              ///< Pieces of reasoning and of answers may end in the middle of a word.
  std::string entryId{};           ///< The entry that was stored; with TurnEnd the last one.
  std::string toolCallId{};        ///< The provider's id; may be empty or not unique.
  std::string name{};              ///< Of the tool.
  bool isError = false;            ///< The tool failed or was refused; with Notice and Aborted: something went wrong.
  std::uint64_t waitMs = 0;        ///< Until the next attempt.
  Usage usage{};                   ///< Of one answer; with TurnEnd of the turn.
  std::uint64_t withoutUsage = 0;  ///< As TurnTotals::withoutUsage; of one answer 1 when nothing was said.
  std::uint64_t durationMs = 0;
  std::uint64_t toolCount = 0;
  std::uint64_t contextTokens = 0;  ///< Of the last request.
};

/// What to do when the session has grown since it was looked at.
enum class OnConflict : std::uint8_t {
  Refuse,  ///< Fail with Conflict; nothing is appended.
  Branch,  ///< Go on from the entry that was looked at, beside what the others wrote.
};

/// What to do with a call that had been started when the program ended, and that may not be repeated blindly.
struct RecoveryChoice {
  enum class Action : std::uint8_t { Unknown, RunAgain, Skip, GiveResult };
  Action action = Action::Unknown;  ///< Unknown: tell the model that nobody knows.
  std::string text{};               ///< GiveResult: what it gave.
};

/// Whoever sits in front of it. Events of tools come from several threads, one at a time; everything else, and all
/// questions, from the thread of the turn. What a call does not return from holds up the turn. References are valid
/// during the call.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void onEvent(const AgentEvent& event) = 0;
  /// Whether a call may run: no is told to the model, and the turn goes on. None: there is nobody to ask, which is told
  /// to it, too. Not called with LoopOptions::askNothing.
  virtual std::optional<bool> allow(const ToolCall& call, const std::string& question) = 0;
  /// The same with all that is known of the call: what a lasting answer would allow, and what would change.
  virtual std::optional<bool> allowPrepared(const ToolCall& call, const PreparedCall& prepared) {
    return allow(call, *prepared.question);
  }
  /// What to do with a call that had been started when the program ended. Asked by resumeTurn, call by call; not for
  /// calls that had not begun, and for tools that are safe to repeat: these run.
  virtual RecoveryChoice recover(const UnfinishedToolCall& call) = 0;
};

struct LoopOptions {
  /// Takes the place of the system prompt and the tools that the session recorded (`runtime_init`). Left out, those
  /// stay what they were, byte for byte: signatures of reasoning depend on it.
  std::optional<std::string> systemPrompt = {};
  std::string thinkingLevel = {};  ///< As ModelRequest::thinkingLevel.
  bool askNothing = false;         ///< Let every tool run without a question (--yes).
  OnConflict onConflict = OnConflict::Refuse;
  /// The turn that the caller has begun (Session::leaseTurn); none: one is begun after the first append, except with
  /// OnConflict::Branch, which takes the session from nobody.
  std::optional<std::uint64_t> turn = {};
  std::size_t maxSteps = 200;      ///< Answers of the model in one turn; it is aborted after that many.
  double compactShare = 0.8;       ///< Compact when the context passes this share of the window; 0: never.
  std::uint64_t windowTokens = 0;  ///< 0: as the model's name says.
};

/// What a loop works with; all of it belongs to the caller and must outlive the call. A provider and a listener serve
/// one turn at a time.
struct Agent {
  SessionStore& store;
  Provider& provider;
  const std::vector<Tool>& tools;
  const ToolEnvironment& environment;
  Listener& listener;
  const CancelToken& cancel;
  LoopOptions options = {};
};

/// Where a turn begins: as the caller last saw the session.
struct StartingPoint {
  std::string sessionId = {};
  std::string headId = {};  ///< What the turn continues; empty: it begins the conversation.
  std::string tailId = {};  ///< What tells whether the session has grown since.
};
/// The session as it is now: from its head. Fails as Session::state does.
[[nodiscard]] Result<StartingPoint> startingPoint(SessionStore& store, const std::string& sessionId);

/// What became of a turn.
struct TurnReport {
  StartingPoint end = {};  ///< Where the next turn begins.
  TurnTotals totals = {};  ///< What it took, tools and all.
  std::string text = {};   ///< The last answer's.
  bool aborted = false;    ///< It was stopped, by the token or by LoopOptions::maxSteps.
  /// Why the last answer is not what was asked for: refused, blocked, cut off, empty. Empty when nothing is wrong.
  std::string problem{};
  std::uint64_t contextTokens = 0;  ///< Of the last request.
};

/// What a compaction did.
struct CompactionReport {
  std::string entryId = {};           ///< The summary.
  std::string firstKeptEntryId = {};  ///< The oldest entry that is still in the context itself.
  std::uint64_t messages = 0;         ///< How many the summary stands for.
};

/// What the user says: a text, and what comes with it.
struct UserMessage {
  UserMessage(std::string said) : text(std::move(said)) {}  // NOLINT(google-explicit-constructor): a text is a message
  UserMessage(const char* said) : text(said) {}             // NOLINT(google-explicit-constructor)
  std::string text = {};
  std::vector<std::string> blocks{};  ///< Content blocks of the dialect `bough`, after the text: files, images.
};
/// A content block that holds a text.
std::string textBlock(std::string_view text);

/// Runs a turn. Fails when nothing could be stored or no answer came; what was stored before stays. A turn that failed
/// for good is closed with its reason (`turn_aborted`); one that another try may mend (Error::retryable) is finished by
/// resumeTurn. A cancelled turn is no failure: its report says `aborted`.
///
/// Conflict: the session has grown since `start`, and nothing is stored; or another turn has begun meanwhile, and this
/// one ends where it is. Io: the provider refused or failed; the message has its words. Otherwise the errors of
/// Session::append. Costs a context and a request for each answer, an append for each of the entries above, and a
/// compaction (one more request) where the context has grown too large.
[[nodiscard]] Result<TurnReport> runTurn(const Agent& agent, const StartingPoint& start, const UserMessage& message);

enum class ResumeWhat : std::uint8_t {
  Own,           ///< Only what this loop had begun.
  AlsoMessages,  ///< Also answer a last message that another program appended: the user asks for that.
};

/// Finishes a turn that was interrupted: this loop had begun it and did not get to its end or to a reason why it ended.
/// Does nothing, and sends nothing, when there is none. Calls without a result run first; Listener::recover is asked
/// about those that may have had their effect. Fails as runTurn does; a second failure of the provider closes the turn.
[[nodiscard]] Result<TurnReport> resumeTurn(const Agent& agent, const StartingPoint& start,
                                            ResumeWhat what = ResumeWhat::Own);

/// Whether resumeTurn has something to finish, of what this loop had begun. Reads the end of the branch.
[[nodiscard]] Result<bool> isInterrupted(SessionStore& store, const StartingPoint& start);

}  // namespace bough::agent
