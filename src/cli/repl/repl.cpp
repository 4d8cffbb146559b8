#include "cli/repl/repl.h"
#include "bough/store.h"

#include <fmt/format.h>

#include <condition_variable>
#include <deque>

#include "base/system/threads.h"
#include "base/text/counted.h"
#include "base/text/text.h"
#include "base/try.h"
#include "cli/repl/chat_listener.h"
#include "cli/repl/chat_session.h"
#include "cli/repl/repl_commands.h"
#include "cli/repl/typed_line.h"
#include "cli/repl/typed_lines.h"
#include "cli/terminal/line/line_editor.h"
#include "cli/terminal/line/typed_history.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"
#include "cli/terminal/wrapped_text.h"

namespace bough::cli {
namespace {

// Returns the file for typed lines; empty for a store that is not a folder.
std::string historyFile(const Context& context) {
  const std::string location = context.resolvedLocation();
  return context.backend || isPostgresLocation(location) ? "" : fmt::format("{}/{}", location, kTypedHistory);
}

constexpr int kAnswerPollMs = 20;

// A question that the turn's thread asks the user, who types in another thread.
class Questions {
 public:
  /// Called by the turn. Returns std::nullopt when the turn was stopped meanwhile.
  std::optional<std::string> ask(const std::string& question, const agent::CancelToken& cancel) {
    {
      const std::lock_guard lock(mutex_);
      open_ = true;
      answer_.reset();
    }
    printText(question);
    std::unique_lock lock(mutex_);
    while (!answer_ && !cancel.requested()) changed_.wait_for(lock, std::chrono::milliseconds(kAnswerPollMs));
    open_ = false;
    if (!answer_) printText("\n");  // the line of the question is still open
    return std::exchange(answer_, {});
  }
  /// Returns true while a question waits for its answer.
  [[nodiscard]] bool isOpen() {
    const std::lock_guard lock(mutex_);
    return open_ && !answer_;
  }
  /// Called for a typed line. Returns true when the line was the answer to a question.
  bool answer(const std::string& line) {
    const std::lock_guard lock(mutex_);
    if (!open_ || answer_) return false;
    answer_ = line;
    changed_.notify_all();
    return true;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
  std::optional<std::string> answer_;
};

class Repl {
 public:
  Repl(const Context& context, const ChatRequest& request)
      : context_(context),
        options_(withTitles(request.options)),
        listener_([this](const std::string& question) { return questions_.ask(question, signals_.token()); },
                  request.folder, request.allowed) {}

  Result<ExitCode> run(const ChatChoice& choice, const std::string& prompt) {
    BOUGH_TRY(opened_, openChat(context_, options_, choice, listener_, signals_.token()));
    commands_ = std::make_unique<ReplCommands>(context_, opened_);
    editor_ = std::make_unique<LineEditor>(
        historyFile(context_), [this](std::string_view line) { return commands_->complete(line); },
        [this](const std::string& line) { return opened_.chat->withoutKeys(line); });
    commands_->showOpened();
    finishInterrupted();
    if (!prompt.empty()) queue_.push_back(prompt);
    while (!commands_->hasQuit() && !CancelOnSignal::isTerminating()) {
      std::optional<std::string> line = nextLine();
      if (!line) break;
      handle(*line);
    }
    (void)dropQueue();
    if (!removeUnusedSession(opened_)) {
      printWrapped(styled(Style::Dim, "To come back: ") + reopenCommand(context_, opened_));
    }
    return kDone;
  }

 private:
  static agent::ChatOptions withTitles(agent::ChatOptions options) {
    options.makeTitles = true;
    return options;
  }

  // Returns the first waiting line, otherwise asks the user.
  std::optional<std::string> nextLine() {
    if (!queue_.empty()) {
      std::string line = std::move(queue_.front());
      queue_.pop_front();
      printLine(styled(Style::Bold, "› ") + text::printableLines(line));
      editor_->remember(line);
      return line;
    }
    for (;;) {
      signals_.token().reset();
      const LineEditor::Input input = editor_->read("› ", std::exchange(draft_, {}));
      if (input.outcome == LineEditor::Outcome::Line) return input.text;
      if (input.outcome == LineEditor::Outcome::End || CancelOnSignal::isTerminating()) return std::nullopt;
      printLine(styled(Style::Dim, "(Ctrl-D or /quit ends the chat)"));
    }
  }

