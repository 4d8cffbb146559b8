#include "cli/terminal/line/line_editor.h"

#include <fmt/format.h>
#include <histedit.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/text/text.h"
#include "cli/terminal/graphemes.h"
#include "cli/terminal/line/edit_input.h"
#include "cli/terminal/line/history_walk.h"
#include "cli/terminal/line/pasted_files.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"

namespace bough::cli {
namespace {

constexpr std::size_t kShownCandidates = 60;
constexpr std::size_t kMaxPaste = std::size_t{4} << 20;  // characters
// Asks the terminal to mark the beginning and end of a paste, so that its line ends are not taken for Enter.
constexpr const char* kPasteOn = "\033[?2004h";
constexpr const char* kPasteOff = "\033[?2004l";
constexpr std::wstring_view kPasteEnd = L"\033[201~";
// Sequences that no key sends. The first one sends the text, whatever it ends in.
constexpr const char* kSend = "\033[999~";
constexpr const char* kSearch = "\033[995~";
constexpr const char* kSetMark = "\033[997~";
constexpr const char* kKillToMark = "\033[996~";
constexpr const char* kDeleteLeftWord = "\033[997~\033b\033[996~";
constexpr const char* kDeleteRightWord = "\033[997~\033f\033[996~";

std::string commonBeginning(const std::vector<std::string>& words) {
  std::string common = words.front();
  for (const std::string& word : words) {
    std::size_t length = 0;
    while (length < common.size() && length < word.size() && common[length] == word[length]) ++length;
    common.resize(length);
  }
  while (!common.empty() && text::cutToGraphemes(common, SIZE_MAX).size() < common.size()) common.pop_back();
  return common;
}

// Returns the number of characters, as libedit counts them.
int characterCount(std::string_view utf8) {
  int count = 0;
  for (const char c : utf8) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80 ? 1 : 0;
  return count;
}

std::string toUtf8(const std::wstring& text) {
  std::string out(text.size() * MB_CUR_MAX, '\0');
  const std::size_t size = std::wcstombs(out.data(), text.c_str(), out.size());
  out.resize(size == static_cast<std::size_t>(-1) ? 0 : size);
  return out;
}

std::string candidateList(const Completion& found) {
  std::string list = "\n";
  const std::size_t shown = std::min(found.candidates.size(), kShownCandidates);
  for (std::size_t i = 0; i < shown; ++i) {
    list += text::printable(found.candidates[i]) + "  ";
    if (!found.notes.empty()) list += text::excerptToWidth(found.notes[i], 50) + (i + 1 < shown ? "\n" : "");
  }
  if (found.candidates.size() > kShownCandidates) list += "…";
  return list + "\n";
}

}  // namespace

CompletionStep completionStep(const Completion& found, std::string_view line) {
  if (found.candidates.empty()) return {};
  const std::string common = commonBeginning(found.candidates);
  const std::string_view word = line.substr(line.size() - found.replacedBytes);
  if (common.starts_with(word)) return {.inserted = common.substr(word.size())};
  // A candidate that does not begin with the typed text replaces it only when it is the only candidate.
  if (found.candidates.size() == 1) return {.replacedBytes = word.size(), .inserted = common};
  return {};
}

struct LineEditor::State {
  State(std::string historyFile, Complete completes, Keep keeps)
      : walk(std::move(historyFile)), complete(std::move(completes)), keep(std::move(keeps)) {}

  EditLine* edit = nullptr;
  std::FILE* output = nullptr;  // for libedit
  HistoryWalk walk;
  std::string prompt{};
  Complete complete;
  Keep keep;

  static State& of(EditLine* edit) {
    State* state = nullptr;
    el_get(edit, EL_CLIENTDATA, &state);
    return *state;
  }

  static char* promptOf(EditLine* edit) { return of(edit).prompt.data(); }

  static unsigned char insertNewline(EditLine* edit, int) {
    return el_insertstr(edit, "\n") == 0 ? CC_REFRESH : CC_ERROR;
  }

