// A conversation as a person has it: a session found by its key, a model that can be changed in the middle, turns, and
// the ways to move about in it. The REPL and `bough chat -p` use this.
#pragma once

#include <bough/store.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bough/agent/loop.h"
#include "bough/agent/provider.h"

namespace bough::agent {

inline constexpr std::string_view kDefaultKey = "main:cli:user";

struct ChatOptions {
  std::string key{kDefaultKey};
  std::string model{};          ///< `provider/model`, for the first session; empty: its own, else the default one.
  std::string thinkingLevel{};  ///< For the first session; empty: its own.
  std::string folder{};         ///< Where the tools work.
  /// Takes the place of the agent's own system prompt; none: what the session has recorded, else the agent's own.
  std::optional<std::string> systemPrompt{};
  /// Files of instructions that hold in every folder, besides AGENTS.md and CLAUDE.md of the folder and its parents.
  std::vector<std::string> userInstructions{};
  std::string storeFolder{};  ///< For the lock between processes; empty: a lease of the store (Session::leaseTurn).
  bool askNothing = false;
  std::vector<std::string> allowedCommands{};
  bool askBeforeChanges = false;  ///< Ask before files of the folder are changed, and show what would change.
  // For sessions that have none of their own yet:
  std::string defaultModel{};  ///< Empty: agent::defaultModel().
  std::string defaultThinking{};
  std::optional<std::string> defaultSystemPrompt{};  ///< None: the agent's own.
  OnConflict onConflict = OnConflict::Refuse;
  bool makeTitles = false;  ///< Ask the model for a title after the first exchange.
  double compactShare = 0.8;
  std::uint64_t windowTokens = 0;
  HttpProviderOptions http{};
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

/// One thread at a time; only the token that cancels it may be used from others.
class Chat {
 public:
  /// Store, listener and token belong to the caller and must outlive it. No session is open yet.
  static Result<std::unique_ptr<Chat>> make(SessionStore& store, Listener& listener, const CancelToken& cancel,
                                            ChatOptions options);

  /// Opens a session: its place and its model. NotFound when there is none. InvalidArgument when its model cannot be
  /// used now and no other was asked for: a conversation is never handed to another model unasked. When it fails, the
  /// chat stays where it was.
  Result<void> open(const std::string& sessionId);
  /// Makes a session under the key and opens it.
  Result<void> startNew();
  /// Looks at the session again: others may have continued it.
  Result<void> reload();

  /// A turn. In the first one of a session, system prompt, tools and model are recorded before it. Keys in the text are
  /// neither stored nor sent.
  Result<TurnReport> say(const UserMessage& message);
  /// A prompt with the files that it names by `@path`: texts, images, PDFs. A word that names no file stays text.
  /// InvalidArgument for a file that cannot be sent.
  Result<UserMessage> readPrompt(const std::string& text, PromptFiles files);
  /// Runs a command that the user typed. What it printed is stored as a message of the user's: the model reads it in
  /// the next turn. `output` is ToolEnvironment's.
  Result<ToolOutcome> runCommand(const std::string& command,
                                 std::function<void(std::string_view lines)> output = nullptr);
  /// Finishes a turn that was interrupted; does nothing when there is none.
  Result<TurnReport> resume(ResumeWhat what = ResumeWhat::Own);
  [[nodiscard]] Result<bool> isInterrupted() const { return agent::isInterrupted(store_, at_); }

  /// Puts back the files that `write` and `edit` have changed in the last turn, and tells the model so. A file that was
  /// changed since, or is outside of the folder, is left alone. Called again, it undoes the turn before. NotFound when
  /// there is nothing to undo.
  Result<UndoReport> undoFiles();

  /// Changes the model from here on. Returns in one line what the other provider cannot see of the conversation.
  Result<std::string> setModel(const std::string& name);
  /// "off", "low", "medium" or "high". Returns in one line what holds now, also where the model cannot be told.
  Result<std::string> setThinkingLevel(const std::string& level);
  /// `keep`: what the summary must hold above all; may be empty. None when there is nothing to leave out.
  Result<std::optional<CompactionReport>> compactNow(const std::string& keep = {});
  /// Moves the head; empty: before the first entry.
  Result<void> moveHead(const std::string& entryId);
  /// The entry before the last `turns` things the user said; empty when that is before the first.
  Result<std::string> findBack(std::size_t turns);
  /// How many things the user said on this branch; none when it has more than `messages` messages.
  Result<std::optional<std::uint64_t>> countTurns(std::size_t messages);
  /// Makes a session that continues from the head, and opens it.
  Result<void> fork();
  /// A text without the keys that this process knows of.
  [[nodiscard]] std::string withoutKeys(const std::string& text) const { return environment_.secrets.redact(text); }

  [[nodiscard]] const std::string& sessionId() const { return at_.sessionId; }
  [[nodiscard]] const StartingPoint& place() const { return at_; }
  [[nodiscard]] std::string model() const { return provider_->name(); }
  [[nodiscard]] const std::string& thinkingLevel() const { return thinkingLevel_; }
  [[nodiscard]] std::uint64_t contextTokens() const { return contextTokens_; }
  [[nodiscard]] std::uint64_t windowTokens() const;
  [[nodiscard]] const ChatOptions& options() const { return options_; }
  /// Where the tools work: absolute, without links.
  [[nodiscard]] const std::string& folder() const { return environment_.folder.path(); }
  [[nodiscard]] SessionStore& store() { return store_; }
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
  Result<void> chooseModel();
  void keepModel();
  Result<bool> recordSetup();
  void makeTitle(const std::string& said, const std::string& answered);
  Result<TurnReport> finished(Result<TurnReport> report);
  /// The lock of a turn; or, where that is allowed, that another process is in the middle of one.
  struct Held;
  [[nodiscard]] Result<Held> hold() const;
  Result<std::string> appendNow(std::string_view type, std::string payload, std::string meta = {});

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
