#!/usr/bin/env python3
"""Memory does not grow with what a session holds: long_sessions.py BOUGH.

A transcript of 120 MB is shown, carried to other agents and for tools, repaired and resumed, from its file and from a
store; of another one, each message is as long as a hundred of the first. The most memory of each command stays below
MOST_BYTES; the entries of the transcript take more.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

TURNS = 3_000
TEXT = "word " * 2_000  # 10 KB
FEW_TURNS = 30
LONG_TEXT = TEXT * 100
MOST_BYTES = 130 << 20


def lines(turns, text):
    def uuid(n):
        return f"{n:08x}-0000-7000-8000-000000000000"

    def answer(name, block):
        return {"id": name, "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": [block],
                "usage": {"input_tokens": 10, "output_tokens": 2}}
    for turn in range(turns):
        messages = [
            ("user", {"role": "user", "content": f"{turn} {text}"}),
            ("assistant", answer(f"msg_{turn}a", {"type": "tool_use", "id": f"t{turn}", "name": "ls", "input": {"path": text}})),
            ("user", {"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"t{turn}", "content": text}]}),
            ("assistant", answer(f"msg_{turn}b", {"type": "text", "text": text}))]
        for place, (kind, message) in enumerate(messages):
            number = turn * len(messages) + place
            # One turn continues from an early one.
            parent = number - 1 if number != TURNS * 2 else 3
            yield json.dumps({
                "parentUuid": None if number == 0 else uuid(parent), "isSidechain": False, "type": kind,
                "message": message, "uuid": uuid(number), "timestamp": "2026-01-02T03:04:05.000Z",
                "sessionId": uuid(0xABCDEF), "cwd": "/work", "version": "2.1.0", "userType": "external"})


def memory_of(bough, home, *words, exit_code=0):
    with open(os.devnull, "wb") as nothing, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen([bough, "--store", home + "/store", *words], stdout=nothing, stderr=errors,
                                   env=dict(os.environ, HOME=home))
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        said = errors.read().decode()[:500]
        if process.returncode != exit_code:
            sys.exit(f"{words}: exit {process.returncode}: {said}")
        if "search index" in said:
            sys.exit(f"{words}: a search index of a file that is read for this command alone: {said}")
    return used.ru_maxrss * 1024


def main(bough):
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        path = str(pathlib.Path(home, "long.jsonl"))
        # Written line by line: the memory of this process would count for the processes that it starts.
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(line + "\n" for line in lines(TURNS, TEXT))
        few = str(pathlib.Path(home, "few.jsonl"))
        with open(few, "w", encoding="utf-8") as file:
            file.writelines(line + "\n" for line in lines(FEW_TURNS, LONG_TEXT))
        one = str(pathlib.Path(home, "one.jsonl"))
        with open(one, "w", encoding="utf-8") as file:
            file.writelines(line + "\n" for line in lines(1, TEXT))
        out = home + "/out"
        session = "00abcdef-0000-7000-8000-000000000000"
        commands = [["show", path], ["search", "word", "--in", path], ["import", path], ["compat", path, "--to", "gemini"],
                    ["export", path, "--to", "pi", "--out", out], ["export", path, "--to", "atif", "--out", out],
                    ["repair", path, "--out", out], ["resume", path, "--in", "codex"],
                    ["show", session, "--format", "html"], ["export", session, "--to", "codex", "--out", out],
                    ["export", session, "--to", "claude-code", "--cwd-map", "/work=/other", "--out", out],
                    ["export", session, "--to", "otel", "--all", "--out", out],
                    ["export", session, "--to", "codex", "--all", "--out", home + "/tree"],
                    ["resume", session, "--in", "pi"], ["resume", session, "--in", "pi"],
                    ["compat", session, "--to", "openai-chat"], ["compat", few, "--to", "gemini"],
                    ["context", few, "--budget", "1500000"], ["tree", few, "--all"], ["tree", few, "--json"], ["diff", few, path],
                    ["diff", one, path], ["diff", path, session], ["diff", session, one], ["copy", session, "--to", home + "/other"]]
        # The newest turn does not fit.
        failing = [["context", path, "--budget", "1000"], ["context", session, "--budget", "1"]]
        for words, exit_code in [(words, 0) for words in commands] + [(words, 2) for words in failing]:
            used = memory_of(bough, home, *words, exit_code=exit_code)
            if used > MOST_BYTES:
                sys.exit(f"{words}: {used >> 20} MB of memory, more than {MOST_BYTES >> 20}")
            pathlib.Path(out).unlink(missing_ok=True)
        # Operations on the whole session at once are refused when memory is too small.
        for words, advice in [(["context", session, "--budget", "0"], "--budget N"),
                              (["migrate-provider", session, "--to", "gemini"], "bough export")]:
            done = subprocess.run(["sh", "-c", 'ulimit -v 300000; exec "$@"', "sh", bough, "--store", home + "/store", *words],
                                  env=dict(os.environ, HOME=home), capture_output=True, text=True, check=False)
            if done.returncode == 0 or "of memory" not in done.stderr or advice not in done.stderr or done.stdout:
                sys.exit(f"{words} with little memory: exit {done.returncode}: {done.stderr[:500]}")
        print(f"{len(commands) + len(failing)} commands over {pathlib.Path(path).stat().st_size >> 20} MB")
        shutil.rmtree(home + "/store")


main(sys.argv[1])