  // Sends the text; if it ends in a backslash, adds a line instead. libedit's own function does the sending.
  static unsigned char enter(EditLine* edit, int) {
    const LineInfo* line = el_line(edit);
    const std::string_view after = afterCursor(line);
    if (line->lastchar == line->buffer || line->lastchar[-1] != '\\') {
      el_push(edit, kSend);
      return CC_NORM;
    }
    el_cursor(edit, characterCount(after));
    el_deletestr(edit, 1);
    return insertNewline(edit, 0);
  }

  static unsigned char completeWord(EditLine* edit, int) {
    const LineInfo* line = el_line(edit);
    const std::string_view typed(line->buffer, static_cast<std::size_t>(line->cursor - line->buffer));
    const Completion found = of(edit).complete(typed);
    if (found.candidates.empty()) return CC_ERROR;
    const CompletionStep step = completionStep(found, typed);
    if (step.replacedBytes > 0 || !step.inserted.empty()) {
      const std::string_view replaced = typed.substr(typed.size() - step.replacedBytes);
      if (!replaced.empty()) el_deletestr(edit, characterCount(replaced));
      return el_insertstr(edit, step.inserted.c_str()) == 0 ? CC_REFRESH : CC_ERROR;
    }
    if (found.candidates.size() == 1) return CC_NORM;
    printText(candidateList(found));
    return CC_REDISPLAY;
  }

  static std::string_view beforeCursor(const LineInfo* line) {
    return {line->buffer, static_cast<std::size_t>(line->cursor - line->buffer)};
  }
  static std::string_view afterCursor(const LineInfo* line) {
    return {line->cursor, static_cast<std::size_t>(line->lastchar - line->cursor)};
  }

  // Moves by whole graphemes: if the cursor were inside one, the text drawn before it would lose its marks.
  static unsigned char moveBy(EditLine* edit, int characters) {
    if (characters == 0) return CC_ERROR;
    el_cursor(edit, characters);
    return CC_REFRESH;
  }
  static int leftGrapheme(EditLine* edit) { return characterCount(lastGrapheme(beforeCursor(el_line(edit)))); }
  static int rightGrapheme(EditLine* edit) {
    return characterCount(text::cutToGraphemes(afterCursor(el_line(edit)), 1));
  }

  static unsigned char goLeft(EditLine* edit, int) { return moveBy(edit, -leftGrapheme(edit)); }
  static unsigned char goRight(EditLine* edit, int) { return moveBy(edit, rightGrapheme(edit)); }
  static unsigned char goLeftWord(EditLine* edit, int) {
    const std::string_view before = beforeCursor(el_line(edit));
    return moveBy(edit, -characterCount(before.substr(lastWordBegin(before))));
  }
  static unsigned char goRightWord(EditLine* edit, int) {
    const std::string_view after = afterCursor(el_line(edit));
    return moveBy(edit, characterCount(after.substr(0, firstWordEnd(after))));
  }
  static unsigned char deleteLeft(EditLine* edit, int) {
    const int count = leftGrapheme(edit);
    if (count == 0) return CC_ERROR;
    el_deletestr(edit, count);
    return CC_REFRESH;
  }
  static unsigned char deleteRight(EditLine* edit, int key) {
    return goRight(edit, key) == CC_ERROR ? static_cast<unsigned char>(CC_ERROR) : deleteLeft(edit, key);
  }

  // Not libedit's own function, because that writes ^D to the terminal before it ends.
  static unsigned char deleteOrEnd(EditLine* edit, int key) {
    const LineInfo* line = el_line(edit);
    return line->lastchar == line->buffer ? static_cast<unsigned char>(CC_EOF) : deleteRight(edit, key);
  }

