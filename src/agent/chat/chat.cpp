#include "bough/agent/chat.h"

#include <fmt/format.h>

#include <algorithm>

#include "agent/chat/instructions.h"
#include "agent/chat/plain_title.h"
#include "agent/chat/prompt_files.h"
#include "agent/chat/setup.h"
#include "agent/chat/turn_lock.h"
#include "agent/loop/ask_once.h"
#include "agent/loop/compaction.h"
#include "agent/loop/file_copies.h"
#include "agent/loop/interruption.h"
#include "agent/loop/requests.h"
#include "agent/loop/tool_runner.h"
#include "agent/parts/json_parts.h"
#include "agent/parts/prompts.h"
#include "agent/providers/models.h"
#include "agent/providers/offline.h"
#include "base/model/typed_text.h"
#include "base/text/counted.h"
#include "base/text/text.h"
#include "base/try.h"
#include "base/user_folders.h"
#include "bough/catalog.h"

namespace bough::agent {
namespace {

constexpr std::size_t kShownLosses = 3;

void writeModel(json::Writer& writer, const std::string& name) {
  const std::size_t slash = name.find('/');
  writer.member("provider", name.substr(0, slash)).member("model", name.substr(slash + 1));
}

// Returns one line: nothing is lost, or the fields that the other provider will not see.
std::string compatibilityLine(const CompatibilityReport& report) {
  if (report.lossyFields.empty()) return "it can read the whole conversation";
  std::string out;
  for (std::size_t i = 0; i < std::min(report.lossyFields.size(), kShownLosses); ++i) {
    out += fmt::format("{}{} ×{}", i == 0 ? "" : ", ", report.lossyFields[i], report.lossyCounts[i]);
  }
  if (report.lossyFields.size() > kShownLosses) out += ", …";
  if (report.lossyMessages > 0) out += fmt::format(" in {} of {} messages", report.lossyMessages, report.messages);
  return fmt::format("it does not see {}; the session keeps all of it", out);
}

// Returns true when the user said the entry.
bool isFromUser(const Entry& entry) {
  if (!holdsMessage(entry) || entry.redacted) return false;
  const auto message = normalizeEntry(entry);
  if (!message || message->role != Role::User) return false;
  return std::ranges::any_of(message->blocks, [](const Block& block) { return block.kind == BlockKind::Text; });
}

std::string fallbackModel(const ChatOptions& options) {
  return options.defaultModel.empty() ? defaultModel() : options.defaultModel;
}

// The notice for a conversation whose earlier model is unknown and for which nobody has chosen one.
AgentEvent fallbackModelNotice(const ChatOptions& options, const std::string& model) {
  const std::string why = options.defaultModel.empty() ? whyDefaultModel() : "it is the default model";
  return {.kind = EventKind::Notice,
          .text = fmt::format("the session does not say which model it used; continuing with {}, because {} (choose "
                              "another model with --model or /model)",
                              model, why)};
}

// Fails when a conversation must not continue with a model that the user did not choose.
Result<void> checkUnchosenModel(const ConversationModel& known, const std::string& name) {
  constexpr const char* kHint = "choose the model to continue with: --model PROVIDER/MODEL";
  const std::string recorded = known.name.full();
  if (!recorded.empty() && known.name.provider.empty()) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("this conversation used the model {}, and its provider is not recorded", recorded), kHint);
  }
  if (known.lastUnnamedProvider.empty()) return {};
  if (recorded.empty() && isSameProvider(name.substr(0, name.find('/')), known.lastUnnamedProvider)) return {};
  return fail(
      ErrorCode::InvalidArgument,
      fmt::format("this conversation used a model of {} whose name is not recorded, and {} is not a model of {}",
                  known.lastUnnamedProvider, name, known.lastUnnamedProvider),
      kHint);
}

bool isLevel(const std::string& level) {
  return level == "off" || level == "low" || level == "medium" || level == "high";
}

}  // namespace

