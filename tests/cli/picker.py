#!/usr/bin/env python3
"""The pickers in a real terminal (tmux): picker.py BOUGH. Sessions, their preview, what can be done to them; the tree of a chat."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unicodedata

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from terminal import PROMPT, Terminal, check  # noqa: E402

# From a model whose price is known.
ANSWER = ('{"type":"message","payload":{"dialect":"anthropic","message":{"id":"msg_0123456789abcdef","role":"assistant","model":"claude-sonnet-4-5",'
          '"content":[{"type":"text","text":"They stand still."}],"usage":{"input_tokens":2000,"output_tokens":50,"cache_read_input_tokens":100000,"cache_creation_input_tokens":500}}}}')
TALKS = {"heron": "Tell me of herons", "stork": "Where do storks 鹳 nest?", "crane": "Cranes and their dances"}


def key(terminal, *names):
    for name in names:
        terminal.tmux("send-keys", name)


def leave_filter(terminal):
    """Escape and a letter at once would be Alt and that letter."""
    key(terminal, "Escape")
    terminal.wait(lambda screen: "q quit" in screen)


def with_sessions(folder, bough, **size):
    """A terminal in a folder with some sessions, and nothing on the screen."""
    terminal = Terminal(folder, bough, **size)
    for name, text in TALKS.items():
        terminal.run(f"bough new --id {name} --key birds:cli:{name} >/dev/null; bough append {name} --role user --text '{text}' >/dev/null; "
                     f"bough append {name} --role assistant --text 'An answer about {name}s' >/dev/null")
    terminal.type("clear")
    terminal.wait(lambda screen: screen.strip() == PROMPT)
    return terminal


def selected(screen):
    return next((line for line in screen.splitlines() if line.startswith("> ")), "")


def cells(line):
    """The columns that a line takes."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line.rstrip())


def opened(screen):
    """Whether a chat waits for a line."""
    filled = [line for line in screen.splitlines() if line.strip()]
    return bool(filled) and filled[-1].strip() == "›"


def test_what_is_asked_and_told_is_whole_in_a_narrow_terminal(folder, bough):
    for width, height in ((40, 14), (40, 24), (80, 12)):
        terminal = with_sessions(folder, bough, width=width, height=height)
        terminal.run("bough fork heron --id heron-fork >/dev/null 2>&1")
        terminal.type("clear; bough")
        terminal.wait(lambda screen: "4 of 4" in screen)
        terminal.type("Tell me", enter=False)
        terminal.wait(lambda screen: "2 of 4" in screen)
        while "fork of" in selected(terminal.screen()):
            key(terminal, "Down")
            terminal.wait(lambda screen: selected(screen))
        key(terminal, "M-d")
        terminal.wait(lambda screen: "[y/N]" in screen)
        terminal.type("y", enter=False)
        said = '1 session shares the history of session heron "Tell me of herons": heron-fork "fork of Tell me of herons"'
        screen = terminal.wait(lambda screen: said in " ".join(screen.split()) or "shares" in screen)
        check(said in " ".join(screen.split()), f"the reason is whole in {width} columns", screen)
        check("Sessions:" in screen and selected(screen), "the list stays", screen)
        key(terminal, "C-c")
        terminal.wait(lambda screen: "Sessions:" not in screen)
        terminal.run("bough rm heron-fork --yes >/dev/null 2>&1; bough rm heron stork crane --yes >/dev/null 2>&1; bough trash --empty --yes >/dev/null 2>&1")
        terminal.close()


