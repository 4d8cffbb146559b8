"""A session of the OpenAI Agents SDK. Items are entries of a branch. Items that are popped or cleared stay in the
session as another branch; only the head moves."""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import Any, Iterator, List, Optional, Tuple

try:
    from agents.memory.session import SessionABC
except ImportError as error:  # pragma: no cover
    raise ImportError("bough.openai_agents needs the package openai-agents") from error

from ._entry import Entry, NewEntry
from ._errors import Conflict
from ._foreign_key import open_named
from ._session import Session
from ._store import Store

_PREFIX = "openai-agents-"


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        texts = [part.get("text") for part in content if isinstance(part, dict)]
        return "\n".join(text for text in texts if isinstance(text, str))
    return ""


def _entry(item: Any) -> NewEntry:
    role = item.get("role")
    shown = {"role": role if role in ("user", "assistant", "system") else "assistant", "content": _text(item.get("content")) or f"[{item.get('type', 'item')}]"}
    return NewEntry({"dialect": "bough", "message": shown, "item": item})


def _head(entry_id: Optional[str]) -> NewEntry:
    return NewEntry({"entryId": entry_id}, type="head")


class BoughSession(SessionABC):
    """`session_id` may be any text. `location` is a folder, a database address, "memory:", or an open Store of the
    caller."""

    def __init__(self, session_id: str, location: Any = None, *, session_settings: Any = None):
        self.session_id = session_id
        self.session_settings = session_settings  # its `limit` is the default limit of get_items
        self._owned = not isinstance(location, Store)
        self._store = location if isinstance(location, Store) else Store(location)

    def close(self) -> None:
        if self._owned:
            self._store.close()

    @contextlib.contextmanager
    def _session(self, create: bool = False) -> Iterator[Optional[Session]]:
        """Yields the session; None when nothing was stored under its name and `create` is not set."""
        session = open_named(self._store, _PREFIX, self.session_id, create=create)
        try:
            yield session
        finally:
            if session is not None:
                session.close()

    def __enter__(self) -> "BoughSession":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    @staticmethod
    def _read(session: Session) -> Tuple[str, List[Tuple[Entry, Any]]]:
        state = session.state()
        entries = session.load(branch=state["headId"]) if state["headId"] else []
        items = [(entry, entry.payload.get("item")) for entry in entries if entry.type == "message"]
        return state["tailId"], [(entry, item) for entry, item in items if item is not None]

    def _items(self) -> List[Any]:
        with self._session() as session:
            return [item for _, item in self._read(session)[1]] if session else []

    def _add(self, entries: List[NewEntry]) -> None:
        with self._session(create=True) as session:
            assert session is not None
            session.append(entries)

    def _pop(self) -> Optional[Any]:
        with self._session() as session:
            while session is not None:
                tail, items = self._read(session)
                if not items:
                    break
                entry, item = items[-1]
                try:
                    session.append(_head(entry.parent_id), expected_tail=tail)
                    return item
                except Conflict:  # another process has appended: read again
                    continue
        return None

    def _clear(self) -> None:
        with self._session() as session:
            if session is not None:
                session.move_head(None)

    async def get_items(self, limit: Optional[int] = None) -> List[Any]:
        if limit is None and self.session_settings is not None:
            limit = self.session_settings.limit
        values = await asyncio.to_thread(self._items)
        return values if limit is None else values[-limit:] if limit > 0 else []

    async def add_items(self, items: List[Any]) -> None:
        if items:
            await asyncio.to_thread(self._add, [_entry(json.loads(json.dumps(item, allow_nan=False))) for item in items])

    async def pop_item(self) -> Optional[Any]:
        return await asyncio.to_thread(self._pop)

    async def clear_session(self) -> None:
        await asyncio.to_thread(self._clear)