Result<std::unique_ptr<Chat>> Chat::make(SessionStore& store, Listener& listener, const CancelToken& cancel,
                                         ChatOptions options) {
  for (const OwnProvider& each : options.http.providers) {
    if (!each.keyVariable.empty()) Secrets::addVariable(each.keyVariable);
  }
  BOUGH_TRY(auto folder, WorkingFolder::open(options.folder.empty() ? "." : options.folder));
  ToolEnvironment environment{.folder = std::move(folder),
                              .limits = {},
                              .secrets = Secrets::fromEnvironment(),
                              .allowedCommands = options.allowedCommands,
                              .askBeforeChanges = options.askBeforeChanges};
  environment.secrets.addFromUrl(options.storeAddress);
  for (const OwnProvider& each : options.http.providers) environment.secrets.addFromUrl(each.baseUrl);
  if (!options.thinkingLevel.empty() && !isLevel(options.thinkingLevel)) {
    return fail(ErrorCode::InvalidArgument, fmt::format("{} is not a thinking level", options.thinkingLevel),
                "use off, low, medium or high");
  }
  return std::unique_ptr<Chat>(new Chat(store, listener, cancel, std::move(options), std::move(environment)));
}

Result<void> Chat::open(const std::string& sessionId) {
  BOUGH_TRY(StartingPoint place, startingPoint(store_, sessionId));
  const StartingPoint before = std::exchange(at_, std::move(place));
  if (auto chosen = chooseModel(); !chosen) {
    at_ = before;
    return chosen;
  }
  contextTokens_ = 0;
  instructions_ = readInstructions(folder(), options_.userInstructions);
  return {};
}

// Creates the session only if its model is usable: an empty session that no model can answer would be in the way.
Result<void> Chat::startNew() {
  const std::string wanted = provider_ ? provider_->name() : options_.model;
  BOUGH_TRY(makeProvider(wanted.empty() ? fallbackModel(options_) : wanted, options_.http));
  BOUGH_TRY(auto made, store_.createSession({.key = options_.key, .cwd = environment_.folder.path()}));
  keepModel();
  return open(made.sessionId);
}

Result<void> Chat::reload() {
  keepModel();
  return open(sessionId());
}

// Lets the next session that is opened continue with this model, whichever model it used before.
void Chat::keepModel() {
  if (!provider_) return;
  options_.model = provider_->name();
  options_.thinkingLevel = thinkingLevel_;
}

// Chooses the model that was asked for; otherwise the model the session used last; otherwise the default model.
Result<void> Chat::chooseModel() {
  BOUGH_TRY(auto setup, setupAt(store_, at_));
  BOUGH_TRY(const ConversationModel known, conversationModel(store_, at_, setup));
  const std::string recorded = known.name.full();
  // Another agent may have levels that bough does not know.
  if (!isLevel(setup.thinkingLevel)) setup.thinkingLevel.clear();
  thinkingLevel_ = setup.model.model.empty() ? options_.defaultThinking : setup.thinkingLevel;
  const std::string wanted = std::exchange(options_.model, {});
  const std::string wantedLevel = std::exchange(options_.thinkingLevel, {});
  const bool asked = !wanted.empty();
  const std::string name = asked ? wanted : recorded.empty() ? fallbackModel(options_) : recorded;
  if (!asked) {
    BOUGH_TRY(checkUnchosenModel(known, name));
  }
  auto provider = makeProvider(name, options_.http);
  if (!provider && !asked && !recorded.empty()) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("this conversation used {}, which cannot be used now: {}", name, provider.error().message),
                provider.error().hint);
  }
  if (!provider) return std::unexpected(provider.error());
  provider_ = std::move(*provider);
  if (!asked && recorded.empty() && known.hasMessages) listener_.onEvent(fallbackModelNotice(options_, name));
  if (!recorded.empty() && recorded != provider_->name()) {
    BOUGH_TRY(setModel(provider_->name()));
  }
  if (wantedLevel.empty() || wantedLevel == thinkingLevel_) return {};
  BOUGH_TRY(setThinkingLevel(wantedLevel));
  return {};
}

Agent Chat::agent(std::optional<std::uint64_t> turn) const {
  return {.store = store_,
          .provider = *provider_,
          .tools = builtInTools(),
          .environment = environment_,
          .listener = listener_,
          .cancel = cancel_,
          .options = {.systemPrompt = std::nullopt,
                      .thinkingLevel = thinkingLevel_,
                      .askNothing = options_.askNothing,
                      .onConflict = options_.onConflict,
                      .turn = turn,
                      .compactShare = options_.compactShare,
                      .windowTokens = windowTokens()}};
}

std::uint64_t Chat::windowTokens() const {
  return options_.windowTokens > 0 ? options_.windowTokens : provider_->limits().window;
}

struct Chat::Held {
  std::optional<TurnLock> lock;
  bool otherTurnRuns = false;

