#!/usr/bin/env python3
"""Tables in a real terminal (tmux): tables.py BOUGH. Widths, bars, lines over time."""
import json
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from terminal import PROMPT, Terminal, check, run  # noqa: E402


def test_usage_has_bars_and_a_line_over_time(folder, bough):
    store = f"{folder}/used"
    answer = lambda day, tokens: subprocess.run([bough, "--store", store, "append", "work"], check=True, capture_output=True, input=(
        f'{{"type":"message","timestamp":"2026-01-{day}T10:00:00.000Z","payload":{{"dialect":"anthropic","message":{{"role":"assistant","model":"claude-sonnet-4-5",'
        f'"content":[],"usage":{{"input_tokens":{tokens},"output_tokens":{tokens}}}}}}}}}').encode())
    subprocess.run([bough, "--store", store, "new", "--id", "work"], check=True, capture_output=True)
    for day, tokens in (("01", 1000), ("02", 4000), ("03", 2000)):
        answer(day, tokens)
    for width in (40, 80, 120):
        terminal = Terminal(folder, bough, width=width, BOUGH_STORE=store, TZ="UTC")
        screen = terminal.run("bough usage")
        rows = [line for line in screen.splitlines() if line.startswith("2026-01-0")]
        check(len(rows) == 3 and re.search("▃█▅|▂█▄|▃█▄", screen), f"a row a day and a line over time in {width} columns", screen)
        bars = [row.count("█") for row in rows]
        check(width < 80 or bars == [2, 8, 4], "bars show what each day cost", screen)
        terminal.close()
    subprocess.run([bough, "--store", f"{store}2", "new", "--id", "now"], check=True, capture_output=True)
    subprocess.run([bough, "--store", f"{store}2", "append", "now"], check=True, capture_output=True, input=(
        b'{"type":"message","payload":{"dialect":"anthropic","message":{"role":"assistant","model":"claude-sonnet-4-5",'
        b'"content":[],"usage":{"input_tokens":1000000,"output_tokens":1}}}}'))
    for width in (40, 80):
        terminal = Terminal(folder, bough, width=width, BOUGH_STORE=f"{store}2", TZ="UTC")
        screen = terminal.run("bough usage --by block")
        said = " ".join(screen.split())
        check(re.search(r"active: [\d.]+[hm] left of the block of .*at this rate it will cost \$\d", said), f"the block that is active, in {width} columns", screen)
        terminal.close()
    terminal = Terminal(folder, bough, BOUGH_STORE=store, TZ="UTC")
    terminal.type("bough usage --watch=1")
    terminal.wait(lambda text: "2026-01-03" in text)
    answer("04", 1)
    terminal.wait(lambda text: "2026-01-04" in text)
    terminal.tmux("send-keys", "C-c")
    terminal.wait(lambda text: text.rstrip().endswith(PROMPT))
    terminal.close()


def test_usage_over_time_has_gaps_keeps_its_order_and_fits_while_it_is_watched(folder, bough):
    store = f"{folder}/gaps"
    subprocess.run([bough, "--store", store, "new", "--id", "work"], check=True, capture_output=True)
    days = [*range(1, 21), 24]
    lines = [f'{{"type":"message","timestamp":"2026-01-{day:02}T10:00:00.000Z","payload":{{"dialect":"anthropic","message":{{"role":"assistant",'
             f'"model":"claude-sonnet-4-5","content":[],"usage":{{"input_tokens":{day * 1000},"output_tokens":0}}}}}}}}' for day in days]
    subprocess.run([bough, "--store", store, "append", "work"], check=True, capture_output=True, input="\n".join(lines).encode())
    terminal = Terminal(folder, bough, height=50, BOUGH_STORE=store, TZ="UTC")
    for order in ("asc", "desc", "cost"):
        screen = terminal.run(f"bough usage --order {order}")
        check(re.search("cost over time ▁.*▇   █", screen), f"the line goes from old to new, with a gap for three days, ordered by {order}", screen)
    terminal.close()
    terminal = Terminal(folder, bough, height=16, BOUGH_STORE=store, TZ="UTC")
    terminal.type("bough usage --watch=1")
    screen = terminal.wait(lambda text: "every 1 s; Ctrl-C ends" in text)
    check(screen.startswith("day ") and "2026-01-24" in screen and "total" in screen, "heading, newest rows and sum are seen together", screen)
    check("9 of 21 rows fit" in screen, "and how many rows there are", screen)
    terminal.tmux("send-keys", "C-c")
    terminal.close()
    subprocess.run([bough, "--store", store, "append", "work"], check=True, capture_output=True,
                   input=lines[-1].replace("claude-sonnet-4-5", "a-model-without-a-price").encode())
    terminal = Terminal(folder, bough, width=40, height=16, BOUGH_STORE=store, TZ="UTC")
    terminal.type("bough usage --watch=1")
    screen = terminal.wait(lambda text: "every 1 s; Ctrl-C ends" in text)
    check(screen.startswith("day ") and "is unknown" in " ".join(screen.split()), "so it is where a remark takes two lines", screen)
    terminal.tmux("send-keys", "C-c")
    terminal.close()


