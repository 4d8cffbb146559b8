"""What a reader has read and not given yet, and the read that is under way.

A wait that may be given up, because its task is cancelled or Ctrl-C ends it, is that for a thread which reads: the read goes
on there, and the next call gets what it came to.

Ctrl-C raises KeyboardInterrupt in the main thread: in Python 3.11 to 3.14 after a call, at the beginning of a function and where
a loop goes back, but not between other statements. So what must happen together is written as statements without calls, and
comes last; `with` has a call at its beginning, so `holding` takes locks. Waits are those for plain locks: Condition, which threading.Thread.start and Future need, breaks when Ctrl-C meets
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
from ._locks import holding, new_lock

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
        self._lock = new_lock()
        self._turns = new_lock()
        self._read: Optional[Read] = None
        self._process = os.getpid()

    def _in_this_process(self) -> "Intake":
        if self._process != os.getpid():  # the threads of the parent are not in the child of a fork
            self._begin_process()
        return self

    def in_turn(self, work: Callable[[], bool]) -> bool:
        """Calls one of those who read without `begin` at a time."""
        came: bool = holding(self._in_this_process()._turns, work)
        return came

    def _locked(self, work: Callable[..., Any], *arguments: Any) -> Any:
        """What `work` gives, which has all that is here for itself. Nobody has it while the library works."""
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
        """The next of what is kept. The caller returns or yields it without a further call."""
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
        """Ctrl-C came before this thread could return what it had taken."""
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
        """Begins a read, unless one is under way: that one, and whether another call began it. None when an earlier read has
        left entries: to wait for more would leave them lying while their loop has ended."""
        begun: Optional[Tuple[Read, bool]] = self._locked(self._choose_read, work)
        if begun is not None and not begun[0].has_begun:
            _thread.start_new_thread(self._run, (begun[0],))  # which keeps no program from ending
        return begun

    def _choose_read(self, work: Callable[[], bool]) -> Optional[Tuple[Read, bool]]:
        if self._kept:
            return None
        read, is_others = self._read, True
        # One that this thread wanted and that has not begun: Ctrl-C ended that call, perhaps before there was a thread.
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
        """Whether there is something to wait for."""

        def wait() -> bool:
            if not read.has_ended:
                read.awaiting[awaiter] = wake
            return not read.has_ended

        is_awaited: bool = self._locked(wait)
        return is_awaited

    def _leave(self, read: Read, awaiter: Any) -> None:
        self._locked(lambda: read.awaiting.pop(awaiter, None))

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

        def take() -> Optional[BaseException]:
            error, read.error = read.error, None
            return error

        error: Optional[BaseException] = self._locked(take)
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
