#!/usr/bin/env python3
"""Long and odd input is read, shown and carried to other agents in time that grows with its size: large_input.py BOUGH.

Memory that runs out is an error. Nothing is measured: each command takes less than a second, and minutes or hours where a cost grows with the square of
the size. The system ends a process after MOST_SECONDS of processor time.
"""
import json
import pathlib
import resource
import subprocess
import sys
import tempfile

BYTES = 4_000_000
MOST_SECONDS = 10


def line(number, parent, kind, message):
    def uuid(n):
        return f"{n:08x}-0000-7000-8000-000000000000"
    return json.dumps({
        "parentUuid": None if parent is None else uuid(parent), "isSidechain": False, "type": kind, "message": message,
        "uuid": uuid(number), "timestamp": "2026-01-02T03:04:05.000Z", "sessionId": uuid(0xABCDEF), "cwd": "/work",
        "version": "2.1.0", "userType": "external"})


def said(content):
    return [line(0, None, "user", {"role": "user", "content": content})]


def text(pattern, size=BYTES):
    return said([{"type": "text", "text": pattern * (size // len(pattern))}])


def answer(name, blocks):
    return {"id": name, "type": "message", "role": "assistant", "model": "m", "content": blocks,
            "usage": {"input_tokens": 1, "output_tokens": 1}}


# Every second message is a branch of its own that ends there.
def comb(count):
    return [line(i, None if i == 0 else max(0, (i - 1) // 2 * 2), "user", {"role": "user", "content": f"say {i}"})
            for i in range(count)]


def answer_in_lines(count):
    call = [line(i + 1, i, "assistant", answer("msg_1", [{"type": "tool_use", "id": f"t{i}", "name": "ls", "input": {}}]))
            for i in range(count)]
    results = [line(count + i + 1, i + 1, "user", {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": f"t{i}", "content": "done"}]}) for i in range(count)]
    return [line(0, None, "user", {"role": "user", "content": "go"})] + call + results


INPUTS = {
    "backslashes": text("\\"),
    "quotes": text('"'),
    "links": text("[a](b"),
    "addresses": text("<http://"),
    "blocks": said([{"type": "text", "text": "a"}] * 90_000),
    "unknown blocks": said([{"type": f"odd{i}", "x": i} for i in range(90_000)]),
    "results": said([{"type": "tool_result", "tool_use_id": f"t{i}", "content": [{"type": "text", "text": "b"}] * 3}
                     for i in range(BYTES // 200)]),
    "an answer in many lines": answer_in_lines(4000),
    "branches": comb(12_000),
}
COMMANDS = [["show"], ["show", "--format", "html"], ["context"], ["repair", "--out"], ["export", "--to", "pi", "--out"],
            ["export", "--to", "codex", "--out"], ["export", "--to", "gemini-cli", "--out"]]


def memory_that_runs_out_is_an_error(bough):
    def run(*words):
        return subprocess.run([bough, *words], capture_output=True, check=False,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (100 << 20,) * 2))
    if run("version").returncode != 0:
        return  # a sanitizer needs more memory to start
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        store = ["--store", folder]
        subprocess.run([bough, *store, "new", "--id", "s"], check=True, capture_output=True)
        entry = {"type": "message", "payload": {"dialect": "bough", "message": {"role": "user", "content": "x y " * 15_000_000}}}
        subprocess.run([bough, *store, "append", "s"], check=True, capture_output=True, input=json.dumps(entry).encode())
        for words in (["show", "s"], ["context", "s", "--json"], ["search", "--fixed", "y x"], ["search", "--regex", "y.x"]):
            done = run(*store, *words)
            if done.returncode != 1 or b"memory has run out" not in done.stderr:
                sys.exit(f"{words} without memory: exit {done.returncode}: {done.stderr.decode()[:500]}")


def main(bough):
    memory_that_runs_out_is_an_error(bough)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        for name, lines in INPUTS.items():
            path = pathlib.Path(folder, "input.jsonl")
            path.write_text("\n".join(lines) + "\n")
            for command in COMMANDS:
                out = pathlib.Path(folder, "out")
                out.unlink(missing_ok=True)
                words = command + [str(out)] if command[-1] == "--out" else command
                done = subprocess.run([bough, "--store", folder + "/store", words[0], str(path)] + words[1:],
                                      stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False,
                                      preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS,) * 2))
                if done.returncode < 0:
                    sys.exit(f"{name}, {command}: ended by signal {-done.returncode}")
                if done.returncode != 0:
                    sys.exit(f"{name}, {command}: exit {done.returncode}: {done.stderr.decode()[:500]}")
    print(f"{len(INPUTS)} inputs, {len(COMMANDS)} commands each")


main(sys.argv[1])
