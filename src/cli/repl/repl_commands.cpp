#include "cli/repl/repl_commands.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "agent/chat/setup.h"
#include "base/json/json_write.h"
#include "base/text/counted.h"
#include "base/text/text.h"
#include "base/try.h"
#include "cli/definition/help.h"
#include "cli/names/catalog_view.h"
#include "cli/names/damage.h"
#include "cli/names/session_name.h"
#include "cli/names/when.h"
#include "cli/repl/session_picker.h"
#include "cli/repl/tree_picker.h"
#include "cli/terminal/output.h"
#include "cli/terminal/picker.h"
#include "cli/terminal/terminal.h"
#include "cli/terminal/wrapped_text.h"
#include "cli/views/entry_view.h"
#include "cli/views/next_turn.h"
#include "cli/views/price_file.h"
#include "cli/views/tool_results.h"

namespace bough::cli {

struct ReplCommands::Row {
  std::string_view name;
  std::string_view takes;
  std::string_view help;
  bool endsTurn;
  Result<void> (ReplCommands::*run)(const std::string& words);
};

namespace {

constexpr const char* kSayFirst = "type a message first";

std::string trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\n");
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(" \t\n") - begin + 1));
}

std::string nameOf(std::string_view line) {
  return std::string(line.substr(0, line.find_first_of(" \t\n")));
}

// Names that users of other agents type.
constexpr std::pair<std::string_view, std::string_view> kOtherNames[] = {
    {"/exit", "/quit"},   {"/q", "/quit"},     {"/clear", "/new"},       {"/resume", "/sessions"}, {"/rm", "/delete"},
    {"/rename", "/name"}, {"/usage", "/cost"}, {"/branches", "/branch"}, {"/log", "/history"}};

// Returns the command that a line means, by the name that /help lists.
std::string commandOf(std::string_view line) {
  std::string name = nameOf(line);
  // With a session's name, /resume opens that session.
  if (name == "/resume" && line.find_first_not_of(" \t\n", name.size()) != std::string_view::npos) return "/switch";
  const auto* const other =
      std::ranges::find(kOtherNames, std::string_view(name), &std::pair<std::string_view, std::string_view>::first);
  return other == std::end(kOtherNames) ? name : std::string(other->second);
}

Result<std::size_t> numberIn(const std::string& words, std::size_t otherwise) {
  if (words.empty()) return otherwise;
  std::size_t number = 0;
  const auto [end, problem] = std::from_chars(words.data(), words.data() + words.size(), number);
  if (problem != std::errc() || end != words.data() + words.size() || number == 0) {
    return fail(ErrorCode::InvalidArgument, fmt::format("{} is not a whole number of at least 1", words),
                "write a number such as 2, or nothing");
  }
  return number;
}

void keepMatching(Completion& out, std::string_view typed, std::string candidate) {
  if (candidate.starts_with(typed)) out.candidates.push_back(std::move(candidate));
}

// Adds sessions by their ids, and by their keys if unique; each with its title.
void addSessions(Catalog& catalog, std::string_view typed, Completion& out) {
  constexpr std::size_t kMost = 200;
  (void)catalog.catchUp();  // the known sessions are enough
  const auto sessions = catalog.list({.filter = {}, .limit = kMost});
  if (!sessions) return;
  const auto add = [&](const std::string& name, const SessionSummary& session) {
    if (name.empty() || !name.starts_with(typed) || std::ranges::find(out.candidates, name) != out.candidates.end())
      return;
    out.candidates.push_back(name);
    out.notes.push_back(session.title);
  };
  for (const SessionSummary& each : *sessions) add(each.sessionId, each);
  for (const SessionSummary& each : *sessions) add(each.key, each);
}

// On a narrow terminal, the explanation has separate lines.
void printHelp(std::string_view name, std::string_view takes, std::string_view help) {
  constexpr std::size_t kNarrow = 60;
  if (stdoutIsTerminal() && terminalWidth() < kNarrow) {
    printWrapped(fmt::format("  {} {}\n      {}", name, takes, help), 6);
  } else {
    printWrapped(fmt::format("  {:<10} {:<12} {}", name, takes, help), 26);
  }
}

void printNextTurn(agent::Chat& chat) {
  const PriceTable prices = readPrices("").value_or(PriceTable::builtIn());
  const auto changes = [&] { return agent::promptChanges(chat).value_or(false); };
  const auto next = nextTurnOf(chat.store(), chat.sessionId(), chat.place().headId, prices, nowMs(), changes);
  if (next) printWrapped(styled(Style::Dim, "next turn: " + nextTurnText(*next)));
}

