// The slash commands of the REPL.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "cli/repl/chat_session.h"
#include "cli/terminal/line/line_editor.h"

namespace bough::cli {

class ReplCommands {
 public:
  ReplCommands(const Context& context, OpenedChat& opened) : context_(context), opened_(opened) {}

  /// Runs a line that begins with a slash.
  Result<void> run(const std::string& typed);
  /// Runs a command that the user typed (`!command`) and shows its output; the model reads the output in the next turn.
  Result<void> runShell(const std::string& command);
  /// Returns true for a command that must stop a running turn, because it leaves the session or the place in it.
  static bool endsTurn(std::string_view line);
  /// Returns the text with which a command wants the next line to begin; usually empty.
  std::string takeDraft() { return std::exchange(draft_, {}); }
  /// Returns true after /quit.
  [[nodiscard]] bool hasQuit() const { return hasQuit_; }

  /// Shows which session is open, and its size.
  void showOpened();
  /// Shows one line: model, tokens, cost, branch.
  void showStatus(const agent::TurnReport& report);

  /// Completes commands and their arguments: sessions, models, levels, files.
  Completion complete(std::string_view line);

 private:
  struct Row;
  static const std::vector<Row>& rows();

  Result<void> startNew(const std::string& words);
  Result<void> listSessions(const std::string& words);
  Result<void> switchTo(const std::string& words);
  Result<void> showHistory(const std::string& words);
  Result<void> deleteSession(const std::string& words);
  Result<void> quit(const std::string& words);
  Result<void> showTree(const std::string& words);
  Result<void> branch(const std::string& words);
  Result<void> fork(const std::string& words);
  Result<void> goBack(const std::string& words);
  Result<void> label(const std::string& words);
  Result<void> name(const std::string& words);
  Result<void> search(const std::string& words);
  Result<void> changeModel(const std::string& words);
  Result<void> changeThinking(const std::string& words);
  Result<void> undo(const std::string& words);
  Result<void> compact(const std::string& words);
  Result<void> showCost(const std::string& words);
  Result<void> exportTo(const std::string& words);
  Result<void> help(const std::string& words);

  Result<void> open(const std::string& sessionId);
  Result<std::string> findSession(const std::string& name);
  Result<void> runCommandLine(std::vector<std::string> words) const;
  [[nodiscard]] agent::Chat& chat() const { return *opened_.chat; }

  const Context& context_;
  OpenedChat& opened_;
  std::vector<std::string> listed_;  ///< The last list of /sessions; numbers refer to it.
  std::string draft_;
  double costUsd_ = 0;
  bool costKnown_ = true;
  bool hasQuit_ = false;
};

/// Prints the usable providers with the models known by name, then what the other providers need.
void printModels(const std::vector<agent::OwnProvider>& own);

}  // namespace bough::cli
