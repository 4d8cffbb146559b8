"""What a reader has read and not given yet, and the read that is under way.

A wait that may be given up, because its task is cancelled or Ctrl-C ends it, is that for a thread which reads: the read goes
on there, and the next call gets what it came to.

Ctrl-C raises KeyboardInterrupt in the main thread: in Python 3.11 to 3.13 after a call, at the beginning of a function and where
a loop goes back, but not between other statements. So what must happen together is written as statements without calls, and
comes last. Waits are those for plain locks: Condition, which threading.Thread.start and Future need, breaks when Ctrl-C meets
its wait.
"""

from __future__ import annotations

import _thread
import asyncio
import contextlib
import ctypes
import math
import os
import threading
import time
from typing import Any, Callable, Dict, List, Optional, Tuple

from ._entry import Entry

Part = List[Entry]
_LOOK_SECONDS = 0.25


class Read:
    """One read, on a thread of its own, and who waits for its end."""

    def __init__(self, work: Callable[[], bool]):
        self.work = work  # keeps what came, and says whether something did
        self.caller = _thread.get_ident()
        self.has_begun = False
        self.has_ended = False
        self.came = False
        self.error: Optional[BaseException] = None
        self.awaiting: Dict[Any, Callable[[], Any]] = {}


class Intake:
    """The thread that reads knows this alone, so that a reader that nobody names any more is closed, which ends the read."""

    def __init__(self, position: str):
        self._position = position
        self.came = ctypes.c_void_p()  # what the library gave and is not kept yet, as Ctrl-C came in between
        self._kept: Part = []  # what was read and not given yet, the next one last
        self._handed: Dict[int, Tuple[Part, str]] = {}  # what a thread is about to return, and the position before it
        self._begin_process()

    def _begin_process(self) -> None:
        self._lock = _thread.allocate_lock()
        self._turns = _thread.allocate_lock()
        self._read: Optional[Read] = None
        self._process = os.getpid()

    def _in_this_process(self) -> "Intake":
        if self._process != os.getpid():  # the threads of the parent are not in the child of a fork
            self._begin_process()
        return self

    def turn(self) -> Any:
        """The lock of those who read without `begin`."""
        return self._in_this_process()._turns

    def _locked(self) -> Any:
        """The lock of all that is here. Nobody has it while the library works."""
        return self._in_this_process()._lock

    def has_some(self) -> bool:
        return bool(self._kept)

    def keep(self, part: Part) -> bool:
        part.reverse()
        nothing = ctypes.c_void_p()
        with self._locked():
            self._kept[:0] = part
            self.came = nothing
        return bool(part)

    def give(self, size: int) -> Part:
        """The next of what is kept. The caller returns or yields it without a further call."""
        me = _thread.get_ident()
        with self._locked():
            if me in self._handed:
                self._take_back(me)
            if not self._kept:
                return []
            part = self._kept[-size:]
            part.reverse()
            last = part[-1].id
            self._handed[me] = part, self._position
            self._position = last
            del self._kept[-size:]
        del self._handed[me]  # until here, Ctrl-C leaves the part to the next call
        return part

    def _take_back(self, me: int) -> None:
        """Ctrl-C came before this thread could return what it had taken."""
        part, position = self._handed[me]
        kept = self._kept + part[::-1]
        self._kept = kept
        self._position = position
        del self._handed[me]

    def position(self) -> str:
        me = _thread.get_ident()
        with self._locked():
            if me in self._handed:
                self._take_back(me)
            return self._position

    def begin(self, work: Callable[[], bool]) -> Optional[Tuple[Read, bool]]:
        """Begins a read, unless one is under way: that one, and whether another call began it. None when an earlier read has
        left entries: to wait for more would leave them lying while their loop has ended."""
        with self._locked():
            if self._kept:
                return None
            read, is_others = self._read, True
            # One that this thread wanted and that has not begun: Ctrl-C ended that call, perhaps before there was a thread.
            if read is None or not read.has_begun and read.caller == _thread.get_ident():
                read = self._read = Read(work)
                is_others = False
        if not read.has_begun:
            _thread.start_new_thread(self._run, (read,))  # which keeps no program from ending
        return read, is_others

    def _run(self, read: Read) -> None:
        with self._locked():
            if read.has_begun:
                return
            read.has_begun = True
            is_wanted = self._read is read
        try:
            read.came = read.work() if is_wanted else True
        except BaseException as error:
            read.error = error
        with self._locked():
            if self._read is read:
                self._read = None
            read.has_ended = True
            awaiting, read.awaiting = read.awaiting, {}
        for wake in awaiting.values():
            wake()

    def _is_awaited(self, read: Read, awaiter: Any, wake: Callable[[], Any]) -> bool:
        """Whether there is something to wait for."""
        with self._locked():
            if not read.has_ended:
                read.awaiting[awaiter] = wake
            return not read.has_ended

    def _leave(self, read: Read, awaiter: Any) -> None:
        with self._locked():
            read.awaiting.pop(awaiter, None)

    def wait(self, read: Read, timeout: Optional[float] = None) -> None:
        """Waits until a read has ended, or the time is over."""
        end = _thread.allocate_lock()
        end.acquire()
        try:
            if self._is_awaited(read, end, end.release):
                _acquire(end, timeout)
        finally:
            self._leave(read, end)
        self._tell_error(read)

    async def ended(self, read: Read, timeout: Optional[float] = None) -> None:
        """The same without blocking the event loop."""
        end: "asyncio.Future[None]" = asyncio.get_running_loop().create_future()
        try:
            if self._is_awaited(read, end, lambda: _wake(end)):
                await asyncio.wait({end}, timeout=timeout)
        finally:
            self._leave(read, end)
        self._tell_error(read)

    def _tell_error(self, read: Read) -> None:
        """To one of those who wait; the others begin another read."""
        with self._locked():
            error, read.error = read.error, None
        if error is not None:
            raise error


def _acquire(lock: Any, timeout: Optional[float]) -> None:
    """In pieces on the main thread: a signal between Python's last look for one and the wait itself interrupts nothing, and
    would be seen only when the wait ends."""
    if _thread.get_ident() != threading.main_thread().ident:
        lock.acquire(timeout=-1 if timeout is None else timeout)
        return
    end = math.inf if timeout is None else time.monotonic() + timeout
    while True:
        rest = end - time.monotonic()
        if lock.acquire(timeout=min(max(0.0, rest), _LOOK_SECONDS)) or rest <= _LOOK_SECONDS:
            return


def _wake(end: "asyncio.Future[None]") -> None:
    with contextlib.suppress(RuntimeError):  # the loop has ended: nobody waits there any more
        end.get_loop().call_soon_threadsafe(_set, end)


def _set(end: "asyncio.Future[None]") -> None:
    if not end.done():
        end.set_result(None)