// Returns the id and title of the open session.
std::string shownSession(const OpenedChat& opened) {
  const std::string& id = opened.chat->sessionId();
  auto row = opened.catalog->session(id);
  // It was created just now.
  if (!row && opened.catalog->catchUp({.leaveDue = true})) row = opened.catalog->session(id);
  if (!row) return exactName(id);
  std::vector<SessionSummary> rows = {std::move(*row)};
  titleForks(*opened.catalog, rows);
  return rows.front().title.empty() ? exactName(id) : nameWithTitle(rows.front());
}

}  // namespace

const std::vector<ReplCommands::Row>& ReplCommands::rows() {
  static const std::vector<Row> kRows = {
      {"/new", "", "begin a new session; this one stays", true, &ReplCommands::startNew},
      {"/sessions", "[N]", "choose a session; with a number, list the N most recent ones", false,
       &ReplCommands::listSessions},
      {"/switch", "SESSION", "open another session: its number, id, key or part of its title", true,
       &ReplCommands::switchTo},
      {"/history", "[N]", "show the last N messages", false, &ReplCommands::showHistory},
      {"/delete", "SESSION", "move a session to the trash", true, &ReplCommands::deleteSession},
      {"/quit", "", "leave; the session is kept", true, &ReplCommands::quit},
      {"/tree", "", "choose an entry of this session in a tree and continue from there", false,
       &ReplCommands::showTree},
      {"/branch", "[ENTRY]", "list the branches, or continue from an entry: its id, a label, @head~3", true,
       &ReplCommands::branch},
      {"/fork", "", "continue in a new session that shares the history of this one", true, &ReplCommands::fork},
      {"/back", "[N]", "go back before your last N messages; they stay as a branch", true, &ReplCommands::goBack},
      {"/label", "NAME", "name the last message, so that you can return to it", false, &ReplCommands::label},
      {"/name", "TITLE", "give this session a title", false, &ReplCommands::name},
      {"/search", "WORDS", "search all sessions", false, &ReplCommands::search},
      {"/model", "[NAME]", "show or change the model: PROVIDER/MODEL", true, &ReplCommands::changeModel},
      {"/undo", "", "undo the changes that write and edit made to files in the last turn", true, &ReplCommands::undo},
      {"/thinking", "[LEVEL]", "show or change how much the model thinks: off, low, medium or high", true,
       &ReplCommands::changeThinking},
      {"/compact", "[KEEP]", "summarize the older messages in the context; KEEP says what to keep above all", false,
       &ReplCommands::compact},
      {"/cost", "", "show the tokens and the cost of this session", false, &ReplCommands::showCost},
      {"/export", "FILE", "write the conversation to a Markdown file", false, &ReplCommands::exportTo},
      {"/help", "[COMMAND]", "list the commands, or explain one", false, &ReplCommands::help},
  };
  return kRows;
}

bool ReplCommands::endsTurn(std::string_view line) {
  const auto row = std::ranges::find(rows(), commandOf(line), &Row::name);
  return row != rows().end() && row->endsTurn;
}

Result<void> ReplCommands::run(const std::string& typed) {
  // Titles, labels and other arguments are stored.
  const std::string line = chat().withoutKeys(typed);
  if (line != typed) printMessage(styled(Style::Dim, "a key in the command was replaced by [key]"));
  const std::string name = nameOf(line);
  const auto row = std::ranges::find(rows(), commandOf(line), &Row::name);
  if (row == rows().end()) {
    std::vector<std::string> known;
    for (const Row& each : rows()) known.emplace_back(each.name);
    for (const auto& [other, meant] : kOtherNames) known.emplace_back(other);
    const std::string meant = nearest(name, known);
    return fail(ErrorCode::InvalidArgument, fmt::format("there is no command {}", name),
                meant.empty() ? "/help lists the commands; begin a line with // to send a message that begins with /"
                              : fmt::format("did you mean {}?", meant));
  }
  const std::string words = trimmed(std::string_view(line).substr(name.size()));
  if (row->takes.empty() && !words.empty()) {
    return fail(ErrorCode::InvalidArgument, fmt::format("{} takes no argument: {}", name, text::excerpt(words, 60)),
                fmt::format("type {} alone", name));
  }
  return (this->*row->run)(words);
}

void ReplCommands::showOpened() {
  printWrapped(styled(Style::Bold, "bough chat") + styled(Style::Dim, "  /help lists the commands, Ctrl-D ends"));
  printWrapped(fmt::format("{}  session {}", chat().model(), shownSession(opened_)));
  if (opened_.restoredTurns > 0) {
    printLine("Restored: " + counted(opened_.restoredTurns, "turn"));
  }
  for (const std::string& file : chat().instructions().files) {
    printWrapped(styled(Style::Dim, "instructions: " + text::printable(file)));
  }
  printText(lastExchange(opened_));
  printNextTurn(chat());
}

