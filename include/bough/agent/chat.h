// A conversation as a person has it: a session found by its key, a model that can be changed at any time, turns, and
// ways to move within the conversation. The REPL and `bough chat -p` use this class.
//
// A Chat is the loop (loop.h) together with what the loop needs: the session, the model, the folder, the instructions
// for the model, and the lock that keeps two chats from answering in one session at once. It prints nothing; messages
// for the user go to the Listener.
#pragma once

#include <bough/store.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bough/agent/loop.h"
#include "bough/agent/provider.h"

namespace bough::agent {

/// The key of the chat's sessions when the caller names no other key.
inline constexpr std::string_view kDefaultKey = "main:cli:user";

/// The settings of a new chat. Texts are copied; nothing here must outlive the call of Chat::make.
struct ChatOptions {
  std::string key{kDefaultKey};  ///< The key of the sessions that it creates.
  std::string model{};           ///< `provider/model`, for the first session; empty: its own, or the default.
  std::string thinkingLevel{};   ///< For the first session; empty: its own.
  std::string folder{};          ///< Where the tools work; empty: the current folder of the process.
  /// Replaces the agent's own system prompt. std::nullopt: the recorded prompt of the session, or else the agent's own.
  std::optional<std::string> systemPrompt{};
  /// Files of instructions that apply in every folder, besides AGENTS.md and CLAUDE.md of the folder and its parents.
  std::vector<std::string> userInstructions{};
  std::string storeAddress{};  ///< A password in it is never stored in a session.
  std::string storeFolder{};   ///< For the lock between processes; empty: use a lease (Session::leaseTurn).
  bool askNothing = false;     ///< Run every tool without a question.
  std::vector<std::string> allowedCommands{};  ///< See ToolEnvironment::allowedCommands.
  bool askBeforeChanges = false;  ///< Ask before files of the folder are changed, and show the change.
  // Used for sessions that have recorded no value of their own:
  std::string defaultModel{};                        ///< Empty: agent::defaultModel().
  std::string defaultThinking{};                     ///< Empty: the provider decides.
  std::optional<std::string> defaultSystemPrompt{};  ///< std::nullopt: the agent's own.
  OnConflict onConflict = OnConflict::Refuse;
  bool makeTitles = false;         ///< Ask the model for a title after the first exchange. Costs one more request.
  double compactShare = 0.8;       ///< See LoopOptions::compactShare.
  std::uint64_t windowTokens = 0;  ///< See LoopOptions::windowTokens.
  HttpProviderOptions http{};      ///< Time limits, retries, and the user's own providers.
};

/// Which files a prompt may name with `@`.
enum class PromptFiles : std::uint8_t { InFolder, Anywhere };

/// AGENTS.md and CLAUDE.md, as they were read when the session was opened.
struct Instructions {
  std::string text{};                  ///< Follows the system prompt; empty when there are none.
  std::vector<std::string> files{};    ///< The files that were read, in the order of `text`.
  std::vector<std::string> notices{};  ///< For people: files that were not read, and why.
};

/// The result of an undo.
struct UndoReport {
  std::string turnId{};                 ///< The entry of what the user said in that turn.
  std::vector<std::string> restored{};  ///< Files that have their previous content again.
  std::vector<std::string> removed{};   ///< Files that the turn had created; folders end in /.
  std::vector<std::string> notDone{};   ///< "PATH: why".
};

/// One conversation. Use it from one thread at a time; only the cancel token may be used from other threads.
///
/// A call that reads or writes the session fails as Session's calls do. A call that runs a turn, or writes in place of
/// a turn, returns Busy while another process is in the middle of a turn of the session. It returns Conflict when
/// others have continued the session since this chat last read it (reload() reads it again); with OnConflict::Branch it
/// continues on a branch of its own instead. All calls from say() on need an open session.
class Chat {
 public:
  /// Creates a chat without an open session. Store, listener and token belong to the caller and must outlive it.
  /// NotFound when the folder does not exist; InvalidArgument when it is not a folder, or when the thinking level is
  /// invalid. Reads the keys from the current environment.
  [[nodiscard]] static Result<std::unique_ptr<Chat>> make(SessionStore& store, Listener& listener,
                                                          const CancelToken& cancel, ChatOptions options);

  /// Opens a session. Its model is the one that was set, or, when other programs led the conversation, the one that
  /// answered last. NotFound when there is no such session. InvalidArgument when its model cannot be used now and the
  /// caller asked for no other: a conversation is never moved to another model without a request. After a failure the
  /// chat keeps its previous session. Reads the instructions (AGENTS.md, CLAUDE.md) again; sends nothing.
  [[nodiscard]] Result<void> open(const std::string& sessionId);
  /// Creates a session under the chat's key, with the current model, and opens it. InvalidArgument, and no session is
  /// created, when that model cannot be used.
  [[nodiscard]] Result<void> startNew();
  /// Reads the session again, because others may have continued it. The chat continues from its head, with the same
  /// model.
  [[nodiscard]] Result<void> reload();

