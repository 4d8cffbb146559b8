#!/usr/bin/env python3
"""Holds bough, the reader that was written from docs/format.md, and the golden files to one another.

usage: compare.py DUMP FOLDER; BOUGH_UPDATE_GOLDEN=1 rewrites the expected files.
"""
import difflib, os, pathlib, shutil, subprocess, sys, tempfile

dump, folder = sys.argv[1], pathlib.Path(sys.argv[2])
reader = pathlib.Path(__file__).parent / "reader.py"
update = os.environ.get("BOUGH_UPDATE_GOLDEN") == "1"
failed = []


def compare(name, left, right, left_name, right_name):
    if left == right: return
    failed.append(name)
    sys.stdout.writelines(difflib.unified_diff(left.splitlines(True), right.splitlines(True),
                                               f"{name}: {left_name}", f"{name}: {right_name}"))


def output(*command):
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", errors="replace")
    return done.stdout + (done.stderr if done.returncode else "")


logs = sorted(folder.glob("*.jsonl"))
if not logs: sys.exit(f"no logs in {folder}")
with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as store:
    sessions = pathlib.Path(store) / "sessions"
    sessions.mkdir()
    for log in logs: shutil.copy(log, sessions)
    for log in logs:
        ours = output(dump, store, log.stem)
        compare(log.stem, output(sys.executable, reader, log), ours.partition("verify\n")[0], "reader.py", "bough")
        if (sessions / log.name).read_bytes() != log.read_bytes(): failed.append(f"{log.stem} was changed by reading")
        expected = log.with_suffix(".txt")
        if update: expected.write_text(ours, encoding="utf-8")
        compare(log.stem, expected.read_text(encoding="utf-8"), ours, "expected", "bough")
page = folder.parent.parent.parent / "docs" / "format.md"
if (folder / "example.jsonl").read_text() not in page.read_text(encoding="utf-8"): failed.append("the example of the page")
print(f"{len(logs)} logs, failed: {', '.join(failed) or 'none'}")
sys.exit(bool(failed))