void ReplCommands::showStatus(const agent::TurnReport& report) {
  const Usage& usage = report.totals.usage;
  const std::string model = chat().model().substr(chat().model().find('/') + 1);
  const auto prices = readPrices("");
  const auto cost = (prices ? *prices : PriceTable::builtIn()).cost(model, usage);
  costUsd_ += cost.value_or(0);
  costKnown_ = costKnown_ && (cost || chat().model().starts_with("offline/")) && report.totals.withoutUsage == 0;
  printWrapped(styled(Style::Dim, statusLine(chat(), report, costUsd_, costKnown_)));
}

Result<void> ReplCommands::startNew(const std::string&) {
  if (auto made = beginSession(opened_); !made) return made;
  opened_.restoredTurns = 0;
  printWrapped(fmt::format("session {}", shownSession(opened_)));
  return {};
}

Result<void> ReplCommands::listSessions(const std::string& words) {
  BOUGH_TRY(auto count, numberIn(words, 20));
  BOUGH_TRY(opened_.catalog->catchUp());
  if (words.empty() && canPick()) {
    BOUGH_TRY(const auto chosen, pickSession(chat().store(), *opened_.catalog, chat().sessionId()));
    if (chosen && *chosen != chat().sessionId()) return open(*chosen);
    if (chat().store().sessionState(chat().sessionId())) return {};
    return startNew("");  // the user has deleted it
  }
  BOUGH_TRY(auto sessions, opened_.catalog->list({.filter = {}, .limit = count}));
  titleForks(*opened_.catalog, sessions);
  std::vector<std::string> ids;
  for (const SessionSummary& each : sessions) {
    ids.push_back(each.sessionId);
    const bool here = each.sessionId == chat().sessionId();
    std::string title = displayTitle(each);
    if (title.empty()) title = shortId(each.sessionId);
    const std::string line = fmt::format("{}{:>3}  {:>4} {}  ", here ? "→" : " ", ids.size(), each.userMessages,
                                         each.userMessages == 1 ? "turn " : "turns");
    const std::size_t room = std::max(terminalWidth(), text::displayWidth(line) + 8) - text::displayWidth(line);
    title = text::excerptToWidth(title, stdoutIsTerminal() ? room : 40);
    const std::string key = each.key.empty() || each.key == title ? "" : "  " + text::printable(each.key);
    const bool fits = !stdoutIsTerminal() || text::displayWidth(title + key) <= room;
    printLine(line + title + (fits ? styled(Style::Dim, key) : ""));
  }
  listed_ = std::move(ids);
  printWrapped(styled(Style::Dim, "/switch N continues one of them"));
  return {};
}

// A number refers to the last list of this chat, whatever other terminals list.
Result<std::string> ReplCommands::findSession(const std::string& name) {
  if (name.empty()) return fail(ErrorCode::InvalidArgument, "no session was named", "/sessions lists them");
  const auto number = numberIn(name.starts_with('@') ? name.substr(1) : name, 0);
  if (!number) return resolveSession(chat().store(), name);
  if (*number <= listed_.size()) return listed_[*number - 1];
  return fail(ErrorCode::NotFound,
              listed_.empty() ? "no sessions were listed yet" : "the list has " + counted(listed_.size(), "session"),
              "/sessions lists them");
}

Result<void> ReplCommands::switchTo(const std::string& words) {
  BOUGH_TRY(auto id, findSession(words));
  return open(id);
}

Result<void> ReplCommands::open(const std::string& id) {
  BOUGH_TRY(opened_.damage, reportDamage(context_, chat().store(), id));
  BOUGH_TRY(chat().open(id));
  if (id != opened_.created.sessionId) removeUnusedSession(opened_);
  (void)opened_.catalog->catchUp();  // only for the number of turns
  opened_.restoredTurns = countTurns(opened_);
  printWrapped(fmt::format("{}  session {}", chat().model(), shownSession(opened_)));
  printLine("Restored: " + counted(opened_.restoredTurns, "turn"));
  printText(lastExchange(opened_));
  printNextTurn(chat());
  return {};
}

