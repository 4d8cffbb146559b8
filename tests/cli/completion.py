#!/usr/bin/env python3
"""Completion as each shell does it, in a real terminal (tmux): completion.py BOUGH. Every Tab is the first one of its
line; labels with blanks, quotes and what a shell would run are inserted so that the shell reads them as one word."""
import pathlib
import re
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from terminal import PROMPT, Terminal, check  # noqa: E402

# Starts each shell with completion enabled, as for users who installed the script in the way that `bough completion`
# describes.
START = {
    "bash": ["bough completion bash > bough.bash", "bash --norc", ". ./bough.bash"],
    "zsh": ["mkdir functions; bough completion zsh > functions/_bough", "zsh -f",
            "fpath=($PWD/functions $fpath); autoload -Uz compinit; compinit -u -d $PWD/dump"],
    "fish": ["mkdir -p .config/fish/completions; bough completion fish > .config/fish/completions/bough.fish",
             f"fish -C 'set -g fish_autosuggestion_enabled 0; function fish_prompt; echo -n \"{PROMPT} \"; end'"],
}
# What is typed before Tab, and the resulting line.
COMPLETED = {
    "bough sw": "bough switch",
    "bough show --fo": "bough show --format",
    "bough show --format m": "bough show --format markdown",
    "bough show wo": "bough show work",
    "bough log wo": "bough log work",
    "bough import a-f": "bough import a-file",
    "bough chat --pro": "bough chat --prompt",
    "bough chat -p x --thinking hi": "bough chat -p x --thinking high",
    "bough chat --model off": "bough chat --model offline/echo",
    "bough show --format=m": "bough show --format=markdown",
    "bough ls --key a": "bough ls --key agent:b:c",  # not a-file
    "bough ls --key=agent:": "bough ls --key=agent:b:c",
    "bough ls --agents codex,op": "bough ls --agents codex,openclaw",
    "bough search x --since y": "bough search x --since yesterday",
    "bough search x --in work --branch ri": "bough search x --in work --branch ripe",
    "bough trash --restore go": "bough trash --restore gone",
    "bough append work --role a": "bough append work --role assistant",  # not a-file
    "bough rm work wo": "bough rm work work",
    "bough restore work ri": "bough restore work ripe",
    "bough --color never sw": "bough --color never switch",
    "bough --store other show el": "bough --store other show elsewhere",
    "bough --store=other show el": "bough --store=other show elsewhere",
    "bough show --store other el": "bough show --store other elsewhere",
    "bough --store ~/other show el": "bough --store ~/other show elsewhere",
}
# Bash does not pass the text before the command to a completion.
ASSIGNED = {"BOUGH_STORE=other bough show el": "BOUGH_STORE=other bough show elsewhere"}
# A label, quoted in the same way as the typed word.
LABELS = {
    "bash": {"ha": "half\\ way,\\ don\\'t", "'ha": "'half way, don'\\''t'", "'half way, don'\\''": "'half way, don'\\''t'", '"ha': '"half way, don\'t"'},
    "zsh": {"ha": "half\\ way,\\ don\\'t", "'ha": "'half way, don'\\''t'", '"ha': '"half way, don\'t"'},
    "fish": {"ha": "half\\ way,\\ don\\'t", "'ha": "'half way, don\\'t'", '"ha': '"half way, don\'t"'},
}

# Labels that a shell could run, expand or split; each is found by its first letter.
HOSTILE = ["a $(touch ran) `touch ran`", 'b"; touch ran; "', "c'; touch ran; '", "d !! !t", "e\\", "f:g h=i k", "g & touch ran", "i $HOME >ran"]


def completed(terminal, typed, wanted):
    terminal.tmux("send-keys", "C-l")
    terminal.wait(lambda screen: screen.strip() == PROMPT)
    terminal.type(typed, enter=False)
    terminal.wait(lambda screen: screen.rstrip().endswith(typed.rstrip()))
    terminal.tmux("send-keys", "Tab")
    terminal.wait(lambda screen: screen.strip() == f"{PROMPT} {wanted}")
    terminal.tmux("send-keys", "C-u")
    terminal.wait(lambda screen: screen.strip() == PROMPT)


