// A conversation as a person has it: a session found by its key, a model that can be changed in the middle, turns, and
// the ways to move about in it. The REPL and `bough chat -p` use this.
//
// A Chat is the loop (loop.h) with what surrounds it: which session, which model, which folder, the instructions for
// the model, the lock that keeps two chats from answering in one session at once. It prints nothing; what a person
// should know goes to the Listener.
#pragma once

#include <bough/store.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bough/agent/loop.h"
#include "bough/agent/provider.h"

namespace bough::agent {

/// The key under which a chat looks for its session when nobody names another.
inline constexpr std::string_view kDefaultKey = "main:cli:user";

/// What a chat begins with. Texts are copied; nothing here must outlive the call of Chat::make.
struct ChatOptions {
  std::string key{kDefaultKey};  ///< Of the sessions that it makes.
  std::string model{};           ///< `provider/model`, for the first session; empty: its own, else the default one.
  std::string thinkingLevel{};   ///< For the first session; empty: its own.
  std::string folder{};          ///< Where the tools work; empty: the process's own folder.
  /// Takes the place of the agent's own system prompt; none: what the session has recorded, else the agent's own.
  std::optional<std::string> systemPrompt{};
  /// Files of instructions that hold in every folder, besides AGENTS.md and CLAUDE.md of the folder and its parents.
  std::vector<std::string> userInstructions{};
  std::string storeAddress{};  ///< A password in it gets into no session.
  std::string storeFolder{};   ///< For the lock between processes; empty: a lease of the store (Session::leaseTurn).
  bool askNothing = false;     ///< Let every tool run without a question.
  std::vector<std::string> allowedCommands{};  ///< As ToolEnvironment::allowedCommands.
  bool askBeforeChanges = false;  ///< Ask before files of the folder are changed, and show what would change.
  // For sessions that have none of their own yet:
  std::string defaultModel{};                        ///< Empty: agent::defaultModel().
  std::string defaultThinking{};                     ///< Empty: as the provider decides.
  std::optional<std::string> defaultSystemPrompt{};  ///< None: the agent's own.
  OnConflict onConflict = OnConflict::Refuse;
  bool makeTitles = false;         ///< Ask the model for a title after the first exchange. Costs one more request.
  double compactShare = 0.8;       ///< As LoopOptions::compactShare.
  std::uint64_t windowTokens = 0;  ///< As LoopOptions::windowTokens.
  HttpProviderOptions http{};      ///< Time limits, retries, and providers of the user's own.
};

/// Which files `@` may name in a prompt.
enum class PromptFiles : std::uint8_t { InFolder, Anywhere };

/// AGENTS.md and CLAUDE.md, as they were read when a session was opened.
struct Instructions {
  std::string text{};                  ///< Goes after the system prompt; empty when there are none.
  std::vector<std::string> files{};    ///< The files that were read, in the order of `text`.
  std::vector<std::string> notices{};  ///< For people: files that were not read, and why.
};

/// What an undo did.
struct UndoReport {
  std::string turnId{};                 ///< What the user had said in that turn.
  std::vector<std::string> restored{};  ///< Files that hold again what they held before.
  std::vector<std::string> removed{};   ///< Files that the turn had made; folders with a / at the end.
  std::vector<std::string> notDone{};   ///< "PATH: why".
};

/// One conversation. One thread at a time; only the token that cancels it may be used from others.
///
/// A call that reads or writes the session fails as Session's calls do. One that runs a turn, or writes in the place of
/// one, returns Busy while another process is in the middle of a turn of the session, and Conflict when others have
/// continued the session since it was looked at (reload() looks again); with OnConflict::Branch it goes on beside them.
/// Everything from say() on needs a session that is open.
class Chat {
 public:
  /// Store, listener and token belong to the caller and must outlive it. No session is open yet. NotFound when the
  /// folder is not there; InvalidArgument when it is not a folder, or the thinking level is not one. Takes the keys
  /// from the environment as it is now.
  [[nodiscard]] static Result<std::unique_ptr<Chat>> make(SessionStore& store, Listener& listener,
                                                          const CancelToken& cancel, ChatOptions options);

  /// Opens a session: its place and its model, which is the one that was set or, in a conversation that others have
  /// led, has answered last. NotFound when there is none. InvalidArgument when its model cannot be used now and no
  /// other was asked for: a conversation is never handed to another model unasked. When it fails, the chat stays where
  /// it was. Reads the instructions (AGENTS.md, CLAUDE.md) again; sends nothing.
  [[nodiscard]] Result<void> open(const std::string& sessionId);
  /// Makes a session under the key, with the model of before, and opens it. InvalidArgument, and no session, when that
  /// model cannot be used.
  [[nodiscard]] Result<void> startNew();
  /// Looks at the session again: others may have continued it. The chat goes on from its head, with the same model.
  [[nodiscard]] Result<void> reload();

