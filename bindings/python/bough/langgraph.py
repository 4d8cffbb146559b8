"""A LangGraph checkpointer: one session per thread, in the same layout as the package for Node. The parent of a
checkpoint's entry is the entry of its parent checkpoint. Only the channels that changed are stored with a
checkpoint, and only the new part of a value that grew."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import os
from collections import OrderedDict
from typing import Any, AsyncIterator, Callable, Dict, Iterator, Optional, Sequence, Tuple

try:
    from langgraph.checkpoint.base import (
        WRITES_IDX_MAP,
        BaseCheckpointSaver,
        CheckpointTuple,
        get_checkpoint_id,
        get_checkpoint_metadata,
    )
except ImportError as error:  # pragma: no cover
    raise ImportError("bough.langgraph needs the package langgraph-checkpoint") from error

from ._entry import NewEntry
from ._errors import Conflict, InvalidArgument, NotFound
from ._foreign_key import names_of, open_named, session_id_of
from ._locks import holding, new_lock
from ._session import Session
from ._store import Store

_PREFIX = "langgraph-"
_TASKS = "__pregel_tasks"
_PART = 1000
_THREADS = 100  # keep the state of this many threads; that of others is read again


def _packed(typed: Tuple[str, bytes]) -> Dict[str, Any]:
    kind, data = typed
    try:
        return {"type": kind, "text": data.decode()}
    except UnicodeDecodeError:
        return {"type": kind, "base64": base64.b64encode(data).decode()}


def _unpacked(value: Dict[str, Any]) -> Tuple[str, bytes]:
    if "base64" in value:
        return value["type"], base64.b64decode(value["base64"])
    return value["type"], value["text"].encode("utf-8", "surrogatepass")


def _common(left: bytes, right: bytes) -> int:
    """Returns how many UTF-16 units both texts have in common at the start."""
    known, most = 0, min(len(left), len(right)) // 2
    while known < most:
        middle = (known + most + 1) // 2
        if left[2 * known : 2 * middle] == right[2 * known : 2 * middle]:
            known = middle
        else:
            most = middle - 1
    return known


def _units(text: str) -> bytes:
    return text.encode("utf-16-le", "surrogatepass")  # offsets are counted as JavaScript counts them


def _turned(units: bytes) -> bytes:
    """Returns the units in reverse order."""
    turned = bytearray(len(units))
    turned[::2], turned[1::2] = units[-2::-2], units[::-2]
    return bytes(turned)


class _Value:
    """A stored value of a channel: the whole value, or the part between the beginning and end that it shares with
    the previous one."""

    def __init__(self, entry_id: str, stored: Dict[str, Any], before: Optional["_Value"]):
        self.entry_id = entry_id
        self.stored = stored
        self.before = before
        self._known: Optional[str] = None

    @property
    def is_readable(self) -> bool:
        """True when every value that this one is a change of is present."""
        value = self
        while value._known is None and value.before is not None:
            value = value.before
        return value._known is not None or "base" not in value.stored

    @property
    def text(self) -> Optional[str]:
        """The serialized value; None when it is not text."""
        if "base64" in self.stored:
            return None
        if self._known is None:
            chain, value = [], self
            while value._known is None and value.before is not None:
                chain.append(value)
                value = value.before
            if value._known is None and "base" in value.stored:
                raise NotFound(
                    f"the value of a channel is stored as a change of the one in entry {value.stored['base']}, which was redacted, erased or damaged",
                    code="not_found",
                )
            text = value.stored["text"] if value._known is None else value._known
            for each in reversed(chain):
                units = _units(text)
                head, tail = (2 * count for count in each.stored["keep"])
                whole = units[:head] + _units(each.stored["text"]) + (units[len(units) - tail :] if tail else b"")
                text = whole.decode("utf-16-le", "surrogatepass")
            self._known = text
            if self.before is not None:
                self.before._known = None  # only the newest value of a chain is likely to be read again
        return self._known

    @property
    def typed(self) -> Tuple[str, bytes]:
        text = self.text
        return _unpacked(self.stored if text is None else {"type": self.stored["type"], "text": text})


def _stored(typed: Tuple[str, bytes], before: Optional[_Value]) -> Dict[str, Any]:
    """Returns what to store of a value: only what has changed since the previous one, if that is shorter."""
    whole = _packed(typed)
    old = before.text if before and before.is_readable and "text" in whole and before.stored["type"] == whole["type"] else None
    if before is None or old is None:
        return whole
    was, now = _units(old), _units(whole["text"])
    head = _common(was, now)
    tail = _common(_turned(was[2 * head :]), _turned(now[2 * head :]))
    if head + tail < 64:
        return whole
    middle = now[2 * head : len(now) - 2 * tail].decode("utf-16-le", "surrogatepass")
    return {"type": whole["type"], "base": before.entry_id, "keep": [head, tail], "text": middle}


def _value_of(checkpoints: Dict[str, Dict[str, Any]], channel: str, version: Any) -> Optional[_Value]:
    """Returns a stored value of this version. There may be several, because each branch may count its versions
    separately."""
    for each in checkpoints.values():
        value: Optional[_Value] = each["values"].get(channel)
        if value is not None and value.stored["version"] == version:
            return value
    return None


class _Thread:
    """What is known of a thread. Its session is read once; later reads return only what is new."""

    def __init__(self, session: Session):
        self.session = session
        self.namespaces: Dict[str, Dict[str, Any]] = {}
        self._values: Dict[Tuple[str, str], _Value] = {}  # by the entry that stored them, and the channel
        self._seen = 0
        self._is_whole = True
        self.tail = ""
        self.lock = new_lock()

    def refresh(self) -> None:
        # Starts with the last entry that was read. If another entry is in its place, another process has deleted the
        # thread and started it again.
        while True:
            known = 1 if self._seen else 0
            entries = self.session.load(start=self._seen - known, limit=_PART)
            if not self._is_whole or known and not (entries and entries[0].id == self.tail):
                self.namespaces.clear()
                self._values.clear()
                self._seen = 0
                self._is_whole = True
                continue
            self._is_whole = False  # until the following statements are done, because Ctrl-C may come in between
            for entry in entries[known:]:
                if entry.type == "custom":
                    self._take(entry.id, entry.payload)
            self._seen += len(entries) - known
            if entries:
                self.tail = entries[-1].id
            self._is_whole = True
            if len(entries) < _PART:
                return

    def namespace(self, name: str) -> Dict[str, Any]:
        return self.namespaces.setdefault(name, {"checkpoints": {}, "writes": {}})

    def _take(self, entry_id: str, payload: Dict[str, Any]) -> None:
        if payload.get("kind") == "checkpoint":
            namespace = self.namespace(payload["ns"])
            parent = namespace["checkpoints"].get(payload.get("parent"))
            values = dict(parent["values"]) if parent else {}
            for channel, stored in payload["values"].items():
                before = self._values.get((stored["base"], channel)) if "base" in stored else None
                values[channel] = self._values[entry_id, channel] = _Value(entry_id, stored, before)
            namespace["checkpoints"][payload["id"]] = {**payload, "entryId": entry_id, "values": values}
        elif payload.get("kind") == "writes":
            writes = self.namespace(payload["ns"])["writes"].setdefault(payload["checkpoint"], {})
            for index, channel, value in payload["writes"]:
                key = (payload["task"], index)
                if index < 0 or key not in writes:
                    writes[key] = (payload["task"], channel, value)


class BoughSaver(BaseCheckpointSaver):
    """`location` is a folder, a database address, "memory:", or an open Store of the caller."""

    def __init__(self, location: Any = None, *, serde: Any = None):
        super().__init__(serde=serde)
        self._owned = not isinstance(location, Store)
        self._store = location if isinstance(location, Store) else Store(location)
        self._begin()

    def _begin(self) -> None:
        self._threads: "OrderedDict[str, _Thread]" = OrderedDict()  # the most recently used thread comes last
        self._lock = new_lock()
        self._process = os.getpid()

    def _locked(self, work: Callable[..., Any], *arguments: Any) -> Any:
        if self._process != os.getpid():  # in a child of fork, a lock may be held by a thread that only the parent has
            self._begin()
        return holding(self._lock, work, *arguments)

    def close(self) -> None:
        self._locked(lambda: self._threads.clear())
        if self._owned:
            self._store.close()

    def __enter__(self) -> "BoughSaver":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    async def __aenter__(self) -> "BoughSaver":
        return self

    async def __aexit__(self, *_: Any) -> None:
        await asyncio.to_thread(self.close)

    def _known(self, thread_id: str, create: bool) -> Optional[_Thread]:
        def look() -> Optional[_Thread]:
            thread = self._threads.get(thread_id)
            if thread is None:
                session = open_named(self._store, _PREFIX, thread_id, create=create)
                if session is None:
                    return None
                thread = _Thread(session)
            self._threads[thread_id] = thread
            self._threads.move_to_end(thread_id)
            if len(self._threads) > _THREADS:
                self._threads.popitem(last=False)  # closed when its last user drops it
            return thread

        known: Optional[_Thread] = self._locked(look)
        return known

    def _with(self, thread_id: str, work: Callable[[Optional[_Thread]], Any], create: bool = False) -> Any:
        """Returns the result of `work` with the thread in its current state; one caller at a time."""
        while True:
            thread = self._known(thread_id, create)
            if thread is None:
                return work(None)
            is_there, result = holding(thread.lock, self._work_on, thread, work)
            if is_there:
                return result
            self._forget(thread_id, thread)

    @staticmethod
    def _work_on(thread: _Thread, work: Callable[[Optional[_Thread]], Any]) -> Tuple[bool, Any]:
        try:
            thread.refresh()
        except NotFound:  # another process has deleted it since it was opened
            return False, None
        return True, work(thread)

    def _load(self, value: Dict[str, Any]) -> Any:
        return self.serde.loads_typed(_unpacked(value))

    def _tuple(self, thread_id: str, ns: str, namespace: Dict[str, Any], record: Dict[str, Any]) -> Any:
        checkpoint = self._load(record["checkpoint"])
        checkpoint["channel_values"] = {
            channel: self.serde.loads_typed(record["values"][channel].typed)
            for channel, version in checkpoint["channel_versions"].items()
            if channel in record["values"] and record["values"][channel].stored["version"] == version
        }
        if checkpoint.get("v", 4) < 4 and record.get("parent"):
            self._add_pending_sends(checkpoint, namespace, record["parent"])
        writes = namespace["writes"].get(record["id"], {}).values()

        def at(checkpoint_id: str) -> Dict[str, Any]:
            return {"configurable": {"thread_id": thread_id, "checkpoint_ns": ns, "checkpoint_id": checkpoint_id}}

        parent = record.get("parent")
        return CheckpointTuple(
            at(record["id"]),
            checkpoint,
            self._load(record["metadata"]),
            at(parent) if parent else None,
            [(task, channel, self._load(value)) for task, channel, value in writes],
        )

    def _add_pending_sends(self, checkpoint: Dict[str, Any], namespace: Dict[str, Any], parent_id: str) -> None:
        """Adds the sends of the previous step: checkpoints before version 4 kept them with the writes of their
        parent."""
        written = sorted(namespace["writes"].get(parent_id, {}).items())  # by task and index
        sends = [self._load(value) for _, (_, channel, value) in written if channel == _TASKS]
        if not sends:
            return
        checkpoint["channel_values"][_TASKS] = sends
        versions = checkpoint["channel_versions"]
        versions[_TASKS] = max(versions.values()) if versions else self.get_next_version(None, None)

    def get_tuple(self, config: Any) -> Optional[Any]:
        settings = config["configurable"]
        thread_id, ns = str(settings["thread_id"]), settings.get("checkpoint_ns", "")

        def tuple_in(thread: Optional[_Thread]) -> Optional[Any]:
            namespace = thread.namespaces.get(ns) if thread else None
            if not namespace or not namespace["checkpoints"]:
                return None
            checkpoint_id = get_checkpoint_id(config) or max(namespace["checkpoints"])
            record = namespace["checkpoints"].get(checkpoint_id)
            return self._tuple(thread_id, ns, namespace, record) if record else None

        return self._with(thread_id, tuple_in)

    def list(self, config: Any, *, filter: Optional[Dict[str, Any]] = None, before: Any = None, limit: Optional[int] = None) -> Iterator[Any]:
        settings = (config or {}).get("configurable", {})
        before_id = get_checkpoint_id(before) if before else None
        names = [str(settings["thread_id"])] if "thread_id" in settings else names_of(self._store, _PREFIX)
        left = limit
        for name in names:
            spaces = self._with(name, lambda thread: [*(thread.namespaces if thread else {}).items()])
            for ns, namespace in spaces:
                if settings.get("checkpoint_ns") not in (None, ns):
                    continue
                for checkpoint_id in sorted(namespace["checkpoints"], reverse=True):
                    if settings.get("checkpoint_id") not in (None, checkpoint_id) or (before_id and checkpoint_id >= before_id):
                        continue
                    found = self._with(name, lambda _: self._tuple(name, ns, namespace, namespace["checkpoints"][checkpoint_id]))
                    if filter and any(found.metadata.get(key) != value for key, value in filter.items()):
                        continue
                    if left is not None:
                        if left <= 0:
                            return
                        left -= 1
                    yield found

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        settings = config["configurable"]
        thread_id, ns = str(settings["thread_id"]), settings.get("checkpoint_ns", "")
        parent_id = settings.get("checkpoint_id")
        rest = dict(checkpoint)
        channel_values = rest.pop("channel_values")
        payload = {
            "kind": "checkpoint",
            "ns": ns,
            "id": checkpoint["id"],
            "checkpoint": _packed(self.serde.dumps_typed(rest)),
            "metadata": _packed(self.serde.dumps_typed(get_checkpoint_metadata(config, metadata))),
        }
        if parent_id:
            payload["parent"] = parent_id
        typed = {channel: self.serde.dumps_typed(channel_values[channel]) for channel in new_versions if channel in channel_values}

        def with_values(parent: Optional[Dict[str, Any]], checkpoints: Dict[str, Dict[str, Any]]) -> Dict[str, Any]:
            before = parent["values"] if parent else {}
            values = {channel: {"version": new_versions[channel], **_stored(value, before.get(channel))} for channel, value in typed.items()}
            # A copy of a checkpoint has no new versions, and has the same parent as the original checkpoint.
            for channel, value in channel_values.items():
                version = checkpoint["channel_versions"].get(channel)
                if channel in values or (channel in before and before[channel].stored["version"] == version):
                    continue
                original = _value_of(checkpoints, channel, version)
                if original is not None:
                    values[channel] = {"version": version, **_stored(self.serde.dumps_typed(value), original)}
            return {**payload, "values": values}

        self._append(thread_id, ns, parent_id, with_values)
        return {"configurable": {"thread_id": thread_id, "checkpoint_ns": ns, "checkpoint_id": checkpoint["id"]}}

    def put_writes(self, config: Any, writes: Sequence[Tuple[str, Any]], task_id: str, task_path: str = "") -> None:
        settings = config["configurable"]
        ns, checkpoint_id = settings.get("checkpoint_ns", ""), settings["checkpoint_id"]
        stored = [
            [WRITES_IDX_MAP.get(channel, index), channel, _packed(self.serde.dumps_typed(value))]
            for index, (channel, value) in enumerate(writes)
        ]
        payload = {"kind": "writes", "ns": ns, "checkpoint": checkpoint_id, "task": task_id, "writes": stored}
        self._append(str(settings["thread_id"]), ns, checkpoint_id, lambda *_: payload)

    def _append(self, thread_id: str, ns: str, checkpoint_id: Optional[str], payload_of: Callable[..., Dict[str, Any]]) -> None:
        """Appends data of a checkpoint. `payload_of` receives what is known of that checkpoint and of all
        checkpoints; it is called again when that has changed."""

        def append(thread: Optional[_Thread]) -> bool:
            assert thread is not None
            checkpoints = thread.namespace(ns)["checkpoints"]
            known = checkpoints.get(checkpoint_id)
            entry_id = known["entryId"] if known else None
            entry = NewEntry(payload_of(known, checkpoints), type="custom", parent_id=entry_id, root=entry_id is None)
            try:
                thread.session.append(entry, expected_tail=thread.tail)
                return True
            except (Conflict, InvalidArgument):
                # Another writer was faster; it may even have deleted the thread, including the parent, and started it
                # again.
                tail = thread.tail
                with contextlib.suppress(NotFound):  # deleted: the next round handles that
                    thread.refresh()
                    if thread.tail == tail:
                        raise
            except NotFound:  # another process has deleted the thread since it was read, so start it again
                self._forget(thread_id, thread)
            return False

        while not self._with(thread_id, append, create=True):
            pass

    def _forget(self, thread_id: str, thread: _Thread) -> None:
        def forget() -> None:
            if self._threads.get(thread_id) is thread:
                del self._threads[thread_id]

        self._locked(forget)

    def delete_thread(self, thread_id: str) -> None:
        """Removes the thread's session forever."""
        self._locked(lambda: self._threads.pop(str(thread_id), None))
        try:
            self._store.remove_trashed(self._store.trash(session_id_of(_PREFIX, str(thread_id))))
        except NotFound:
            pass

    # The async variants.

    async def aget_tuple(self, config: Any) -> Optional[Any]:
        return await asyncio.to_thread(self.get_tuple, config)

    async def alist(self, config: Any, **options: Any) -> AsyncIterator[Any]:
        steps, end = self.list(config, **options), object()
        while (found := await asyncio.to_thread(lambda: next(steps, end))) is not end:
            yield found

    async def aput(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        return await asyncio.to_thread(self.put, config, checkpoint, metadata, new_versions)

    async def aput_writes(self, config: Any, writes: Sequence[Tuple[str, Any]], task_id: str, task_path: str = "") -> None:
        await asyncio.to_thread(self.put_writes, config, writes, task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        await asyncio.to_thread(self.delete_thread, thread_id)
