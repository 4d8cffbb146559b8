"""A LangGraph checkpointer: one session a thread, in the layout of the one for Node. A checkpoint is an entry whose parent is
the entry of its parent checkpoint; only the channels that changed are stored with it."""

from __future__ import annotations

import asyncio
import base64
from typing import Any, AsyncIterator, Dict, Iterator, Optional, Sequence, Tuple

try:
    from langgraph.checkpoint.base import (
        WRITES_IDX_MAP,
        BaseCheckpointSaver,
        CheckpointTuple,
        get_checkpoint_id,
    )
except ImportError as error:  # pragma: no cover
    raise ImportError("bough.langgraph needs the package langgraph-checkpoint") from error

from ._entry import NewEntry
from ._errors import NotFound
from ._foreign_key import names_of, open_named, session_id_of
from ._session import Session
from ._store import Store

_PREFIX = "langgraph-"
_PART = 1000


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


class _Thread:
    """What is known of a thread: read from its session once, then only what is new."""

    def __init__(self, session: Session):
        self.session = session
        self.namespaces: Dict[str, Dict[str, Any]] = {}
        self._stored: Dict[Tuple[str, str], Dict[str, Any]] = {}
        self._seen = 0

    def refresh(self) -> None:
        while True:
            entries = self.session.load(start=self._seen, limit=_PART)
            for entry in entries:
                if entry.type == "custom":
                    self._take(entry.id, entry.payload)
            self._seen += len(entries)
            if len(entries) < _PART:
                return

    def namespace(self, name: str) -> Dict[str, Any]:
        return self.namespaces.setdefault(name, {"checkpoints": {}, "writes": {}})

    def _take(self, entry_id: str, payload: Dict[str, Any]) -> None:
        if payload.get("kind") == "checkpoint":
            namespace = self.namespace(payload["ns"])
            parent = namespace["checkpoints"].get(payload.get("parent"))
            values = dict(parent["values"]) if parent else {}
            for channel, value in payload["values"].items():
                values[channel] = self._stored[entry_id, channel] = self._whole(channel, value)
            namespace["checkpoints"][payload["id"]] = {**payload, "entryId": entry_id, "values": values}
        elif payload.get("kind") == "writes":
            writes = self.namespace(payload["ns"])["writes"].setdefault(payload["checkpoint"], {})
            for index, channel, value in payload["writes"]:
                key = (payload["task"], index)
                if index < 0 or key not in writes:
                    writes[key] = (payload["task"], channel, value)

    def _whole(self, channel: str, value: Dict[str, Any]) -> Dict[str, Any]:
        """A value that was stored as the part between the beginning and the end of an older one."""
        if "keep" not in value:
            return value
        before = self._stored[value["base"], channel]["text"]
        units = before.encode("utf-16-le", "surrogatepass")  # places are counted as JavaScript counts them
        head, tail = (2 * count for count in value["keep"])
        middle = value["text"].encode("utf-16-le", "surrogatepass")
        whole = units[:head] + middle + (units[len(units) - tail :] if tail else b"")
        return {"type": value["type"], "version": value["version"], "text": whole.decode("utf-16-le", "surrogatepass")}


