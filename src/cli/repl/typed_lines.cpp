#include "cli/repl/typed_lines.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>

#include "base/text/text.h"
#include "cli/terminal/graphemes.h"
#include "cli/terminal/line/pasted_files.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"

namespace bough::cli {
namespace {

constexpr int kPollMs = 20;
constexpr char kBackspace = 0x08;
constexpr char kDelete = 0x7F;
constexpr char kEnd = 0x04;        // Ctrl-D
constexpr char kEraseLine = 0x15;  // Ctrl-U
constexpr char kEraseWord = 0x17;  // Ctrl-W
constexpr char kEscape = 0x1B;
constexpr int kEscapeMs = 40;  // a key that sends several bytes sends them at once
constexpr int kPasteMs = 2'000;
constexpr std::size_t kMostPasted = std::size_t{4} << 20;  // bytes
constexpr const char* kPasteMarksOn = "\033[?2004h";
constexpr const char* kPasteMarksOff = "\033[?2004l";
constexpr std::string_view kPasteBegin = "[200~";
constexpr std::string_view kPasteEnds = "\033[201~";

// Returns how many bytes a key has sent after its Escape: `[`, parameters and a final byte, or `O` and one byte.
// Returns 0 for Escape itself and for Alt with a character, and std::nullopt while bytes are missing.
std::optional<std::size_t> keyBytes(std::string_view bytes) {
  if (bytes.empty()) return std::nullopt;
  if (bytes.front() != '[' && bytes.front() != 'O') return 0;
  for (std::size_t i = 1; i < bytes.size(); ++i) {
    if (bytes.front() == 'O' || (bytes[i] >= '@' && bytes[i] <= '~')) return i + 1;
  }
  return std::nullopt;
}

}  // namespace

TypedLines::TypedLines(std::function<bool()> asked, Complete complete, std::string draft)
    : asked_(std::move(asked)), complete_(std::move(complete)), line_(std::move(draft)) {
  isTerminal_ = ::tcgetattr(STDIN_FILENO, &before_) == 0;
  listen();
  if (!line_.empty()) show();
}

TypedLines::~TypedLines() {
  hideFooter();
  if (!isTerminal_) return;
  printCodes(kPasteMarksOff);
  (void)::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

// Sets the terminal's mode; also needed after Ctrl-Z, when the shell has changed it.
void TypedLines::listen() {
  termios now{};
  if (!isTerminal_ || ::tcgetattr(STDIN_FILENO, &now) != 0) return;
  if ((now.c_lflag & static_cast<tcflag_t>(ICANON | ECHO)) == 0) return;
  now.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  now.c_cc[VMIN] = 1;
  now.c_cc[VTIME] = 0;
  (void)::tcsetattr(STDIN_FILENO, TCSANOW, &now);
  printCodes(kPasteMarksOn);
  if (shown_) show();
  if (nextShown_) showNextLine();
}

// Switches between the message and the answer to a question. The answer goes on the question's line. Text that was
// being typed when the question came is not an answer to it: it is put aside and comes back afterwards.
void TypedLines::switchMode(bool asked) {
  if (asked == isAnswer_) return;
  isAnswer_ = asked;
  candidates_.clear();
  if (asked) {
    if (shown_ || nextShown_) hideFooter();
    shown_ = false;
    nextShown_ = false;
    setAsideLine_ = std::exchange(line_, {});
    isAnswered_ = false;
  } else {
    if (!isAnswered_) line_.clear();  // an unfinished answer to a question that is gone
    line_.insert(0, std::exchange(setAsideLine_, {}));
    answerColumns_ = 0;
    show();
  }
}

std::optional<std::string> TypedLines::next() {
  listen();
  // Bytes that arrived together with an answer are for the next question, which may not be open yet.
  switchMode(asked_() || (isAnswered_ && !bytes_.empty()));
  // Bytes that arrive while a question is on the screen are an answer, however early.
  if (bytes_.empty() && receive(kPollMs)) switchMode(asked_());
  bool changed = false;
  while (!bytes_.empty()) {
    const char byte = bytes_.front();
    bytes_.erase(0, 1);
    if (byte == kEscape) {
      changed = takeKey() || changed;
      continue;
    }
    if (byte == kEnd && isAnswer_ && !shown_ && line_.empty()) {
      printText("n\n");
      return "n";
    }
    if (byte != '\n' && byte != '\r') {
      changed = take(byte) || changed;
      isAnswered_ = isAnswered_ && !asked_();
      // The next text may be an answer on the question's line, even if it is typed fast.
      if (line_.empty() && shown_) show();
      continue;
    }
    if (shown_) {
      hideFooter();
    } else if (isAnswer_) {
      printText("\n");
    }
    isAnswered_ = isAnswer_;
    shown_ = false;
    candidates_.clear();
    answerColumns_ = 0;
    return std::exchange(line_, {});
  }
  if (changed) show();
  return std::nullopt;
}

bool TypedLines::receive(int waitMs) {
  pollfd ready{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  if (::poll(&ready, 1, waitMs) <= 0 || (ready.revents & POLLIN) == 0) return false;
  char bytes[4'096];
  const ssize_t got = ::read(STDIN_FILENO, bytes, sizeof bytes);
  if (got > 0) bytes_.append(bytes, static_cast<std::size_t>(got));
  return got > 0;
}

// Handles a key that sends several bytes. Such keys, for example arrows, do nothing, because the cursor cannot move in
// a line that is typed beside an answer. Returns true when the line has changed.
bool TypedLines::takeKey() {
  std::optional<std::size_t> size = keyBytes(bytes_);
  while (!size && receive(kEscapeMs)) size = keyBytes(bytes_);
  if (size == 0) return takeAlt(bytes_.front());
  const std::string key = bytes_.substr(0, size.value_or(0));
  bytes_.erase(0, key.size());
  if (key != kPasteBegin) return false;
  takePaste();
  return true;
}

// Handles Alt with a character: Alt-Enter begins a new line of the same message, Alt-Backspace erases a word.
bool TypedLines::takeAlt(char byte) {
  const bool isEnter = byte == '\n' || byte == '\r';
  const bool isErase = byte == kBackspace || byte == kDelete;
  if (isAnswer_ || (!isEnter && !isErase)) return false;
  bytes_.erase(0, 1);
  candidates_.clear();
  isEnter ? line_.push_back('\n') : eraseLastWord(line_);
  return true;
}

// Pasted text is one text, however many lines it has; its last line end sends nothing.
void TypedLines::takePaste() {
  std::size_t end = 0;
  for (std::size_t from = 0; (end = bytes_.find(kPasteEnds, from)) == std::string::npos;) {
    from = bytes_.size() - std::min(bytes_.size(), kPasteEnds.size() - 1);
    if (bytes_.size() > kMostPasted || !receive(kPasteMs)) break;
  }
  std::string text = bytes_.substr(0, end);
  bytes_.erase(0, end == std::string::npos ? end : end + kPasteEnds.size());
  std::ranges::replace(text, '\r', '\n');
  std::erase_if(text,
                [](char c) { return (static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\t') || c == kDelete; });
  if (text.ends_with('\n')) text.pop_back();
  const std::string files = pastedFiles(text);
  line_ += files.empty() ? text : files;
}

// Returns true when the line has changed.
bool TypedLines::take(char byte) {
  if (byte == '\t') return completeLine();
  candidates_.clear();
  if (byte == kBackspace || byte == kDelete) {
    eraseLastGrapheme(line_);
  } else if (byte == kEraseLine) {
    line_.clear();
  } else if (byte == kEraseWord) {
    eraseLastWord(line_);
  } else if (static_cast<unsigned char>(byte) >= ' ') {
    line_ += byte;
  } else {
    return false;
  }
  return true;
}

// Answers to questions are single letters, so they are not completed.
bool TypedLines::completeLine() {
  if (isAnswer_) return false;
  const Completion found = complete_(line_);
  const CompletionStep step = completionStep(found, line_);
  line_.resize(line_.size() - step.replacedBytes);
  line_ += step.inserted;
  candidates_.clear();
  if (found.candidates.size() < 2) return !step.inserted.empty();
  for (const std::string& each : found.candidates) candidates_ += "  " + text::printable(each);
  return true;
}

void TypedLines::show() {
  const std::size_t room = std::max<std::size_t>(terminalWidth(), 12) - 4;
  const std::string printable = text::printable(line_);
  const std::string typed(endToWidth(printable, room));
  if (!shown_ && isAnswer_) {
    // After the question, on its line.
    std::string back;
    for (; answerColumns_ > 0; --answerColumns_) back += "\b \b";
    answerColumns_ = text::displayWidth(typed);
    return printText(back + typed);
  }
  if (line_.empty()) {
    hideFooter();
    shown_ = false;
    return showNextLine();
  }
  const std::size_t left = room - std::min(room, text::displayWidth(typed));
  const std::string others = left > 4 ? text::excerptToWidth(candidates_, left - 1) : "";
  showFooter(styled(Style::Bold, "› ") + typed + (others.empty() ? "" : "  " + styled(Style::Dim, others)));
  shown_ = true;
  nextShown_ = false;
}

void TypedLines::showNext(std::string line) {
  next_ = std::move(line);
  if (line_.empty()) showNextLine();
}

void TypedLines::showNextLine() {
  if (next_.empty() || isAnswer_) return;
  const std::size_t room = std::max<std::size_t>(terminalWidth(), 12) - 8;
  showFooter(styled(Style::Dim, "next: " + text::excerptToWidth(next_, room)));
  nextShown_ = true;
}

}  // namespace bough::cli
