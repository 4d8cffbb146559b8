#!/usr/bin/env python3
"""What people on two machines do with one store in PostgreSQL: two_machines.py BOUGH. Offline."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "cli"))
import run as cli  # noqa: E402


class Machine:
    """A home folder of its own; the working folder has the same name everywhere, as in two checkouts of one project."""

    def __init__(self, bough, folder, name, store):
        self.bough = bough
        self.home = f"{folder}/{name}"
        self.work = f"{folder}/work"
        os.makedirs(self.home, exist_ok=True)
        os.makedirs(self.work, exist_ok=True)
        self.environment = {"PATH": os.environ["PATH"], "BOUGH_STORE": store, "HOME": self.home, "LC_ALL": "C.UTF-8"}

    def start(self, *words):
        return subprocess.Popen([self.bough, *words], cwd=self.work, env=self.environment, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run(self, *words):
        process = self.start(*words)
        out, problem = process.communicate(timeout=120)
        return process.returncode, out, problem

    def must(self, *words):
        code, out, problem = self.run(*words)
        check(code == 0, " ".join(words), code, out, problem)
        return out

    def told(self, *words):
        """What a command says to people, which is on stderr."""
        code, out, problem = self.run(*words)
        check(code == 0, " ".join(words), code, out, problem)
        return problem

    def sessions(self):
        return json.loads(self.must("ls", "--json"))["sessions"]

    def lines(self, session):
        return [json.loads(line) for line in self.must("cat", session).splitlines()]


def check(condition, what, *seen):
    if not condition:
        sys.exit(f"{what}: {seen}")


def wait_for(process, wanted):
    for line in process.stdout:
        if json.loads(line)["event"] == wanted:
            return
    sys.exit(f"there was no event {wanted}: {process.stderr.read()}")


def test_a_second_chat_is_told_at_once_that_the_first_is_at_work(bough, folder, store):
    one, two = (Machine(bough, folder, name, store) for name in ("one", "two"))
    one.must("chat", "-p", "begin")
    session = one.sessions()[0]["sessionId"]
    first = one.start("chat", "--session", session, "-p", "count to 60", "--json")
    wait_for(first, "text")
    code, out, problem = two.run("chat", "--session", session, "-p", "me, too")
    check(code == 1 and "in the middle of a turn" in problem, "the second is told", code, out, problem)
    beside = two.must("chat", "--session", session, "-p", "beside it", "--on-conflict", "branch")
    check("You said: beside it" in beside, "unless it wants a branch", beside)
    _, problem = first.communicate(timeout=120)
    check(first.returncode == 0, "the first is not disturbed", first.returncode, problem)
    text = json.dumps(two.lines(session), ensure_ascii=False)
    check(text.count(" 58 59 60.") == 1 and "me, too" not in text, "nothing of the second is stored", text)
    check("You said: now" in two.must("chat", "--session", session, "-p", "now"), "afterwards it goes on")
    check(two.run("verify", session)[0] == 0, "the session is sound")


def test_the_turn_of_a_chat_that_died_is_taken_over_when_its_lease_is_over(bough, folder, store):
    one, two = (Machine(bough, folder, name, store) for name in ("one", "two"))
    one.must("chat", "-p", "begin")
    session = one.sessions()[0]["sessionId"]
    dead = one.start("chat", "--session", session, "-p", "count to 60", "--json")
    wait_for(dead, "text")
    dead.kill()
    dead.communicate()
    code, out, problem = two.run("chat", "--session", session, "-p", "hello")
    check(code == 1 and "its lease ends in" in problem, "nobody knows yet that it is dead", code, out, problem)
    while code != 0:
        check("in the middle of a turn" in problem, "only its lease keeps others out", problem)
        time.sleep(0.5)
        code, out, problem = two.run("chat", "--session", session, "-p", "hello")
    check("You said: hello" in out, "then the other begins", out)
    text = json.dumps(two.lines(session), ensure_ascii=False)
    check(text.count(" 58 59 60.") == 1, "after it has finished what was interrupted", text)
    check(two.run("verify", session)[0] == 0, "the session is sound")


def test_a_turn_that_was_suspended_is_refused_at_its_next_append(bough, folder, store):
    one, two = (Machine(bough, folder, name, store) for name in ("one", "two"))
    one.must("chat", "-p", "begin")
    session = one.sessions()[0]["sessionId"]
    older = one.start("chat", "--session", session, "-p", "count to 60", "--json")
    wait_for(older, "text")
    older.send_signal(signal.SIGSTOP)  # like a machine that sleeps or is disconnected
    code = 1
    while code != 0:
        code, newer, problem = two.run("chat", "--session", session, "-p", "the newer one")
        check(code == 0 or "in the middle of a turn" in problem, "only the lease keeps it out", problem)
        time.sleep(0.0 if code == 0 else 0.5)
    check("You said: the newer one" in newer, "the newer turn ends well", newer)
    older.send_signal(signal.SIGCONT)
    _, problem = older.communicate(timeout=120)
    check(older.returncode == 1, "the older turn is refused", older.returncode, problem)
    check("is over" in problem, "and says why", problem)
    entries = two.lines(session)
    text = json.dumps(entries, ensure_ascii=False)
    check("count to 60" in text and "You said: the newer one" in text, "what was acknowledged is there", text)
    # The newer turn completed the unfinished one, and nothing of the older turn's answer was stored.
    check(text.count(" 58 59 60.") == 1, "what was refused is not", text)
    ids = [entry["id"] for entry in entries]
    check(len(ids) == len(set(ids)), "nothing is there twice", ids)
    check(two.run("verify", session)[0] == 0, "the session is sound")
    # The refused machine continues after the other's entries.
    check("You said: again" in one.must("chat", "--session", session, "-p", "again"), "the first goes on")


def test_two_stores_that_grew_apart_are_brought_together(bough, folder, store):
    title = 'Ü "quoted" \\ $(x) \'; DROP TABLE sessions; -- 你好'
    files = Machine(bough, folder, "files", f"{folder}/store")
    base = Machine(bough, folder, "base", store)
    session = files.must("new", "--title", title).split()[0]
    files.must("append", session, "--role", "user", "--text", "from the folder")
    said = files.told("copy", "--from", f"{folder}/store", "--to", store, session)
    check("of 1 session;" in said, "it is copied", said)
    check(base.sessions()[0]["title"] == title, "with its title", base.sessions())
    said = files.told("copy", "--to", store, session)
    check("copied 0 new entries" in said, "and not twice", said)
    files.must("append", session, "--role", "user", "--text", "left one")
    base.must("append", session, "--role", "user", "--text", "right one")
    files.must("rename", session, title + " left")
    base.must("rename", session, title + " right")
    said = files.told("sync", f"{folder}/store", store, session)
    check("title" in said, "what both changed is shown", said)
    left, right = ({entry["id"]: entry for entry in each.lines(session)} for each in (files, base))
    check(left.keys() == right.keys(), "both have everything", left.keys() ^ right.keys())
    for text in ("left one", "right one"):
        check(any(text in json.dumps(entry) for entry in left.values()), text, left)
    check(files.sessions()[0]["title"] == base.sessions()[0]["title"] == title + " right", "the newer title counts", files.sessions())
    check(files.sessions()[0]["branches"] == 2, "it has two branches", files.sessions())
    again = files.told("sync", f"{folder}/store", store)
    check("0 in the first store, 0 in the second" in again, "a second time nothing happens", again)
    check(len(files.lines(session)) == len(left), "nothing was added", again)
    for machine in (files, base):
        check(machine.run("verify", session)[0] == 0, "both are sound")


def test_a_server_that_is_not_there_is_told(bough, folder, store):
    for url in ("postgresql://me:hidden@127.0.0.1:1/sessions", "postgresql://me:hidden@nowhere.invalid/sessions",
                store.replace("/postgres?", "/nobodys?")):
        code, out, problem = Machine(bough, folder, "lost", url).run("ls")
        check(code == 1 and "cannot connect" in problem, "it says so", code, out, problem)
        check("hidden" not in out + problem, "without the password", problem)


def asked(machine, *requests):
    """What `bough mcp` answers."""
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
    lines = [json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}) for method, params in requests]
    done = subprocess.run([machine.bough, "mcp"], input="\n".join(lines), env=machine.environment, capture_output=True, text=True, timeout=120)
    return [json.loads(line) for line in done.stdout.splitlines()]


PYTHON = """
import bough, sys, warnings
warnings.simplefilter("error")
with bough.Store(sys.argv[1]) as store:
    for ask in (store.list, store.usage, lambda: store.search("hello")):
        try:
            sys.exit(f"nobody was told: {ask()}")
        except bough.OutOfDate:
            pass
    warnings.simplefilter("ignore")
    print([row["sessionId"] for row in store.list()], len(store.search("hello")))