  void handle(const std::string& line) {
    signals_.token().reset();
    const TypedLine typed = readTypedLine(line);
    switch (typed.kind) {
      case TypedLine::Kind::Empty: return;
      case TypedLine::Kind::Command:
        report(commands_->run(typed.text));
        draft_ = commands_->takeDraft();
        return;
      case TypedLine::Kind::Shell: {
        Result<void> done;
        return runWhileReadingLines([&] { done = commands_->runShell(typed.text); }, [&] { report(done); });
      }
      case TypedLine::Kind::Message: break;
    }
    runTurn([&]() -> Result<agent::TurnReport> {
      BOUGH_TRY(const auto message, opened_.chat->readPrompt(typed.text, agent::PromptFiles::Anywhere));
      return opened_.chat->say(message);
    });
  }

  void finishInterrupted() {
    const auto interrupted = opened_.chat->isInterrupted();
    if (!interrupted || !*interrupted) return;
    runTurn([&] { return opened_.chat->resume(); });
  }

  void runTurn(const std::function<Result<agent::TurnReport>()>& turn) {
    std::optional<Result<agent::TurnReport>> outcome;
    runWhileReadingLines(
        [&] { outcome = turn(); },
        [&] { *outcome ? commands_->showStatus(**outcome) : report(std::unexpected(outcome->error())); });
  }

  // Runs a turn or a command in its own thread. Meanwhile reads lines: answers to questions, commands that end the
  // turn, and the next messages. Calls `showOutcome` afterwards.
  void runWhileReadingLines(const std::function<void()>& work, const std::function<void()>& showOutcome) {
    std::atomic<bool> over{false};
    std::optional<std::string> switching;
    std::string notSent;
    ThreadFailure failure;
    {
      TypedLines typed([this] { return questions_.isOpen(); },
                       [this](std::string_view line) { return commands_->complete(line); }, std::exchange(draft_, {}));
      if (!queue_.empty()) typed.showNext(queue_.front());
      const auto worker = startThread("for the turn", [&] {
        failure.guard(work);
        over = true;
      });
      if (!worker) return report(std::unexpected(worker.error()));
      while (!over) {
        const auto line = typed.next();
        if (!line || (typed.isAnswer() && questions_.answer(*line))) continue;
        if (ReplCommands::endsTurn(*line)) {
          switching = *line;
          notSent = dropQueue();
          editor_->remember(*line);
          signals_.token().request();
        } else if (line->find_first_not_of(" \t") != std::string::npos) {
          queue_.push_back(*line);
          typed.showNext(queue_.front());
        }
      }
      draft_ = typed.rest();
    }
    failure.rethrow();
    showOutcome();
    if (switching) {
      if (!notSent.empty()) printWrapped(styled(Style::Dim, notSent));
      signals_.token().reset();
      report(commands_->run(*switching));
      finishInterruptedAfterSwitch();
    }
  }

  // The waiting lines were not meant for the place to which the next command leads. Up brings them back.
  std::string dropQueue() {
    if (queue_.empty()) return {};
    const std::size_t others = queue_.size() - 1;
    std::string notice = fmt::format("not sent: {}{}; Up brings it back", text::excerpt(queue_.front(), 60),
                                     others == 0 ? "" : " and " + counted(others, "more line"));
    for (const std::string& line : queue_) editor_->remember(line);
    queue_.clear();
    return notice;
  }

  void finishInterruptedAfterSwitch() {
    if (!commands_->hasQuit()) finishInterrupted();
  }

  static void report(const Result<void>& result) {
    if (!result) printError(forChat(result.error()), false);
  }

  const Context& context_;
  agent::ChatOptions options_;
  CancelOnSignal signals_;
  Questions questions_;
  TextListener listener_;
  OpenedChat opened_;
  std::unique_ptr<ReplCommands> commands_;
  std::unique_ptr<LineEditor> editor_;
  std::deque<std::string> queue_;
  std::string draft_;  ///< The text with which the next line begins: typed while the model answered, or chosen in the
                       ///< tree.
};

}  // namespace

Result<ExitCode> runRepl(const Context& context, const ChatRequest& request) {
  return Repl(context, request).run(request.choice, request.prompt);
}

}  // namespace bough::cli
