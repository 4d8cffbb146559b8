"""The C interface (bough_c.h) through ctypes: finds the library, declares its calls, and turns codes into
exceptions."""

from __future__ import annotations

import ctypes
import ctypes.util
import json
import os
import pathlib
from ctypes import POINTER, Structure, byref, c_char, c_char_p, c_int32, c_size_t, c_uint32, c_uint64, c_void_p
from typing import Any, Dict, List, Optional, Tuple, Union

from ._errors import BoughError, InvalidArgument, error_class

C_VERSION = 2


class Text(Structure):
    _fields_ = [("data", c_char_p), ("size", c_size_t)]


class OutText(Structure):
    # c_void_p, because ctypes would convert c_char_p to bytes, and the pointer must be freed.
    _fields_ = [("data", c_void_p), ("size", c_size_t)]


class ErrorInfo(Structure):
    _fields_ = [
        ("code", c_int32),
        ("retryable", c_int32),
        ("message", OutText),
        ("hint", OutText),
        ("tail", OutText),
        ("batch_place", c_uint64),
    ]


class StoreOptions(Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("durability", c_int32),
        ("buffered_entries", c_uint64),
        ("buffered_ms", c_int32),
        ("create", c_int32),
        ("attachment_bytes", c_uint64),
        ("lock_timeout_ms", c_int32),
    ]


class NewSession(Structure):
    _fields_ = [("struct_size", c_uint32), ("id", Text), ("key", Text), ("cwd", Text), ("title", Text)]


class CEntry(Structure):
    _fields_ = [("flags", c_uint32)] + [
        (name, Text) for name in ("id", "parent_id", "type", "timestamp", "run_id", "payload", "meta", "extra")
    ]


class OneAppend(Structure):
    """A CEntry together with the result of its append, in one piece of memory. ctypes sets its fields without
    creating an object for each text."""

    _fields_ = (
        [("flags", c_uint32)]
        + [
            (name + part, kind)
            for name in ("id", "parent_id", "type", "timestamp", "run_id", "payload", "meta", "extra")
            for part, kind in (("", c_char_p), ("_size", c_size_t))
        ]
        + [("appended", c_uint32), ("last_id_size", c_uint32), ("last_id", c_char * 136)]
    )


class AppendOptions(Structure):
    _fields_ = [("struct_size", c_uint32), ("durability", c_int32), ("expected_tail", Text), ("turn", c_uint64)]


class Appended(Structure):
    _fields_ = [("appended", c_uint64), ("duplicates", c_uint64)]


class LoadOptions(Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("show_redacted", c_int32),
        ("from_", c_uint64),
        ("limit", c_uint64),
        ("limit_bytes", c_uint64),
        ("last", c_uint64),
        ("branch", Text),
        ("type", Text),
    ]


class Packed(Structure):
    _fields_ = [
        ("count", c_size_t),
        ("bytes", c_void_p),
        ("size", c_size_t),
        ("ends", POINTER(c_uint64)),
        ("flags", POINTER(c_uint32)),
    ]