Result<void> ReplCommands::runShell(const std::string& command) {
  if (trimmed(command).empty()) {
    return fail(ErrorCode::InvalidArgument, "no command was given",
                "!ls runs ls; begin a line with !! to send a message that begins with !");
  }
  std::size_t shownBytes = 0;
  const auto show = [&](std::string_view lines, Style style) {
    shownBytes += lines.size();
    if (lines.ends_with('\n')) lines.remove_suffix(1);  // printLine adds the line end
    printLine(styled(style, text::printableLines(lines)));
  };
  BOUGH_TRY(const auto outcome, chat().runCommand(command, [&](std::string_view lines) { show(lines, Style::Dim); }));
  if (shownBytes == 0) {
    show(outcome.text, outcome.isError ? Style::Red : Style::Dim);
  } else if (shownBytes > outcome.text.size()) {
    printWrapped(styled(Style::Dim, "(the model reads the beginning and the end of it)"));
  }
  // The last line says how the command ended.
  if (shownBytes > 0 && outcome.isError) show(outcome.text.substr(outcome.text.rfind('\n') + 1), Style::Red);
  return {};
}

Result<void> ReplCommands::showHistory(const std::string& words) {
  BOUGH_TRY(auto count, numberIn(words, 10));
  if (chat().place().headId.empty()) return fail(ErrorCode::NotFound, "nothing has been said yet", kSayFirst);
  BOUGH_TRY(const auto entries,
            loadMessages(chat().store(), chat().sessionId(), {.last = count, .branch = chat().place().headId}));
  CallNames names(chat().store(), chat().sessionId());
  for (const Entry& entry : entries)
    printText(renderEntry(entry, names.view(entry), {.width = terminalWidth(), .format = usualFormat()}));
  return {};
}

Result<void> ReplCommands::deleteSession(const std::string& words) {
  BOUGH_TRY(auto id, findSession(words));
  if (auto asked = runCommandLine({"rm", id}); !asked) return asked;
  if (chat().store().sessionState(chat().sessionId())) return {};
  return startNew("");
}

Result<void> ReplCommands::quit(const std::string&) {
  hasQuit_ = true;
  return {};
}

Result<void> ReplCommands::fork(const std::string&) {
  if (auto forked = chat().fork(); !forked) return forked;
  printWrapped(fmt::format("session {}; it shares the history so far", shownSession(opened_)));
  return {};
}

Result<void> ReplCommands::goBack(const std::string& words) {
  BOUGH_TRY(auto count, numberIn(words, 1));
  BOUGH_TRY(auto place, chat().findBack(count));
  if (auto moved = chat().moveHead(place); !moved) return moved;
  printWrapped(fmt::format("back {}; the later messages stay as a branch", counted(count, "turn")));
  printText(lastExchange(opened_));
  return {};
}

Result<void> ReplCommands::name(const std::string& words) {
  if (words.empty()) return fail(ErrorCode::InvalidArgument, "no title was given", "/name TITLE");
  return runCommandLine({"rename", chat().sessionId(), "--", words});
}

Result<void> ReplCommands::label(const std::string& words) {
  if (words.empty()) return fail(ErrorCode::InvalidArgument, "no name was given", "/label NAME");
  if (chat().place().headId.empty()) return fail(ErrorCode::NotFound, "there is no message to label yet", kSayFirst);
  return runCommandLine({"label", chat().sessionId(), "--", words});
}

Result<void> ReplCommands::undo(const std::string&) {
  BOUGH_TRY(const auto report, chat().undoFiles());
  for (const std::string& path : report.restored) printWrapped("restored " + text::printable(path));
  for (const std::string& path : report.removed) printWrapped("removed " + text::printable(path));
  for (const std::string& each : report.notDone) printWrapped("left as it is: " + text::printable(each));
  if (report.restored.empty() && report.removed.empty())
    printWrapped("nothing was undone; another /undo undoes the turn before");
  return {};
}

Result<void> ReplCommands::changeModel(const std::string& words) {
  if (words.empty()) {
    printWrapped(fmt::format("{}{}", chat().model(),
                             chat().thinkingLevel().empty() ? "" : ", thinking " + chat().thinkingLevel()));
    printModels(chat().options().http.providers);
    return {};
  }
  BOUGH_TRY(auto line, chat().setModel(words));
  printWrapped(line);
  return {};
}

Result<void> ReplCommands::changeThinking(const std::string& words) {
  if (words.empty()) {
    printWrapped(
        fmt::format("thinking {}", chat().thinkingLevel().empty() ? "as the model decides" : chat().thinkingLevel()));
    printWrapped(styled(Style::Dim, "/thinking off, low, medium or high changes it"));
    return {};
  }
  BOUGH_TRY(auto line, chat().setThinkingLevel(words));
  printWrapped(line);
  return {};
}