  /// Runs a turn and returns when the model has stopped. Before the first turn of a session it records the system
  /// prompt, the tools and the model. Keys in the text are neither stored nor sent. InvalidArgument, and nothing is
  /// stored, when the text is empty or not UTF-8; otherwise fails as runTurn does. After any failure, the next call
  /// continues from what is stored.
  [[nodiscard]] Result<TurnReport> say(const UserMessage& message);
  /// Returns a prompt together with the files that it names as `@path`: texts, images, PDFs. A word that names no file
  /// stays text. InvalidArgument when a file cannot be sent, is too large or, with InFolder, is outside of the folder;
  /// and when there are too many files. Stores and sends nothing; the files are in memory.
  [[nodiscard]] Result<UserMessage> readPrompt(const std::string& text, PromptFiles files);
  /// Runs a command that the user typed. Its output is stored as a message of the user, which the model reads in the
  /// next turn. `output` is as in ToolEnvironment. Asks no question, because the user typed the command. A command that
  /// fails is an outcome, not an error.
  [[nodiscard]] Result<ToolOutcome> runCommand(const std::string& command,
                                               std::function<void(std::string_view lines)> output = nullptr);
  /// Finishes an interrupted turn. Does nothing when there is none, when another process is in the middle of the turn,
  /// or when its tools worked in another folder. Fails as resumeTurn does.
  [[nodiscard]] Result<TurnReport> resume(ResumeWhat what = ResumeWhat::Own);
  /// Returns true when resume() may have a turn to finish.
  [[nodiscard]] Result<bool> isInterrupted() const { return agent::isInterrupted(store_, at_); }

  /// Restores the files that `write` and `edit` changed in the last turn, and tells the model. A file that has changed
  /// since then, or is outside of the folder, is not touched. The next call undoes the turn before, even when nothing
  /// of this turn could be restored. NotFound when there is nothing to undo.
  [[nodiscard]] Result<UndoReport> undoFiles();

  /// Changes the model from here on. Returns one line that says what the new provider cannot see of the conversation.
  /// InvalidArgument, and the model stays, when the model is unknown or its key is missing. Builds one context; sends
  /// nothing.
  [[nodiscard]] Result<std::string> setModel(const std::string& name);
  /// Sets the thinking level: "off", "low", "medium" or "high"; InvalidArgument otherwise. Returns one line that says
  /// what applies now, also when the model does not support the setting.
  [[nodiscard]] Result<std::string> setThinkingLevel(const std::string& level);
  /// Asks the model for a summary that replaces the older part of the conversation in the context from here on;
  /// everything stays stored. `keep`: what the summary must preserve above all; may be empty. Returns std::nullopt when
  /// there is nothing to replace. Costs one request; fails with the provider's error.
  [[nodiscard]] Result<std::optional<CompactionReport>> compactNow(const std::string& keep = {});
  /// Moves the head as Session::moveHead does, and reloads. An empty id moves it before the first entry.
  [[nodiscard]] Result<void> moveHead(const std::string& entryId);
  /// Returns the entry before the user's last `turns` messages; empty when that is before the first entry. NotFound
  /// when the branch has fewer messages of the user. Reads backward from the head only as far as needed.
  [[nodiscard]] Result<std::string> findBack(std::size_t turns);
  /// Returns how many messages the user wrote on this branch; std::nullopt when it has more than `messages` messages,
  /// which is how many are read.
  [[nodiscard]] Result<std::optional<std::uint64_t>> countTurns(std::size_t messages);
  /// Creates a session that continues from an entry of this session (without `entryId`: from the head), and opens it.
  /// NotFound when there is no such entry, or when nothing was said yet.
  [[nodiscard]] Result<void> fork(const std::optional<std::string>& entryId = std::nullopt);
  /// Returns a text without the keys that this process knows.
  [[nodiscard]] std::string withoutKeys(const std::string& text) const { return environment_.secrets.redact(text); }

  /// Returns the id of the open session; empty before a session is open.
  [[nodiscard]] const std::string& sessionId() const { return at_.sessionId; }
  /// Returns where the next turn starts: the session as this chat last read it.
  [[nodiscard]] const StartingPoint& place() const { return at_; }
  /// Returns `provider/model`. A session must be open.
  [[nodiscard]] std::string model() const { return provider_->name(); }
  /// Returns the thinking level; empty: the provider decides.
  [[nodiscard]] const std::string& thinkingLevel() const { return thinkingLevel_; }
  /// Returns the tokens of the last turn's last request; 0 before the first request in this session.
  [[nodiscard]] std::uint64_t contextTokens() const { return contextTokens_; }
  /// Returns how many tokens the model can read and write. A session must be open.
  [[nodiscard]] std::uint64_t windowTokens() const;
  [[nodiscard]] const ChatOptions& options() const { return options_; }
  /// Returns the folder that the tools work in: an absolute path without links.
  [[nodiscard]] const std::string& folder() const { return environment_.folder.path(); }
  [[nodiscard]] SessionStore& store() { return store_; }
  /// Returns the instructions as they were when the session was opened.
  [[nodiscard]] const Instructions& instructions() const { return instructions_; }

 private:
  Chat(SessionStore& store, Listener& listener, const CancelToken& cancel, ChatOptions options,
       ToolEnvironment environment)
      : store_(store),
        listener_(listener),
        cancel_(cancel),
        options_(std::move(options)),
        environment_(std::move(environment)) {}

  [[nodiscard]] Agent agent(std::optional<std::uint64_t> turn = std::nullopt) const;
  [[nodiscard]] Result<void> chooseModel();
  void keepModel();
  [[nodiscard]] Result<bool> recordSetup();
  void makeTitle(const std::string& said, const std::string& answered);
  [[nodiscard]] Result<TurnReport> finished(Result<TurnReport> report);
  /// The lock of a turn; or, where that is allowed, the fact that another process is in the middle of a turn.
  struct Held;
  [[nodiscard]] Result<Held> hold() const;
  [[nodiscard]] Result<std::string> appendNow(std::string_view type, std::string payload, std::string meta = {});

  SessionStore& store_;
  Listener& listener_;
  const CancelToken& cancel_;
  ChatOptions options_;
  ToolEnvironment environment_;
  std::unique_ptr<Provider> provider_;
  std::string thinkingLevel_;
  StartingPoint at_;
  std::uint64_t contextTokens_ = 0;
  Instructions instructions_;
};

}  // namespace bough::agent
