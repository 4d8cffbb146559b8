"""Cursors and followers: a session's entries in parts, and as they come.

A read that may be abandoned, because its task is cancelled or Ctrl-C ends its wait, runs on a thread of its own. It goes on
there, and the next call gets what it came to. A loop that is left keeps what it has not given yet, for the next loop or call.
So no entry is lost.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import sys
import threading
import time
from collections import deque
from concurrent.futures import Future, wait as wait_for
from typing import Any, AsyncIterator, Callable, Collection, Deque, Dict, Iterator, List, NoReturn, Optional, Tuple

from . import _library as c
from ._entry import Entry, taken_entries
from ._errors import Closed


def no_copy(self: Any) -> NoReturn:
    """In place of __reduce__: a copy would close the handle of the original, and in another process name something else."""
    raise TypeError(f"a {type(self).__name__} cannot be copied or pickled; open it again where it is needed")


class Handle:
    """A handle of the library that is closed once."""

    _closer = ""
    __reduce__ = no_copy

    def __init__(self, handle: int):
        self._handle: Optional[int] = handle

    def _open(self) -> int:
        if self._handle is None:
            raise Closed("it was closed", code="closed")
        return self._handle

    def close(self) -> None:
        handle, self._handle = self._handle, None
        if handle is not None:
            getattr(c.library, "bough_" + self._closer)(handle)

    def __del__(self) -> None:
        try:
            self.close()
        except Exception:  # the interpreter may be ending
            pass


Part = List[Entry]


class _Reads:
    """The read that is under way, one at a time."""

    def __init__(self) -> None:
        self._reset()

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._read: Optional["Future[Part]"] = None
        self._awaiting: Dict["asyncio.Future[None]", "Future[Part]"] = {}  # who waits for which read

    def under_way(self) -> Optional["Future[Part]"]:
        if self._process != os.getpid():  # the threads of the parent are not in the child of a fork
            self._reset()
        return self._read

    def begin(self, read: Callable[[], Part]) -> Tuple["Future[Part]", bool]:
        """Begins a read, unless one is under way: that one, and True."""
        begun = self.begin_unless((), read)
        assert begun is not None
        return begun

    def begin_unless(self, kept: Collection[Entry], read: Callable[[], Part]) -> Optional[Tuple["Future[Part]", bool]]:
        """The same, but nothing when an earlier read has left entries there."""
        self.under_way()
        with self._lock:
            if kept:
                return None
            if self._read is not None:
                return self._read, True
            begun: "Future[Part]" = Future()
            begun.add_done_callback(self._tell)
            # A daemon: a program may end while it waits.
            threading.Thread(target=_run, args=(read, begun), name="bough", daemon=True).start()
            self._read = begun  # only now: where no thread can be started, nobody shall wait for it
            return begun, False

    async def ended(self, read: "Future[Part]", timeout: Optional[float] = None) -> None:
        """Waits until a read has ended, or the time is over."""
        end: "asyncio.Future[None]" = asyncio.get_running_loop().create_future()
        with self._lock:
            self._awaiting[end] = read
        if read.done():
            _set(end)
        try:
            await asyncio.wait({end}, timeout=timeout)
        finally:
            with self._lock:
                self._awaiting.pop(end, None)

    def _tell(self, read: "Future[Part]") -> None:
        with self._lock:
            ends = [end for end, awaited in self._awaiting.items() if awaited is read]
        for end in ends:
            try:
                end.get_loop().call_soon_threadsafe(_set, end)
            except RuntimeError:  # the loop has ended: nobody waits there any more
                pass

    def take(self, read: "Future[Part]") -> Part:
        """What a read came to that has ended; nothing when another caller took it."""
        with self._lock:
            if self._read is not read:
                return []
            self._read = None
        return read.result()

    def take_into(self, kept: Deque[Entry], read: "Future[Part]") -> None:
        """The same, for all callers: before another read can begin."""
        with self._lock:
            if self._read is not read:
                return
            self._read = None
            kept.extend(read.result())


def _set(end: "asyncio.Future[None]") -> None:
    if not end.done():
        end.set_result(None)


def _run(read: Callable[[], Part], future: "Future[Part]") -> None:
    try:
        future.set_result(read())
    except BaseException as error:
        future.set_exception(error)


class _Reader(Handle):
    """What cursors and followers share."""

    def __init__(self, handle: int, owner: Any, position_call: str):
        super().__init__(handle)
        self._owner = owner  # a store is closed when nobody names it any more
        self._reads = _Reads()
        self._position = c.call_text(position_call, handle)
        self._kept: Deque[Entry] = deque()  # read for a loop, and not given yet
        self._giving = threading.Lock()  # the position is that of what was given last, whichever thread got it

    def _given(self, part: Part) -> Part:
        if part:
            self._position = part[-1].id
        return part

    def _keep(self, part: Part) -> bool:
        self._kept.extend(part)
        return bool(part)

    def _give_kept(self, count: int) -> Part:
        part: Part = []
        with self._giving:
            with contextlib.suppress(IndexError):  # another thread may take the last one
                while len(part) < count:
                    part.append(self._kept.popleft())
            return self._given(part)

    @property
    def position(self) -> str:
        """The last entry that was given; what `cursor` and `follow` of the session take to go on after it."""
        self._open()
        return self._position


class Cursor(_Reader):
    """Reads a session in parts. `position` can be kept, and given to `Session.cursor` later."""

    _closer = "cursor_close"

    def __init__(self, handle: int, owner: Any):
        super().__init__(handle, owner, "cursor_position")

    def next(self, count: int = 256) -> Part:
        """The next entries; none only at the end, where later calls return what was appended meanwhile."""
        handle, size = self._open(), c.whole_number(count, "count")
        return self._give_kept(size) or self._given(self._read(handle, size))

    def _read(self, handle: int, size: int) -> Part:
        abandoned = self._reads.under_way()
        if abandoned is not None:
            wait_for([abandoned])
            part = self._reads.take(abandoned)
            if part:
                return part
        return taken_entries(c.call_handle("cursor_next", handle, size))

    async def anext(self, count: int = 256) -> Part:
        """The same without blocking the event loop."""
        handle, size = self._open(), c.whole_number(count, "count")
        return self._give_kept(size) or self._given(await self._aread(handle, size))

    async def _aread(self, handle: int, size: int) -> Part:
        while True:
            read, joined = self._reads.begin(lambda: taken_entries(c.call_handle("cursor_next", handle, size)))
            await self._reads.ended(read)
            part = self._reads.take(read)
            if part or not joined:
                return part

    def __iter__(self) -> Iterator[Entry]:
        while self._kept or self._keep(self._read(self._open(), 256)):
            yield from self._give_kept(1)

    async def __aiter__(self) -> AsyncIterator[Entry]:
        while self._kept or self._keep(await self._aread(self._open(), 256)):
            for entry in self._give_kept(1):
                yield entry

    def __enter__(self) -> "Cursor":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


class _Deadline:
    def __init__(self, timeout: Optional[float]):
        if timeout == math.inf:
            timeout = None
        if timeout is not None:
            c.whole_number(int(max(0.0, timeout) * 1000), "timeout", 32)
        self._end = None if timeout is None else time.monotonic() + max(0.0, timeout)

    def rest(self) -> Optional[float]:
        return None if self._end is None else max(0.0, self._end - time.monotonic())

    def over(self) -> bool:
        return self.rest() == 0.0


class Follower(_Reader):
    """Gives entries as they are appended, by whatever process. Iterating ends after `stop()`; a loop that is left can be
    entered again, and goes on."""

    _closer = "follower_close"

    def __init__(self, handle: int, owner: Any):
        super().__init__(handle, owner, "follower_position")
        self._stopped = False

    def next(self, timeout: Optional[float] = None) -> Part:
        """Waits for entries; none when the time is over or after `stop()`. Ctrl-C ends the wait. Threads and loops may share
        a follower: each entry is given to one of them."""
        deadline = _Deadline(timeout)
        self._open()
        while True:
            part = self._give_kept(sys.maxsize) or self._wait(deadline, sys.maxsize)
            if part or self._stopped or deadline.over():
                return part

    def _wait(self, deadline: _Deadline, count: int) -> Part:
        """Waits once; what came may have gone to another thread."""
        begun = self._begin(deadline)
        if begun is not None:
            wait_for([begun[0]], deadline.rest() if begun[1] else None)
            self._take(begun[0])
        return self._give_kept(count)

    async def anext(self, timeout: Optional[float] = None) -> Part:
        """The same without blocking the event loop."""
        deadline = _Deadline(timeout)
        self._open()
        while True:
            part = self._give_kept(sys.maxsize) or await self._await(deadline, sys.maxsize)
            if part or self._stopped or deadline.over():
                return part

    async def _await(self, deadline: _Deadline, count: int) -> Part:
        begun = self._begin(deadline)
        if begun is not None:
            await self._reads.ended(begun[0], deadline.rest() if begun[1] else None)
            self._take(begun[0])
        return self._give_kept(count)

    def _begin(self, deadline: _Deadline) -> Optional[Tuple["Future[Part]", bool]]:
        """A wait, and whether an earlier call began it: that one may have more time than this call. None when there is
        something to give: to wait for more would leave that lying while its loop has ended."""
        handle, rest = self._open(), deadline.rest()
        milliseconds = -1 if rest is None else int(rest * 1000 + 0.999)
        return self._reads.begin_unless(
            self._kept, lambda: taken_entries(c.call_handle("follower_next", handle, milliseconds))
        )

    def _take(self, read: "Future[Part]") -> None:
        if not read.done():
            return
        try:
            self._reads.take_into(self._kept, read)
        except Closed:
            if not self._stopped:  # else closed while it waited
                raise

    def stop(self) -> None:
        """Ends a wait that is under way on another thread, and all later ones."""
        self._stopped = True
        handle = self._handle
        if handle is not None:
            with contextlib.suppress(Closed):  # another thread has closed it meanwhile
                c.call("follower_stop", handle)

    def close(self) -> None:
        if self._handle is not None:
            self.stop()
            super().close()

    def __iter__(self) -> Iterator[Entry]:
        while not self._stopped:
            yield from self._give_kept(1) or self._wait(_Deadline(None), 1)

    async def __aiter__(self) -> AsyncIterator[Entry]:
        while not self._stopped:
            for entry in self._give_kept(1) or await self._await(_Deadline(None), 1):
                yield entry

    def __enter__(self) -> "Follower":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()