Result<void> ReplCommands::compact(const std::string& words) {
  BOUGH_TRY(auto report, chat().compactNow(words));
  printWrapped(report ? fmt::format("a summary replaces {} in the context; nothing was removed from the session",
                                    counted(report->messages, "message"))
                      : "the context is too short to compact");
  return {};
}

Result<void> ReplCommands::help(const std::string& words) {
  const auto print = [](const Row& row) { printHelp(row.name, row.takes, row.help); };
  if (words.empty()) {
    std::ranges::for_each(rows(), print);
  } else {
    const std::string name = words.starts_with('/') ? words : "/" + words;
    const auto row = std::ranges::find(rows(), commandOf(name), &Row::name);
    if (row == rows().end()) return run(name);  // run() reports the unknown command
    print(*row);
    return {};
  }
  printHelp("!COMMAND", "", "run a command; the model reads its output in the next turn");
  printHelp("@FILE", "", "in a message: send this file, image or PDF with it");
  printWrapped("A line that ends in \\ continues on the next line; Alt-Enter does the same. Ctrl-C stops the model.");
  std::string others;
  for (const auto& [other, meant] : kOtherNames) {
    others += fmt::format("{}{} for {}", others.empty() ? "" : ", ", other, meant);
  }
  printWrapped(fmt::format("Also: {}.", others));
  printWrapped("Begin a line with // or !! to send a message that begins with / or !.");
  return {};
}

// Runs features that the command line has as well through the command line.
Result<void> ReplCommands::runCommandLine(std::vector<std::string> words) const {
  if (!context_.storeLocation.empty()) words.insert(words.begin(), {"--store", context_.storeLocation});
  (void)context_.runCommand(std::move(words));
  return {};
}

Result<void> ReplCommands::showTree(const std::string&) {
  if (canPick()) {
    BOUGH_TRY(auto place, pickPlace(chat().store(), chat().sessionId(), chat().place().headId));
    if (!place) return {};
    const bool stays = !place->fork && place->headId == chat().place().headId;
    if (!stays) {
      BOUGH_TRY(place->fork ? chat().fork(place->headId) : chat().moveHead(place->headId));
      const std::string last = lastExchange(opened_);
      printWrapped(place->fork    ? fmt::format("session {}; it shares the history so far", shownSession(opened_))
                   : last.empty() ? "the later messages stay as a branch; the conversation begins again"
                                  : "the later messages stay as a branch; the conversation continues here:");
      printText(last);
    }
    draft_ = std::move(place->text);
    return {};
  }
  return runCommandLine({"tree", chat().sessionId()});
}

Result<void> ReplCommands::branch(const std::string& words) {
  if (words.empty()) return runCommandLine({"branches", chat().sessionId()});
  BOUGH_TRY(checkPlace(chat().store(), chat().sessionId(), words));
  BOUGH_TRY(runCommandLine({"switch", chat().sessionId(), words}));
  return chat().reload();
}

Result<void> ReplCommands::search(const std::string& words) {
  if (words.empty()) return fail(ErrorCode::InvalidArgument, "no words to search for", "/search WORDS");
  return runCommandLine({"search", words});
}

Result<void> ReplCommands::showCost(const std::string&) {
  return runCommandLine({"usage", chat().sessionId(), "--by", "model"});
}

Completion ReplCommands::complete(std::string_view line) {
  const std::size_t blank = line.find_last_of(" \t\n");
  const std::string_view word = blank == std::string_view::npos ? line : line.substr(blank + 1);
  Completion out{.replacedBytes = word.size(), .candidates = {}};
  if (blank == std::string_view::npos && line.starts_with('/')) {
    for (const Row& row : rows()) keepMatching(out, word, std::string(row.name));
    return out;
  }
  const std::string name = nameOf(line);
  if (name == "/switch" || name == "/delete") {
    addSessions(*opened_.catalog, word, out);
  } else if (name == "/branch") {
    if (const auto labels = chat().store().labels(chat().sessionId())) {
      for (const SessionLabel& each : *labels) keepMatching(out, word, each.name);
    }
  } else if (name == "/model") {
    for (const agent::UsableProvider& each : agent::usableProviders(chat().options().http.providers)) {
      keepMatching(out, word, each.name == "offline" ? "offline/echo" : each.name + "/");
    }
  } else if (name == "/thinking") {
    for (const char* level : {"off", "low", "medium", "high"}) keepMatching(out, word, level);
  } else if (auto sent = line.starts_with('/') || line.starts_with('!')
                             ? std::nullopt
                             : completeSentFile(chat().options().folder, line)) {
    return std::move(*sent);
  } else {
    out.candidates = filesMatching(chat().options().folder, word);
  }
  return out;
}

}  // namespace bough::cli
