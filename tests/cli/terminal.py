#!/usr/bin/env python3
"""The command in a real terminal (tmux): terminal.py BOUGH. Pages, colours, width, folding and the progress bar."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

PROMPT = "ready>"
GREEN = r"\033\[38;5;28m(\033\[\d+m)*"
DEADLINE_S = 30


class Terminal:
    """A shell in a terminal of its own."""

    def __init__(self, folder, bough, width=80, height=24, **environment):
        self.socket = tempfile.mktemp(dir=folder)
        self.raw = pathlib.Path(f"{folder}/raw")
        settings = {"BOUGH_STORE": f"{folder}/store", "PS1": PROMPT + " ", "HOME": folder, "LC_ALL": "C.UTF-8", **environment}
        words = [f"{name}={value}" for name, value in settings.items()]
        os.makedirs(f"{folder}/bin", exist_ok=True)
        if not os.path.exists(f"{folder}/bin/bough"):
            os.symlink(bough, f"{folder}/bin/bough")
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(width), "-y", str(height),
                  "env", "-u", "NO_COLOR", "-u", "PAGER", *words, f"PATH={folder}/bin:" + os.environ["PATH"],
                  "bash", "--norc", "--noprofile")
        self.tmux("pipe-pane", f"cat >> {self.raw}")
        self.wait(lambda screen: PROMPT in screen)

    def tmux(self, *words):
        return subprocess.run(["tmux", "-S", self.socket, *words], check=True, capture_output=True).stdout.decode()

    def screen(self, colours=False):
        return self.tmux("capture-pane", "-p", *(["-e"] if colours else []))

    def wait(self, wanted):
        """The screen, once it is as wanted."""
        end = time.monotonic() + DEADLINE_S
        while time.monotonic() < end:
            screen = self.screen()
            if wanted(screen):
                return screen
            time.sleep(0.02)
        sys.exit(f"the terminal never showed what was expected; it shows:\n{self.screen()}")

    def type(self, text, enter=True):
        self.tmux("send-keys", "-l", text)
        if enter:
            self.tmux("send-keys", "Enter")

    def run(self, command):
        """Runs a command on an empty screen and returns what it left there."""
        self.tmux("send-keys", "C-l")
        self.wait(lambda screen: screen.strip() == PROMPT)
        self.tmux("clear-history")
        self.type(command)
        return self.wait(lambda screen: screen.count(PROMPT) == 2)

    def broke_nothing(self):
        """Whether every line was as wide as the terminal at most: tmux joins those that it had to break. The screen may change
        between two looks, so it is looked at more than once."""
        lines = lambda *words: [line.rstrip() for line in self.tmux("capture-pane", "-p", *words).splitlines()]
        return any(lines() == lines("-J") for _ in range(5))

    def close(self):
        self.tmux("kill-server")


def check(condition, what, screen):
    if not condition:
        sys.exit(f"{what}; the screen was:\n{screen}")


def test_long_text_is_paged_and_short_text_is_not(folder, bough):
    terminal = Terminal(folder, bough)
    terminal.run("bough new --id short >/dev/null; bough append short --role user --text 'A short one'")
    screen = terminal.run("bough show short")
    check("A short one" in screen, "a short session stays on the screen", screen)
    terminal.run("bough new --id long >/dev/null; for i in $(seq 40); do echo "
                 "'{\"type\":\"message\",\"payload\":{\"dialect\":\"bough\",\"message\":{\"role\":\"user\",\"content\":\"Line '$i'\"}}}';"
                 " done | bough append long >/dev/null")
    terminal.type("bough show long")
    screen = terminal.wait(lambda text: text.rstrip().endswith(":"))
    check("Line 1\n" in screen and "Line 40" not in screen, "the pager shows the first page", screen)
    terminal.type("G", enter=False)
    terminal.wait(lambda text: "Line 40" in text)
    terminal.type("q", enter=False)
    terminal.wait(lambda text: text.rstrip().endswith(PROMPT))
    screen = terminal.run("PAGER=less bough show short")
    check("A short one" in screen and "ESC[" not in screen, "a pager by its name alone does so, too", screen)
    terminal.type("clear; LESS=M PAGER=less bough show short")
    terminal.wait(lambda text: "ESC[" in text and "(END)" in text)  # as the user configured it
    terminal.type("q", enter=False)
    terminal.wait(lambda text: text.rstrip().endswith(PROMPT))
    terminal.close()


def test_colours_only_where_they_are_wanted(folder, bough):
    terminal = Terminal(folder, bough)
    terminal.run("bough show short")
    screen = terminal.screen(colours=True)
    check(re.search(GREEN + "user", screen), "the speaker is green", screen)
    terminal.run("NO_COLOR=1 bough show short")
    screen = terminal.screen(colours=True)
    check(not re.search(GREEN, screen), "NO_COLOR means no colour", screen)
    terminal.run("CLICOLOR=0 bough show short")
    check(not re.search(GREEN, terminal.screen(colours=True)), "nor does CLICOLOR=0", screen)
    terminal.run("CLICOLOR=0 CLICOLOR_FORCE=1 bough show short")
    check(re.search(GREEN, terminal.screen(colours=True)), "unless they are forced", screen)
    screen = terminal.run("bough show short | cat -v")
    check("^[" not in screen, "no colour into a pipe", screen)
    terminal.close()


def contrast(one, other):
    """As WCAG counts it: 1 for the same, 21 for black and white."""
    def light(colour):
        parts = [c / 255 for c in colour]
        parts = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
    lights = sorted((light(one), light(other)))
    return (lights[1] + 0.05) / (lights[0] + 0.05)


def test_colours_read_on_black_and_on_white(folder, bough):
    terminal = Terminal(folder, bough)
    terminal.run("bough new --id code >/dev/null; printf '`a` <https://e.org>\\n```c\\nif (x) return \"s\" + 1; // c\\n```\\n```diff\\n-old\\n+new\\n```\\n' | "
                 "bough append code --role assistant --text - >/dev/null; PAGER=cat bough show code")
    commands = ["ls --long", "show short", "tree short", "search short", "usage", "branches short", "--help", "help search", "diff short code"]
    said = terminal.screen(colours=True) + "".join(subprocess.run([bough, *command.split(), "--color", "always"], capture_output=True, text=True, env={
        **os.environ, "BOUGH_STORE": f"{folder}/store", "TERM": "xterm-256color", "HOME": folder}).stdout for command in commands)
    check(not re.search(r"\033\[(3[0-7]|9[0-7])m", said), "no colour that only one background bears", said)
    numbers = {int(number) for number in re.findall(r"\033\[38;5;(\d+)m", said)}
    check(numbers == {160, 28, 130, 133, 30}, "every colour that there is was looked at", said)
    levels = [0, 95, 135, 175, 215, 255]
    for number in numbers:
        colour = [levels[(number - 16) // divisor % 6] for divisor in (36, 6, 1)]
        for background in ([0, 0, 0], [255, 255, 255]):
            check(contrast(colour, background) > 3.5, f"colour {number} can be read on {background}", said)
    def shown_by(terminal):
        return subprocess.run([bough, "show", "short", "--color", "always"], capture_output=True, text=True, env={
            "PATH": os.environ["PATH"], "BOUGH_STORE": f"{folder}/store", "TERM": terminal, "HOME": folder}).stdout
    check("\033[32m" in shown_by("linux"), "a terminal of few colours gets its own", shown_by("linux"))
    # In containers, a terminal with 256 colours is called xterm; its own yellow is unreadable on white.
    for name in ("xterm", "screen", "tmux", "alacritty"):
        check(re.search(GREEN, shown_by(name)), f"{name} gets colours that read on white", shown_by(name))
    terminal.close()


def test_hostile_text_does_not_reach_the_terminal(folder, bough):
    terminal = Terminal(folder, bough)
    terminal.run(r"""bough new --id bad >/dev/null; bough append bad --role user --text $'\e]0;owned\a\e[2Jgone\u009b31m'""")
    screen = terminal.run("bough show bad")
    check("␛]0;owned␇␛[2Jgone" in screen, "escape sequences are shown, not sent", screen)
    terminal.close()


def test_trees_fold_keep_to_the_width_and_are_coloured(folder, bough):
    terminal = Terminal(folder, bough, width=50)
    terminal.run("bough new --id work >/dev/null; for i in $(seq 40); do echo "
                 "'{\"type\":\"message\",\"payload\":{\"dialect\":\"bough\",\"message\":{\"role\":\"'$([ $i = 20 ] && echo user || echo assistant)'\",\"content\":\"Line '$i'\"}}}';"
                 " done | bough append work >/dev/null")
    screen = terminal.run("bough tree work")
    folds = re.findall("… (\\d+) messages", screen)
    check(folds == ["17", "17"] and "[user] now  Line 20\n" in screen, "a long stretch folds around what the user asked", screen)
    terminal.run("bough new --id wide >/dev/null; bough append wide --role user --text "
                 "'你好世界, 你好世界, 你好世界, 你好世界, 你好世界, 你好世界, 你好世界'")
    screen = terminal.run("bough tree wide")
    check(re.search(r"^\[user\] now  你好世界.*… ← head$", screen, re.M), "a long text is cut so that the line fits", screen)
    screen = terminal.screen(colours=True)
    check(re.search(GREEN + r"\[user\]", screen), "the speaker is green", screen)
    terminal.run("NO_COLOR=1 bough tree wide")
    check("\033[3" not in terminal.screen(colours=True), "NO_COLOR means no colour", terminal.screen(colours=True))
    screen = terminal.run("bough tree wide | cat -v | grep -c '\\^\\['")
    check("\n0\n" in screen, "no colour into a pipe", screen)
    terminal.close()


def test_trees_branches_and_labels_say_what_was_said_at_every_width(folder, bough):
    terminal = Terminal(folder, bough)
    entry = lambda name, said: f'{{"id":"{name}","type":"message","payload":{{"dialect":"bough","message":{{"role":"assistant","content":"{said}"}}}}}}'
    run = lambda *words, text="": subprocess.run([bough, "--store", f"{folder}/store", *words], check=True, capture_output=True, input=text.encode())
    run("new", "--id", "deep")
    # Two branches at each of twelve steps, so that lines are indented twelve times.
    for step in range(12):
        run("append", "deep", text=entry(f"trunk-{step}", f"Said 第{step}步 of the trunk, which goes on for long enough to be cut"))
        run("append", "deep", text=entry(f"side-{step}", f"Aside {step}"))
        run("switch", "deep", f"trunk-{step}")
    run("append", "deep", text=entry("last", "Said at last" + ", and so on" * 40))
    run("label", "deep", "a label with a name that is longer than most of them", "last")
    terminal.close()
    for width in (24, 40, 80, 120, 200):
        terminal = Terminal(folder, bough, width=width, height=40)
        for command in ("branches", "labels", "heads") if width >= 40 else ():
            screen = terminal.run(f"bough {command} deep")
            check(any(len(line) > width - 8 and line.endswith("…") for line in screen.splitlines() if "Said at last" in line),
                  f"{command} use all {width} columns", screen)
        screen = terminal.run("bough tree deep" + (" --ids" if width >= 40 else ""))
        lines = [line for line in screen.splitlines() if "[" in line]
        check(len(lines) == 25, f"one line an entry in {width} columns", screen)
        check(sum("← head" in line for line in lines) == 1, f"the head shows in {width} columns", screen)
        if width >= 40:
            check(all("Sa" in line or "As" in line for line in lines), f"what was said shows in {width} columns", screen)
            screen = terminal.run("bough branches deep")
            rows = [line for line in screen.splitlines() if re.match("[* ] ", line)]
            check(len(rows) == 14 and all("Asid" in row or "Said" in row for row in rows[1:]), f"branches say what was said in {width} columns", screen)
            screen = terminal.run("bough labels deep")
            check(re.search(r"^a label?.*Said", screen, re.M), f"labels say what was said in {width} columns", screen)
        terminal.close()


def test_a_tree_names_its_entries_for_other_commands(folder, bough):
    store = f"{folder}/named"
    run = lambda *words: subprocess.run([bough, "--store", store, *words], check=True, capture_output=True, text=True).stdout.strip()
    run("new", "--id", "work")
    asked = run("append", "work", "--text", "First?")
    run("append", "work", "--role", "assistant", "--text", "An answer.")
    run("switch", "work", asked)
    run("append", "work", "--role", "assistant", "--text", "Another answer.")
    for width, options in ((80, ""), (60, ""), (40, " --ids")):
        terminal = Terminal(folder, bough, width=width, BOUGH_STORE=store)
        screen = terminal.run("bough tree work" + options)
        check(re.search(rf"^{asked[-8:]} \[user\]", screen, re.M), f"a short id comes before the speaker in {width} columns", screen)
        shown = re.search(r"^├─ ([0-9a-f]{8}) \[assistant\]", screen, re.M)
        check(shown, f"also where branches part, in {width} columns", screen)
        screen = terminal.run(f"bough switch work {shown[1]}")
        check("is now" in screen and shown[1] in screen.split("is now")[1], "which names the entry", screen)
        terminal.close()
    terminal = Terminal(folder, bough, width=50, BOUGH_STORE=store)
    screen = terminal.run("bough tree work")
    check(re.search(r"^\[user\]", screen, re.M), "a narrow terminal keeps its room for what was said", screen)
    terminal.close()


MARKDOWN = """# Plan for 北京

