// The loop: what the user says goes into the session, the model's answer after it, then the tools it asks for, until
// the model stops.
//
// It keeps no state. Everything it knows is read from the session at the beginning and written to it before it acts:
//   1. the user's message,
//   2. the assistant's message, whole, before any of its tools runs,
//   3. `tool_start` before each tool, its result as soon as it is there,
//   4. with the last message, what the turn took.
// So a crash at any point leaves a session from which `resume` goes on.
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
std::string_view toString(EventKind kind);

struct AgentEvent {
  EventKind kind = EventKind::Notice;
  std::string text{};
  std::string entryId{};
  std::string toolCallId{};
  std::string name{};
  bool isError = false;
  std::uint64_t waitMs = 0;
  Usage usage{};
  std::uint64_t durationMs = 0;
  std::uint64_t toolCount = 0;
  std::uint64_t contextTokens = 0;
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

/// Whoever sits in front of it. Events of tools come from several threads, one at a time.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void onEvent(const AgentEvent& event) = 0;
  /// Whether a call may run. None: there is nobody to ask.
  virtual std::optional<bool> allow(const ToolCall& call, const std::string& question) = 0;
  /// The same with all that is known of the call: what a lasting answer would allow, and what would change.
  virtual std::optional<bool> allowPrepared(const ToolCall& call, const PreparedCall& prepared) {
    return allow(call, *prepared.question);
  }
  virtual RecoveryChoice recover(const UnfinishedToolCall& call) = 0;
};

struct LoopOptions {
  /// Takes the place of the system prompt and the tools that the session recorded (`runtime_init`). Left out, those
  /// stay what they were, byte for byte: signatures of reasoning depend on it.
  std::optional<std::string> systemPrompt;
  std::string thinkingLevel;
  bool askNothing = false;  ///< --yes
  OnConflict onConflict = OnConflict::Refuse;
  /// The turn that the caller has begun (Session::leaseTurn); none: one is begun after the first append.
  std::optional<std::uint64_t> turn = {};
  std::size_t maxSteps = 200;      ///< Answers of the model in one turn.
  double compactShare = 0.8;       ///< Compact when the context passes this share of the window; 0: never.
  std::uint64_t windowTokens = 0;  ///< 0: as the model's name says.
};

/// What a loop works with; all of it belongs to the caller.
struct Agent {
  SessionStore& store;
  Provider& provider;
  const std::vector<Tool>& tools;
  const ToolEnvironment& environment;
  Listener& listener;
  const CancelToken& cancel;
  LoopOptions options;
};

/// Where a turn begins: as the caller last saw the session.
struct StartingPoint {
  std::string sessionId;
  std::string headId;
  std::string tailId;
};
/// The session as it is now.
Result<StartingPoint> startingPoint(SessionStore& store, const std::string& sessionId);

struct TurnReport {
  StartingPoint end;  ///< Where the next turn begins.
  TurnTotals totals;
  std::string text;  ///< The last answer's.
  bool aborted = false;
  /// Why the last answer is not what was asked for: refused, blocked, cut off, empty. Empty when nothing is wrong.
  std::string problem{};
  std::uint64_t contextTokens = 0;
};

/// What a compaction did.
struct CompactionReport {
  std::string entryId;
  std::string firstKeptEntryId;
  std::uint64_t messages = 0;  ///< How many the summary stands for.
};

/// What the user says: a text, and what comes with it.
struct UserMessage {
  UserMessage(std::string said) : text(std::move(said)) {}  // NOLINT(google-explicit-constructor): a text is a message
  UserMessage(const char* said) : text(said) {}             // NOLINT(google-explicit-constructor)
  std::string text;
  std::vector<std::string> blocks{};  ///< Content blocks of the dialect `bough`, after the text: files, images.
};
/// A content block that holds a text.
std::string textBlock(std::string_view text);

/// Runs a turn. Fails when nothing could be stored or no answer came; what was stored before stays. A turn that failed
/// for good is closed with its reason (`turn_aborted`); one that another try may mend is finished by resumeTurn.
Result<TurnReport> runTurn(const Agent& agent, const StartingPoint& start, const UserMessage& message);

enum class ResumeWhat : std::uint8_t {
  Own,           ///< Only what this loop had begun.
  AlsoMessages,  ///< Also answer a last message that another program appended: the user asks for that.
};

/// Finishes a turn that was interrupted: this loop had begun it and did not get to its end or to a reason why it ended.
/// Does nothing when there is none.
Result<TurnReport> resumeTurn(const Agent& agent, const StartingPoint& start, ResumeWhat what = ResumeWhat::Own);

/// Whether resumeTurn has something to finish.
Result<bool> isInterrupted(SessionStore& store, const StartingPoint& start);

}  // namespace bough::agent
