#!/usr/bin/env python3
"""Holds the repository to its own rules: hygiene.py ROOT."""
import pathlib
import re
import subprocess
import sys

root = pathlib.Path(sys.argv[1])
listed = subprocess.run(["git", "-C", root, "ls-files"], capture_output=True, text=True)
if listed.returncode:
    print("hygiene: not a git checkout, so nothing is looked at")
    sys.exit(0)
problems = []
for name in listed.stdout.splitlines():
    path = root / name
    if path.suffix not in {".cpp", ".h", ".py", ".md", ".cmake", ".txt"} or "golden" in name or "corpus" in name or "samples" in name:
        continue
    text = path.read_text()
    lines = text.count("\n")
    if path.suffix in {".cpp", ".h"}:
        if lines > 500:
            problems.append(f"{name}: {lines} lines; a file past 500 is two files")
        if re.search(r'#include "\.\./', text):
            problems.append(f"{name}: includes by a path upwards, past the doors of the rooms")
        if name.endswith(".h") and not text.startswith("//"):
            problems.append(f"{name}: a header begins with what it is for")
        if re.search(r"\b(TODO|FIXME|XXX)\b", text):
            problems.append(f"{name}: unfinished work")
    if re.search(r"(?<![\w.])/(work|root)/", text) and name != "tests/hygiene.py":
        problems.append(f"{name}: a path of one machine")
print("\n".join(problems))
print(f"hygiene: {len(problems)} problems")
sys.exit(1 if problems else 0)