def is_one_word(terminal, typed, label):
    """Whether the label that comes after a Tab is what the command gets."""
    terminal.tmux("send-keys", "C-l")
    terminal.wait(lambda screen: screen.strip() == PROMPT)
    line = f"{PROMPT} bough switch work {typed}"
    terminal.type(f"bough switch work {typed}", enter=False)
    terminal.wait(lambda screen: screen.strip() == line)
    terminal.tmux("send-keys", "Tab")
    terminal.wait(lambda screen: screen.strip().startswith(line) and screen.strip() != line)
    terminal.tmux("send-keys", "Enter")
    screen = terminal.wait(lambda screen: screen.count(PROMPT) == 2)
    check("the head of work" in screen, f"{typed} and a Tab give the label {label}", screen)


def leave_list(terminal, shell):
    if shell != "bash":  # bash loses what is typed soon after it
        terminal.tmux("send-keys", "C-c")  # in fish, an early one only closes the list
    terminal.tmux("send-keys", "C-u")
    terminal.wait(lambda screen: screen.rstrip().endswith(PROMPT))
    terminal.type("clear")
    terminal.wait(lambda screen: screen.strip() == PROMPT)


def test(shell, bough):
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        terminal = Terminal(folder, bough, width=100)
        terminal.run("cd; bough new --id work >/dev/null; bough append work --role user --text hi >/dev/null; "
                     "bough label work \"half way, don't\" @head >/dev/null; touch a-file; bough new --id keyed --key agent:b:c >/dev/null; "
                     "bough new --id gone >/dev/null; bough rm gone --yes >/dev/null; bough ls >/dev/null; bough label work ripe @head >/dev/null; "
                     "bough --store other new --id elsewhere >/dev/null")
        for line in START[shell]:
            terminal.type(f"{line}; clear" if line == START[shell][0] else line)
            terminal.wait(lambda screen: screen.rstrip().endswith(PROMPT))
        terminal.type("clear")
        for typed, name, note in (("bough s", "search", "Find entries"), ("bough ls --s", "--sort", "What to sort by")):
            terminal.type(typed, enter=False)
            terminal.tmux("send-keys", "Tab")
            if shell == "bash":
                terminal.tmux("send-keys", "Tab")
            screen = terminal.wait(lambda screen: re.search(rf"{name}\b", screen))
            check((note in screen) == (shell != "bash"), f"{shell}: {name} comes with its help where there is room for it", screen)
            leave_list(terminal, shell)
        for typed, wanted in {**COMPLETED, **(ASSIGNED if shell != "bash" else {})}.items():
            completed(terminal, typed, wanted)
        # A session is completed from the part of its id that lists show, together with its title where the shell has
        # room.
        made = terminal.run("bough new --title 'Of herons'; bough new --title 'Of storks'").split()
        short = [word[-8:] for word in made if word.count("-") == 4]
        completed(terminal, f"bough show {short[0][:7]}", f"bough show {short[0]}")
        terminal.type("bough show ", enter=False)
        terminal.tmux("send-keys", "Tab")
        if shell == "bash":
            terminal.tmux("send-keys", "Tab")
        screen = terminal.wait(lambda screen: short[0] in screen and short[1] in screen and "@last" in screen)
        check(shell == "bash" or ("Of herons" in screen and "Of storks" in screen), f"{shell}: sessions have their titles", screen)
        leave_list(terminal, shell)
        for typed, wanted in LABELS[shell].items():
            completed(terminal, f"bough switch work {typed}", f"bough switch work {wanted}")
        # The completed line works.
        terminal.type("bough switch work ha", enter=False)
        terminal.tmux("send-keys", "Tab")
        terminal.wait(lambda screen: "don" in screen)
        terminal.tmux("send-keys", "Enter")
        screen = terminal.wait(lambda screen: screen.count(PROMPT) == 2)
        check("has no entry" not in screen and "bough:" not in screen, f"{shell}: the label is one word", screen)
        for label in HOSTILE:
            quoted = label.replace("'", "'\\''") if shell != "fish" else label.replace("\\", "\\\\").replace("'", "\\'")
            terminal.run(f"bough label work '{quoted}' @head")
            for quote in ("", "'", '"'):
                is_one_word(terminal, quote + label[0], label)
        check(not (pathlib.Path(folder) / "ran").exists(), f"{shell}: nothing in a label is run", terminal.screen())
        terminal.close()


def main():
    bough = str(pathlib.Path(sys.argv[1]).resolve())
    for shell in START:
        if shutil.which(shell) is None:
            print(f"{shell} is not installed: skipped")
            continue
        test(shell, bough)
        print(f"{shell}: fine")


if __name__ == "__main__":
    main()
