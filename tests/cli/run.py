#!/usr/bin/env python3
"""Runs the golden scripts of the command line: run.py BOUGH [--memory SERVER | --postgres] [SCRIPT…].

With --memory the store is one in memory (memory_bough.cpp), with --postgres one in PostgreSQL, on a server of the test's
own. The output must be the same, except what only files have: sizes, seals, an index. A script that does not run with each
store says so, and why, in a line `# files only: …`, `# postgres only: …` or `# files and postgres only: …`.

A script holds commands (`$ …`, run by bash in an empty folder, one after the other), each followed by what it printed
and, when it was not 0, its exit code. Ids, times and seals are numbered in the order in which they appear, so that the
output is the same every time. A hint that names the command which just failed fails the script. BOUGH_UPDATE_GOLDEN=1 rewrites the scripts; BOUGH_FAIL_FAST=1 ends with the first that fails."""
import difflib
import os
import pathlib
import pwd
import re
import subprocess
import sys
import tempfile

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
TIME = re.compile(r"\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d\.\d{3}Z| \d\d:\d\d\b)")
SHORT = re.compile(r"(?<![-\w])[0-9a-f]{8}(?![-\w])")  # the end of an id, as lists show it
SEAL = re.compile(r'("seal":"\d+/\d+ )[0-9a-f]{8}"')


# What only the file backend prints.
FILES = re.compile(r'(?:^|[ (]+)\d[\d.]* [kMG]?B\b|"bytes\w*":\d+|"seal":"\d+/\d+ <crc>"|"indexRebuilt":\w+|  \((?:not created yet|0 sessions)\)| +size(?=  state)', re.M)


def commands(text):
    """The comment lines at the top, and the commands with their continuation lines."""
    head, found = [], []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append(line[2:])
        elif line.startswith("> ") and found:
            found[-1] += "\n" + line[2:]
        elif not found:
            head.append(line)
    return head, found


def advises_itself(command, said):
    """The hint that names the very command that failed, if there is one. Of several commands nobody knows which one said it."""
    if len(command.split()) < 3 or re.search(r"[;|&<>\n]", command):
        return None
    return next((line for line in said if line.startswith("  → ") and re.search(re.escape(command) + r"(?![\w@ -])", line)), None)


# Replaces `bough` when the store is in memory: passes everything to the server.
CLIENT = """#!/usr/bin/env python3
import os, socket, sys
with socket.socket(socket.AF_UNIX) as server:
    server.connect(os.environ["BOUGH_TEST_SERVER"])
    words = [os.getcwd()] + [f"{k}={v}" for k, v in os.environ.items()] + [""] + sys.argv[1:]
    socket.send_fds(server, ["\\0".join(words).encode() + b"\\0\\0\\0"], [0, 1, 2])
    sys.exit(server.recv(1)[0])
"""


