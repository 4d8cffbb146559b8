"""Entries that a reader has read and not returned yet, and the read that is running.

When a caller stops waiting, because its task was cancelled or because of Ctrl-C, the read continues on its own thread,
and the next call gets its result.

Ctrl-C raises KeyboardInterrupt in the main thread. In Python 3.11 to 3.14 this happens after a call, at the start of a
function, and where a loop jumps back, but not between other statements. So changes that must happen together are
written as statements without calls, at the end of a function. `with` starts with a call, so locks are taken by
`holding`. Code here waits on plain locks only: Condition, which threading.Thread.start and Future use, breaks when
Ctrl-C interrupts its wait.
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
from ._locks import holding, new_lock

Part = List[Entry]
_LOOK_SECONDS = 0.25


class Read:
    """One read on its own thread, and the callers that wait for its end."""

    def __init__(self, work: Callable[[], bool]):
        self.work = work  # stores the entries, and returns whether there were any
        self.caller = _thread.get_ident()
        self.has_begun = False
        self.has_ended = False
        self.came = False
        self.error: Optional[BaseException] = None
        self.awaiting: Dict[Any, Callable[[], Any]] = {}


class Intake:
    """The state of a reader. The reading thread refers only to this object, so a reader that is garbage-collected is
    closed, which ends the read."""

    def __init__(self, position: str):
        self._position = position
        self.came = ctypes.c_void_p()  # entries from the library that are not kept yet, because Ctrl-C came in between
        self._kept: Part = []  # read and not returned yet, the next entry last
        self._handed: Dict[int, Tuple[Part, str]] = {}  # what a thread is about to return, and the position before it
        self._begin_process()

    def _begin_process(self) -> None:
        self._lock = new_lock()
        self._turns = new_lock()
        self._read: Optional[Read] = None
        self._process = os.getpid()

    def _in_this_process(self) -> "Intake":
        if self._process != os.getpid():  # a child of fork does not have the parent's threads
            self._begin_process()
        return self

    def in_turn(self, work: Callable[[], bool]) -> bool:
        """Runs `work` for one reader at a time. Only for readers that do not use `begin`."""
        came: bool = holding(self._in_this_process()._turns, work)
        return came

    def _locked(self, work: Callable[..., Any], *arguments: Any) -> Any:
        """Runs `work` with exclusive access to this object. No lock is held while the library works."""
        return holding(self._in_this_process()._lock, work, *arguments)

    def has_some(self) -> bool:
        return bool(self._kept)

    def keep(self, part: Part) -> bool:
        part.reverse()
        nothing = ctypes.c_void_p()

        def put() -> None:
            self._kept[:0] = part
            self.came = nothing

        self._locked(put)
        return bool(part)

    def give(self, size: int) -> Part:
        """Returns the next kept entries. The caller must return or yield them without a further call."""
        me = _thread.get_ident()
        part: Part = self._locked(self._hand, me, size)
        if part:
            del self._handed[me]  # until here, Ctrl-C leaves the part to the next call
        return part

    def _hand(self, me: int, size: int) -> Part:
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
        return part

    def _take_back(self, me: int) -> None:
        """Undoes _hand, because Ctrl-C came before this thread could return the entries."""
        part, position = self._handed[me]
        kept = self._kept + part[::-1]
        self._kept = kept
        self._position = position
        del self._handed[me]

    def position(self) -> str:
        me = _thread.get_ident()

        def now() -> str:
            if me in self._handed:
                self._take_back(me)
            return self._position

        position: str = self._locked(now)
        return position

    def begin(self, work: Callable[[], bool]) -> Optional[Tuple[Read, bool]]:
        """Begins a read, unless one is running. Returns the read, and whether another call began it. Returns None
        when an earlier read has left entries, because waiting for more would leave these entries unread."""
        begun: Optional[Tuple[Read, bool]] = self._locked(self._choose_read, work)
        if begun is not None and not begun[0].has_begun:
            _thread.start_new_thread(self._run, (begun[0],))  # as a daemon thread, which does not keep the program
                                                              # alive
        return begun

    def _choose_read(self, work: Callable[[], bool]) -> Optional[Tuple[Read, bool]]:
        if self._kept:
            return None
        read, is_others = self._read, True
        # A read of this thread that has not begun: Ctrl-C ended that call, perhaps before its thread was started.
        if read is None or not read.has_begun and read.caller == _thread.get_ident():
            read = self._read = Read(work)
            is_others = False
        return read, is_others

    def _run(self, read: Read) -> None:
        begins, is_wanted = self._locked(self._begin_run, read)
        if not begins:
            return
        try:
            read.came = read.work() if is_wanted else True
        except BaseException as error:
            read.error = error
        for wake in self._locked(self._end_run, read).values():
            wake()

    def _begin_run(self, read: Read) -> Tuple[bool, bool]:
        begins = not read.has_begun
        read.has_begun = True
        return begins, self._read is read

    def _end_run(self, read: Read) -> Dict[Any, Callable[[], Any]]:
        if self._read is read:
            self._read = None
        read.has_ended = True
        awaiting, read.awaiting = read.awaiting, {}
        return awaiting

    def _is_awaited(self, read: Read, awaiter: Any, wake: Callable[[], Any]) -> bool:
        """Returns whether the read is still running; if so, `wake` is called when it ends."""

        def wait() -> bool:
            if not read.has_ended:
                read.awaiting[awaiter] = wake
            return not read.has_ended

        is_awaited: bool = self._locked(wait)
        return is_awaited

    def _leave(self, read: Read, awaiter: Any) -> None:
        self._locked(lambda: read.awaiting.pop(awaiter, None))

    def wait(self, read: Read, timeout: Optional[float] = None) -> None:
        """Waits until a read has ended, or for `timeout` seconds."""
        end = _thread.allocate_lock()
        end.acquire()
        try:
            if self._is_awaited(read, end, end.release):
                _acquire(end, timeout)
        finally:
            self._leave(read, end)
        self._tell_error(read)

    async def ended(self, read: Read, timeout: Optional[float] = None) -> None:
        """Does the same without blocking the event loop."""
        end: "asyncio.Future[None]" = asyncio.get_running_loop().create_future()
        try:
            if self._is_awaited(read, end, lambda: _wake(end)):
                await asyncio.wait({end}, timeout=timeout)
        finally:
            self._leave(read, end)
        self._tell_error(read)

    def _tell_error(self, read: Read) -> None:
        """Raises the error of a read in one of the waiting callers; the others begin another read."""

        def take() -> Optional[BaseException]:
            error, read.error = read.error, None
            return error

        error: Optional[BaseException] = self._locked(take)
        if error is not None:
            raise error


def _acquire(lock: Any, timeout: Optional[float]) -> None:
    """Acquires a lock. The main thread waits in short pieces: a signal that comes between Python's last check for
    signals and the wait does not interrupt the wait, and would only be seen when the wait ends."""
    if _thread.get_ident() != threading.main_thread().ident:
        lock.acquire(timeout=-1 if timeout is None else timeout)
        return
    end = math.inf if timeout is None else time.monotonic() + timeout
    while True:
        rest = end - time.monotonic()
        if lock.acquire(timeout=min(max(0.0, rest), _LOOK_SECONDS)) or rest <= _LOOK_SECONDS:
            return


def _wake(end: "asyncio.Future[None]") -> None:
    with contextlib.suppress(RuntimeError):  # the loop has ended, so nothing waits there
        end.get_loop().call_soon_threadsafe(_set, end)


def _set(end: "asyncio.Future[None]") -> None:
    if not end.done():
        end.set_result(None)