  // Up and Down move inside a text of several lines; at its edges they walk through the history, like Ctrl-P and
  // Ctrl-N.
  static unsigned char goUp(EditLine* edit, int) {
    const std::string_view before = beforeCursor(el_line(edit));
    const std::size_t lineBegin = before.rfind('\n');
    if (lineBegin == std::string_view::npos) return of(edit).walk.go(edit, /*older=*/true);
    const std::size_t aboveBegin = before.substr(0, lineBegin).rfind('\n') + 1;  // 0 when there is no line above
    const std::string_view above = before.substr(aboveBegin, lineBegin - aboveBegin);
    const std::string_view passed = text::cutToWidth(above, text::displayWidth(before.substr(lineBegin + 1)));
    return moveBy(edit, -characterCount(before.substr(aboveBegin + passed.size())));
  }
  static unsigned char goDown(EditLine* edit, int) {
    const LineInfo* line = el_line(edit);
    const std::string_view before = beforeCursor(line);
    const std::string_view after = afterCursor(line);
    const std::size_t lineEnd = after.find('\n');
    if (lineEnd == std::string_view::npos) return of(edit).walk.go(edit, /*older=*/false);
    const std::size_t lineBegin = before.rfind('\n') + 1;
    const std::string_view below = after.substr(lineEnd + 1);
    const std::string_view passed =
        text::cutToWidth(below.substr(0, below.find('\n')), text::displayWidth(before.substr(lineBegin)));
    return moveBy(edit, characterCount(after.substr(0, lineEnd + 1 + passed.size())));
  }

  // Takes a paste up to its end as one text; its last line end does not send the text.
  static unsigned char paste(EditLine* edit, int) {
    std::wstring text;
    while (!text.ends_with(kPasteEnd)) {
      wchar_t next = 0;
      EditInput::setPasting(true);
      const int got = el_wgetc(edit, &next);
      EditInput::setPasting(false);
      if (got != 1) return CC_EOF;
      if (text.size() < kMaxPaste) {
        text += next == L'\r' ? L'\n' : next;
      } else {
        text = text.substr(0, kMaxPaste - kPasteEnd.size()) + text.substr(text.size() - kPasteEnd.size() + 1) + next;
      }
    }
    text.resize(text.size() - kPasteEnd.size());
    std::erase_if(text, [](wchar_t c) { return (c < L' ' && c != L'\n' && c != L'\t') || c == 0x7F; });
    if (text.ends_with(L'\n')) text.pop_back();
    if (text.empty()) return CC_NORM;
    if (const std::string files = pastedFiles(toUtf8(text)); !files.empty()) {
      return el_insertstr(edit, files.c_str()) == 0 ? CC_REFRESH : CC_ERROR;
    }
    return el_winsertstr(edit, text.c_str()) == 0 ? CC_REFRESH : CC_ERROR;
  }

