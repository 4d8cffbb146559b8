#!/usr/bin/env python3
"""Prints the commands of the README's block that runs an example, without the one that builds: readme.py EXAMPLE."""
import pathlib
import re
import sys

readme = pathlib.Path(__file__).resolve().parents[2] / "README.md"
blocks = re.findall(r"^```sh\n(.*?)^```$", readme.read_text(), re.M | re.S)
lines = [line for block in blocks if sys.argv[1] in block for line in block.splitlines()]
commands = [line.split("  #")[0].strip() for line in lines]
if len(commands) < 3 or not re.fullmatch(r"bindings/\w+/build", commands[0]):
    sys.exit(f"README.md has no block of commands that builds, installs and runs {sys.argv[1]}")
if not (readme.parent / commands[0]).is_file():
    sys.exit(f"README.md names {commands[0]}, which does not exist")
print("\n".join(commands[1:]))
