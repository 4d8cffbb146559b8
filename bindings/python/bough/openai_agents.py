"""A session of the OpenAI Agents SDK. Items are entries of a branch; what is popped or cleared stays in the session as another
branch, and only the head moves."""

from __future__ import annotations

import asyncio
import json
from typing import Any, List, Optional, Tuple

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
        return "\n".join(part.get("text", "") for part in content if isinstance(part, dict))
    return ""


def _entry(item: Any) -> NewEntry:
    role = item.get("role")
    shown = {"role": role if role in ("user", "assistant", "system") else "assistant", "content": _text(item.get("content")) or f"[{item.get('type', 'item')}]"}
    return NewEntry({"dialect": "bough", "message": shown, "item": item})


def _head(entry_id: Optional[str]) -> NewEntry:
    return NewEntry({"entryId": entry_id}, type="head")


class BoughSession(SessionABC):
    """`session_id` may be any text. `location` is a folder, a database's address, "memory:", or an open Store of yours."""

    def __init__(self, session_id: str, location: Any = None, *, session_settings: Any = None):
        self.session_id = session_id
        self.session_settings = session_settings  # its `limit` is that of get_items where none is given
        self._owned = not isinstance(location, Store)
        self._store = location if isinstance(location, Store) else Store(location)
        self._session: Session = open_named(self._store, _PREFIX, session_id, create=True)  # type: ignore[assignment]

    def close(self) -> None:
        self._session.close()
        if self._owned:
            self._store.close()

    def __enter__(self) -> "BoughSession":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def _read(self) -> Tuple[str, List[Tuple[Entry, Any]]]:
        state = self._session.state()
        entries = self._session.load(branch=state["headId"]) if state["headId"] else []
        items = [(entry, entry.payload.get("item")) for entry in entries if entry.type == "message"]
        return state["tailId"], [(entry, item) for entry, item in items if item is not None]

    def _pop(self) -> Optional[Any]:
        while True:
            tail, items = self._read()
            if not items:
                return None
            entry, item = items[-1]
            try:
                self._session.append(_head(entry.parent_id), expected_tail=tail)
                return item
            except Conflict:  # somebody else wrote meanwhile: look again
                continue

    async def get_items(self, limit: Optional[int] = None) -> List[Any]:
        if limit is None and self.session_settings is not None:
            limit = self.session_settings.limit
        _, items = await asyncio.to_thread(self._read)
        values = [item for _, item in items]
        return values if limit is None else values[-limit:] if limit > 0 else []

    async def add_items(self, items: List[Any]) -> None:
        if items:
            await self._session.aappend([_entry(json.loads(json.dumps(item, allow_nan=False))) for item in items])

    async def pop_item(self) -> Optional[Any]:
        return await asyncio.to_thread(self._pop)

    async def clear_session(self) -> None:
        await self._session.amove_head(None)