  [[nodiscard]] std::optional<std::uint64_t> turn() const { return lock ? lock->turn() : std::nullopt; }
};

// Fails while another process runs a turn, unless the new turn is to be a branch beside it.
Result<Chat::Held> Chat::hold() const {
  auto taken = TurnLock::take(store_, options_.storeFolder, at_.sessionId);
  if (taken) return Held{.lock = std::move(*taken)};
  if (taken.error().code == ErrorCode::Busy && options_.onConflict == OnConflict::Branch) {
    return Held{.lock = {}, .otherTurnRuns = true};
  }
  return std::unexpected(taken.error());
}

Result<std::string> Chat::appendNow(std::string_view type, std::string payload, std::string meta) {
  Journal journal(store_, at_.sessionId, at_.headId, at_.tailId, "");
  auto stored = journal.begin(type, std::move(payload), options_.onConflict, std::move(meta));
  if (!stored) {
    if (auto place = startingPoint(store_, at_.sessionId)) at_ = std::move(*place);
    return stored;
  }
  at_.headId = journal.parentId();
  at_.tailId = journal.tailId();
  return stored;
}

// Keeps what the model was told about itself in the session, so that a newer version of bough does not change the
// prompt of an existing conversation. Only a different folder, changed instructions or the user's own prompt change it,
// from this point on. Returns true for the first turn.
Result<bool> Chat::recordSetup() {
  BOUGH_TRY(const Setup setup, setupAt(store_, at_));
  const bool first = setup.folder.empty();
  const std::string recordedBase(baseOfPrompt(setup.systemPrompt));
  const std::string base = options_.systemPrompt ? *options_.systemPrompt
                           : first               ? options_.defaultSystemPrompt.value_or(std::string(kSystemPrompt))
                                                 : recordedBase;
  const std::string prompt = withoutKeys(composePrompt(base, folder(), instructions_.text));
  if (!first && prompt == setup.systemPrompt) return false;
  for (const std::string& notice : instructions_.notices) {
    listener_.onEvent({.kind = EventKind::Notice, .text = notice});
  }
  json::Writer writer;
  writer.beginObject();
  if (first) writeModel(writer, provider_->name());
  if (first && !thinkingLevel_.empty()) writer.member("thinkingLevel", thinkingLevel_);
  writer.member("systemPrompt", prompt).member("folder", folder()).list("instructions", instructions_.files);
  if (first) writer.key("tools").raw(toolDefinitions(builtInTools()));
  BOUGH_TRY(appendNow(first ? entry_type::kRuntimeInit : entry_type::kSystemPromptOverride, writer.endObject().take()));
  if (first) return true;
  std::string why = "the instructions for the model have changed; the new ones apply from here on";
  if (base != recordedBase) why = "the system prompt has changed; the new one applies from here on";
  if (setup.folder != folder()) why = fmt::format("the tools work in {} now, not in {}", folder(), setup.folder);
  listener_.onEvent({.kind = EventKind::Notice, .text = std::move(why)});
  return false;
}

// A title is only a convenience: on failure, the session keeps the title taken from its first message.
void Chat::makeTitle(const std::string& said, const std::string& answered) {
  constexpr std::size_t kGraphemes = 60;
  const std::string subject = fmt::format("{}\n\n{}", text::excerpt(said, 1'000), text::excerpt(answered, 1'000));
  Usage paid;
  const auto title = askOnce(agent(), kTitlePrompt, subject, paid);
  if (title || hasTokens(paid)) {
    (void)appendNow(entry_type::kCustom, requestPayload("title", provider_->name(), paid));
  }
  if (!title) return;
  const auto stored = appendSessionInfo(
      store_, at_.sessionId,
      {.title = text::excerpt(plainTitle(*title), kGraphemes), .titleSource = TitleSource::Generated});
  if (stored) at_.tailId = stored->lastAppendedEntryId;
}

Result<UserMessage> Chat::readPrompt(const std::string& text, PromptFiles files) {
  BOUGH_TRY(ReadPrompt read, readPromptFiles(text, environment_.folder, homeFolder(), files == PromptFiles::Anywhere));
  for (std::string& notice : read.notices) {
    listener_.onEvent({.kind = EventKind::Notice, .text = std::move(notice)});
  }
  return std::move(read.message);
}

