// Opens a chat: selects the session that it continues, and connects Ctrl-C to it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bough/agent/chat.h"
#include "bough/catalog.h"
#include "cli/definition/command.h"
#include "cli/terminal/line/line_editor.h"

namespace bough::cli {

/// A chat with everything that it needs.
struct OpenedChat {
  std::unique_ptr<SessionStore> store;
  std::unique_ptr<Catalog> catalog;
  std::unique_ptr<agent::Chat> chat;
  std::uint64_t restoredTurns = 0;
  agent::StartingPoint created = {};  ///< The session that this chat created, in its first state.
  std::shared_ptr<void> damage = {};  ///< Returned by reportDamage().
};

/// Selects the session that a chat continues, in this order: the named session; with `last`, the session used last in
/// the folder (NotFound if there is none); the key's current session, unless `fresh`; a new session, unless `existing`.
struct ChatChoice {
  std::string session = {};
  bool fresh = false;
  bool last = false;
  bool pick = false;      ///< Let the user pick a session on a terminal.
  bool existing = false;  ///< Fail with NotFound instead of creating a session.
  /// Accept only names that are valid for changing a session, because nobody checks which session was opened.
  bool exact = false;
};

Result<OpenedChat> openChat(const Context& context, const agent::ChatOptions& options, const ChatChoice& choice,
                            agent::Listener& listener, const agent::CancelToken& cancel);

/// Creates a session and opens it.
Result<void> beginSession(OpenedChat& opened);
/// Removes the session that this chat created if nothing was written into it. Called after another session was opened,
/// and at the end. Returns true when that session was removed.
bool removeUnusedSession(OpenedChat& opened);

/// Returns the user's last message and the last answer to it, cut to some lines; empty when nothing was said yet.
std::string lastExchange(const OpenedChat& opened);

/// Returns one line about a turn: model, tokens, context, cost since the chat was opened, time, branch. On a narrow
/// terminal, leaves out the model, the time and the branch first.
std::string statusLine(const agent::Chat& chat, const agent::TurnReport& report, double costUsd, bool costKnown);

/// Returns the command that reopens a chat's session.
std::string reopenCommand(const Context& context, const OpenedChat& opened);

/// Counts the user's turns on the branch that the chat continues, including turns that a fork shares.
std::uint64_t countTurns(const OpenedChat& opened);

/// Fails unless the session has the place that `/branch` names.
Result<void> checkPlace(SessionStore& store, const std::string& sessionId, const std::string& place);

/// Adapts an error for the chat: the hint names a command of the chat where one exists.
Error forChat(Error error);

/// While this object lives, Ctrl-C and a termination request set the token instead of ending the program.
class CancelOnSignal {
 public:
  CancelOnSignal();
  ~CancelOnSignal();
  CancelOnSignal(const CancelOnSignal&) = delete;
  CancelOnSignal& operator=(const CancelOnSignal&) = delete;
  [[nodiscard]] agent::CancelToken& token() const;
  /// Returns true when the program was asked to terminate, and not only to stop its current work.
  [[nodiscard]] static bool isTerminating();
  /// Returns the exit code for a chat whose turn was interrupted, by Ctrl-C or otherwise.
  [[nodiscard]] static ExitCode exitCode();
};

/// Returns the files of the folder whose paths begin with the typed text; folders end in a slash.
std::vector<std::string> filesMatching(const std::string& folder, std::string_view typed);
/// Completes a file named with @ at the end of a prompt: files whose paths begin with the typed text, otherwise files
/// at any depth whose names contain it. Returns std::nullopt when the line does not end in such a name.
std::optional<Completion> completeSentFile(const std::string& folder, std::string_view line);

}  // namespace bough::cli
