"""Does a step twenty times for each line that it reads, and prints the median seconds: worker.py STORE. The steps:
append, load."""
import sys
import time

import bough

store = bough.Store(sys.argv[1])
session = store.create()
payload = sys.stdin.readline().rstrip("\n")


def append():
    session.append(bough.NewEntry(payload))


def load():
    if len(session.load(last=200)) != 200:
        raise SystemExit("fewer than 200 entries were loaded")


steps = {"append": append, "load": load}
for line in iter(sys.stdin.readline, ""):
    step = steps[line.strip()]
    times = []
    for _ in range(20):
        begin = time.perf_counter()
        step()
        times.append(time.perf_counter() - begin)
    print(sorted(times)[10], flush=True)