def test_a_session_is_found_by_typing_and_opened(folder, bough):
    terminal = with_sessions(folder, bough, width=120, height=24)
    terminal.type("bough")
    screen = terminal.wait(lambda screen: "3 of 3" in screen)
    check("Cranes" in selected(screen), "the session used last is selected", screen)
    check("An answer about cranes" in screen, "its conversation is shown beside the list", screen)
    key(terminal, "Down", "Down", "Up")
    screen = terminal.wait(lambda screen: "鹳" in selected(screen))
    columns = {len(line.split("│")[0].encode("utf-16-le")) // 2 + line.split("│")[0].count("鹳") for line in screen.splitlines()[1:20]}
    check(len(columns) == 1, "the line between list and preview is straight", screen)
    terminal.type("hrn", enter=False)
    screen = terminal.wait(lambda screen: "Sessions: hrn" in screen)
    check("herons" in selected(screen), "letters in order find a title, the closest ones first", screen)
    terminal.type(" more", enter=False)
    terminal.wait(lambda screen: "Sessions: hrn more" in screen)
    key(terminal, "M-BSpace", "C-w")  # deletes by words, and the filter stays active
    terminal.tmux("set-buffer", "cranes\n\ndances\n")
    terminal.tmux("paste-buffer", "-p")
    screen = terminal.wait(lambda screen: "Sessions: cranes  dances" in screen)
    check("Cranes" in selected(screen), "the lines of a paste are one filter, and open nothing", screen)
    key(terminal, "C-u")
    terminal.type("cli:stork", enter=False)
    terminal.wait(lambda screen: "鹳" in selected(screen) and "1 of 3" in screen)
    key(terminal, "Enter")
    screen = terminal.wait(opened)
    check("Where do storks" in screen and "Restored: 1 turn" in screen, "Enter opens it in the chat", screen)
    check("Sessions:" not in screen, "the picker leaves the screen", screen)
    terminal.close()


def test_the_price_of_going_on_is_told_at_every_width(folder, bough):
    for width in (40, 80, 120):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
            terminal = with_sessions(place, bough, width=width, height=30)
            pathlib.Path(place, "answer").write_text(ANSWER + "\n")
            # No prompt is sent, so no request is made.
            terminal.run("export ANTHROPIC_API_KEY=sk-ant-0123456789abcdef; cd; bough append heron < answer >/dev/null")
            terminal.type("bough")
            screen = terminal.wait(lambda screen: "3 of 3" in screen and "herons" in selected(screen))
            for line in screen.splitlines():
                check(cells(line) <= width, f"the picker keeps to {width} columns", screen)
            if width >= 80:
                terminal.wait(lambda screen: "next turn: 102" in " ".join(screen.split()))
            key(terminal, "Enter")
            screen = terminal.wait(opened)
            said = " ".join(screen.split())
            check("next turn: 102.5k tokens of context; the cache is likely warm" in said and "cold $" in said, "the chat begins with the price of the next turn", screen)
            check("They stand still." in said, "and with the last exchange", screen)
            key(terminal, "C-d")
            screen = terminal.wait(lambda screen: screen.rstrip().endswith(PROMPT))
            check("bough chat --resume" in screen or "bough resume" in screen, "at its end it names the command that comes back", screen)
            terminal.close()


def test_what_was_said_is_found_too(folder, bough):
    terminal = with_sessions(folder, bough, width=100, height=30)
    terminal.type("bough chat --resume")
    terminal.wait(lambda screen: "3 of 3" in screen)
    terminal.type("answer herons", enter=False)
    screen = terminal.wait(lambda screen: "1 of 3" in screen and "herons" in selected(screen))
    leave_filter(terminal)
    key(terminal, "q")
    screen = terminal.wait(lambda screen: screen.rstrip().endswith(PROMPT))
    check("Sessions:" not in screen, "q ends the picker", screen)
    terminal.close()


def test_what_was_found_stays_when_something_is_done(folder, bough):
    terminal = with_sessions(folder, bough, width=100, height=12)
    terminal.type("bough")
    terminal.wait(lambda screen: "3 of 3" in screen)
    terminal.type("answer about", enter=False)  # in the text of all sessions, and in no title
    terminal.wait(lambda screen: "Sessions: answer about" in screen and "3 of 3" in screen)
    first = selected(terminal.screen())
    key(terminal, "Down")
    chosen = selected(terminal.wait(lambda screen: selected(screen) != first))
    for keys, said in (("M-l", "Label for"), ("x", "message: x"), ("Enter", "Labelled x")):
        key(terminal, keys)
        screen = terminal.wait(lambda screen: said in screen)
    check("3 of 3" in screen and selected(screen) == chosen, "a label leaves the list as it is", screen)
    key(terminal, "M-f")
    screen = terminal.wait(lambda screen: "Forked" in screen)
    check("4 of 4" in screen and "fork of" in selected(screen), "the fork that is announced is selected", screen)
    key(terminal, "C-c")
    terminal.close()


def test_sessions_are_forked_labelled_deleted_and_restored(folder, bough):
    terminal = with_sessions(folder, bough, width=120, height=24)
    terminal.type("bough")
    terminal.wait(lambda screen: "3 of 3" in screen)
    leave_filter(terminal)
    key(terminal, "G")
    terminal.wait(lambda screen: "herons" in selected(screen))
    terminal.type("d", enter=False)
    terminal.wait(lambda screen: re.search(r'Move ".*herons.*" to the trash\? \[y/N\]', screen))
    terminal.type("n", enter=False)
    screen = terminal.wait(lambda screen: "trash?" not in screen)
    check("in trash" not in screen, "anything but y leaves it alone", screen)
    terminal.type("dy", enter=False)
    terminal.wait(lambda screen: "Moved to the trash" in screen and "in trash" in selected(screen))
    key(terminal, "Enter")
    terminal.wait(lambda screen: "It is in the trash" in screen and "in trash" in selected(screen))
    terminal.type("r", enter=False)
    terminal.wait(lambda screen: "Restored" in screen and "in trash" not in screen)
    terminal.type("lnice birds鹳", enter=False)
    terminal.wait(lambda screen: "nice birds鹳" in screen)
    key(terminal, "BSpace")  # deletes the whole last character
    terminal.wait(lambda screen: "Label for the last message: nice birds" in screen)
    key(terminal, "Enter")
    terminal.wait(lambda screen: "Labelled nice birds" in screen)
    terminal.type("f", enter=False)
    screen = terminal.wait(lambda screen: "Forked" in screen and "of 4" in screen)
    check("fork of" in selected(screen), "the fork is where its session was, and selected", screen)
    check("0 messages since the fork" in screen and "An answer about herons" in screen, "its preview says what it shares, and what is new", screen)
    terminal.type("q", enter=False)
    terminal.wait(lambda screen: screen.rstrip().endswith(PROMPT))
    check("nice birds" in terminal.run("bough labels heron"), "the label is there", terminal.screen())
    check(re.search(r"@1 .* \+0 .*fork of", terminal.run("bough ls")), "the fork is there, with what it has added", terminal.screen())
    terminal.close()


def test_previews_are_rendered(folder, bough):
    said = "# Plan 计划\n\nIt is **done**, `see` the *list*:\n\n- one 👨‍👩‍👧\n- two\n\n```python\nprint(1)  # " + "and so on " * 20 + "\n```"
    subprocess.run([bough, "--store", f"{folder}/store", "new", "--id", "plan"], check=True, capture_output=True)
    for role, text in (("user", "What is the **plan**?"), ("assistant", said)):
        subprocess.run([bough, "--store", f"{folder}/store", "append", "plan", "--role", role, "--text", text], check=True, capture_output=True)
    for width in (40, 80, 120):
        terminal = Terminal(folder, bough, width=width, height=40)
        for command in ("bough", "bough chat --session plan"):
            terminal.type(command)
            if command != "bough":
                terminal.wait(opened)
                terminal.type("/tree")
            screen = terminal.wait(lambda screen: "print(1)" in screen and ("Sessions" in screen or "Tree" in screen))
            preview = screen[screen.index("Plan 计划") if command == "bough" else screen.rindex("Plan 计划"):]
            check("It is done, see the list" in " ".join(preview.replace("│", " ").split()), f"Markdown is rendered in {width} columns: {command}", screen)
            check("• one" in preview and "**done" not in preview and "```" not in preview, f"so are lists and code in {width} columns: {command}", screen)
            colors = terminal.screen(colours=True)
            check(re.search("\033\\[1m.*done", colors), "with its emphasis", colors)
            check(terminal.broke_nothing(), f"every line fits {width} columns: {command}", screen)
            key(terminal, "Escape")
            terminal.wait(lambda screen: "q quit" in screen)
            key(terminal, "q")
            terminal.wait(lambda screen: opened(screen) if command != "bough" else screen.rstrip().endswith(PROMPT))
        terminal.close()


def test_a_filter_without_a_match_says_how_to_clear_it(folder, bough):
    terminal = with_sessions(folder, bough, width=40, height=24)
    terminal.type("bough")
    terminal.wait(lambda screen: "3 of 3" in screen)
    terminal.type("zzzz", enter=False)
    screen = terminal.wait(lambda screen: "0 of 3" in screen and "nothing matches" in screen)
    check("  nothing matches; Ctrl-U clears it" in screen, "on a narrow terminal as well", screen)
    leave_filter(terminal)
    key(terminal, "C-u")
    terminal.wait(lambda screen: "3 of 3" in screen and "nothing matches" not in screen)
    terminal.type("q", enter=False)
    terminal.close()


def test_of_a_long_filter_the_end_is_seen(folder, bough):
    terminal = with_sessions(folder, bough, width=40, height=14)
    terminal.type("bough")
    terminal.wait(lambda screen: "3 of 3" in screen)
    terminal.type("words that are more than fit the line", enter=False)
    screen = terminal.wait(lambda screen: "fit the line" in screen and "nothing matches" in screen)
    check(screen.startswith("Sessions: …") and " 0 of 3\n" in screen, "the end of what is typed", screen)
    at = terminal.tmux("display", "-p", "#{cursor_x}")
    check(at.strip() == str(screen.index(" 0 of 3") - 1), "and the cursor after it", at)
    key(terminal, "C-c")
    terminal.close()


def test_resize_and_stopping_keep_the_picture(folder, bough):
    terminal = with_sessions(folder, bough, width=120, height=24)
    terminal.run("bough append crane --role assistant --text '- a list of `code` that is not short' >/dev/null")
    terminal.type("clear; bough")
    terminal.wait(lambda screen: "3 of 3" in screen)
    last = lambda screen: screen.rstrip().splitlines()[-1].strip()
    for width, end in ((80, "Alt-d delete"), (60, "Alt-l label"), (30, "Esc commands"), (12, "Enter open")):
        terminal.tmux("resize-window", "-x", str(width), "-y", "20")
        screen = terminal.wait(lambda screen: last(screen).endswith(end))
        check(last(screen).endswith(end), "keys are named whole or not at all", screen)
    terminal.tmux("resize-window", "-x", "60", "-y", "20")
    screen = terminal.wait(lambda screen: "───" in screen and "An answer about cranes" in screen)
    check(all(len(line) <= 60 for line in screen.splitlines()), "the picture fits a narrow terminal", screen)
    terminal.tmux("resize-window", "-x", "12", "-y", "20")
    screen = terminal.wait(lambda screen: "─" * 12 in screen and "─" * 13 not in screen)
    check("␛" not in screen and "list" in screen, "no color is shown as text where Markdown does not fit", screen)
    terminal.tmux("resize-window", "-x", "40", "-y", "10")
    screen = terminal.wait(lambda screen: "───" not in screen and "Cranes" in selected(screen))
    terminal.tmux("resize-window", "-x", "120", "-y", "24")
    terminal.wait(lambda screen: "│" in screen)
    key(terminal, "C-z")
    screen = terminal.wait(lambda screen: "Stopped" in screen)
    check("Sessions:" not in screen, "the shell has its screen while the picker is stopped", screen)
    terminal.type("fg")
    terminal.wait(lambda screen: "Sessions:" in screen and "3 of 3" in screen)
    key(terminal, "Down")
    terminal.wait(lambda screen: "鹳" in selected(screen))
    key(terminal, "C-c")
    terminal.wait(lambda screen: screen.rstrip().endswith(PROMPT))
    screen = terminal.run("echo typed")
    check("typed" in screen, "the terminal echoes again", screen)
    terminal.close()


def test_the_tree_of_a_chat_moves_the_head_and_brings_a_message_back(folder, bough):
    terminal = Terminal(folder, bough, width=110, height=30)
    terminal.type("bough chat")
    terminal.wait(opened)
    for text in ["first thing", "second thing"]:
        terminal.type(text)
        terminal.wait(lambda screen: f"You said: {text}" in screen and opened(screen))
    terminal.type("/back")
    screen = terminal.wait(lambda screen: "back 1 turn" in screen and opened(screen))
    check("You said: first thing" in screen.split("back 1 turn")[1], "it shows where the conversation goes on", screen)
    terminal.type("another thing")
    terminal.wait(lambda screen: "You said: another thing" in screen and opened(screen))
    terminal.type("/tree")
    screen = terminal.wait(lambda screen: "Tree:" in screen and "6 of 6" in screen)
    check(re.search(r"^  ├ › second thing", screen, re.M) and re.search(r"^  › another thing", screen, re.M), "only the older branch is moved to the right", screen)
    check("(head)" in selected(screen), "the head is selected", screen)
    terminal.type("second", enter=False)
    terminal.wait(lambda screen: "second thing" in selected(screen) and "of 6" in screen)
    key(terminal, "Enter")
    screen = terminal.wait(lambda screen: screen.rstrip().endswith("› second thing"))
    said = screen.split("the later messages stay as a branch; the conversation continues here:")
    check(len(said) == 2 and "You said: first thing" in said[1], "it says what happened, and where the conversation goes on", screen)
    terminal.type(" again")
    screen = terminal.wait(lambda screen: "You said: second thing again" in screen and opened(screen))
    terminal.type("/sessions")
    terminal.wait(lambda screen: "Sessions:" in screen and "1 of 1" in screen)
    key(terminal, "C-c")
    terminal.wait(opened)
    terminal.close()
    terminal = Terminal(folder, bough)
    check(terminal.run("bough branches @last").count("offline model") == 3, "each try is a branch", terminal.screen())
    terminal.close()


def test_the_tree_names_no_head_where_there_is_none(folder, bough):
    terminal = Terminal(folder, bough, width=110, height=30)
    terminal.type("bough chat")
    terminal.wait(opened)
    terminal.type("first thing")
    terminal.wait(lambda screen: "You said: first thing" in screen and opened(screen))
    terminal.type("/back")
    terminal.wait(lambda screen: "back 1 turn" in screen and opened(screen))
    terminal.type("/tree")
    screen = terminal.wait(lambda screen: "Tree:" in screen and "2 of 2" in screen)
    check("› first thing" in selected(screen) and "(head)" not in screen, "the head is before the first message", screen)
    terminal.close()


def test_the_tree_takes_a_message_back_where_the_head_is_and_forks_from_anywhere(folder, bough):
    terminal = Terminal(folder, bough, width=110, height=30)
    terminal.type("bough chat --key tree:cli:me")
    terminal.wait(opened)
    for text in ["first thing", "second thing"]:
        terminal.type(text)
        terminal.wait(lambda screen: f"You said: {text}" in screen and opened(screen))
    terminal.type("/back")
    terminal.wait(lambda screen: "back 1 turn" in screen and opened(screen))
    terminal.type("/tree")
    terminal.wait(lambda screen: "Tree:" in screen and "(head)" in selected(screen))
    key(terminal, "Down", "Enter")  # the message after the head
    screen = terminal.wait(lambda screen: screen.rstrip().endswith("› second thing"))
    check("the later messages stay" not in screen.split("/tree")[-1], "the head stays where it is", screen)
    terminal.type("")
    terminal.wait(lambda screen: "You said: second thing" in screen.split("› second thing")[-1] and opened(screen))
    terminal.type("/tree")
    terminal.wait(lambda screen: "Tree:" in screen and "(head)" in selected(screen))
    key(terminal, "M-f")
    terminal.wait(lambda screen: "Continue from here in a new session?" in screen)
    key(terminal, "y")
    terminal.wait(lambda screen: "it shares the history so far" in screen and opened(screen))
    terminal.type("clear")
    terminal.wait(lambda screen: "You said: clear" in screen and opened(screen))
    terminal.type("/tree")
    terminal.wait(lambda screen: "Tree:" in screen and "(head)" in selected(screen))
    key(terminal, "Home", "M-f")
    terminal.wait(lambda screen: "Continue from here in a new session?" in screen)
    key(terminal, "y")
    terminal.wait(lambda screen: "it shares the history so far" in screen and screen.rstrip().endswith("› first thing"))
    key(terminal, "C-u")
    terminal.type("/sessions")
    terminal.wait(lambda screen: "Sessions:" in screen and "3 of 3" in screen)
    key(terminal, "Down", "Enter")
    screen = terminal.wait(lambda screen: "Restored:" in screen and opened(screen))
    check("Restored: 3 turns" in screen, "the session that was forked keeps its head", screen)
    terminal.close()


def main():
    if not shutil.which("tmux"):
        print("picker: tmux is missing, so nothing is tested")
        sys.exit(77)
    bough = str(pathlib.Path(sys.argv[1]).resolve())
    wanted = sys.argv[2:]
    for name, test in list(globals().items()):
        if not name.startswith("test_") or (wanted and not any(word in name for word in wanted)):
            continue
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            test(folder, bough)
            print(re.sub("_", " ", name), "ok")


if __name__ == "__main__":
    main()
