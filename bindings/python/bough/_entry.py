"""Entries: new ones to append, and stored ones."""

from __future__ import annotations

import ctypes
import json
import re
from array import array
from itertools import repeat
from typing import Any, Dict, Iterable, List, Optional, Sequence, Tuple, Union

from . import _library as c
from ._errors import InvalidArgument

REDACTED = 1
ROOT = 2
_TEXTS = 8

Json = Union[str, c.Buffer, Dict[str, Any]]
_Part = Tuple[bytes, Sequence[int], Sequence[int]]  # the texts of entries, where each text ends, and flags


_MESSAGE = c.text("message")
_HALF = re.compile("[\ud800-\udfff]")


def _json_text(value: Optional[Json]) -> Optional[str]:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, (bytes, bytearray, memoryview)):
        return _decoded(bytes(value))
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if text.isascii():
        return text
    # UTF-8 cannot express half of a surrogate pair, but JSON has an escape for it.
    return _HALF.sub(lambda half: f"\\u{ord(half.group()):04x}", text)


def _decoded(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise InvalidArgument(f"the JSON text is not UTF-8 at byte {error.start}", code="invalid_argument") from None


class NewEntry:
    """An entry to append. `payload` is a dict, or JSON text, which is stored byte for byte.

    Without an `id` the store generates one. With an id of your own an append can be repeated safely: an entry that is
    already stored counts as a duplicate. Without a `parent_id` the parent is the head; `root=True` means no parent.
    """

    __slots__ = ("id", "parent_id", "type", "timestamp", "run_id", "payload", "meta", "root")

    def __init__(
        self,
        payload: Json,
        *,
        type: str = "message",
        id: Optional[str] = None,
        parent_id: Optional[str] = None,
        timestamp: Optional[str] = None,
        run_id: Optional[str] = None,
        meta: Optional[Json] = None,
        root: bool = False,
    ):
        self.payload = payload
        self.type = type
        self.id = id
        self.parent_id = parent_id
        self.timestamp = timestamp
        self.run_id = run_id
        self.meta = meta
        self.root = root

    def _fill(self, entry: c.CEntry) -> None:
        """Fills in a zeroed struct, in which every text is absent."""
        if self.root:
            entry.flags = ROOT
        entry.type = _MESSAGE if self.type == "message" else c.text(self.type)
        entry.payload = c.text(_json_text(self.payload))
        if self.id is not None:
            entry.id = c.text(self.id)
        if self.parent_id is not None:
            entry.parent_id = c.text(self.parent_id)
        if self.timestamp is not None:
            entry.timestamp = c.text(self.timestamp)
        if self.run_id is not None:
            entry.run_id = c.text(self.run_id)
        if self.meta is not None:
            entry.meta = c.text(_json_text(self.meta))

    def _append(self, handle: Any, options: Any) -> Tuple[str, int, int]:
        """Appends only this entry, in the shortest way. Returns its id, and how many entries were appended and were
        duplicates."""
        payload = self.payload
        text = payload if isinstance(payload, str) else _json_text(payload)
        data = None if text is None else text.encode()
        is_plain = (
            self.id is None
            and self.type == "message"
            and self.parent_id is None
            and self.meta is None
            and self.run_id is None
            and self.timestamp is None
            and not self.root
            and data is not None
            and len(data) <= _KEPT_BYTES
        )
        try:
            call = _spare_calls.pop() if is_plain else c.AppendCall()
        except IndexError:  # other threads are using them
            call = c.AppendCall()
        one = call.one
        if data is not None:
            one.payload, one.payload_size = data, len(data)
        if not is_plain:
            self._fill_one(one)
        result = call.run(handle, options)
        if is_plain:  # the next append changes only the payload
            _spare_calls.append(call)
        return result

    def _fill_one(self, one: c.OneAppend) -> None:
        """Fills in everything except the payload."""
        if self.root:
            one.flags = ROOT
        data = c.encoded(self.type)
        one.type, one.type_size = data, len(data)
        if self.id is not None:
            data = c.encoded(self.id)
            one.id, one.id_size = data, len(data)
        if self.parent_id is not None:
            data = c.encoded(self.parent_id)
            one.parent_id, one.parent_id_size = data, len(data)
        if self.timestamp is not None:
            data = c.encoded(self.timestamp)
            one.timestamp, one.timestamp_size = data, len(data)
        if self.run_id is not None:
            data = c.encoded(self.run_id)
            one.run_id, one.run_id_size = data, len(data)
        if self.meta is not None:
            data = c.encoded(_json_text(self.meta) or "")
            one.meta, one.meta_size = data, len(data)


# Calls that no thread is using. Each still holds the payload of its last append.
_spare_calls: List[c.AppendCall] = []
_KEPT_BYTES = 16_384


def _said(role: str, text: str, options: Dict[str, Any]) -> NewEntry:
    if not isinstance(text, str):
        raise TypeError("a text is expected, not %s" % type(text).__name__)
    return NewEntry({"dialect": "bough", "message": {"role": role, "content": text}}, **options)


def user_text(text: str, **options: Any) -> NewEntry:
    """Returns an entry for a user's message."""
    return _said("user", text, options)


def assistant_text(text: str, **options: Any) -> NewEntry:
    """Returns an entry for an assistant's message that no provider wrote."""
    return _said("assistant", text, options)


_DIALECTS: Dict[Optional[str], int] = {
    name: number for number, name in enumerate(("anthropic", "openai-chat", "openai-responses", "gemini", "plain", "bough"))
}


def message(dialect: str, raw: Json, **options: Any) -> NewEntry:
    """Returns an entry for a message as a provider wrote it. JSON text is stored byte for byte. Dialects:
    "anthropic", "openai-chat", "openai-responses", "gemini"."""
    c.choice(dialect, _DIALECTS, "dialect")
    if raw is None:
        raise TypeError("a message is expected, not None")
    return NewEntry('{"dialect":%s,"message":%s}' % (json.dumps(dialect), _json_text(raw)), **options)


class Entry:
    """A stored entry. Its texts are decoded when they are read."""

    __slots__ = ("_part", "_index")

    def __init__(self, part: _Part, index: int):
        self._part = part
        self._index = index

    def _text(self, number: int) -> str:
        data, ends, _ = self._part
        at = self._index * _TEXTS + number
        return data[ends[at - 1] if at else 0 : ends[at]].decode("utf-8", "replace")

    @property
    def id(self) -> str:
        return self._text(0)

    @property
    def parent_id(self) -> Optional[str]:
        """None for a root."""
        return self._text(1) or None

    @property
    def type(self) -> str:
        return self._text(2)

    @property
    def timestamp(self) -> str:
        return self._text(3)

    @property
    def run_id(self) -> Optional[str]:
        return self._text(4) or None

    @property
    def payload_json(self) -> str:
        """The payload as it was appended, byte for byte."""
        return self._text(5)

    @property
    def payload(self) -> Any:
        return json.loads(self._text(5))

    @property
    def meta(self) -> Any:
        """None when there is none."""
        text = self._text(6)
        return json.loads(text) if text else None

    @property
    def redacted(self) -> bool:
        return bool(self._part[2][self._index] & REDACTED)

    def __repr__(self) -> str:
        return f"Entry(id={self.id!r}, type={self.type!r})"


def entries_of(handle: int) -> List[Entry]:
    """Returns the entries of a handle, and leaves the handle open."""
    packed = c.Packed()
    c.call("entries_packed", handle, ctypes.byref(packed))
    count = packed.count
    if count == 0:
        return []
    data = ctypes.string_at(packed.bytes, packed.size)
    # Arrays convert their elements to numbers only when they are read.
    ends = array("Q", ctypes.string_at(packed.ends, 8 * _TEXTS * count))
    flags = array("I", ctypes.string_at(packed.flags, 4 * count))
    part = (data, ends, flags)
    return list(map(Entry, repeat(part), range(count)))


def taken_entries(handle: int) -> List[Entry]:
    """Returns the entries of a handle, and closes the handle."""
    try:
        return entries_of(handle)
    finally:
        c.library.bough_entries_close(handle)


def filled_batch(entries: Iterable[NewEntry]) -> Tuple[Any, int]:
    """Returns the entries in the form that the library takes, and their number."""
    given: List[Any] = list(entries) if isinstance(entries, Iterable) else [entries]
    batch = (c.CEntry * len(given))()
    for place, entry in zip(batch, given):
        if not isinstance(entry, NewEntry):
            raise TypeError(f"a NewEntry is expected, not {type(entry).__name__}; user_text() and message() make one")
        entry._fill(place)
    return batch, len(given)
