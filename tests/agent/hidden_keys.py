#!/usr/bin/env python3
"""What a command that a model runs can read of the chat that runs it: hidden_keys.py BOUGH."""
import os
import pathlib
import subprocess
import sys
import tempfile

NOBODY = 65534
SECRETS = {
    "ANTHROPIC_API_KEY": "sk-secret-of-anthropic-0123456789",
    "OWN_KEY": "secret-of-a-server-of-ones-own",
    "PGPASSWORD": "secret-of-the-database",
    "https_proxy": "http://me:secret-of-the-proxy@127.0.0.1:9",
}
SETTINGS = '{"providers":{"own":{"api":"openai-chat","baseUrl":"http://127.0.0.1:9/v1","keyVariable":"OWN_KEY"}}}'
# Reads the command, its two keepers and the chat, into a file, because results do not show keys in any case.
LOOK = ("p=$$; for i in 1 2 3 4; do for f in environ maps; do head -c 9000 /proc/$p/$f 2>&1; echo; done; "
        "p=$(cut -d' ' -f4 /proc/$p/stat); echo seen $i; done > seen.txt")


def check(condition, what, *seen):
    if not condition:
        sys.exit(f"{what}: {seen}")


def look(bough, folder, **how):
    (pathlib.Path(folder) / "config/bough").mkdir(parents=True)
    (pathlib.Path(folder) / "config/bough/config.json").write_text(SETTINGS)
    if "user" in how:
        for path in [folder, *pathlib.Path(folder).rglob("*")]:
            os.chown(path, how["user"], how["user"])
    environment = {"PATH": os.environ["PATH"], "HOME": folder, "LC_ALL": "C.UTF-8", "BOUGH_STORE": f"{folder}/store",
                   "XDG_CONFIG_HOME": f"{folder}/config", "BOUGH_MODEL": "offline/echo", **SECRETS}
    done = subprocess.run([bough, "chat", "--yes", "-p", f"bash {LOOK}\nwrite a/b.txt: text"], cwd=folder, env=environment,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, **how)
    seen = (pathlib.Path(folder) / "seen.txt").read_bytes().replace(b"\0", b"\n").decode(errors="replace")
    check(done.returncode == 0 and "seen 4" in seen, "the command did not run", done)
    check((pathlib.Path(folder) / "a/b.txt").read_text() == "text\n", "a file was not written", done)
    for name, value in SECRETS.items():
        secret = value[value.find("secret"):].split("@")[0]
        check(secret not in seen, f"{name} can be read", seen)
    return seen


def main():
    bough = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as folder:
        everything = look(bough, folder)
    home = "\nHOME="
    if os.geteuid() == 0:
        # As root, only the keys can be hidden; the other variables are still readable.
        check(everything.count(home) == 4, "the environment could not be read at all", everything)
        other = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        try:
            subprocess.run([bough, "version"], cwd="/", capture_output=True, check=True, **other)
        except PermissionError:
            print("no other user reaches the command: only what root sees was looked at")
            return
        with tempfile.TemporaryDirectory() as folder:
            everything = look(bough, folder, **other)
    # Any other user can read the command's own variables, but neither the environment nor the memory of the keepers and
    # the chat.
    check(everything.count(home) == 1, "the environment of the chat can be read", everything)
    check(everything.count("Permission denied") == 6, "the memory of the chat can be read", everything)


main()
