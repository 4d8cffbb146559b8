#!/usr/bin/env python3
"""A picture of a terminal from what a command printed: terminal_svg.py COLUMNS COMMAND… > picture.svg

Runs the command on a terminal of its own and draws what it shows, with its colors, as SVG."""
import fcntl
import html
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import unicodedata

CELL, LINE, MARGIN = 8.4, 19, 14
COLORS = {160: "#c0392b", 28: "#2e8b57", 130: "#b8860b", 27: "#2f6fb0", 133: "#9b4fb8", 30: "#1b8a9e"}  # of 256


def captured(words, columns, environment, folder):
    """What a command prints on a terminal of so many columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    process = subprocess.Popen(words, stdin=theirs, stdout=theirs, stderr=theirs, cwd=folder, close_fds=True,
                               env={**environment, "TERM": "xterm-256color", "PAGER": "cat"})
    os.close(theirs)
    out = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:
            break
        if not part:
            break
        out += part
    process.wait()
    os.close(ours)
    return out.decode("utf-8", "replace").replace("\r\n", "\n")


def width(character):
    if unicodedata.combining(character) or character in "\u200d\ufe0f":
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def runs(line):
    """Pieces of a line in one style: column, text, style."""
    column, style = 0, {}
    for piece in re.split(r"(\x1b\[[0-9;]*m)", line):
        code = re.fullmatch(r"\x1b\[([0-9;]*)m", piece)
        if not code:
            if piece:
                yield column, piece, dict(style)
                column += sum(map(width, piece))
            continue
        if code[1].startswith("38;5;"):
            style["fill"] = COLORS[int(code[1].split(";")[2])]
            continue
        for number in (int(each or 0) for each in code[1].split(";")):
            if number == 0:
                style.clear()
            else:
                style.update({1: {"font-weight": "bold"}, 2: {"opacity": ".6"}, 3: {"font-style": "italic"}, 4: {"text-decoration": "underline"}}.get(number, {}))


def picture(command, text, columns):
    lines = [f"\x1b[2m$ \x1b[0m\x1b[1m{command}\x1b[0m"] + text.rstrip("\n").split("\n")
    wide, high = round(columns * CELL + 2 * MARGIN), len(lines) * LINE + 2 * MARGIN
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{high}" viewBox="0 0 {wide} {high}" role="img">',
           f"<title>{html.escape(command)}</title>",
           f'<rect width="{wide}" height="{high}" rx="8" fill="#fbfaf7" stroke="#d8d4c8"/>',
           '<g font-family="ui-monospace, Menlo, Consolas, monospace" font-size="14" fill="#2b2b2b" xml:space="preserve">']
    for row, line in enumerate(lines):
        for column, piece, style in runs(line):
            if not piece.strip():
                continue
            attributes = "".join(f' {name}="{value}"' for name, value in style.items())
            out.append(f'<text x="{MARGIN + column * CELL:.1f}" y="{MARGIN + row * LINE + 14}" '
                       f'textLength="{sum(map(width, piece)) * CELL:.1f}" lengthAdjust="spacingAndGlyphs"{attributes}>{html.escape(piece)}</text>')
    return "\n".join(out + ["</g>", "</svg>", ""])


if __name__ == "__main__":
    shown = captured(sys.argv[2:], int(sys.argv[1]), dict(os.environ), os.getcwd())
    sys.stdout.write(picture(" ".join(sys.argv[2:]), shown, int(sys.argv[1])))
