"""Cursors and followers: a session's entries in parts, and as they are appended.

No entry is lost. When a caller stops waiting, because its task was cancelled or because of Ctrl-C, the next call gets
the result of the read. When a loop ends early, the entries that it has not returned are kept for the next loop or call.
"""

from __future__ import annotations

import contextlib
import ctypes
import math
import sys
import time
from typing import Any, AsyncIterator, Iterator, NoReturn, Optional, Tuple

from . import _library as c
from ._entry import Entry, entries_of
from ._errors import Closed, InvalidArgument
from ._intake import Intake, Part, Read


def no_copy(self: Any) -> NoReturn:
    """Used as __reduce__: a copy would close the handle of the original, and in another process the number would
    name something else."""
    raise TypeError(f"a {type(self).__name__} cannot be copied or pickled; open it again where it is needed")


class Handle:
    """A handle of the library; it is closed once."""

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
        except Exception:  # the interpreter may be shutting down
            pass


class _Reader(Handle):
    """The common part of cursors and followers."""

    def __init__(self, handle: int, owner: Any, position_call: str):
        super().__init__(handle)
        self._owner = owner  # keeps the store open, which is closed when it is garbage-collected
        self._intake = Intake(c.call_text(position_call, handle))

    @property
    def position(self) -> str:
        """The last entry that was returned. Pass it to `cursor` or `follow` of the session to continue after it."""
        self._open()
        return self._intake.position()


def _read(intake: Intake, call: Any, handle: int, argument: int) -> bool:
    """Reads more entries, unless some are kept. Returns false when there were none."""

    def read() -> bool:
        if intake.has_some():
            return True
        if not intake.came.value:
            c.check(call(handle, argument, ctypes.byref(intake.came)), handle)
        came = intake.came.value
        assert came is not None
        has_come = intake.keep(entries_of(came))
        c.library.bough_entries_close(came)
        return has_come

    return intake.in_turn(read)


def _part_size(count: int) -> int:
    size = c.whole_number(count, "count")
    if size == 0:
        raise InvalidArgument("count is 0; no entries mean the end", code="invalid_argument")
    return size


class Cursor(_Reader):
    """Reads a session in parts. `position` can be stored, and passed to `Session.cursor` later."""

    _closer = "cursor_close"

    def __init__(self, handle: int, owner: Any):
        super().__init__(handle, owner, "cursor_position")

    def next(self, count: int = 256) -> Part:
        """Returns the next entries. No entries means the end; later calls return what was appended since."""
        size = _part_size(count)
        while True:
            self._open()
            part = self._intake.give(size)
            if part:
                return part
            if not self._fetch(size):
                return part

    def _fetch(self, size: int) -> bool:
        return _read(self._intake, c.library.bough_cursor_next, self._open(), size)

    async def anext(self, count: int = 256) -> Part:
        """Does the same without blocking the event loop."""
        size = _part_size(count)
        while True:
            self._open()
            part = self._intake.give(size)
            if part:
                return part
            if not await self._afetch(size):
                return part

    async def _afetch(self, size: int) -> bool:
        intake, handle = self._intake, self._open()
        begun = intake.begin(lambda: _read(intake, c.library.bough_cursor_next, handle, size))
        if begun is None:
            return True
        await intake.ended(begun[0])
        return begun[1] or begun[0].came

    def __iter__(self) -> Iterator[Entry]:
        while True:
            part = self._intake.give(1)
            if part:
                yield part[0]
            elif not self._fetch(256):
                return

    async def __aiter__(self) -> AsyncIterator[Entry]:
        while True:
            part = self._intake.give(1)
            if part:
                yield part[0]
            elif not await self._afetch(256):
                return

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
    """Returns entries as they are appended, by any process. Iterating ends after `stop()`. A loop that was left can
    be entered again, and continues."""

    _closer = "follower_close"

    def __init__(self, handle: int, owner: Any):
        super().__init__(handle, owner, "follower_position")
        self._stopped = False

    def next(self, timeout: Optional[float] = None) -> Part:
        """Waits for entries; returns none after the timeout or after `stop()`. Ctrl-C ends the wait. Threads and
        event loops may share a follower: each entry is returned to one of them."""
        deadline, has_waited = _Deadline(timeout), False
        while True:
            self._open()
            part = self._intake.give(sys.maxsize)
            if part or has_waited and (self._stopped or deadline.over()):
                return part
            self._wait(deadline)
            has_waited = True

    def _wait(self, deadline: _Deadline) -> None:
        """Waits once. The entries may have gone to another thread."""
        begun = self._begin_wait(deadline)
        if begun is not None:
            try:
                self._intake.wait(begun[0], deadline.rest() if begun[1] else None)
            except Closed:
                if not self._stopped:  # otherwise the follower was closed during the wait
                    raise

    async def anext(self, timeout: Optional[float] = None) -> Part:
        """Does the same without blocking the event loop."""
        deadline, has_waited = _Deadline(timeout), False
        while True:
            self._open()
            part = self._intake.give(sys.maxsize)
            if part or has_waited and (self._stopped or deadline.over()):
                return part
            await self._await_more(deadline)
            has_waited = True

    async def _await_more(self, deadline: _Deadline) -> None:
        begun = self._begin_wait(deadline)
        if begun is not None:
            try:
                await self._intake.ended(begun[0], deadline.rest() if begun[1] else None)
            except Closed:
                if not self._stopped:
                    raise

    def _begin_wait(self, deadline: _Deadline) -> Optional[Tuple[Read, bool]]:
        """Begins or joins a wait. A wait that an earlier call began may have a longer timeout than this call."""
        handle, rest = self._open(), deadline.rest()
        milliseconds = -1 if rest is None else int(rest * 1000 + 0.999)
        intake = self._intake  # the thread does not refer to this follower, so it can be garbage-collected and closed
        return intake.begin(lambda: _read(intake, c.library.bough_follower_next, handle, milliseconds))

    def stop(self) -> None:
        """Ends a wait on another thread, and all later waits."""
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
            part = self._intake.give(1)
            if part:
                yield part[0]
            else:
                self._wait(_Deadline(None))

    async def __aiter__(self) -> AsyncIterator[Entry]:
        while not self._stopped:
            part = self._intake.give(1)
            if part:
                yield part[0]
            else:
                await self._await_more(_Deadline(None))

    def __enter__(self) -> "Follower":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()