Result<TurnReport> Chat::say(const UserMessage& typed) {
  UserMessage message(withoutKeys(typed.text));
  for (const std::string& block : typed.blocks) message.blocks.push_back(withoutKeys(block));
  const std::string& text = message.text;
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
    return fail(ErrorCode::InvalidArgument, "the message is empty", "type a message");
  }
  if (!json::check(json::quoted(text))) {
    return fail(ErrorCode::InvalidArgument, "the message is not valid UTF-8",
                "nothing was sent; `iconv -t UTF-8` converts a text");
  }
  if (text != typed.text || message.blocks != typed.blocks) {
    listener_.onEvent({.kind = EventKind::Notice, .text = "a key in the message was replaced by [key]"});
  }
  BOUGH_TRY(const Held held, hold());
  if (held.otherTurnRuns) {
    // Branch off before the running turn, not in the middle of it. A chat opened before that turn began stays where it
    // is.
    BOUGH_TRY(const Interruption found, findInterruption(store_, at_));
    const auto before = found.kind == Interruption::Kind::None ? Result<std::string>(at_.headId) : findBack(1);
    if (before) at_.headId = *before;
  }
  BOUGH_TRY(const bool first, recordSetup());
  auto report = finished(runTurn(agent(held.turn()), at_, message));
  if (first && options_.makeTitles && report && !report->aborted) makeTitle(text, report->text);
  return report;
}

Result<ToolOutcome> Chat::runCommand(const std::string& command, std::function<void(std::string_view lines)> output) {
  BOUGH_TRY(const Held held, hold());
  ToolEnvironment environment = environment_;
  environment.output = std::move(output);
  std::string arguments = json::Writer().beginObject().member("command", command).endObject().take();
  const ToolCall call{.id = {}, .name = "bash", .arguments = std::move(arguments)};
  BOUGH_TRY(recordSetup());
  ToolOutcome outcome = prepareCall(builtInTools(), call, environment).run(cancel_);
  std::string meta = json::Writer().beginObject().member(kUserCommandMember, withoutKeys(command)).endObject().take();
  const std::string said = fmt::format("{}\n$ {}\n{}", kUserCommandPrefix, withoutKeys(command), outcome.text);
  BOUGH_TRY(appendNow(entry_type::kMessage, userPayload(said), std::move(meta)));
  return outcome;
}

Result<UndoReport> Chat::undoFiles() {
  BOUGH_TRY(const Held held, hold());
  BOUGH_TRY(UndoReport report, undoFileChanges(store_, at_, environment_.folder));
  if (report.restored.empty() && report.removed.empty()) {
    // The model need not know; the next undo continues with the turn before.
    BOUGH_TRY(appendNow(entry_type::kCustom, undoSkippedPayload(report.turnId)));
    return report;
  }
  std::string said(kUndoPrefix);
  for (const std::string& path : report.restored) said += fmt::format("\n{} holds again what it held before", path);
  for (const std::string& path : report.removed) said += fmt::format("\n{} is removed", path);
  std::string meta = json::Writer().beginObject().member(kUndoMember, report.turnId).endObject().take();
  BOUGH_TRY(appendNow(entry_type::kMessage, userPayload(said), std::move(meta)));
  return report;
}

Result<TurnReport> Chat::resume(ResumeWhat what) {
  BOUGH_TRY(auto held, hold());
  if (held.otherTurnRuns) return TurnReport{.end = at_};  // what looks interrupted is the other process's running turn
  BOUGH_TRY(const Interruption found, findInterruption(store_, at_));
  BOUGH_TRY(const Setup setup, setupAt(store_, at_));
  if (found.kind == Interruption::Kind::Calls && setup.folder != folder()) {
    listener_.onEvent(
        {.kind = EventKind::Notice,
         .text = fmt::format(
             "a turn was interrupted in the folder {}; it is not finished in {} (--folder chooses the folder)",
             setup.folder, folder())});
    return TurnReport{.end = at_};
  }
  // Otherwise the answer to the old message would look like the answer to the next prompt.
  if (found.kind == Interruption::Kind::Calls || found.kind == Interruption::Kind::Message) {
    listener_.onEvent({.kind = EventKind::Notice, .text = "the last turn was interrupted; finishing it"});
  }
  return finished(resumeTurn(agent(held.turn()), at_, what));
}

