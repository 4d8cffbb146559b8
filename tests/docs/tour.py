#!/usr/bin/env python3
"""The tour and the README do what they say: docs.py BOUGH ROOT.

Every command of docs/tour.md is run, and must print what the page shows; its pictures are made again from real output
and must be the same. Every command of the README is run, word for word, and must succeed: ./run and ./test themselves
with programs in the place of the packager, CMake, Ninja and CTest, and those of its Python and Node parts by
tests/bindings/readme.py. Its C++ is compiled and run by tests/package. BOUGH_UPDATE_GOLDEN=1 rewrites the tour's outputs and pictures."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(sys.argv[2]).resolve()
sys.path.insert(0, str(ROOT / "scripts"))
import terminal_svg  # noqa: E402

UPDATE = bool(os.environ.get("BOUGH_UPDATE_GOLDEN"))
COLUMNS = 80
# Without a key, the command must ask for one, and for nothing else.
NEEDS_KEY = "./run chat --model anthropic/"
CLAUDE_ID = "11111111-1111-4111-8111-111111111111"


def steady(text, folder):
    """Text without what differs from run to run."""
    text = text.replace(folder, "/home/you")
    text = re.sub(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", "01a1e376-fc47-7000-981f-7284cd53f09e", text)
    text = re.sub(r"(?<![-\w])(?=[0-9a-f]*\d)[0-9a-f]{8}(?![-\w])", "cd53f09e", text)
    return re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d\b", "2026-11-16 09:30", text)


def steady_picture(text, folder):
    """The same of what a terminal shows: ids that differ still do, in the order in which they come."""
    ids = {}

    def named(found):
        """How much of an id is enough to name it differs, too; one character stands for it."""
        whole = (found[1] or "") + found[2]
        if len(whole) != 8:
            return found[0]
        steady_id = ids.setdefault(whole, f"{0x4d1c9a37 * (len(ids) + 1) % 2**32:08x}")
        return f"\x1b[2m{steady_id[:7]}\x1b[0m\x1b[1m{steady_id[7:]}"

    return steady(re.sub(r"(?:\x1b\[2m([0-9a-f]{1,7})\x1b\[0m)?\x1b\[1m([0-9a-f]{1,8})(?=\x1b)", named, text), folder)


def world(folder, bough):
    os.makedirs(f"{folder}/bin")
    os.symlink(bough, f"{folder}/bin/bough")
    pathlib.Path(f"{folder}/run").write_text('#!/bin/sh\nexec bough "$@"\n')
    os.chmod(f"{folder}/run", 0o755)
    return {"PATH": f"{folder}/bin:" + os.environ["PATH"], "HOME": folder, "LC_ALL": "C.UTF-8", "TZ": "UTC"}


def shell(command, folder, environment):
    """Runs a command; variables that it sets are there for the next one."""
    kept = f"{folder}/.variables"
    pathlib.Path(kept).touch()
    script = f". {kept}\n{command}\ncode=$?\ndeclare -p | grep -E '^declare -- [A-Z]+=' | sed 's/^declare -- //' > {kept}\nexit $code"
    done = subprocess.run(["bash", "-c", script], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
    return done.returncode, done.stdout.decode("utf-8", "replace")


def tour(bough):
    page = ROOT / "docs/tour.md"
    failed, out = [], []
    lines = iter(page.read_text().splitlines())
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        environment = world(folder, bough)
        for line in lines:
            drawn = re.fullmatch(r"<!-- picture (\w+): (.*) -->", line)
            if drawn:
                command = ["bash", "-c", drawn[2]]
                text = steady_picture(terminal_svg.captured(command, COLUMNS, environment, folder), folder)
                svg = terminal_svg.picture(drawn[2], text, COLUMNS)
                path = ROOT / f"docs/pictures/{drawn[1]}.svg"
                if UPDATE:
                    path.parent.mkdir(exist_ok=True)
                    path.write_text(svg)
                if not path.exists() or path.read_text() != svg:
                    failed.append(f"{path} is not what `{drawn[2]}` shows:\n{text}")
            out.append(line)
            if line != "```console":
                continue
            command = None
            shown = []
            for inner in lines:
                if inner.startswith("$ ") or inner == "```":
                    out += shown
                    shown = []
                    if inner == "```":
                        out.append(inner)
                        break
                    code, text = shell(inner[2:], folder, environment)
                    if code != 0:
                        failed.append(f"`{inner[2:]}` ended with {code}:\n{text}")
                    out.append(inner)
                    out += steady(text, folder).rstrip("\n").split("\n") if text.strip() else []
    made = "\n".join(out) + "\n"
    if UPDATE:
        page.write_text(made)
    if page.read_text() != made:
        import difflib
        failed.append("\n".join(difflib.unified_diff(page.read_text().splitlines(), made.splitlines(), str(page), "what was printed", lineterm="")))
    return failed


def readme(bough):
    text = (ROOT / "README.md").read_text()
    minutes = text[text.index("## The first five minutes"):text.index("## In a program")]
    failed, tried = [], 0
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        environment = world(folder, bough)
        # A session of Claude Code; ID is replaced by its id.
        claude = pathlib.Path(folder, ".claude/projects/demo")
        claude.mkdir(parents=True)
        sample = (ROOT / "tests/transcript/fixtures/claude-code/minimal.jsonl").read_text()
        (claude / f"{CLAUDE_ID}.jsonl").write_text(sample)
        for block in re.findall(r"```sh\n(.*?)```", minutes, re.S):
            for command in re.sub(r"\\\n", "", block).splitlines():
                if not command.strip():
                    continue
                code, said = shell(re.sub(r"\bID\b", CLAUDE_ID, command), folder, environment)
                tried += 1
                if command.startswith(NEEDS_KEY):
                    if "ANTHROPIC_API_KEY" not in said:
                        failed.append(f"README: `{command}` does not ask for the key:\n{said}")
                elif code != 0:
                    failed.append(f"README: `{command}` ended with {code}:\n{said}")
    return failed + ([] if tried > 15 else ["README: the commands were not found"])


# Replacements for the programs that ./run and ./test call. Each records its arguments. The results of ninja exist
# already.
STAND_INS = {
    "dpkg-query": 'echo "install ok installed"',
    "npm": "true",
    "cmake": 'while [ "$1" != -B ]; do shift; done; mkdir -p "$2" && touch "$2/build.ninja"',
    "ninja": 'mkdir -p "$2/src" && ln -sf "$(command -v bough)" "$2/src/bough"',
    "ctest": "true",
}


def two_commands(bough):
    """The section of that name, in a checkout of which only the scripts are there."""
    text = (ROOT / "README.md").read_text()
    section = text[text.index("## Two commands"):text.index("## The first five minutes")]
    commands = [line.split("#")[0].strip() for line in re.search(r"```sh\n(.*?)```", section, re.S)[1].splitlines()]
    failed = [] if commands == ["./run", "./test"] else [f"README: its two commands are {commands}"]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        environment = world(folder, bough)
        for name in ("run", "test", "scripts"):
            pathlib.Path(folder, name).unlink(missing_ok=True)
            os.symlink(ROOT / name, f"{folder}/{name}") if name == "scripts" else shutil.copy(ROOT / name, folder)
        for name, does in STAND_INS.items():
            program = pathlib.Path(folder, "bin", name)
            program.write_text(f'#!/bin/sh\necho "{name} $*" >>"$HOME/called"\n{does}\n')
            program.chmod(0o755)
        for command in commands:
            pathlib.Path(folder, "called").write_text("")
            code, said = shell(command, folder, environment)
            called = pathlib.Path(folder, "called").read_text()
            kind = {"./run": "release", "./test": "test"}.get(command)
            wanted = [f"cmake -S . -B build/{kind} ", f"ninja -C build/{kind}", "dpkg-query -W "]
            if command == "./test":
                wanted.append("ctest --test-dir build/test ")
            elif "bough chat" not in said:
                failed.append(f"README: `{command}` does not run bough:\n{said}")
            missing = [each for each in wanted if each not in called]
            if code != 0 or missing:
                failed.append(f"README: `{command}` ended with {code} and did not call {missing}:\n{said}{called}")
            if " -R " in called:
                failed.append(f"README: `{command}` does not run every test:\n{called}")
    return failed


def main():
    bough = str(pathlib.Path(sys.argv[1]).resolve())
    failed = tour(bough) + two_commands(bough) + readme(bough)
    print("\n\n".join(failed) or "the tour and the README do what they say")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
