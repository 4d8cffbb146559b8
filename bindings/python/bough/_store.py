"""Stores: open, create, list, search."""

from __future__ import annotations

import asyncio
import ctypes
import functools
import json
import os
import warnings
from typing import Any, Dict, List, Optional, Sequence, Union

from . import _library as c
from ._async import twin
from ._errors import Closed, OutOfDate
from ._reading import no_copy
from ._session import Session


def _current(answer: Dict[str, Any]) -> Dict[str, Any]:
    if "outOfDate" in answer:
        warnings.warn(f"newer entries are missing: {answer['outOfDate']}", OutOfDate, stacklevel=4)
    return answer


class Store:
    """A store of sessions: a folder, a database address, or "memory:". Use it in a `with` statement."""

    def __init__(
        self,
        location: Optional[Union[str, "os.PathLike[str]"]] = None,
        *,
        durability: str = "sync",
        create: bool = True,
        buffered_entries: Optional[int] = None,
        buffered_ms: Optional[int] = None,
        attachment_bytes: Optional[int] = None,
        lock_timeout_ms: Optional[int] = None,
    ):
        self._handle: Optional[int] = None
        options = c.StoreOptions()
        c.library.bough_store_options_init(ctypes.byref(options), ctypes.sizeof(options))
        options.durability = c.choice(durability, {"sync": 0, "buffered": 1}, "durability")
        options.create = int(create)
        if buffered_entries is not None:
            options.buffered_entries = c.whole_number(buffered_entries, "buffered_entries")
        if buffered_ms is not None:
            options.buffered_ms = c.whole_number(buffered_ms, "buffered_ms", 32)
        if attachment_bytes is not None:
            options.attachment_bytes = c.whole_number(attachment_bytes, "attachment_bytes")
        if lock_timeout_ms is not None:
            options.lock_timeout_ms = c.whole_number(lock_timeout_ms, "lock_timeout_ms", 32)
        place = None if location is None else os.fspath(location)
        out = ctypes.c_void_p()
        c.check(c.library.bough_store_open(c.text(place), ctypes.byref(options), ctypes.byref(out)), None)
        self._handle = out.value

    __reduce__ = no_copy

    def _open(self) -> int:
        if self._handle is None:
            raise Closed("the store was closed", code="closed")
        return self._handle

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    async def __aenter__(self) -> "Store":
        return self

    async def __aexit__(self, *_: Any) -> None:
        await self.aclose()

    def close(self) -> None:
        """Makes everything durable and closes the store. After a retryable error the store is still open."""
        if self._handle is None:
            return
        try:
            c.call("store_close", self._handle)
        except Closed:  # another thread has closed it meanwhile
            pass
        except Exception as error:
            if not getattr(error, "retryable", False):
                self._handle = None
            raise
        self._handle = None

    def __del__(self) -> None:
        try:
            self.close()
        except Exception:  # the error cannot be reported here; close() reports it
            pass

    def flush(self) -> None:
        c.call("store_flush", self._open())

    def session_ids(self) -> List[str]:
        return c.call_list("sessionIds", "store_list_ids", self._open())

    @staticmethod
    def _new_session(id: Optional[str], key: Optional[str], cwd: Optional[str], title: Optional[str]) -> c.NewSession:
        options = c.NewSession()
        c.library.bough_new_session_init(ctypes.byref(options), ctypes.sizeof(options))
        options.id, options.key, options.cwd, options.title = c.text(id), c.text(key), c.text(cwd), c.text(title)
        return options

    def create(self, *, id: Optional[str] = None, key: Optional[str] = None, cwd: Optional[str] = None, title: Optional[str] = None) -> Session:
        """Creates a session."""
        options = self._new_session(id, key, cwd, title)
        return Session(self, c.call_handle("session_create", self._open(), ctypes.byref(options)))

    def session(self, session_id: str) -> Session:
        """Opens a session. NotFound when there is none."""
        return Session(self, c.call_handle("session_open", self._open(), c.text(session_id)))

    def _query(self, name: str, query: Dict[str, Any], *arguments: Any) -> Dict[str, Any]:
        return _current(c.call_json(name, self._open(), *arguments, c.text(json.dumps(query) if query else None)))

    def list(self, **query: Any) -> List[Dict[str, Any]]:
        """Returns sessions, most recent first. Options: agent, key, cwd, title, sinceMs, untilMs, limit, skip,
        after.

        `after` is the last session of the previous page: sessions that are added or removed meanwhile neither hide nor
        repeat one.
        """
        sessions: List[Dict[str, Any]] = self._query("list", query)["sessions"]
        return sessions

    def search(self, words: str, **query: Any) -> List[Dict[str, Any]]:
        hits: List[Dict[str, Any]] = self._query("search", query, c.text(words))["hits"]
        return hits

    def usage(self, **query: Any) -> Dict[str, Any]:
        return self._query("usage", query)

    def put_attachment(self, data: c.Buffer) -> str:
        """Stores bytes once, by content; returns their SHA-256."""
        return c.call_text("attachment_put", self._open(), c.text(c.encoded(data)))  # encoded() refuses None, which
                                                                                     # would be an absent text

    def attachment(self, sha256: str) -> bytes:
        out = c.OutText()
        handle = self._open()
        c.check(c.library.bough_attachment_get(handle, c.text(sha256), ctypes.byref(out)), handle)
        return c.taken_bytes(out)

    def trash(self, session_id: str) -> str:
        """Moves a session to the trash; returns its name there."""
        return c.call_text("trash", self._open(), c.text(session_id))

    def trashed(self) -> List[Dict[str, Any]]:
        return c.call_list("trashed", "trash_list", self._open())

    def restore(self, trash_id: str) -> None:
        c.call("trash_restore", self._open(), c.text(trash_id))

    def remove_trashed(self, trash_id: str) -> None:
        """Removes a session from the trash forever."""
        c.call("trash_remove", self._open(), c.text(trash_id))

    def unused_attachments(self) -> List[str]:
        """Returns the attachments that no entry names. Reads every session."""
        return c.call_list("unused", "attachment_unused", self._open())

    def remove_attachments(self, unused: Sequence[str]) -> int:
        """Removes those of the given attachments that are still unused; returns how many."""
        if isinstance(unused, str):
            raise TypeError("unused is a list of names, not one text")
        request = json.dumps({"unused": [*unused]})
        removed: int = c.call_json("attachment_remove", self._open(), c.text(request))["removed"]
        return removed

    # The async variants.

    @classmethod
    async def aopen(cls, location: Optional[Union[str, "os.PathLike[str]"]] = None, **options: Any) -> "Store":
        return await asyncio.to_thread(functools.partial(cls, location, **options))

    aclose = twin(close)
    aflush = twin(flush)
    asession_ids = twin(session_ids)
    acreate = twin(create)
    asession = twin(session)
    alist = twin(list)
    asearch = twin(search)
    ausage = twin(usage)
    aput_attachment = twin(put_attachment)
    aattachment = twin(attachment)
    atrash = twin(trash)
    atrashed = twin(trashed)
    arestore = twin(restore)
    aremove_trashed = twin(remove_trashed)
    aunused_attachments = twin(unused_attachments)
    aremove_attachments = twin(remove_attachments)


def convert(document: str, source: str, target: str, way_back: Optional[str] = None) -> Dict[str, Any]:
    """Converts messages between dialects. Returns {"document", "wayBack", "report"}. With the `way_back` of an
    earlier conversion, everything unedited comes back byte for byte."""
    out = c.OutText()
    texts = (c.text(document), c.text(source), c.text(target), c.text(way_back))
    c.check(c.library.bough_convert(*texts, ctypes.byref(out)), None)
    converted: Dict[str, Any] = json.loads(c.taken_bytes(out))
    return converted
