#!/usr/bin/env python3
"""Nothing that a terminal could act on reaches it from a session: controls.py BOUGH. Every command runs on a terminal over a
session whose title, texts, labels, model, folder and file names hold C1 controls, DEL and marks that turn the direction of
writing. Into a pipe the bytes stay as they are."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from every_command import ESCAPE, on_terminal
from schema import COMMANDS

BAD = "\u009b31m\u007f\u202eevil\u2066"
HAZARD = re.compile("[\u0080-\u009f\u007f\u202a-\u202e\u2066-\u2069]|\033(?![\\[0-9;?]*[a-zA-Z])")
MESSAGE = {"dialect": "anthropic", "message": {"role": "assistant", "model": f"m{BAD}", "usage": {"input_tokens": 5, "output_tokens": 5},
                                               "content": [{"type": "text", "text": f"needle {BAD}"},
                                                           {"type": "tool_use", "id": "t1", "name": f"run{BAD}", "input": {"path": f"a{BAD}"}}]}}
PI = [{"type": "session", "version": 3, "id": "11111111-0000-4000-8000-000000000001", "timestamp": "2026-01-01T00:00:00.000Z", "cwd": f"/tmp/{BAD}"},
      {"type": "message", "id": "0000aaaa", "parentId": None, "timestamp": "2026-01-01T00:00:00.000Z", "message": {"role": "user", "content": f"pi {BAD}"}}]

# Commands that show the session `bad`, another agent's file, and names that contain control characters.
ASKED = [
    "show bad", "show bad --full", "show bad --all", "show bad --json", "show bad --format text", "show bad --format markdown", "show bad --format html",
    "cat bad", "tree bad", "tree bad --json", "branches bad", "branches bad --json", "labels bad", "labels bad --json", "replay bad", "replay bad --json",
    "diff bad other", "diff bad other --json", "diff bad other --full", "context bad --as gemini", "context bad --as anthropic --explain", "context bad --json",
    "compat bad --to gemini", "compat bad --to gemini --json", "convert FILE.json --from anthropic --to gemini", "heads bad", "heads bad --json", "ls", "ls --long", "ls --json", "ls --agents", "search needle", "search needle --json",
    "usage", "usage --by model", "usage --json", "usage --by session", "verify", "verify bad --json", "verify PI", "verify PI --json", "doctor", "doctor --json",
    "export bad --to pi", "export bad --to claude-code", "export bad --to plain", "export bad --to atif", "export bad --to otel", "export bad --to pi --json --out OUT1",
    "export bad --to codex --out OUT2", "resume bad --in pi --json", "resume bad --in pi", "resume bad --in claude-code --dry-run", "resume bad --in gemini-cli --json --dry-run",
    "show PI", "show PI --json", "tree PI", "ls --agents --json", "search pi --agents", "import PI", "import PI --json", "import pi", "import MISSING", "repair PI --out OUT3",
    "repair PI --out OUT4 --json", "repair bad", "repair bad --json", "show MISSING", "rename bad NAME", "rename bad NAME --json", "label bad here", "label bad here --json",
    "switch bad here", "redact bad @root --by NAME --reason NAME", "fork bad", "fork bad --json", "restore bad here", "migrate-provider bad --to gemini", "migrate bad",
    "append bad --role user --text NAME --json", "new --title NAME --json", "follow bad --from @start --idle 1", "torn bad", "prune --older-than 0d", "prune bad --pin",
    "rm other --yes", "trash", "trash --json", "trash --restore other", "archive bad", "archive bad --json", "erase bad --pattern needle --by NAME --reason NAME --yes",
    "erase bad --pattern needle --by NAME --reason NAME --json --yes", "copy --from STORE --to COPY", "sync STORE COPY", "reindex", "reindex --json", "",
]


def words_of(line, names):
    return [names.get(word, word) for word in line.split()]


def prepare(bough, folder, settings):
    def run(*words, text=""):
        done = subprocess.run([bough, *words], cwd=folder, env=settings, input=text, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"bough {words}: {done.stderr}")
    run("new", "--id", "bad", "--title", f"title {BAD}", "--cwd", f"/tmp/{BAD}")
    run("append", "bad", "--role", "user", "--text", f"asked {BAD}")
    run("append", "bad", text=json.dumps({"id": "m1", "type": "message", "payload": MESSAGE}, ensure_ascii=False))
    run("append", "bad", text=json.dumps({"type": "other.type", "payload": {"x": BAD}, "meta": {"y": BAD}, f"k{BAD}": BAD}, ensure_ascii=False))
    run("fork", "bad", "--id", "other")
    run("append", "other", "--role", "user", "--text", f"said {BAD}")
    pi = pathlib.Path(folder, ".pi/agent/sessions/demo", f"pi{BAD}.jsonl")
    pi.parent.mkdir(parents=True)
    pi.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in PI) + f'{{"torn {BAD}')
    pathlib.Path(folder, f"in{BAD}.json").write_text(json.dumps([MESSAGE["message"]], ensure_ascii=False))
    names = {"PI": str(pi), "MISSING": f"./missing{BAD}.jsonl", "NAME": f"name {BAD}", "FILE.json": f"in{BAD}.json", "STORE": f"{folder}/store",
             "COPY": f"{folder}/copy{BAD}"}
    return names | {f"OUT{i}": f"{folder}/out{i}{BAD}.jsonl" for i in range(1, 5)}


def main():
    bough = str(pathlib.Path(sys.argv[1]).resolve())
    failed = []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        settings = {"PATH": os.environ["PATH"], "HOME": folder, "BOUGH_STORE": f"{folder}/store", "LC_ALL": "C.UTF-8", "TERM": "xterm-256color", "PAGER": "cat"}
        names = prepare(bough, folder, settings)
        for line in ASKED:
            words = words_of(line, names)
            said = on_terminal([bough, *words], 200, folder, settings, "")
            found = HAZARD.search(ESCAPE.sub("", said))
            if found:
                failed.append(f"bough {line} prints {found.group()!r}: {said[max(0, found.start() - 60):found.end() + 20]!r}")
            if re.search("there is no (option|command)|is required", said):
                failed.append(f"bough {line} is no command: {said[:160]!r}")
            if "--json" in words and line.split()[0] not in ("context",):
                for part in said.split("\n"):
                    if part.startswith("{") and not part.endswith("}"):
                        failed.append(f"bough {line}: a line of JSON is broken: {part[:80]!r}")
        with open(f"{folder}/kept", "wb") as file:
            subprocess.run([bough, "cat", "bad"], cwd=folder, env=settings, stdout=file, check=True)
        kept = pathlib.Path(f"{folder}/kept").read_text()
        if BAD not in kept:
            failed.append("into a file the bytes stay as they are")
        answered = {words[0] for words in COMMANDS if words and not words[0].startswith("-")}
        missing = answered - {line.split()[0] for line in ASKED if line} - {"help", "version", "completion", "schema", "settings", "chat", "keep", "mcp", "store"}
        failed += [f"no row for bough {name}" for name in sorted(missing)]
    print("\n".join(failed[:40]) or f"{len(ASKED)} answers hold nothing that a terminal could act on")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