# The calls and the types of their arguments: h a handle, t a text, T a text as a result, H a handle as a result, n a
# size, i an int32, u a uint64, U a uint64 as a result, and structs by name.
_CALLS = {
    "store_open": "t&StoreOptions H",
    "store_close": "h",
    "store_flush": "h",
    "store_list_ids": "hT",
    "session_create": "h&NewSession H",
    "session_open": "htH",
    "session_id": "hT",
    "session_state": "hT",
    "append": "h*n&AppendOptions &Appended T",
    "begin_turn": "hU",
    "lease_turn": "huU",
    "renew_turn": "huu",
    "load": "h&LoadOptions H",
    "load_entry": "htH",
    "load_history": "htH",
    "entries_packed": "h&Packed ",
    "cursor_open": "htH",
    "cursor_next": "hnH",
    "cursor_position": "hT",
    "follower_open": "htH",
    "follower_next": "hiH",
    "follower_position": "hT",
    "follower_stop": "h",
    "move_head": "ht",
    "set_title": "ht",
    "label_set": "htt",
    "label_remove": "ht",
    "label_list": "hT",
    "redact": "httt",
    "fork": "ht&NewSession H",
    "tree": "hT",
    "branches": "hT",
    "diff": "hthtT",
    "context": "htT",
    "unfinished_calls": "hT",
    "convert": "ttttT",
    "migrate_provider": "htHT",
    "list": "htT",
    "search": "httT",
    "usage": "htT",
    "attachment_put": "htT",
    "attachment_get": "htT",
    "attachment_unused": "hT",
    "attachment_remove": "htT",
    "verify": "hT",
    "repair": "hT",
    "migrate": "hT",
    "archive": "hT",
    "forks": "hT",
    "detach": "hi",
    "torn": "hT",
    "torn_put_back": "hT",
    "torn_drop": "hu",
    "erase": "htT",
    "trash": "htT",
    "trash_list": "hT",
    "trash_restore": "ht",
    "trash_remove": "ht",
}
_CLOSERS = ("session_close", "entries_close", "cursor_close", "follower_close")
_KINDS = {
    "h": c_void_p,
    "t": Text,
    "T": POINTER(OutText),
    "H": POINTER(c_void_p),
    "n": c_size_t,
    "i": c_int32,
    "u": c_uint64,
    "U": POINTER(c_uint64),
    "*": POINTER(CEntry),
}


def _find() -> str:
    given = os.environ.get("BOUGH_LIBRARY")
    if given:
        return given
    for beside in sorted(pathlib.Path(__file__).parent.glob("libbough*.so*")):
        return str(beside)
    return ctypes.util.find_library("bough") or "libbough.so.0"


def _argument_types(form: str) -> List[Any]:
    types: List[Any] = []
    at = 0
    while at < len(form):
        if form[at] == "&":
            end = form.index(" ", at)
            types.append(POINTER(globals()[form[at + 1 : end]]))
            at = end + 1
        else:
            types.append(_KINDS[form[at]])
            at += 1
    return types


def _load() -> ctypes.CDLL:
    path = _find()
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(
            f"the bough library cannot be loaded from {path}: {error}. Install the wheel that carries it, "
            "or name libbough.so in the environment variable BOUGH_LIBRARY"
        ) from None
    try:
        _declare(library, path)
    except AttributeError as error:  # another library, or an older version
        raise ImportError(f"{path} is not a library that this package can use: {error}") from None
    return library


def _declare(library: ctypes.CDLL, path: str) -> None:
    library.bough_c_version.restype = c_uint32
    if library.bough_c_version() < C_VERSION:
        raise ImportError(f"{path} has version {library.bough_c_version()} of the C interface; {C_VERSION} is needed")
    for name, form in _CALLS.items():
        call = getattr(library, "bough_" + name)
        call.argtypes = _argument_types(form)
        call.restype = c_int32
    for name in _CLOSERS:
        call = getattr(library, "bough_" + name)
        call.argtypes = [c_void_p]
        call.restype = None
    library.bough_error.argtypes = [c_void_p, POINTER(ErrorInfo)]
    library.bough_error.restype = None
    library.bough_free.argtypes = [OutText]
    library.bough_free.restype = None
    library.bough_code_name.argtypes = [c_int32]
    library.bough_code_name.restype = c_char_p
    library.bough_library_version.restype = c_char_p
    for name, kind in (("store_options", StoreOptions), ("new_session", NewSession), ("append_options", AppendOptions), ("load_options", LoadOptions)):
        init = getattr(library, f"bough_{name}_init")
        init.argtypes = [POINTER(kind), c_uint32]
        init.restype = None


library = _load()

_append_one = library["bough_append_one"]  # AppendCall prepares its arguments
_append_one.restype = c_int32
ABSENT = Text(None, 0)


Buffer = Union[bytes, bytearray, memoryview]


def encoded(value: Union[str, Buffer]) -> bytes:
    """Returns the bytes of a text to pass in. A lone surrogate is an error, because it is not UTF-8. Mutable buffers
    are copied."""
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, (bytearray, memoryview)):
        return bytes(value)
    if not isinstance(value, bytes):
        raise TypeError(f"a text or bytes are expected, not {type(value).__name__}")
    return value


