#!/usr/bin/env python3
"""Every command that writes, several at a time in one store, killed at any moment: kill_storm.py BOUGH.

Afterwards every entry that was acknowledged is there once, what was redacted is hidden, what was erased is in no file, what
was thrown away can be brought back, another store has no entry twice, and nothing is left to repair.
BOUGH_STORM_KILLS sets how many are killed."""
import collections
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

WANTED = int(os.environ.get("BOUGH_STORM_KILLS", "150"))
AT_ONCE = 4
LONGEST = 0.05  # seconds until a kill, about as long as a command takes
SESSIONS = ["s0", "s1", "s2", "s3"]
THROWN = ["r0", "r1"]  # moved to the trash and back
SHARED = [*SESSIONS, "draft"]  # also in another store, from which a sync would restore the sessions in the trash
BIG = 300_000  # stored as an attachment
DRAFT = ('{"type":"session_header","id":"h","timestamp":1600000000000,"payload":{"version":0}}\n'
         '{"type":"message","id":"d0","parentId":null,"timestamp":1600000000001,'
         '"payload":{"dialect":"bough","message":{"role":"user","content":"from a draft"}}}\n')


def line(entry_id, text):
    message = {"role": "user", "content": text}
    return json.dumps({"id": entry_id, "type": "message", "payload": {"dialect": "bough", "message": message}}) + "\n"


