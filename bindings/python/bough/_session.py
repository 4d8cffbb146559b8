"""Sessions: append, load, follow, branch."""

from __future__ import annotations

import ctypes
import json
from typing import TYPE_CHECKING, Any, AsyncIterator, Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union

from . import _library as c
from ._async import twin
from ._entry import Entry, NewEntry, filled_batch, taken_entries
from ._reading import Cursor, Follower, Handle

if TYPE_CHECKING:
    from ._store import Store

_DURABILITY: Dict[Optional[str], int] = {None: -1, "sync": 0, "buffered": 1}


class Appended(NamedTuple):
    last_id: str
    appended: int
    duplicates: int


_appended = tuple.__new__  # faster: Appended._make and Appended() are Python functions that call it


class Session(Handle):
    """One session. Made by `Store.create` and `Store.session`; any thread may make any call.

    Each call that uses the disk has an `async` variant whose name begins with `a` (`aappend`, `aload`, …). It runs on a
    worker thread and so does not block the event loop.
    """

    _closer = "session_close"

    def __init__(self, store: "Store", handle: int):
        super().__init__(handle)
        self.store = store
        self.id = c.call_text("session_id", handle)
        self._argument = c.handle_argument(handle)

    def __repr__(self) -> str:
        return f"Session({self.id!r})"

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    # Entries.

    def append(
        self,
        entries: Union[NewEntry, Iterable[NewEntry]],
        *,
        expected_tail: Optional[str] = None,
        durability: Optional[str] = None,
        turn: Optional[int] = None,
    ) -> Appended:
        """Appends a batch: either all of it is stored, or nothing. It is durable when this returns, unless it is
        "buffered".

        `Conflict` when `expected_tail` is not the tail, or when a later turn than `turn` has begun.
        """
        options: Any = None
        if expected_tail is not None or durability is not None or turn is not None:
            options = c.AppendOptions()
            c.library.bough_append_options_init(ctypes.byref(options), ctypes.sizeof(options))
            options.durability = c.choice(durability, _DURABILITY, "durability")
            options.expected_tail = c.text(expected_tail)
            options.turn = 0 if turn is None else c.whole_number(turn, "turn")
            options = ctypes.byref(options)
        if isinstance(entries, NewEntry):
            if self._handle is None:
                self._open()
            return _appended(Appended, entries._append(self._argument, options))
        batch, count = filled_batch(entries)
        counts = c.Appended()
        last = c.call_text("append", self._open(), batch, count, options, ctypes.byref(counts))
        return Appended(last, counts.appended, counts.duplicates)

    def begin_turn(self) -> int:
        """Begins a turn; appends that carry an earlier turn are refused from now on, from any process or machine."""
        turn = ctypes.c_uint64()
        c.call("begin_turn", self._open(), ctypes.byref(turn))
        return turn.value

    def lease_turn(self, lease_ms: int) -> int:
        """Begins a turn that holds the session for `lease_ms`. Raises `Busy` at once while the lease of another turn
        is running."""
        turn = ctypes.c_uint64()
        c.call("lease_turn", self._open(), c.whole_number(lease_ms, "lease_ms"), ctypes.byref(turn))
        return turn.value

    def renew_turn(self, turn: int, lease_ms: int) -> None:
        """Makes the lease of a turn end `lease_ms` from now; 0 ends it. `Conflict` when a later turn has begun."""
        c.call("renew_turn", self._open(), c.whole_number(turn, "turn"), c.whole_number(lease_ms, "lease_ms"))

    def load(
        self,
        *,
        branch: Optional[str] = None,
        last: int = 0,
        start: int = 0,
        limit: Optional[int] = None,
        limit_bytes: Optional[int] = None,
        type: Optional[str] = None,
        show_redacted: bool = False,
    ) -> List[Entry]:
        """Loads entries in log order, or those of the branch that ends in an entry, root first."""
        options = c.LoadOptions()
        c.library.bough_load_options_init(ctypes.byref(options), ctypes.sizeof(options))
        options.from_ = c.whole_number(start, "start")
        options.last = c.whole_number(last, "last")
        if limit is not None:
            options.limit = c.whole_number(limit, "limit")
        if limit_bytes is not None:
            options.limit_bytes = c.whole_number(limit_bytes, "limit_bytes")
        options.branch = c.text(branch)
        options.type = c.text(type)
        options.show_redacted = int(show_redacted)
        return taken_entries(c.call_handle("load", self._open(), ctypes.byref(options)))

    def entry(self, entry_id: str) -> Entry:
        return taken_entries(c.call_handle("load_entry", self._open(), c.text(entry_id)))[0]

    def history(self, entry_id: Optional[str] = None) -> List[Entry]:
        """Returns the conversation from its root to an entry (by default the head), without control entries."""
        return taken_entries(c.call_handle("load_history", self._open(), c.text(entry_id)))

    def cursor(self, position: Optional[str] = None) -> Cursor:
        return Cursor(c.call_handle("cursor_open", self._open(), c.text(position)), self.store)

    def follow(self, position: Optional[str] = None) -> Follower:
        """Follows from a position, or from the beginning."""
        return Follower(c.call_handle("follower_open", self._open(), c.text(position)), self.store)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.cursor())

    async def __aiter__(self) -> AsyncIterator[Entry]:
        with await self.acursor() as cursor:
            async for entry in cursor:
                yield entry

    # State and tree.

    def state(self) -> Dict[str, Any]:
        return c.call_json("session_state", self._open())

    @property
    def head(self) -> Optional[str]:
        """The entry that the next turn continues from; None before the first entry."""
        return self.state()["headId"] or None

    @property
    def tail(self) -> str:
        return str(self.state()["tailId"])

    def move_head(self, entry_id: Optional[str]) -> None:
        c.call("move_head", self._open(), c.text(entry_id))

    def set_title(self, title: str) -> None:
        c.call("set_title", self._open(), c.text(title))

    def label(self, entry_id: str, name: str) -> None:
        c.call("label_set", self._open(), c.text(entry_id), c.text(name))

    def unlabel(self, name: str) -> None:
        c.call("label_remove", self._open(), c.text(name))

    def labels(self) -> List[Dict[str, Any]]:
        return c.call_list("labels", "label_list", self._open())

    def redact(self, entry_id: str, *, by: str, reason: str) -> None:
        """Hides an entry's payload from every view; the log keeps the payload."""
        c.call("redact", self._open(), c.text(entry_id), c.text(by), c.text(reason))

    def fork(
        self,
        entry_id: str,
        *,
        id: Optional[str] = None,
        key: Optional[str] = None,
        cwd: Optional[str] = None,
        title: Optional[str] = None,
    ) -> "Session":
        """Creates a session that continues from an entry and shares its history."""
        options = self.store._new_session(id, key, cwd, title)
        return Session(self.store, c.call_handle("fork", self._open(), c.text(entry_id), ctypes.byref(options)))

    def tree(self) -> Dict[str, Any]:
        return c.call_json("tree", self._open())

    def branches(self) -> List[Dict[str, Any]]:
        return c.call_list("branches", "branches", self._open())

    def diff(self, left: Optional[str] = None, right: Optional[str] = None, other: Optional["Session"] = None) -> Dict[str, Any]:
        session = self if other is None else other
        if not isinstance(session, Session):
            raise TypeError(f"a Session is expected, not {type(session).__name__}")
        return c.call_json("diff", self._open(), c.text(left), session._open(), c.text(right))

    # Messages.

    def context(self, **options: Any) -> Dict[str, Any]:
        """Builds what a model gets. Options: dialect, at, budgetTokens, keepPendingCalls, strict, systemPrompt,
        tools, thinkingAsText."""
        return c.call_json("context", self._open(), c.text(json.dumps(options) if options else None))

    def unfinished_calls(self) -> List[Dict[str, Any]]:
        return c.call_list("calls", "unfinished_calls", self._open())

    def migrate_provider(self, dialect: str) -> Tuple["Session", Dict[str, Any]]:
        """Makes a fork whose messages are in another dialect; also returns the report of what was lost."""
        handle, report = ctypes.c_void_p(), c.OutText()
        mine = self._open()
        code = c.library.bough_migrate_provider(mine, c.text(dialect), ctypes.byref(handle), ctypes.byref(report))
        c.check(code, mine)
        assert handle.value is not None
        return Session(self.store, handle.value), json.loads(c.taken_bytes(report))

    # Upkeep.

    def verify(self) -> Dict[str, Any]:
        return c.call_json("verify", self._open())

    def repair(self) -> Dict[str, Any]:
        return c.call_json("repair", self._open())

    def migrate(self) -> Dict[str, Any]:
        return c.call_json("migrate", self._open())

    def archive(self) -> Dict[str, Any]:
        return c.call_json("archive", self._open())

    def forks(self) -> List[str]:
        """Returns the ids of the sessions that share the history of this one."""
        return c.call_list("sessionIds", "forks", self._open())

    def detach(self, *, rest: bool = False) -> None:
        """Gives a fork its own copy of the history that it shares; with `rest`, of the part that is left of a lost
        session."""
        c.call("detach", self._open(), int(rest))

    def torn(self) -> Dict[str, Any]:
        """Returns the bytes after the last complete batch that a crash or damage left and that were moved aside."""
        return c.call_json("torn", self._open())

    def put_back_torn(self) -> Dict[str, Any]:
        return c.call_json("torn_put_back", self._open())

    def drop_torn(self, file_bytes: int) -> None:
        """Deletes what was moved aside, if its size is still `torn()["fileBytes"]`."""
        c.call("torn_drop", self._open(), c.whole_number(file_bytes, "file_bytes"))

    def erase(self, entry_ids: Sequence[str], *, by: str, reason: str) -> Dict[str, Any]:
        """Removes payloads forever, from every file of the store; a receipt replaces each payload."""
        if isinstance(entry_ids, str):
            raise TypeError("entry_ids is a list of ids, not one text")
        request = json.dumps({"entryIds": list(entry_ids), "by": by, "reason": reason})
        return c.call_json("erase", self._open(), c.text(request))

    # The async variants.

    aappend = twin(append)
    abegin_turn = twin(begin_turn)
    alease_turn = twin(lease_turn)
    arenew_turn = twin(renew_turn)
    aload = twin(load)
    aentry = twin(entry)
    ahistory = twin(history)
    acursor = twin(cursor)
    afollow = twin(follow)
    astate = twin(state)
    amove_head = twin(move_head)
    aset_title = twin(set_title)
    alabel = twin(label)
    aunlabel = twin(unlabel)
    alabels = twin(labels)
    aredact = twin(redact)
    afork = twin(fork)
    atree = twin(tree)
    abranches = twin(branches)
    adiff = twin(diff)
    acontext = twin(context)
    aunfinished_calls = twin(unfinished_calls)
    amigrate_provider = twin(migrate_provider)
    averify = twin(verify)
    arepair = twin(repair)
    amigrate = twin(migrate)
    aarchive = twin(archive)
    aforks = twin(forks)
    adetach = twin(detach)
    atorn = twin(torn)
    aput_back_torn = twin(put_back_torn)
    adrop_torn = twin(drop_torn)
    aerase = twin(erase)