  /// Runs a turn: returns when the model has stopped. In the first one of a session, system prompt, tools and model are
  /// recorded before it. Keys in the text are neither stored nor sent. InvalidArgument, and nothing is stored, for a
  /// text that is empty or not UTF-8; otherwise fails as runTurn does. Whatever becomes of it, the next call goes on
  /// from what is stored.
  [[nodiscard]] Result<TurnReport> say(const UserMessage& message);
  /// Returns a prompt with the files that it names by `@path`: texts, images, PDFs. A word that names no file stays
  /// text. InvalidArgument for a file that cannot be sent, is too large or, with InFolder, is outside of the folder;
  /// and for too many files. Stores and sends nothing; the files are in memory.
  [[nodiscard]] Result<UserMessage> readPrompt(const std::string& text, PromptFiles files);
  /// Runs a command that the user typed. What it printed is stored as a message of the user's: the model reads it in
  /// the next turn. `output` is ToolEnvironment's. Asks nothing: the user typed it. A command that fails is an outcome,
  /// not an error.
  [[nodiscard]] Result<ToolOutcome> runCommand(const std::string& command,
                                               std::function<void(std::string_view lines)> output = nullptr);
  /// Finishes a turn that was interrupted; does nothing when there is none, when another process is in the middle of
  /// it, or when its tools worked in another folder. Fails as resumeTurn does.
  [[nodiscard]] Result<TurnReport> resume(ResumeWhat what = ResumeWhat::Own);
  /// Whether resume() may have something to finish.
  [[nodiscard]] Result<bool> isInterrupted() const { return agent::isInterrupted(store_, at_); }

  /// Puts back the files that `write` and `edit` have changed in the last turn, and tells the model so. A file that was
  /// changed since, or is outside of the folder, is left alone. Called again, it undoes the turn before, also when
  /// nothing of this one could be put back. NotFound when there is nothing to undo.
  [[nodiscard]] Result<UndoReport> undoFiles();

  /// Changes the model from here on. Returns in one line what the other provider cannot see of the conversation.
  /// InvalidArgument, and the model stays, when it is unknown or its key is missing. Builds one context; sends nothing.
  [[nodiscard]] Result<std::string> setModel(const std::string& name);
  /// "off", "low", "medium" or "high"; InvalidArgument for another. Returns in one line what holds now, also where the
  /// model cannot be told.
  [[nodiscard]] Result<std::string> setThinkingLevel(const std::string& level);
  /// Has the model write a summary that stands for the older part of the conversation from here on; all of it stays
  /// stored. `keep`: what the summary must hold above all; may be empty. None when there is nothing to leave out. Costs
  /// one request; fails with the provider's error.
  [[nodiscard]] Result<std::optional<CompactionReport>> compactNow(const std::string& keep = {});
  /// Moves the head as Session::moveHead does, and reloads; empty: before the first entry.
  [[nodiscard]] Result<void> moveHead(const std::string& entryId);
  /// The entry before the last `turns` things the user said; empty when that is before the first. NotFound when the
  /// branch has fewer. Reads back from the head only as far as needed.
  [[nodiscard]] Result<std::string> findBack(std::size_t turns);
  /// How many things the user said on this branch; none when it has more than `messages` messages: so many are read.
  [[nodiscard]] Result<std::optional<std::uint64_t>> countTurns(std::size_t messages);
  /// Makes a session that continues from an entry of this one, else from the head, and opens it. NotFound when there is
  /// no such entry, or nothing was said yet.
  [[nodiscard]] Result<void> fork(const std::optional<std::string>& entryId = std::nullopt);
  /// A text without the keys that this process knows of.
  [[nodiscard]] std::string withoutKeys(const std::string& text) const { return environment_.secrets.redact(text); }

  /// Empty before a session is open.
  [[nodiscard]] const std::string& sessionId() const { return at_.sessionId; }
  /// Where the next turn begins: the session as this chat last saw it.
  [[nodiscard]] const StartingPoint& place() const { return at_; }
  /// `provider/model`. A session must be open.
  [[nodiscard]] std::string model() const { return provider_->name(); }
  /// Empty: as the provider decides.
  [[nodiscard]] const std::string& thinkingLevel() const { return thinkingLevel_; }
  /// Of the last turn's last request; 0 before the first one in this session.
  [[nodiscard]] std::uint64_t contextTokens() const { return contextTokens_; }
  /// How many tokens the model reads and writes. A session must be open.
  [[nodiscard]] std::uint64_t windowTokens() const;
  [[nodiscard]] const ChatOptions& options() const { return options_; }
  /// Where the tools work: absolute, without links.
  [[nodiscard]] const std::string& folder() const { return environment_.folder.path(); }
  [[nodiscard]] SessionStore& store() { return store_; }
  /// As they were when the session was opened.
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
  /// The lock of a turn; or, where that is allowed, that another process is in the middle of one.
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
