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
        if name.endswith(".h") and not text.startswith(("//", "/*")):
            problems.append(f"{name}: a header begins with what it is for")
        if re.search(r"\b(TODO|FIXME|XXX)\b", text):
            problems.append(f"{name}: unfinished work")
    if re.search(r"(?<![\w.])/(work|root)/", text) and name != "tests/hygiene.py":
        problems.append(f"{name}: a path of one machine")
# Inside a room no include runs back up: the tables "folder of ROOM" of the architecture page give the order.
page = (root / "docs/architecture.md").read_text()
for room, table in re.findall(r"^\| folder of (\w+) \|.*\n\|[-|]+\n((?:\|.*\n)+)", page, re.M):
    order = re.findall(r"^\| `(\w+)`", table, re.M)
    for path in sorted((root / "src" / room).rglob("*")):
        if path.suffix not in {".cpp", ".h"}:
            continue
        folder, *rest = path.relative_to(root / "src" / room).parts
        if not rest:
            continue  # the files beside the folders come after all of them
        for used in re.findall(rf'#include "{room}/(\w+)/', path.read_text()):
            if folder not in order or used not in order or order.index(used) > order.index(folder):
                problems.append(f"{path.relative_to(root)}: {room}/{folder} may not include {room}/{used}")

folders = {}
for name in listed.stdout.splitlines():
    if name.startswith(("src/", "include/")) and name.endswith((".cpp", ".h")):
        folders[name.rpartition("/")[0]] = folders.get(name.rpartition("/")[0], 0) + 1
problems += [f"{name}: {count} files; a folder of more than 25 has folders in it" for name, count in folders.items() if count > 25]
print("\n".join(problems))
print(f"hygiene: {len(problems)} problems")
sys.exit(1 if problems else 0)