// Moves to the end of what is stored, whether or not the turn succeeded; the next turn begins there.
Result<TurnReport> Chat::finished(Result<TurnReport> report) {
  if (report) {
    at_ = report->end;
    if (report->contextTokens > 0) contextTokens_ = report->contextTokens;
    return report;
  }
  if (auto place = startingPoint(store_, at_.sessionId)) at_ = std::move(*place);
  return report;
}

Result<std::string> Chat::setModel(const std::string& name) {
  BOUGH_TRY(auto provider, makeProvider(name, options_.http));
  std::string line = "a new conversation begins with this model";
  if (!at_.headId.empty()) {
    // Judge the model by the context it would get next.
    BOUGH_TRY(
        auto context,
        buildContext(store_, at_.sessionId,
                     {.dialect = provider->dialect(), .at = at_.headId, .budgetTokens = provider->limits().window}));
    line = compatibilityLine(context.report);
    json::Writer writer;
    writer.beginObject();
    writeModel(writer, provider->name());
    writer.endObject();
    if (auto stored = appendNow(entry_type::kModelChange, writer.take()); !stored) return stored;
  }
  provider_ = std::move(provider);
  return fmt::format("{}: {}", provider_->name(), line);
}

Result<std::string> Chat::setThinkingLevel(const std::string& level) {
  if (!isLevel(level)) {
    return fail(ErrorCode::InvalidArgument,
                level.empty() ? "no thinking level was given" : fmt::format("{} is not a thinking level", level),
                "use off, low, medium or high");
  }
  thinkingLevel_ = level;
  if (!at_.headId.empty()) {
    std::string payload = json::Writer().beginObject().member("thinkingLevel", level).endObject().take();
    BOUGH_TRY(appendNow(entry_type::kThinkingLevelChange, std::move(payload)));
  }
  if (provider_->takesThinking(level)) return "thinking " + level;
  return fmt::format("thinking {}; {} {}", level, provider_->name(),
                     level == "off" ? "has no such setting; its provider decides" : "does not think");
}

Result<std::optional<CompactionReport>> Chat::compactNow(const std::string& keep) {
  BOUGH_TRY(const auto held, hold());
  Journal journal(store_, at_.sessionId, at_.headId, at_.tailId, "");
  auto report = compact(agent(), journal, windowTokens(), withoutKeys(keep));
  at_.headId = journal.parentId();
  at_.tailId = journal.tailId();
  return report;
}

Result<void> Chat::moveHead(const std::string& entryId) {
  BOUGH_TRY(store_.moveHead(at_.sessionId, entryId));
  return reload();
}

Result<std::string> Chat::findBack(std::size_t turns) {
  if (at_.headId.empty()) return fail(ErrorCode::NotFound, "nothing has been said yet", "type a message first");
  std::string place;
  std::size_t left = turns;
  const auto enough = [&](const std::vector<Entry>& entries) {
    left = turns;
    for (auto entry = entries.rbegin(); entry != entries.rend() && left > 0; ++entry) {
      if (!isFromUser(*entry) || --left > 0) continue;
      place = entry->parentId.value_or("");
    }
    return left == 0;
  };
  BOUGH_TRY(loadBack(store_, at_.sessionId, at_.headId, enough));
  if (left == 0) return place;
  return fail(ErrorCode::NotFound, "there are not so many turns on this branch",
              fmt::format("it has {}; /tree shows all branches", counted(turns - left, "turn")));
}

Result<std::optional<std::uint64_t>> Chat::countTurns(std::size_t messages) {
  if (at_.headId.empty()) return std::optional<std::uint64_t>(0);
  auto entries = store_.loadSessionEntries(
      at_.sessionId,
      {.last = messages + 1, .branch = at_.headId, .types = {std::string(entry_type::kMessage), "user"}});
  if (!entries) return std::unexpected(entries.error());
  if (entries->size() > messages) return std::optional<std::uint64_t>();
  return std::optional<std::uint64_t>(static_cast<std::uint64_t>(std::ranges::count_if(*entries, isFromUser)));
}

Result<void> Chat::fork(const std::optional<std::string>& entryId) {
  const std::string from = entryId.value_or(at_.headId);
  if (from.empty()) return fail(ErrorCode::NotFound, "there is nothing to fork yet", "/new begins a session");
  BOUGH_TRY(auto made,
            store_.branchFromEntry(at_.sessionId, from, {.key = options_.key, .cwd = environment_.folder.path()}));
  return open(made.sessionId);
}

}  // namespace bough::agent
