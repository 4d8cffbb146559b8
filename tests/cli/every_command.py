#!/usr/bin/env python3
"""What holds for every command: every_command.py BOUGH. No line is wider than the terminal; no escape sequence where nobody wants colours."""
import fcntl
import os
import pathlib
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
import unicodedata

from schema import COMMANDS

ESCAPE = re.compile(r"\033\[[0-9;?]*[a-zA-Z]|\033.")
# Data that is printed unchanged: logs, scripts, schemas, a request, a price table for --prices, the manual page.
DATA = {"cat", "completion", "schema"}
DATA_OPTIONS = {"--price-table", "--format", "--as"}
# Commands to copy stay in one piece, and so do ids and paths.
COPIED = re.compile(r" && | ; |^bough ")

# Contains a tab and Chinese words, and is longer than every width.
LONG = "\n".join('{"id":"%s","type":"message","payload":{"dialect":"anthropic","message":{"role":"%s","content":"%s"}}}' % each for each in [
    ("l1", "user", "Please look\\tat the parser: 解析器在北京 and say what is wrong with it, in as many words as it takes to fill more than a line"),
    ("l2", "assistant", "```go\\nfunc main() {\\n\\tif a {\\n\\t\\treturn\\t// 返回\\n\\t}\\n}\\n```\\n\\n| day | weather |\\n|---|---|\\n| Monday | rain\\tand wind, and more rain |\\n")])

BEFORE = [
    ["new", "--id", "long", "--title", "A title that is longer than forty columns, 很长的标题"],
    ["append", "long", "<", LONG],
    ["label", "long", "a label with blanks in it", "l1"],
    ["fork", "long", "l1", "--id", "other"],
    ["append", "other", "--role", "user", "--text", "Another way\tto say it, which goes on for a while until the line is full"],
    ["diff", "long", "other"],
    ["diff", "long", "other", "--full"],
    ["show", "long", "--full"],
    ["context", "long", "--explain"],
    ["verify", "long"],
]


def columns_of(text):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def on_terminal(words, columns, folder, environment, text):
    """What a command prints on a terminal of so many columns; stdin is a pipe."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(words, cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=slave, stderr=slave)
    os.close(slave)
    try:
        process.stdin.write(text.encode())
        process.stdin.close()
    except BrokenPipeError:
        pass
    out = b""
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:  # the other side is closed
            break
        if not part:
            break
        out += part
    os.close(master)
    process.wait()
    return out.decode("utf-8", "replace").replace("\r\n", "\n")


def in_pipe(words, _, folder, environment, text):
    done = subprocess.run(words, cwd=folder, env=environment, input=text.encode(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.stdout.decode("utf-8", "replace")


def too_wide(line, columns):
    if columns_of(line) <= columns or COPIED.search(line):
        return False
    # A single word after a mark cannot be broken.
    words = line.split()
    return len(words) > 2 or (len(words) == 2 and columns_of(words[0]) > 2)


def every_answer(bough, how, columns, **environment):
    """Runs all commands in a store of their own: the words of each and what it printed."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        settings = {"PATH": os.environ["PATH"], "HOME": folder, "BOUGH_STORE": f"{folder}/store", "LC_ALL": "C.UTF-8", "TERM": "xterm-256color",
                    "PAGER": "cat", **environment}
        pathlib.Path(folder, "old.json").write_text('{"messages": [{"id": "1", "role": "user", "content": "hello", "timestamp": "2026-01-01T00:00:00.000Z"}]}')
        for words in BEFORE + COMMANDS:
            words = [word for word in words if word != "--json"]
            text = words[words.index("<") + 1] if "<" in words else ""
            words = words[:words.index("<")] if "<" in words else words
            yield words, how([bough, *words], columns, folder, settings, text)


def main():
    bough = str(pathlib.Path(sys.argv[1]).resolve())
    failed = []
    tried = 0
    for columns in (40, 80):
        for words, said in every_answer(bough, on_terminal, columns):
            tried += 1
            if (words and words[0] in DATA) or DATA_OPTIONS & set(words):
                continue
            lines = [part.rsplit("\r")[-1] for part in ESCAPE.sub("", said).split("\n")]
            failed += [f"{columns} columns: bough {' '.join(words)[:60]}: {line}" for line in lines if too_wide(line, columns)][:3]
            failed += [f"bough {' '.join(words)[:60]} prints a tab on the terminal: {line!r}" for line in lines if "\t" in line][:1]
    for name, value in (("NO_COLOR", "1"), ("TERM", "dumb")):
        for words, said in every_answer(bough, on_terminal, 80, **{name: value}):
            tried += 1
            # A progress bar clears its line with and without colours.
            failed += [f"{name}={value} bough {' '.join(words)[:60]} prints {found.group()!r}" for found in ESCAPE.finditer(said)
                       if name == "TERM" or found.group() != "\033[K"][:1]
    coloured = set()
    for words, said in every_answer(bough, in_pipe, 80):
        tried += 1
        failed += [f"bough {' '.join(words)[:60]} prints {found.group()!r} into a pipe" for found in ESCAPE.finditer(said)][:1]
    for words, said in every_answer(bough, in_pipe, 80, CLICOLOR_FORCE="1"):
        tried += 1
        if words and ESCAPE.search(said):
            coloured.add(words[0])
    failed += [f"CLICOLOR_FORCE=1 bough {name} has no colours in a pipe" for name in ("ls", "show", "tree", "search", "diff", "doctor") if name not in coloured]
    for words, said in every_answer(bough, in_pipe, 80, CLICOLOR_FORCE="1", NO_COLOR="1"):
        failed += [f"NO_COLOR with CLICOLOR_FORCE: bough {' '.join(words)[:60]} prints {found.group()!r}" for found in ESCAPE.finditer(said)][:1]
    print("\n".join(failed[:40]) or f"{tried} answers fit their terminals")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
