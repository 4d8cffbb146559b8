// How a chat is begun: which session it continues, and how Ctrl-C reaches it.
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

/// A chat with all that it needs.
struct OpenedChat {
  std::unique_ptr<SessionStore> store;
  std::unique_ptr<Catalog> catalog;
  std::unique_ptr<agent::Chat> chat;
  std::uint64_t restoredTurns = 0;
  agent::StartingPoint begun = {};    ///< The session that this chat has made, as it was then.
  std::shared_ptr<void> damage = {};  ///< Of tellOfDamage().
};

/// Which session a chat continues: the one that is named; else, with `last`, the one that was used last in the folder
/// (NotFound when there is none); else the key's current one, unless `fresh`; else a new one, unless `existing`.
struct ChatChoice {
  std::string session = {};
  bool fresh = false;
  bool last = false;
  bool pick = false;      ///< The user picks one, on a terminal.
  bool existing = false;  ///< NotFound rather than a new one.
  /// The name must be one that a command which changes a session accepts: nobody looks at which session was opened.
  bool exact = false;
};

Result<OpenedChat> openChat(const Context& context, const agent::ChatOptions& options, const ChatChoice& choice,
                            agent::Listener& listener, const agent::CancelToken& cancel);

/// Makes a session and opens it.
Result<void> beginSession(OpenedChat& opened);
/// After another session was opened, and at the end: the session that this chat has made is removed when nothing was
/// written into it.
void leaveSession(OpenedChat& opened);

/// The last thing the user said and the last answer to it, cut to some lines; empty when nothing was said yet.
std::string lastExchange(const OpenedChat& opened);

/// What a turn took, on one line: model, tokens, context, cost since the chat was opened, time, branch. Where the
/// terminal is too narrow, the model, the time and the branch are left out first.
std::string statusLine(const agent::Chat& chat, const agent::TurnReport& report, double costUsd, bool costKnown);

/// The command that comes back to the session of a chat.
std::string comeBackCommand(const Context& context, const OpenedChat& opened);

/// How many turns the user has had on the branch that the chat continues, those that a fork shares among them.
std::uint64_t countTurns(const OpenedChat& opened);

/// Whether a place that `/branch` names is in the session.
Result<void> checkPlace(SessionStore& store, const std::string& sessionId, const std::string& place);

/// An error as the chat tells it: the next step is a command of the chat where there is one.
Error forChat(Error error);

/// While it lives, Ctrl-C and a request to terminate set the token instead of ending the program.
class CancelOnSignal {
 public:
  CancelOnSignal();
  ~CancelOnSignal();
  CancelOnSignal(const CancelOnSignal&) = delete;
  CancelOnSignal& operator=(const CancelOnSignal&) = delete;
  [[nodiscard]] agent::CancelToken& token() const;
  /// Whether the program was asked to terminate, not only to stop what it does.
  [[nodiscard]] static bool terminating();
  /// Of a chat whose turn was broken off: by Ctrl-C, or otherwise.
  [[nodiscard]] static ExitCode exitCode();
};

/// Files of the folder whose paths begin as typed; folders end in a slash.
std::vector<std::string> filesMatching(const std::string& folder, std::string_view typed);
/// The file that a prompt names with @ at its end: those that begin as typed, else those at any depth whose names hold
/// it. None when the line does not end in such a name.
std::optional<Completion> completeSentFile(const std::string& folder, std::string_view line);

}  // namespace bough::cli
