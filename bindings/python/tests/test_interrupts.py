"""Tests Ctrl-C at any moment: only KeyboardInterrupt is raised, and each entry is returned exactly once."""

import _thread
import os
import pathlib
import random
import signal
import subprocess
import sys
import threading
import time
import unittest
import unittest.mock

import bough
from store_case import StoreCase

# Only `consume` is interrupted. Around it, signals have no effect, so that the program itself loses nothing.
_PROGRAM = """if True:
    import signal, sys, threading
    import bough
    kind, total = sys.argv[1], int(sys.argv[2])
    session = bough.Store("memory:").create()
    interrupts = []
    given = []

    def interrupt(number, frame):
        while frame is not None:
            if frame.f_code is consume.__code__:
                interrupts.append(1)
                raise KeyboardInterrupt
            frame = frame.f_back

    def append():
        for number in range(0, total, 4):
            session.append([bough.NewEntry({}, id=f"e-{each}") for each in range(number, number + 4)])

    def consume():
        if kind.endswith("loop"):
            for entry in reader:
                given.append(entry)
                if len(given) > total:
                    break
        elif kind == "follower next":
            while len(given) <= total:
                given.extend(reader.next(0.01))
        else:
            while len(given) <= total:
                given.extend(reader.next(3))

    reader = session.follow() if kind.startswith("follower") else session.cursor()
    signal.signal(signal.SIGINT, interrupt)
    threading.Thread(target=append, daemon=True).start()
    print("ready", flush=True)
    while len(given) <= total:
        try:
            consume()
        except KeyboardInterrupt:
            pass
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    assert [entry.id for entry in given[1:]] == [f"e-{number}" for number in range(total)], [entry.id for entry in given]
    assert reader.position == given[-1].id
    print("all", len(interrupts), flush=True)
"""


@unittest.skipIf(sys.version_info < (3, 11), "before Python 3.11 Ctrl-C may come between a call and the use of its result")
class Interrupts(unittest.TestCase):
    def interrupted(self, kind):
        environment = dict(os.environ, PYTHONPATH=str(pathlib.Path(bough.__file__).parent.parent))
        command = [sys.executable, "-c", _PROGRAM, kind, "4000"]
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            self.assertEqual(process.stdout.readline(), "ready\n")
            for _ in range(1000):  # limited, so that a slow machine finishes
                if process.poll() is not None:
                    break
                process.send_signal(signal.SIGINT)
                time.sleep(random.random() / 1000)
            try:
                out, errors = process.communicate(timeout=120)
            finally:
                process.kill()  # a process that lost an entry still waits for it
        self.assertEqual((out.split()[:1], errors, process.returncode), (["all"], "", 0))

    def test_a_follower_loses_nothing(self):
        self.interrupted("follower next")

    def test_a_loop_over_a_follower_loses_nothing(self):
        self.interrupted("follower loop")

    def test_a_cursor_loses_nothing(self):
        self.interrupted("cursor next")

    def test_a_loop_over_a_cursor_loses_nothing(self):
        self.interrupted("cursor loop")


class LockInterruptedAfterItIsTaken:
    """Simulates Python 3.14: Ctrl-C comes between `with lock` and its body, at one of the times when the main thread
    takes it."""

    def __init__(self, lock, place):
        self.lock, self.left = lock, place

    def acquire(self):
        self.lock.acquire()
        if threading.current_thread() is threading.main_thread():
            self.left -= 1
            if self.left == -1:
                raise KeyboardInterrupt

    __enter__ = acquire

    def release(self):
        self.lock.release()

    def __exit__(self, *_):
        self.release()


class Locks(StoreCase):
    """Ctrl-C leaves no lock taken: another thread can read everything."""

    def read_all(self, reader):
        given = []
        thread = threading.Thread(target=lambda: given.extend(reader.next(30)), daemon=True)
        thread.start()
        thread.join(60)
        return [entry.id for entry in given]

    def test_they_are_free_after_it(self):
        session = self.store.create()
        session.append([bough.user_text(name, id=name) for name in "abc"])
        for name in ("_lock", "_turns"):
            for kind in (session.cursor, session.follow):
                for place in range(20):
                    with self.subTest(lock=name, place=place):
                        reader = kind("a")
                        lock = LockInterruptedAfterItIsTaken(getattr(reader._intake, name), place)
                        setattr(reader._intake, name, lock)
                        try:
                            given = [entry.id for entry in reader.next(30)]
                        except (KeyboardInterrupt, bough.BoughError):
                            given = []
                        lock.left = -1
                        self.assertEqual(given or self.read_all(reader), ["b", "c"])
                        reader.close()

    def test_one_that_was_not_taken_is_not_released(self):
        waiting = unittest.mock.Mock(release=bough._locks.new_lock().release)
        waiting.acquire.side_effect = KeyboardInterrupt
        with self.assertRaises(KeyboardInterrupt):
            bough._locks.holding(waiting, list)


def started_and_interrupted(*arguments, start=_thread.start_new_thread):
    start(*arguments)
    raise KeyboardInterrupt


class Starts(StoreCase):
    """Ctrl-C while the reading thread is being started."""

    def interrupted(self, follower, effect):
        with unittest.mock.patch("_thread.start_new_thread", side_effect=effect):
            with self.assertRaises(KeyboardInterrupt):
                follower.next()

    def test_the_next_call_reads(self):
        for effect in (KeyboardInterrupt, started_and_interrupted):
            follower = self.store.create().follow()
            self.interrupted(follower, effect)
            self.assertEqual([entry.type for entry in follower.next(30)], ["session_header"])
            follower.close()

    def test_a_call_on_another_thread_reads(self):
        for effect in (KeyboardInterrupt, started_and_interrupted):
            follower, given = self.store.create().follow(), []
            self.interrupted(follower, effect)
            thread = threading.Thread(target=lambda: given.extend(follower.next(30)), daemon=True)
            thread.start()
            thread.join(60)
            self.assertEqual([entry.type for entry in given], ["session_header"])
            follower.close()

    def test_the_position_is_that_of_what_was_returned(self):
        session = self.store.create()
        session.append([bough.user_text(name, id=name) for name in "abc"])
        cursor = session.cursor(position="a")
        intake = cursor._intake
        cursor._fetch(2)
        part, me = intake.give(1), _thread.get_ident()
        intake._handed[me] = part, "a"  # the state that Ctrl-C leaves before the return
        self.assertEqual(cursor.position, "a")
        self.assertEqual([entry.id for entry in cursor.next(1)], ["b"])
        self.assertEqual((cursor.position, [entry.id for entry in cursor]), ("b", ["c"]))