  void bindKeys() const {
    const auto bind = [&](const char* name, const char* help, unsigned char (*function)(EditLine*, int),
                          std::initializer_list<const char*> keys) {
      el_set(edit, EL_ADDFN, name, help, function);
      for (const char* key : keys) el_set(edit, EL_BIND, key, name, nullptr);
    };
    bind("bough-complete", "complete", &completeWord, {"^I"});
    bind("bough-enter", "send", &enter, {"^J", "^M"});
    el_set(edit, EL_BIND, kSend, "ed-newline", nullptr);
    bind("bough-newline", "another line", &insertNewline, {"\033\r", "\033\n"});
    bind("bough-left", "one back", &goLeft, {"^B", "\033[D", "\033OD"});
    bind("bough-right", "one on", &goRight, {"^F", "\033[C", "\033OC"});
    bind("bough-delete-left", "delete the one before", &deleteLeft, {"^H", "\177"});
    bind("bough-delete-right", "delete this one", &deleteRight, {"\033[3~"});
    bind("bough-delete-or-end", "delete this one, or end", &deleteOrEnd, {"^D"});
    bind("bough-mark", "insert a mark", &EditInput::insertMark, {EditInput::kMarkKey.data()});
    bind("bough-paste", "paste", &paste, {"\033[200~"});
    bind("bough-up", "one line up", &goUp, {"\033[A", "\033OA"});
    bind("bough-down", "one line down", &goDown, {"\033[B", "\033OB"});
    const auto older = [](EditLine* line, int) { return of(line).walk.go(line, /*older=*/true); };
    const auto newer = [](EditLine* line, int) { return of(line).walk.go(line, /*older=*/false); };
    const auto search = [](EditLine* line, int) -> unsigned char {
      of(line).walk.noteSearch();
      el_push(line, kSearch);
      return CC_NORM;
    };
    bind("bough-older", "the line before in the history", older, {"^P"});
    bind("bough-newer", "the line after in the history", newer, {"^N"});
    bind("bough-search", "search the history", search, {"^R"});
    el_set(edit, EL_BIND, kSearch, "em-inc-search-prev", nullptr);
    // Ctrl and Alt with the arrow keys, as terminals send them.
    bind("bough-left-word", "one word back", &goLeftWord,
         {"\033b", "\033B", "\033[1;5D", "\033[1;3D", "\033[5D", "\033Od"});
    bind("bough-right-word", "one word on", &goRightWord,
         {"\033f", "\033F", "\033[1;5C", "\033[1;3C", "\033[5C", "\033Oc"});
    // Ctrl-Y brings back text deleted by words: libedit keeps the text between its mark and the cursor.
    el_set(edit, EL_BIND, kSetMark, "em-set-mark", nullptr);
    el_set(edit, EL_BIND, kKillToMark, "em-kill-region", nullptr);
    for (const char* key : {"^W", "\033\177", "\033\010"}) el_set(edit, EL_BIND, "-s", key, kDeleteLeftWord, nullptr);
    for (const char* key : {"\033d", "\033D", "\033[3;5~"}) el_set(edit, EL_BIND, "-s", key, kDeleteRightWord, nullptr);
    el_set(edit, EL_BIND, "\033[H", "ed-move-to-beg", nullptr);
    el_set(edit, EL_BIND, "\033[F", "ed-move-to-end", nullptr);
  }
};

LineEditor::LineEditor(std::string historyFile, Complete complete, Keep keep)
    : state_(std::make_unique<State>(std::move(historyFile), std::move(complete), std::move(keep))) {
  state_->output = openEditOutput();
  std::FILE* const output = state_->output != nullptr ? state_->output : stdout;
  state_->edit = el_init_fd("bough", stdin, output, stderr, STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO);
  EditLine* edit = state_->edit;
  el_set(edit, EL_CLIENTDATA, state_.get());
  el_set(edit, EL_PROMPT, &State::promptOf);
  el_set(edit, EL_EDITOR, "emacs");
  el_set(edit, EL_SIGNAL, 0);
  el_set(edit, EL_GETCFN, &EditInput::next);
  el_set(edit, EL_HIST, ::history, state_->walk.lines());
  state_->bindKeys();
}

LineEditor::~LineEditor() {
  el_end(state_->edit);
  if (state_->output != nullptr) (void)std::fclose(state_->output);
}

void LineEditor::remember(const std::string& line) {
  state_->walk.remember(state_->keep(line));
}

LineEditor::Input LineEditor::read(const std::string& prompt, const std::string& draft) {
  Input input;
  state_->prompt = prompt;
  state_->walk.begin();
  EditInput terminalInput(state_->edit, kPasteOn);  // redraws while libedit reads
  el_resize(state_->edit);
  printText(kPasteOn);
  if (!draft.empty()) el_push(state_->edit, fmt::format("\033[200~{}\033[201~", text::printableLines(draft)).c_str());
  int count = 0;
  const char* line = el_gets(state_->edit, &count);
  if (line == nullptr || count <= 0) {
    input.outcome = count < 0 && errno == EINTR ? Outcome::Interrupted : Outcome::End;
    el_reset(state_->edit);
    printText(std::string(kPasteOff) + "\n");
    return input;
  }
  input.text.assign(line, static_cast<std::size_t>(count));
  while (input.text.ends_with('\n') || input.text.ends_with('\r')) input.text.pop_back();
  printText(kPasteOff);
  input.outcome = Outcome::Line;
  if (input.text.find_first_not_of(" \t\n") != std::string::npos) remember(input.text);
  return input;
}

}  // namespace bough::cli
