#!/usr/bin/env python3
"""Two chats on one session at the same time, and a follower: two_chats.py BOUGH. Offline."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile


class Chats:
    def __init__(self, folder, bough):
        self.bough = bough
        self.folder = folder
        self.environment = {"PATH": os.environ["PATH"], "BOUGH_STORE": f"{folder}/store", "HOME": folder, "LC_ALL": "C.UTF-8"}

    def start(self, *words):
        return subprocess.Popen([self.bough, *words], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run(self, *words):
        done = self.start(*words)
        out, problem = done.communicate(timeout=60)
        return done.returncode, out, problem

    def entries(self):
        session = json.loads(self.run("ls", "--json")[1])["sessions"][0]["sessionId"]
        return [json.loads(line) for line in self.run("cat", session)[1].splitlines()]


def check(condition, what, *seen):
    if not condition:
        sys.exit(f"{what}: {seen}")


def events_until(process, wanted):
    """Reads events of a chat until one is of that kind."""
    for line in process.stdout:
        event = json.loads(line)
        if event["event"] == wanted:
            return event
    sys.exit(f"there was no event {wanted}")


def test_second_turn_is_refused_or_branches_and_nobody_loses_a_word(chats):
    chats.run("chat", "-p", "begin")
    first = chats.start("chat", "-p", "count to 60", "--json")
    events_until(first, "text")
    code, out, problem = chats.run("chat", "-p", "the second one")
    check(code == 1 and "in the middle of a turn" in problem, "the second turn is refused", code, out, problem)
    check("--on-conflict branch" in problem, "with a next step", problem)
    code, out, problem = chats.run("chat", "-p", "the third one", "--on-conflict", "branch")
    check(code == 0 and "You said: the third one" in out, "a branch is possible", code, out, problem)
    first.communicate(timeout=60)
    check(first.returncode == 0, "the first turn ends well", first.returncode)
    text = json.dumps(chats.entries(), ensure_ascii=False)
    check("58 59 60." in text and "You said: the third one" in text, "both are there", text)
    check("the second one" not in text, "what was refused is not", text)


def test_termination_keeps_what_came(chats):
    for number, code in ((signal.SIGTERM, 1), (signal.SIGINT, 130)):
        chat = chats.start("chat", "--new", "-p", "count to 10000", "--json")
        events_until(chat, "text")
        chat.send_signal(number)
        chat.communicate(timeout=60)
        check(chat.returncode == code, "a stopped turn is no success; Ctrl-C is told apart", chat.returncode)
        entries = chats.entries()
        check(entries[-1]["payload"]["kind"] == "turn_aborted" and entries[-2]["meta"]["aborted"], "it is marked", entries[-2:])


def test_another_process_follows(chats):
    chats.run("chat", "--new", "-p", "begin")
    session = chats.entries()[0]["payload"]["sessionId"]
    follower = chats.start("follow", session, "--json", "--from", "@start")
    chats.run("chat", "-p", "write f.txt: followed")
    seen = []
    for line in follower.stdout:
        seen.append(json.loads(line))
        if "Done: 1 result" in line:
            break
    follower.terminate()
    follower.communicate(timeout=60)
    types = [entry.get("type") for entry in seen]
    check("tool_start" in types, "every step is seen as it happens", types)


def main():
    bough = str(pathlib.Path(sys.argv[1]).resolve())
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
                test(Chats(folder, bough))
                print(name.replace("_", " "), "ok")


if __name__ == "__main__":
    main()
