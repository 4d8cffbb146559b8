#!/usr/bin/env python3
"""The command on a system with few threads left: command.py BOUGH LIMIT. LIMIT is limit.c as a library. Every command says the same
with fewer threads, or that there is none left; it never dies."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

BOUGH, LIMIT = (str(pathlib.Path(name).resolve()) for name in sys.argv[1:3])
TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS / "cli"))
import run as golden  # noqa: E402  (its PostgreSQL server)


class World:
    def __init__(self, folder):
        self.folder = folder
        self.environment = {"PATH": os.environ["PATH"], "HOME": folder, "BOUGH_STORE": f"{folder}/store", "LC_ALL": "C.UTF-8"}
        claude = pathlib.Path(folder, ".claude/projects/-work")
        claude.mkdir(parents=True)
        for name in ("minimal", "branches", "blocks", "every_line", "compaction", "crlf_bom_blank"):
            shutil.copy(TESTS / f"transcript/fixtures/claude-code/{name}.jsonl", claude)
        for name in ("one", "two", "three"):
            self.run("new", "--id", name)
            lines = "".join('{"type":"message","payload":{"dialect":"bough","message":{"role":"user","content":"needle %s %d"}}}\n' % (name, i)
                            for i in range(30))
            self.run("append", name, given=lines)

    def run(self, *words, threads=None, given="", **more):
        environment = {**self.environment, **more}
        if threads is not None:
            environment |= {"LD_PRELOAD": LIMIT, "BOUGH_TEST_THREADS": str(threads)}
        done = subprocess.run([BOUGH, *words], input=given, env=environment, cwd=self.folder, capture_output=True, text=True, timeout=60)
        check(done.returncode in (0, 1), f"{words} with {threads} threads ends in good order", done)
        return done


def check(condition, what, *seen):
    if not condition:
        sys.exit(f"{what}: {seen}")


def test_whoever_can_work_alone_does(world):
    for words in (["search", "--regex", "needle [a-z]+ 7$"], ["search", "--fixed", "needle two 2", "--limit", "3"], ["search", "needle", "three"],
                  ["ls", "--json"], ["ls", "--agents", "all"], ["search", "--fixed", "e", "--agents", "all"], ["usage", "--agents", "claude-code"],
                  ["import", "claude-code", "--store", "fresh"], ["chat", "-p", "hello", "--new"]):
        said = []
        for threads in (None, 0, 1, 2, 3, 8):
            shutil.rmtree(f"{world.folder}/fresh", ignore_errors=True)
            for made in pathlib.Path(world.folder).rglob("catalog.db*"):
                made.unlink()
            done = world.run(*words, threads=threads)
            said.append((done.returncode, re.sub(r'[0-9a-f]{8}(-[0-9a-f-]{27})?|"\w*(At|active|Ms)":[^,}]*', "", done.stdout)))
            check(said[-1] == said[0] and "terminate" not in done.stderr, f"{words} with {threads} threads", said[0], said[-1], done.stderr)


def test_whoever_needs_one_says_that_there_is_none(world):
    file = f"{world.folder}/.claude/projects/-work/minimal.jsonl"
    for name, most in (("one", 0), (file, 0), (file, 1)):
        done = world.run("follow", name, "--idle", "1", threads=most)
        check(done.returncode == 1 and "no thread left" in done.stderr and "ulimit" in done.stderr, f"follow {name}", done)
    before = world.run("ls", "--json").stdout
    done = world.run("chat", "--new", threads=0, given="hello\n")
    check("no thread left" in done.stdout + done.stderr or "hello" in done.stdout, "a chat says it or answers", done)
    if "no thread left" in done.stdout + done.stderr:
        check(world.run("ls", "--json").stdout.count('"sessionId"') <= before.count('"sessionId"') + 1, "nothing is half done", done)


def test_a_database_is_written_to_and_followed_only_with_threads(world):
    if not list(pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb")):
        return
    server = golden.Postgres()
    try:
        url = server.store(BOUGH)
        world.run("new", "--id", "s", BOUGH_STORE=url, threads=0)
        done = world.run("append", "s", "--role", "user", "--text", "hello", BOUGH_STORE=url, threads=0)
        check(done.returncode == 0, "an append needs no thread", done)
        check("hello" in world.run("show", "s", BOUGH_STORE=url).stdout, "and is there")
        done = world.run("follow", "s", "--idle", "1", BOUGH_STORE=url, threads=0)
        check(done.returncode == 1 and "no thread left to wait for changes" in done.stderr, "a follower needs one", done)
        done = world.run("chat", "-p", "hello", "--session", "s", BOUGH_STORE=url, threads=0)
        check(done.returncode == 1 and "no thread left to renew" in done.stderr, "a turn needs one", done)
        done = world.run("chat", "-p", "hello", "--session", "s", BOUGH_STORE=url)
        check(done.returncode == 0, "and its lease was given back", done)
    finally:
        server.stop()


def main():
    tests = [value for name, value in globals().items() if name.startswith("test_")]
    for test in tests:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            test(World(folder))
    print(f"{len(tests)} passed")


main()