"""


def test_who_only_reads_gets_what_is_known_and_is_told(bough, folder, store):
    writer = Machine(bough, folder, "writer", store)
    writer.must("new", "--id", "known")
    writer.must("append", "known", "--role", "user", "--text", "hello")
    reading = store + ("&" if "?" in store else "?") + "options=-c%20default_transaction_read_only%3Don"
    reader = Machine(bough, folder, "reader", reading)
    problem = reader.told("ls")
    check("knows none of the store's 1 session" in problem and "bough new" not in problem, "a list of nothing", problem)
    writer.must("search", "hello")
    writer.must("new", "--id", "later")
    writer.must("append", "later", "--role", "user", "--text", "hello")
    code, out, problem = reader.run("ls")
    check(code == 0 and "known" in out and "out of date" in problem, "a list", code, out, problem)
    tools = [("list_sessions", {}), ("search_sessions", {"query": "hello"}), ("usage", {})]
    for answer in asked(reader, *[("tools/call", {"name": name, "arguments": arguments}) for name, arguments in tools]):
        result = answer["result"]
        check(not result.get("isError") and "outOfDate" in json.loads(result["content"][0]["text"]), "a tool", result)
    read, listed = asked(reader, ("tools/call", {"name": "read_session", "arguments": {"session": "later"}}), ("resources/list", {}))
    check("hello" in read["result"]["content"][0]["text"], "a session that the catalog does not know", read)
    check([each["name"] for each in listed["result"]["resources"]] == ["known"], "resources", listed)
    meta = listed["result"]["_meta"]
    check("bough/outOfDate" in meta and "io.modelcontextprotocol/serverInfo" in meta, "what a list of resources adds", listed)
    library = pathlib.Path(bough).parent / "libbough.so"
    # A program built without a sanitizer cannot load a library built with one.
    if library.exists() and b"__asan_init" not in (built := library.read_bytes()) and b"__tsan_init" not in built:
        package = pathlib.Path(__file__).parent.parent.parent / "bindings/python"
        environment = {**reader.environment, "BOUGH_LIBRARY": str(library), "PYTHONPATH": str(package), "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run([sys.executable, "-c", PYTHON, reading], env=environment, capture_output=True, text=True, timeout=120)
        check(done.stdout.strip() == "['known'] 1", "Python", done)


def test_a_session_that_cannot_be_asked_is_not_called_damaged(bough, folder, store):
    machine = Machine(bough, folder, "one", store)
    machine.must("new", "--id", "s")
    machine.must("append", "s", "--text", "hello")
    machine.must("ls")
    machine.environment["PGOPTIONS"] = "-c statement_timeout=1000"
    host, schema = store.split("host=")[1].split("&schema=")
    psql = ["psql", "-h", host, "-U", "postgres", "-qAt", "postgres"]
    with subprocess.Popen(psql, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        holder.stdin.write(f"BEGIN; LOCK TABLE {schema}.entries; SELECT 'held';\n")
        holder.stdin.flush()
        holder.stdout.readline()
        code, out, problem = machine.run("doctor", "--deep")
        check(code == 1 and "1 of 1 session could not be checked" in out, "doctor", code, out, problem)
        check("damaged" not in out and "every byte" not in out, "doctor says no more than it knows", out)
        code, _, problem = machine.run("verify")
        check(code == 1 and "0 of 1 session have problems; 1 could not be checked" in problem, "verify", code, problem)
    code, out, problem = machine.run("doctor", "--deep")
    check(code == 0 and "the session is good; every byte was checked" in out, "afterwards", code, out, problem)


def main():
    bough = str(pathlib.Path(sys.argv[1]).resolve())
    server = cli.Postgres()
    try:
        for name, test in list(globals().items()):
            if name.startswith("test_"):
                with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
                    test(bough, folder, server.store(bough))
                    print(name.replace("_", " "), "ok")
    finally:
        server.stop()


if __name__ == "__main__":
    main()
