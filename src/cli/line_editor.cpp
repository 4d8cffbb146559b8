#include "cli/line_editor.h"

#include <fcntl.h>
#include <histedit.h>
#include <langinfo.h>
#include <unistd.h>

#include <cerrno>
#include <clocale>
#include <cstdio>
#include <cstring>

#include "base/text.h"
#include "cli/output.h"
#include "cli/terminal.h"

namespace bough::cli {
namespace {

constexpr int kHistoryLines = 2'000;
constexpr std::size_t kShownCandidates = 60;

// libedit asks the C library how wide characters are; without a UTF-8 locale it would not know.
void useUtf8() {
  if (std::setlocale(LC_CTYPE, "") != nullptr && std::strcmp(::nl_langinfo(CODESET), "UTF-8") == 0) return;
  (void)std::setlocale(LC_CTYPE, "C.UTF-8");
}

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

}  // namespace

struct LineEditor::State {
  EditLine* edit = nullptr;
  History* history = nullptr;
  std::string historyFile;
  std::string prompt;
  Complete complete;

  static State& of(EditLine* edit) {
    State* state = nullptr;
    el_get(edit, EL_CLIENTDATA, &state);
    return *state;
  }

  static char* promptOf(EditLine* edit) { return of(edit).prompt.data(); }

  static unsigned char insertNewline(EditLine* edit, int) {
    return el_insertstr(edit, "\n") == 0 ? CC_REFRESH : CC_ERROR;
  }

  static unsigned char completeWord(EditLine* edit, int) {
    const LineInfo* line = el_line(edit);
    const std::string_view typed(line->buffer, static_cast<std::size_t>(line->cursor - line->buffer));
    const Completion found = of(edit).complete(typed);
    if (found.candidates.empty()) return CC_ERROR;
    const std::string common = commonBeginning(found.candidates);
    if (common.size() > found.replacedBytes) {
      // What is typed already is the beginning of every candidate.
      if (el_insertstr(edit, common.substr(found.replacedBytes).c_str()) != 0) return CC_ERROR;
      return CC_REFRESH;
    }
    if (found.candidates.size() == 1) return CC_NORM;
    std::string list = "\n";
    for (std::size_t i = 0; i < std::min(found.candidates.size(), kShownCandidates); ++i) {
      list += text::printable(found.candidates[i]) + "  ";
    }
    if (found.candidates.size() > kShownCandidates) list += "…";
    printText(list + "\n");
    return CC_REDISPLAY;
  }

  void remember(const std::string& line) const {
    HistEvent event{};
    ::history(history, &event, H_ENTER, line.c_str());
    if (historyFile.empty()) return;
    // Made by us first, so that nobody else can read it.
    const int file = ::open(historyFile.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0) return;
    ::close(file);
    ::history(history, &event, H_SAVE, historyFile.c_str());
  }
};

LineEditor::LineEditor(std::string historyFile, Complete complete) : state_(std::make_unique<State>()) {
  useUtf8();
  state_->historyFile = std::move(historyFile);
  state_->complete = std::move(complete);
  state_->edit = el_init("bough", stdin, stdout, stderr);
  state_->history = history_init();
  HistEvent event{};
  ::history(state_->history, &event, H_SETSIZE, kHistoryLines);
  ::history(state_->history, &event, H_SETUNIQUE, 1);
  if (!state_->historyFile.empty()) ::history(state_->history, &event, H_LOAD, state_->historyFile.c_str());
  EditLine* edit = state_->edit;
  el_set(edit, EL_CLIENTDATA, state_.get());
  el_set(edit, EL_PROMPT, &State::promptOf);
  el_set(edit, EL_EDITOR, "emacs");
  el_set(edit, EL_SIGNAL, 0);
  el_set(edit, EL_HIST, ::history, state_->history);
  el_set(edit, EL_ADDFN, "bough-complete", "complete", &State::completeWord);
  el_set(edit, EL_ADDFN, "bough-newline", "another line", &State::insertNewline);
  el_set(edit, EL_BIND, "^I", "bough-complete", nullptr);
  el_set(edit, EL_BIND, "\033\r", "bough-newline", nullptr);
  el_set(edit, EL_BIND, "\033\n", "bough-newline", nullptr);
  el_set(edit, EL_BIND, "^R", "em-inc-search-prev", nullptr);
  el_set(edit, EL_BIND, "\033[3~", "ed-delete-next-char", nullptr);
  el_set(edit, EL_BIND, "\033[H", "ed-move-to-beg", nullptr);
  el_set(edit, EL_BIND, "\033[F", "ed-move-to-end", nullptr);
}

LineEditor::~LineEditor() {
  el_end(state_->edit);
  history_end(state_->history);
}

LineEditor::Input LineEditor::read(const std::string& prompt) {
  Input input;
  state_->prompt = prompt;
  el_resize(state_->edit);
  for (;;) {
    int count = 0;
    const char* line = el_gets(state_->edit, &count);
    if (line == nullptr || count <= 0) {
      input.outcome = count < 0 && errno == EINTR ? Outcome::Interrupted : Outcome::End;
      el_reset(state_->edit);
      printText("\n");
      return input;
    }
    std::string_view part(line, static_cast<std::size_t>(count));
    while (part.ends_with('\n') || part.ends_with('\r')) part.remove_suffix(1);
    input.text += part;
    if (!part.ends_with('\\')) break;
    input.text.back() = '\n';
    state_->prompt = "… ";
  }
  input.outcome = Outcome::Line;
  if (input.text.find_first_not_of(" \t\n") != std::string::npos) state_->remember(input.text);
  return input;
}

}  // namespace bough::cli