class Storm:
    def __init__(self, bough, folder):
        self.bough = bough
        self.folder = pathlib.Path(folder)
        self.store = self.folder / "store"
        self.copy = self.folder / "copy"
        self.random = random.Random(2026)
        self.number = 0
        self.env = {"PATH": os.environ["PATH"], "HOME": folder, "BOUGH_STORE": str(self.store), "TERM": "dumb"}
        self.acknowledged = collections.defaultdict(list)  # ids, by session
        self.redacted = collections.defaultdict(set)
        self.labels = collections.defaultdict(set)
        self.forks = {}
        self.erasures = []  # (session, id) of erasures that were started
        self.erased = []  # (session, id, the word that must be gone)
        self.problems = []
        self.done = collections.Counter()

    def run(self, *words, stdin=""):
        return subprocess.run([self.bough, *words], input=stdin, capture_output=True, text=True, env=self.env, timeout=120)

    def must(self, *words, stdin=""):
        result = self.run(*words, stdin=stdin)
        if result.returncode != 0:
            self.problems.append(f"bough {' '.join(words)}: exit {result.returncode}: {result.stderr.strip()}")
        return result.stdout

    def prepare(self):
        for name in SESSIONS + THROWN:
            self.must("new", "--id", name)
            self.append_now(name, 3)
        (self.store / "sessions/draft.jsonl").write_text(DRAFT)
        chats = self.folder / ".claude/projects/-tmp-x"
        chats.mkdir(parents=True)
        message = {"role": "user", "content": "from elsewhere"}
        record = {"parentUuid": None, "isSidechain": False, "cwd": "/tmp/x", "sessionId": "11111111-1111-4111-8111-111111111111",
                  "version": "2.0.0", "type": "user", "message": message, "uuid": "00000000-0000-4000-8000-000000000001",
                  "timestamp": "2026-01-01T00:00:00.000Z"}
        (chats / "11111111-1111-4111-8111-111111111111.jsonl").write_text(json.dumps(record) + "\n")

    def append_now(self, session, count):
        ids = [self.fresh() for _ in range(count)]
        self.must("append", session, stdin="".join(line(each, "word " + each) for each in ids))
        self.acknowledged[session] += ids

    def fresh(self):
        self.number += 1
        return f"e{self.number}"

    # Returns a command, its input, and what to record after it succeeded.
    def choose(self):
        pick = self.random.choice
        session = pick(SESSIONS)
        known = pick(self.acknowledged[session])
        kind = pick(["append"] * 6 + ["large", "fork", "label", "switch", "rename", "redact", "erase", "archive", "rm", "back",
                                      "import", "repair", "migrate", "copy", "sync", "fix", "reindex", "put", "ls", "search"])
        if kind == "append":
            ids = [self.fresh() for _ in range(self.random.randint(1, 5))]
            target = pick(SESSIONS + THROWN)
            return kind, ["append", target], "".join(line(each, "word " + each) for each in ids), lambda: \
                self.acknowledged[target].extend(ids)
        if kind == "large":
            entry_id = self.fresh()
            return kind, ["append", session], line(entry_id, "x" * BIG + entry_id), lambda: \
                self.acknowledged[session].append(entry_id)
        if kind == "fork":
            name = "f" + self.fresh()
            return kind, ["fork", session, known, "--id", name], "", lambda: self.forks.update({name: known})
        if kind == "label":
            name = self.fresh()
            return kind, ["label", session, name, known], "", lambda: self.labels[session].add(name)
        if kind == "redact":
            return kind, ["redact", session, known, "--reason", "storm"], "", lambda: self.redacted[session].add(known)
        if kind == "erase":
            return self.choose_erasure(session)
        thrown = pick(THROWN)
        words = {"switch": ["switch", session, known], "rename": ["rename", session, self.fresh()],
                 "archive": ["archive", session], "rm": ["rm", thrown, "--yes"], "back": ["trash", "--restore", thrown],
                 "import": ["import", "claude-code"], "repair": ["repair", session], "migrate": ["migrate", "draft"],
                 "copy": ["copy", "--to", str(self.copy), *SHARED], "sync": ["sync", str(self.store), str(self.copy), *SHARED],
                 "fix": ["doctor", "--fix"], "reindex": ["reindex"], "put": ["torn", session, "--put-back"], "ls": ["ls"],
                 "search": ["search", "word"]}
        return kind, words[kind], "", lambda: None

    # Erases an entry that nothing else refers to, so that its word is nowhere else.
    def choose_erasure(self, session):
        entry_id = self.fresh()
        word = f"secret{entry_id}secret"
        if self.run("append", session, stdin=line(entry_id, word)).returncode != 0:
            return "ls", ["ls"], "", lambda: None
        self.acknowledged[session].append(entry_id)
        self.erasures.append((session, entry_id))
        return "erase", ["erase", session, entry_id, "--reason", "storm", "--yes"], "", lambda: \
            self.erased.append((session, entry_id, word))

    def start(self):
        kind, words, stdin, note = self.choose()
        child = subprocess.Popen([self.bough, *words], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                 text=True, env=self.env)
        try:
            child.stdin.write(stdin)
            child.stdin.close()
        except BrokenPipeError:
            pass
        return kind, words, child, note

    def end(self, kind, words, child, note):
        said = child.stderr.read()
        child.stderr.close()
        code = child.wait()
        self.done[kind] += code == 0
        if code == 0:
            note()
        elif code not in (1, -9) or code == 1 and kind != "fix" and not said.strip():
            self.problems.append(f"bough {' '.join(words)}: exit {code}: {said.strip()}")
        return code == -9

    def rage(self):
        kills = 0
        while kills < WANTED:
            children = [self.start() for _ in range(AT_ONCE)]
            for kind, words, child, note in children:
                if self.random.random() < 0.6:
                    try:
                        child.wait(self.random.random() * LONGEST)
                    except subprocess.TimeoutExpired:
                        child.kill()
                kills += self.end(kind, words, child, note)
        return kills

    def check(self):
        self.run("doctor", "--fix")
        for name in THROWN:
            if self.run("show", name).returncode != 0:
                self.must("trash", "--restore", name)
        self.must("migrate", "draft")
        self.must("import", "claude-code")
        for session, entry_id in self.erasures:  # an erasure affects one store, and stores that differ in it are not synced
            for store in (self.store, self.copy):
                self.run("erase", session, entry_id, "--reason", "storm", "--yes", "--store", str(store))
        self.must("sync", str(self.store), str(self.copy))
        for name in SESSIONS:  # a kill may have left part of a batch that was never acknowledged
            self.run("torn", name, "--drop")
        self.must("verify")
        self.must("doctor", "--deep")
        if json.loads(self.must("trash", "--json"))["trash"]:
            self.problems.append("something is left in the trash")
        for session, ids in self.acknowledged.items():
            self.check_session(session, ids, self.store)
            self.check_session(session, ids, self.copy)
        for name, begin in self.forks.items():
            if f'"entryId":"{begin}"' not in self.must("show", name, "--all", "--json"):
                self.problems.append(f"the fork {name} lost {begin}")
        self.check_erased()

    def check_session(self, session, ids, store):
        stored = [json.loads(each)["id"] for each in self.must("cat", session, "--store", str(store)).splitlines()]
        for entry_id, count in collections.Counter(stored).items():
            if count > 1:
                self.problems.append(f"{store.name}: {session} has {entry_id} {count} times")
        for entry_id in set(ids) - set(stored):
            self.problems.append(f"{store.name}: {session} lost {entry_id}")
        shown = [json.loads(each) for each in self.must("show", session, "--all", "--json", "--store", str(store)).splitlines()]
        hidden = {each["entryId"] for each in shown if each["redacted"]}
        for entry_id in self.redacted[session] - hidden:
            self.problems.append(f"{store.name}: {session} shows {entry_id}, which was redacted")
        names = set(re.findall(r'"name":"(e\d+)"', self.must("labels", session, "--json", "--store", str(store))))
        for name in self.labels[session] - names:
            self.problems.append(f"{store.name}: {session} lost the label {name}")

    def check_erased(self):
        files = {each: each.read_bytes() for each in self.store.rglob("*") if each.is_file()}
        for session, entry_id, word in self.erased:
            for path, content in files.items():
                if word.encode() in content:
                    self.problems.append(f"{entry_id} of {session} was erased and is in {path.relative_to(self.store)}")


def main(bough):
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        storm = Storm(bough, folder)
        storm.prepare()
        kills = storm.rage()
        storm.check()
        print(f"{kills} kills; finished: {dict(storm.done)}; {sum(map(len, storm.acknowledged.values()))} entries acknowledged")
        print("\n".join(storm.problems[:40]))
        sys.exit(1 if storm.problems else 0)


main(sys.argv[1])