def test_tables_fit_narrow_terminals(folder, bough):
    store = f"{folder}/narrow"
    for i in range(3):
        made = subprocess.run([bough, "--store", store, "new", "--title", f"会话 {i} 👩‍👩‍👧 👍🏽 👩🏽‍💻 with a title that is longer than its place"],
                              check=True, capture_output=True).stdout.decode().strip()
        subprocess.run([bough, "--store", store, "append", made], check=True, capture_output=True, input=(
            '{"type":"message","payload":{"dialect":"anthropic","message":{"role":"assistant","model":"claude-sonnet-4-5","content":'
            '[{"type":"tool_use","id":"t1","name":"bash","input":{}}],"usage":{"input_tokens":1234567,"output_tokens":20}}}}').encode())
    for width in (40, 60, 80, 200):
        terminal = Terminal(folder, bough, width=width, BOUGH_STORE=store)
        for command, first in (("ls", "@"), ("ls --long", "@"), ("home < /dev/null", "@"), ("prune --older-than 0m", "0"), ("usage --by session", "0")):
            if width < 80 and (first == "0" or "home" in command) or width < 60 and "long" in command:
                continue  # without a number, the whole id and all requested columns are shown
            screen = terminal.run("bough " + command.replace("home ", ""))
            rows = [at for at, line in enumerate(screen.splitlines()) if re.match("@" if first == "@" else "[0-9a-f]{8} ", line)]
            check(len(rows) == 3 and rows[2] - rows[0] == 2, f"three lines of {command}, none of which wraps in {width} columns", screen)
        screen = terminal.run("bough ls")
        check("unfinished" in screen or width < 80, "the state is shown where there is room", screen)
        check(("messages" in screen and "size" in screen) == (width >= 80), "the rest is shown where there is more room", screen)
        terminal.close()


def test_sessions_of_other_agents_can_be_named_in_narrow_terminals(folder, bough):
    project = pathlib.Path(f"{folder}/.claude/projects/-home-dev-project")
    project.mkdir(parents=True)
    ids = [f"1671ce1c-0000-4000-8000-0000000000{i}" for i in range(10, 14)]
    for session in ids:
        (project / f"{session}.jsonl").write_text(json.dumps({
            "type": "user", "uuid": "u1", "parentUuid": None, "sessionId": session, "cwd": "/home/dev/a/long/path/project", "version": "2.1.0",
            "timestamp": "2026-01-02T03:04:05.000Z", "message": {"role": "user", "content": "What is left to do for the release?"}}) + "\n")
    terminal = Terminal(folder, bough, width=40)
    screen = terminal.run("bough ls --agents claude-code")
    for session in ids:
        check(f"  {session[-8:]}  2026-01-02  What" in screen, "the id, the day and the title are what is shown last", screen)
    terminal.close()


def test_bars_are_shown_in_80_columns_whatever_the_numbers(folder, bough):
    store = f"{folder}/models"
    subprocess.run([bough, "--store", store, "new", "--id", "work"], check=True, capture_output=True)
    lines = [f'{{"type":"message","timestamp":"2026-01-02T10:00:00.000Z","payload":{{"dialect":"anthropic","message":{{"role":"assistant","model":"{model}","content":[],'
             f'"usage":{{"input_tokens":{count}000,"output_tokens":{count}000,"cache_read_input_tokens":{count}000000,"cache_creation_input_tokens":{count}0000}}}}}}}}'
             for model, count in (("claude-sonnet-4-5-20250929", 100), ("claude-opus-4-5-20251101", 50))]
    subprocess.run([bough, "--store", store, "append", "work"], check=True, capture_output=True, input="\n".join(lines).encode())
    for width in (40, 80, 120):
        terminal = Terminal(folder, bough, width=width, BOUGH_STORE=store, TZ="UTC")
        for command in ("usage --by model", "usage --by day", "usage --by session", "usage --breakdown"):
            screen = terminal.run(f"bough {command}")
            check(terminal.broke_nothing(), f"{command} keeps to {width} columns", screen)
            check(width < 80 or "████" in screen, f"{command} has bars in {width} columns", screen)
        parts = [line for line in screen.splitlines() if "└" in line]
        check(len(parts) == 4 and all(line.startswith("  └ ") for line in parts), f"models are indented alike in {width} columns", screen)
        terminal.close()


def test_a_cost_below_a_cent_is_not_nothing(folder, bough):
    store = f"{folder}/cheap"
    subprocess.run([bough, "--store", store, "new", "--id", "work"], check=True, capture_output=True)
    subprocess.run([bough, "--store", store, "append", "work"], check=True, capture_output=True, input=(
        b'{"type":"message","payload":{"dialect":"anthropic","message":{"role":"assistant","model":"claude-sonnet-4-5",'
        b'"content":[],"usage":{"input_tokens":100,"output_tokens":1}}}}'))
    terminal = Terminal(folder, bough, BOUGH_STORE=store)
    for command in ("usage", "usage --by model", "ls --long"):
        screen = terminal.run(f"bough {command}")
        check("<$0.01" in screen and not re.search(r"[^<]\$0\.00", screen), f"{command} says that it is little", screen)
    terminal.close()


if __name__ == "__main__":
    run(globals())