def start_server(server, folder):
    """Waits until it listens."""
    address = f"{folder}/server"
    process = subprocess.Popen([server, address], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None and not os.path.exists(address):
        pass
    pathlib.Path(f"{folder}/bin/bough").write_text(CLIENT)
    os.chmod(f"{folder}/bin/bough", 0o700)
    return process


class Postgres:
    """A server in a temporary folder, on a unix socket; every script gets a store of its own in it."""

    def __init__(self):
        programs = max(pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb"), default=None)
        if not programs:
            print("PostgreSQL is not installed")
            sys.exit(77)
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.stores = 0
        owner = {}
        if os.geteuid() == 0:  # PostgreSQL refuses to run as root
            account = pwd.getpwnam("postgres")
            owner = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
            os.chown(self.folder.name, account.pw_uid, account.pw_gid)
        data = self.folder.name + "/data"
        subprocess.run([programs, "-D", data, "-A", "trust", "-U", "postgres", "--no-locale", "-E", "UTF8", "-N"], cwd="/", check=True,
                       stdout=subprocess.DEVNULL, **owner)
        self.process = subprocess.Popen([programs.parent / "postgres", "-D", data, "-k", self.folder.name, "-c", "listen_addresses=", "-c",
                                         "fsync=off"], cwd="/", stderr=subprocess.DEVNULL, **owner)

    def store(self, bough):
        """The address of a new store."""
        self.stores += 1
        url = f"postgresql://postgres@/postgres?host={self.folder.name}&schema=s{self.stores}"
        while subprocess.run([bough, "store", "init", "--store", url], capture_output=True).returncode and self.process.poll() is None:
            pass  # it is still starting
        return url

    def stop(self):
        self.process.terminate()
        self.process.wait()
        self.folder.cleanup()


def run(script, bough, server, postgres):
    head, found = commands(script.read_text())
    out = list(head)
    ids = {}
    shorts = {}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        environment = {"PATH": f"{folder}/bin:" + os.environ["PATH"], "BOUGH_STORE": f"{folder}/store", "HOME": folder, "LC_ALL": "C.UTF-8",
                       "BOUGH_TEST_SERVER": f"{folder}/server"}
        if postgres:
            environment["BOUGH_STORE"] = postgres.store(bough)
        os.mkdir(f"{folder}/bin")
        process = start_server(server, folder) if server else os.symlink(bough, f"{folder}/bin/bough")
        os.mkdir(f"{folder}/work")
        variables = f"{folder}/variables"
        pathlib.Path(variables).touch()
        for command in found:
            # Variables that a command sets are available to the next one.
            shell = f". {variables}\n{command}\ncode=$?\ndeclare -p | grep -E '^declare -- [A-Z]+=' | sed 's/^declare -- //' > {variables}\nexit $code"
            done = subprocess.run(["bash", "-c", shell], cwd=f"{folder}/work", env=environment, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
            text = done.stdout.decode("utf-8", "replace").replace(folder, "<folder>")
            if postgres:
                text = re.sub(r"postgresql://[^\s\"]*schema=s\d+", "<folder>/store", text)
            text = UUID.sub(lambda match: ids.setdefault(match[0], f"<id{len(ids) + 1}>"), text)
            text = SEAL.sub(r'\1<crc>"', TIME.sub("<time>", text))
            text = SHORT.sub(lambda match: shorts.setdefault(match[0], f"<short{len(shorts) + 1}>"), text)
            out.append("$ " + command.replace("\n", "\n> "))
            out += text.splitlines()
            if done.returncode:
                if hint := advises_itself(command, text.splitlines()):
                    out.append(f"this is what just failed: {hint}")
                out.append(f"[exit {done.returncode}]")
            out.append("")
        if process:
            process.kill()
            process.wait()
    return "\n".join(out).rstrip("\n") + "\n"


def main():
    bough = str(pathlib.Path(sys.argv[1]).resolve())
    here = pathlib.Path(__file__).parent
    arguments = sys.argv[2:]
    server = postgres = None
    if arguments[:1] == ["--memory"]:
        server, arguments = str(pathlib.Path(arguments[1]).resolve()), arguments[2:]
    elif arguments[:1] == ["--postgres"]:
        postgres, arguments = Postgres(), arguments[1:]
    other = server or postgres
    scripts = [pathlib.Path(name) for name in arguments] or sorted(here.glob("*.txt"))
    elsewhere = "files|postgres|files and postgres" if server else "files" if postgres else "postgres"
    scripts = [script for script in scripts if not re.search(rf"^# (?:{elsewhere}) only: \w", script.read_text(), re.M)]
    failed = 0
    for script in scripts:
        actual, expected = run(script, bough, server, postgres), script.read_text()
        if other:
            actual, expected = FILES.sub("", actual), FILES.sub("", expected)
        if os.environ.get("BOUGH_UPDATE_GOLDEN") and (not other or "\n# postgres only" in "\n" + expected):
            script.write_text(actual)
        elif actual != expected:
            failed += 1
            sys.stdout.writelines(difflib.unified_diff(expected.splitlines(True), actual.splitlines(True), str(script), "now"))
            if os.environ.get("BOUGH_FAIL_FAST"):
                break
    if postgres:
        postgres.stop()
    print(f"{len(scripts) - failed} passed, {failed} failed")
    sys.exit(1 if failed or not scripts else 0)


if __name__ == "__main__":
    main()