def text(value: Optional[Union[str, Buffer]]) -> Text:
    """Returns a text to pass in; None is an absent text."""
    if value is None:
        return ABSENT
    data = encoded(value)
    return Text(data, len(data))


def whole_number(value: int, name: str, bits: int = 64) -> int:
    """Checks a number to pass in. ctypes would silently truncate a negative or too large number."""
    limit = 1 << (bits if bits == 64 else bits - 1)
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} is not a whole number")
    if not 0 <= value < limit:
        raise InvalidArgument(f"{name} is negative or too large: {value}", code="invalid_argument")
    return value


def choice(value: Optional[str], names: Dict[Optional[str], int], name: str) -> int:
    if value not in names:
        known = ", ".join(repr(each) for each in names if each)
        raise InvalidArgument(f"{name} is none of {known}: {value!r}", code="invalid_argument")
    return names[value]


def _borrowed(out: OutText) -> str:
    return ctypes.string_at(out.data, out.size).decode("utf-8", "replace") if out.size else ""


def check(code: int, handle: Any) -> None:
    """Raises the exception for a code."""
    if code == 0:
        return
    info = ErrorInfo()
    library.bough_error(handle, byref(info))
    name = library.bough_code_name(code).decode()
    if name == "bad_handle":  # another thread has closed the handle
        name = "closed"
    if name == "no_memory":
        raise MemoryError("bough: memory ran out")
    error: type[BoughError] = error_class(name)
    raise error(
        _borrowed(info.message) or name,
        code=name,
        hint=_borrowed(info.hint),
        retryable=bool(info.retryable),
        tail=_borrowed(info.tail),
        batch_place=info.batch_place,
    )


def taken_bytes(out: OutText) -> bytes:
    """Returns the bytes of a result text, and frees the library's copy."""
    try:
        return ctypes.string_at(out.data, out.size)
    finally:
        library.bough_free(out)


def call_text(name: str, handle: Any, *arguments: Any) -> str:
    """Makes a call whose last parameter is a text as a result."""
    out = OutText()
    check(getattr(library, "bough_" + name)(handle, *arguments, byref(out)), handle)
    return taken_bytes(out).decode()


def call_json(name: str, handle: Any, *arguments: Any) -> Dict[str, Any]:
    answer: Dict[str, Any] = json.loads(call_text(name, handle, *arguments))
    return answer


def call_list(member: str, name: str, handle: Any, *arguments: Any) -> List[Any]:
    """Makes a call that returns an object, and returns the list in one of its members."""
    found: List[Any] = call_json(name, handle, *arguments)[member]
    return found


def call_handle(name: str, handle: Any, *arguments: Any) -> int:
    """Makes a call whose last parameter is a handle as a result."""
    out = c_void_p()
    check(getattr(library, "bough_" + name)(handle, *arguments, byref(out)), handle)
    assert out.value is not None
    return out.value


def call(name: str, handle: Any, *arguments: Any) -> None:
    check(getattr(library, "bough_" + name)(handle, *arguments), handle)


def handle_argument(handle: int) -> Any:
    """Returns a handle in the form that AppendCall.run takes."""
    return c_void_p.from_param(handle)


class AppendCall:
    """A OneAppend of a message, with prepared arguments that point to its parts. Preparing them takes longer than
    using them."""

    __slots__ = ("one", "_entry", "_out")

    def __init__(self) -> None:
        self.one = OneAppend()
        self.one.type, self.one.type_size = b"message", 7
        self._entry, self._out = byref(self.one), byref(self.one, OneAppend.appended.offset)

    def run(self, handle: Any, options: Any) -> Tuple[str, int, int]:
        """Appends the entry. Returns its id, and how many entries were appended and were duplicates."""
        code = _append_one(handle, self._entry, options, self._out)
        if code:
            check(code, handle)
        one = self.one
        appended = one.appended
        return one.last_id.decode(), appended, 1 - appended