It is **done**; see [the page](https://example.org/x) and `code`. A sentence that is longer than a line of the terminal.

- an item that is long enough to be broken, and keeps its indentation
  1. nested

| Day | 天气 |
|---|---:|
| Monday | 多云 ⛅ |

```python
for i in range(3):  # count
    print("hi")
```
Not a \x1b[31mcolor\x07.
"""


def test_show_renders_markdown_and_folds_tools(folder, bough):
    store = f"{folder}/rendered"
    lines = [{"id": "ask", "role": "user", "content": "Please"},
             {"id": "call", "role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "bash", "input": {"command": "ls -la"}}]},
             {"id": "result", "role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "total 3\n1\n2"}]},
             {"id": "answer", "role": "assistant", "content": [{"type": "text", "text": MARKDOWN}]}]
    entries = "".join(json.dumps({"id": line.pop("id"), "type": "message", "payload": {"dialect": "anthropic", "message": line}}) + "\n" for line in lines)
    subprocess.run([bough, "--store", store, "new", "--id", "talk", "--title", "天气 today", "--cwd", "/some/where"], check=True, capture_output=True)
    subprocess.run([bough, "--store", store, "append", "talk"], check=True, capture_output=True, input=entries.encode())
    for width in (40, 80, 120):
        terminal = Terminal(folder, bough, width=width, height=60, BOUGH_STORE=store, TZ="UTC")
        screen = terminal.run("bough show talk")
        for expected in ("天气 today\n", "talk · /some/where", "  → bash ls -la ⇒ total 3", "  Plan for 北京\n", "  • an item that is",
                         "    1. nested\n", "Monday │ 多云 ⛅", "  │ for i in range(3):  # count\n", "␛[31mcolor␇"):
            check(expected in screen, f"shows {expected!r} in {width} columns", screen)
        check("**" not in screen and "](" not in screen and "\ntool " not in screen, "marks of Markdown are not shown", screen)
        check(width > 40 or re.search(r"\n    (broken, and )?(keeps its )?indentation\n", screen), "an item keeps its indentation", screen)
        colours = terminal.screen(colours=True)
        check(re.search(r"\033\[38;5;133m(\033\[\d+m)*for", colours) and re.search(GREEN + '"hi"', colours), "code is coloured", colours)
        screen = terminal.run("bough show talk --full | head -30")
        check("**done**" in screen and "total 3\n" in screen, "a pipe gets what was written", screen)
        terminal.close()


def test_what_search_finds_is_broken_between_words(folder, bough):
    store = f"{folder}/found"
    said = "The extraordinarily long configuration paragraph mentions needle between ordinary words 天气预报 and continues afterwards"
    subprocess.run([bough, "--store", store, "new", "--id", "talk", "--title", "A title that is longer than forty columns are wide"], check=True, capture_output=True)
    subprocess.run([bough, "--store", store, "append", "talk", "--role", "user", "--text", said], check=True, capture_output=True)
    for width in (40, 80, 120):
        for words in ("needle", "--fixed needle"):
            terminal = Terminal(folder, bough, width=width, height=40, BOUGH_STORE=store)
            lines = terminal.run(f"bough search {words}").rstrip().split("\n")[1:-1]
            check(lines[0].startswith("talk") and all(line.startswith("  ") for line in lines[1:]), f"lines are indented in {width} columns", lines)
            whole = " ".join(line.strip() for line in lines)
            check(len([line for line in lines if "A title" in line or "longer" in line]) == 1, f"the title takes one line in {width} columns", lines)
            for word in said.split()[2:8]:
                check(re.search(rf"\b{word}\b", whole), f"{word} is not broken in {width} columns", lines)
            terminal.close()


def test_messages_are_broken_between_words(folder, bough):
    for width in (40, 80):
        os.makedirs(f"{folder}/nobody", exist_ok=True)
        terminal = Terminal(f"{folder}/nobody", bough, width=width, height=40)
        for command, words in (("bough", ["conversations", "without", "built-in"]),
                               ("bough ls --sort sise", ["messages,", "branches,", "did you mean size?"]),
                               ("bough chat --resume nothing-of-this-name", ["nothing-of-this-name"]),
                               ("bough --store $HOME/missing ls", ["there is no store", "BOUGH_STORE"])):
            screen = terminal.run(command)
            joined = " ".join(screen.split())
            for each in words:
                check(each in joined, f"{each!r} is whole in {width} columns", screen)
        terminal.close()


def test_a_progress_bar_fits_a_narrow_terminal(folder, bough):
    for width in (40, 20, 12):
        terminal = Terminal(folder, bough, width=width, height=60)
        terminal.run("bough new --id narrow >/dev/null 2>&1")
        screen = terminal.run("bough doctor")
        check("█" not in screen and "checking" not in screen and "✓ " in screen, f"no bar is left in {width} columns", screen)
        terminal.close()


def test_the_help_and_the_list_of_the_chat_fit_40_columns(folder, bough):
    terminal = Terminal(folder, bough, width=40, height=100)
    terminal.run("bough new --key main:a-very-long-key:of-somebody --title '宽字符 and a title that is too long for a line' >/dev/null")
    terminal.type("clear; bough chat")
    terminal.wait(lambda screen: screen.rstrip().endswith("›"))
    terminal.type("/help")
    screen = terminal.wait(lambda screen: "begins with / or !." in " ".join(screen.split()))
    check(terminal.broke_nothing(), "no line of /help is wider than the terminal", screen)
    check(re.search(r"^  /model \[NAME\]\n      show or change", screen, re.M), "what a command does is below it, indented", screen)
    terminal.type("/sessions 3")
    screen = terminal.wait(lambda screen: "/switch N continues" in screen)
    check(terminal.broke_nothing() and "宽字符 and a" in screen, "no line of /sessions is wider than the terminal", screen)
    terminal.tmux("send-keys", "C-d")
    terminal.close()


def test_diff_and_replay_fit_their_terminals(folder, bough):
    wide = "宽字符 👨‍👩‍👧‍👦 and a sentence that is longer than any of the terminals here, שלום, e\u0301, until it ends at last"
    run = lambda *words: subprocess.run([bough, "--store", f"{folder}/store", *words], check=True, capture_output=True)
    run("new", "--id", "left", "--title", wide)
    run("append", "left", "--role", "user", "--text", wide)
    run("fork", "left", "--id", "right")
    run("append", "left", "--role", "assistant", "--text", f"{wide}\n{wide}")
    run("append", "right", "--role", "assistant", "--text", f"```\n{wide}\n```")
    for width in (40, 80):
        terminal = Terminal(folder, bough, width=width, height=60, PAGER="cat")
        check(not (terminal.run("seq -s ' ' 100") and terminal.broke_nothing()), "a line that is too wide is noticed", terminal.screen())
        for command in ("bough diff left right", "bough diff left right --full", "bough replay left", "bough replay right --full"):
            screen = terminal.run(command)
            lines = screen.split(PROMPT)[1].splitlines()[1:]
            check(any("宽字符" in line for line in lines), f"{command} shows what was said in {width} columns", screen)
            check(terminal.broke_nothing(), f"no line of {command} is wider than {width} columns", screen)
        terminal.close()


def test_a_pager_that_cannot_start_leaves_the_text_on_the_terminal(folder, bough):
    terminal = Terminal(folder, bough)
    for pager in ("/nothing/there", "exit 126"):
        screen = terminal.run(f"PAGER='{pager}' bough show short")
        check("A short one" in screen, f"the text is shown though the pager {pager} is not there", screen)
        terminal.type(f"PAGER='{pager}' bough show long")
        terminal.wait(lambda text: "Line 40" in text and text.rstrip().endswith(PROMPT))
        lines = re.findall(r"Line (\d+)$", terminal.tmux("capture-pane", "-p", "-S", "-"), re.M)
        check(lines[-40:] == [str(number) for number in range(1, 41)], "all of it, once", lines)
    terminal.close()


def test_pages_are_utf8_in_every_locale_and_need_a_terminal_that_has_pages(folder, bough):
    store = f"{folder}/pages"
    for words in (["new", "--id", "wide"], ["append", "wide", "--text", "宽字符 · wide"]):
        subprocess.run([bough, "--store", store, *words], check=True, capture_output=True)
    for kind in ("dumb", "linux"):
        terminal = Terminal(folder, bough, BOUGH_STORE=store, TERM=kind, LC_ALL="C")
        terminal.type("bough show wide")
        screen = terminal.wait(lambda screen: screen.count(PROMPT) == 2)
        check("宽字符 · wide" in screen, f"what was said is read with TERM={kind} in the locale C", screen)
        terminal.close()


def test_numbers_belong_to_the_terminal_that_listed(folder, bough):
    here, there = Terminal(folder, bough), Terminal(folder, bough)
    for session in ("first-one", "second-one"):
        subprocess.run([bough, "--store", f"{folder}/two", "new", "--id", session], check=True, capture_output=True)
    for terminal, key in ((here, "first"), (there, "second")):
        terminal.run("export BOUGH_STORE=$HOME/two")
    screen = here.run("bough ls | grep -n one")
    newest = re.search(r"@1 +(\S+)", screen)[1]
    there.run("bough rm " + newest + " --yes; bough trash --restore " + newest + "; bough rename second-one Later; bough rename first-one Latest")
    there.run("bough ls")
    screen = here.run("bough cat @1 | grep -o '\"sessionId\":\"[^\"]*\"'")
    check(f'"sessionId":"{newest}"' in screen, "another terminal's list changes nothing here", screen)
    here.close()
    there.close()


def test_a_list_moves_no_numbers_when_a_program_reads_it(folder, bough):
    terminal = Terminal(folder, bough, width=100)
    terminal.run("bough new --id numbered-a >/dev/null; bough new --id numbered-b >/dev/null; bough ls -n 2 >/dev/null")
    terminal.run("bough ls --json --sort created --reverse >/dev/null; bough --json >/dev/null")
    screen = terminal.run("bough show @1; bough show @2")
    check("numbered-b has no" in screen and "numbered-a has no" in screen, "the numbers are those that were shown", screen)
    terminal.close()


def test_a_long_list_says_what_the_next_turn_costs_where_a_folder_is_gone(folder, bough):
    terminal = Terminal(folder, bough)
    answer = json.dumps({"type": "message", "payload": {"dialect": "anthropic", "message": {
        "role": "assistant", "model": "claude-sonnet-4-5", "content": [{"type": "tool_use", "id": "c", "name": "bash", "input": {}}],
        "usage": {"input_tokens": 102000, "output_tokens": 50}}}})
    terminal.run(f"bough new --id unfinished --cwd /gone >/dev/null; echo '{answer}' | bough append unfinished >/dev/null")
    screen = terminal.run("bough ls --long -n 1")
    check("next turn" in screen and "$0.031 warm" in screen and "unfinished" in screen, "at 80 columns", screen)
    terminal.tmux("resize-window", "-x", "100", "-y", "24")
    screen = terminal.run("bough ls --long -n 1")
    check(re.search(r"state +folder .*\n.*unfinished +gone", screen), "and that it is gone where there is room", screen)
    terminal.close()


def test_a_loose_name_is_asked_about_before_something_changes(folder, bough):
    terminal = Terminal(folder, bough)
    terminal.run("bough rename short 'A short title'")
    terminal.type("bough label shor mark")
    screen = terminal.wait(lambda text: "[y/N]" in text)
    check('"shor" is session short "A short title". Change it?' in screen, "the question shows the title", screen)
    terminal.type("n")
    terminal.wait(lambda text: "nothing was changed" in text)
    terminal.tmux("send-keys", "C-l")
    terminal.wait(lambda text: "[y/N]" not in text)  # an answer typed before the question would be lost
    terminal.type("bough label shor mark")
    terminal.wait(lambda text: "[y/N]" in text)
    terminal.type("y")
    terminal.wait(lambda text: "label mark is now on" in text)
    terminal.close()


def test_an_erasure_names_what_it_would_erase_without_showing_it(folder, bough):
    terminal = Terminal(folder, bough, width=100)
    terminal.run("bough new --id leak --title 'About sk-12345' >/dev/null; bough append leak --role user --text 'my key sk-12345, and sk-123456' >/dev/null")
    terminal.type("clear; bough erase leak --pattern 'sk-[0-9]+' --reason leaked")
    screen = terminal.wait(lambda text: "[y/N]" in text)
    check('Erase 2 entries of leak "About [match]", with 3 matches, for good? [y/N]' in screen, "the question", screen)
    check("my key [match], and [match]" in screen and "sk-1" not in screen, "what matches is not shown", screen)
    terminal.tmux("send-keys", "C-d")
    terminal.wait(lambda text: text.rstrip().endswith(PROMPT))
    screen = terminal.run("bough show leak")
    check("sk-12345" in screen, "Ctrl-D means no", screen)
    terminal.close()


def test_json_on_a_terminal_holds_nothing_that_acts(folder, bough):
    terminal = Terminal(folder, bough)
    screen = terminal.run("bough cat bad | grep -c $'\\u009b'; bough cat bad")
    check("\n1\n" in screen and "\\u009b31m" in screen.replace("\n", ""), "C1 controls are escaped, but not in a pipe", screen)
    terminal.close()


def test_long_work_shows_a_bar_that_goes_when_it_is_done(folder, bough):
    terminal = Terminal(folder, bough)
    for i in range(80):
        subprocess.run([bough, "--store", f"{folder}/many", "new", "--id", f"s{i}"], check=True, capture_output=True)
    raw = lambda: terminal.raw.read_bytes().decode("utf-8", "replace")
    before = len(raw())
    screen = terminal.run("bough --store $HOME/many reindex")
    bars = re.findall(r"reindexing ([█░]{30}) +(\d+)%", raw()[before:])
    check(bars and bars[-1] == ("█" * 30, "100"), "a bar grows to its end", raw()[before:])
    check(all(len(bar) == 30 and bar.count("█") == int(percent) * 30 // 100 for bar, percent in bars),
          "the bar says what the number says", bars)
    check("█" not in screen and "80 sessions with 80 entries are in the catalog" in screen, "no bar is left behind", screen)
    # The first list of a store without a catalog takes long, too.
    before = len(raw())
    screen = terminal.run("rm $HOME/many/catalog.db*; bough --store $HOME/many ls --limit 2")
    check(re.search("reading sessions [█░]{30} +100%", raw()[before:]), "the first list shows a bar", raw()[before:])
    check("█" not in screen and "@1" in screen, "and then the list", screen)
    before = len(raw())
    terminal.run("rm $HOME/many/catalog.db*; bough --store $HOME/many cat nothing-like-it")
    check(re.search("reading sessions [█░]{30} +100%", raw()[before:]), "finding a session by its name shows one too", raw()[before:])
    screen = terminal.run("bough --store $HOME/many reindex 2>&1 | cat -v")
    check("reindexing" not in screen and "^[" not in screen, "no bar into a pipe", screen)
    screen = terminal.run("TERM=dumb bough --store $HOME/many reindex")
    check("reindexing" not in screen, "no bar on a dumb terminal", screen)
    terminal.close()


def run(tests):
    """Runs the tests of a file; terminal.py BOUGH."""
    if not shutil.which("tmux") or not shutil.which("less"):
        print("tmux or less is missing, so nothing is tested")
        sys.exit(77)
    bough = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        for test in [test for name, test in tests.items() if name.startswith("test_")]:
            test(folder, bough)
            print(re.sub("_", " ", test.__name__), "ok")


if __name__ == "__main__":
    run(globals())