class BoughSaver(BaseCheckpointSaver):
    """`location` is a folder, a database's address, "memory:", or an open Store of yours."""

    def __init__(self, location: Any = None, *, serde: Any = None):
        super().__init__(serde=serde)
        self._owned = not isinstance(location, Store)
        self._store = location if isinstance(location, Store) else Store(location)
        self._threads: Dict[str, _Thread] = {}

    def close(self) -> None:
        for thread in self._threads.values():
            thread.session.close()
        self._threads.clear()
        if self._owned:
            self._store.close()

    def _thread(self, thread_id: str, create: bool = False) -> Optional[_Thread]:
        thread = self._threads.get(thread_id)
        if thread is None:
            session = open_named(self._store, _PREFIX, thread_id, create=create)
            if session is None:
                return None
            thread = self._threads[thread_id] = _Thread(session)
        thread.refresh()
        return thread

    def _load(self, value: Dict[str, Any]) -> Any:
        return self.serde.loads_typed(_unpacked(value))

    def _tuple(self, thread_id: str, ns: str, namespace: Dict[str, Any], record: Dict[str, Any]) -> Any:
        checkpoint = self._load(record["checkpoint"])
        checkpoint["channel_values"] = {
            channel: self._load(record["values"][channel])
            for channel, version in checkpoint["channel_versions"].items()
            if channel in record["values"] and record["values"][channel]["version"] == version
        }
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

    def get_tuple(self, config: Any) -> Optional[Any]:
        settings = config["configurable"]
        thread_id, ns = str(settings["thread_id"]), settings.get("checkpoint_ns", "")
        thread = self._thread(thread_id)
        namespace = thread.namespaces.get(ns) if thread else None
        if not namespace or not namespace["checkpoints"]:
            return None
        checkpoint_id = get_checkpoint_id(config) or max(namespace["checkpoints"])
        record = namespace["checkpoints"].get(checkpoint_id)
        return self._tuple(thread_id, ns, namespace, record) if record else None

    def list(self, config: Any, *, filter: Optional[Dict[str, Any]] = None, before: Any = None, limit: Optional[int] = None) -> Iterator[Any]:
        settings = (config or {}).get("configurable", {})
        before_id = get_checkpoint_id(before) if before else None
        names = [str(settings["thread_id"])] if "thread_id" in settings else names_of(self._store, _PREFIX)
        left = limit
        for name in names:
            thread = self._thread(name)
            for ns, namespace in (thread.namespaces if thread else {}).items():
                if settings.get("checkpoint_ns", ns) != ns:
                    continue
                for checkpoint_id in sorted(namespace["checkpoints"], reverse=True):
                    if settings.get("checkpoint_id", checkpoint_id) != checkpoint_id or (before_id and checkpoint_id >= before_id):
                        continue
                    found = self._tuple(name, ns, namespace, namespace["checkpoints"][checkpoint_id])
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
        thread = self._thread(thread_id, create=True)
        assert thread is not None
        parent = thread.namespace(ns)["checkpoints"].get(parent_id)
        rest = dict(checkpoint)
        channel_values = rest.pop("channel_values")
        payload = {
            "kind": "checkpoint",
            "ns": ns,
            "id": checkpoint["id"],
            "checkpoint": _packed(self.serde.dumps_typed(rest)),
            "metadata": _packed(self.serde.dumps_typed(metadata)),
            "values": {
                channel: {"version": version, **_packed(self.serde.dumps_typed(channel_values[channel]))}
                for channel, version in new_versions.items()
                if channel in channel_values
            },
        }
        if parent_id:
            payload["parent"] = parent_id
        self._append(thread, payload, parent)
        return {"configurable": {"thread_id": thread_id, "checkpoint_ns": ns, "checkpoint_id": checkpoint["id"]}}

    def put_writes(self, config: Any, writes: Sequence[Tuple[str, Any]], task_id: str, task_path: str = "") -> None:
        settings = config["configurable"]
        ns, checkpoint_id = settings.get("checkpoint_ns", ""), settings["checkpoint_id"]
        thread = self._thread(str(settings["thread_id"]), create=True)
        assert thread is not None
        stored = [
            [WRITES_IDX_MAP.get(channel, index), channel, _packed(self.serde.dumps_typed(value))]
            for index, (channel, value) in enumerate(writes)
        ]
        payload = {"kind": "writes", "ns": ns, "checkpoint": checkpoint_id, "task": task_id, "writes": stored}
        self._append(thread, payload, thread.namespace(ns)["checkpoints"].get(checkpoint_id))

    @staticmethod
    def _append(thread: _Thread, payload: Dict[str, Any], parent: Optional[Dict[str, Any]]) -> None:
        parent_id = parent["entryId"] if parent else None
        thread.session.append(NewEntry(payload, type="custom", parent_id=parent_id, root=parent_id is None))

    def delete_thread(self, thread_id: str) -> None:
        """Removes the thread's session, forever."""
        thread = self._threads.pop(str(thread_id), None)
        if thread:
            thread.session.close()
        try:
            self._store.remove_trashed(self._store.trash(session_id_of(_PREFIX, str(thread_id))))
        except NotFound:
            pass

    # The same without blocking the event loop.

    async def aget_tuple(self, config: Any) -> Optional[Any]:
        return await asyncio.to_thread(self.get_tuple, config)

    async def alist(self, config: Any, **options: Any) -> AsyncIterator[Any]:
        for found in await asyncio.to_thread(lambda: [*self.list(config, **options)]):
            yield found

    async def aput(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        return await asyncio.to_thread(self.put, config, checkpoint, metadata, new_versions)

    async def aput_writes(self, config: Any, writes: Sequence[Tuple[str, Any]], task_id: str, task_path: str = "") -> None:
        await asyncio.to_thread(self.put_writes, config, writes, task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        await asyncio.to_thread(self.delete_thread, thread_id)
