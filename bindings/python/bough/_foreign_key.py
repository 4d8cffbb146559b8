"""Names of other frameworks (thread ids, session ids: any text) as session ids, reversibly. The package for Node
uses the same encoding.

Letters, digits and hyphens stay; every other byte of the UTF-8 text becomes `_` and two hex digits. A name that would
be too long becomes a hash, and its session stores the name. Half of a surrogate pair, which UTF-8 cannot express, is
encoded like a character, so that no two names share an id.
"""

from __future__ import annotations

import hashlib
import re
from typing import List, Optional

from ._entry import NewEntry
from ._errors import AlreadyExists, NotFound
from ._session import Session
from ._store import Store

_MAX_ID = 100
_HASHED = "_h"
_PLAIN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-")


def session_id_of(prefix: str, name: str) -> str:
    if not isinstance(name, str):
        raise TypeError(f"the name of a session is a text, not {type(name).__name__}")
    encoded = "".join(chr(byte) if byte in _PLAIN else f"_{byte:02x}" for byte in name.encode("utf-8", "surrogatepass"))
    if len(prefix) + len(encoded) <= _MAX_ID:
        return prefix + encoded
    return prefix + _HASHED + hashlib.sha256(encoded.encode()).hexdigest()


def _is_hashed(prefix: str, session_id: str) -> bool:
    return session_id.startswith(prefix + _HASHED)


def _stored_name(session: Session) -> Optional[str]:
    try:
        name: Optional[str] = session.entry("name").payload["name"]
        return name
    except NotFound:
        return None


def name_of(store: Store, prefix: str, session_id: str) -> Optional[str]:
    """Returns the name of a session id; None when it has another prefix."""
    if not session_id.startswith(prefix):
        return None
    if _is_hashed(prefix, session_id):
        try:
            with store.session(session_id) as session:
                return _stored_name(session)
        except NotFound:  # another process has removed it meanwhile
            return None
    encoded = session_id[len(prefix) :]
    if not re.fullmatch(r"(?:[A-Za-z0-9-]|_[0-9a-f]{2})*", encoded):
        return None
    try:
        data = re.sub(rb"_([0-9a-f]{2})", lambda match: bytes([int(match.group(1), 16)]), encoded.encode())
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return None


def names_of(store: Store, prefix: str) -> List[str]:
    names = (name_of(store, prefix, session_id) for session_id in store.session_ids())
    return [name for name in names if name is not None]


def open_named(store: Store, prefix: str, name: str, *, create: bool = False) -> Optional[Session]:
    session_id = session_id_of(prefix, name)
    try:
        session = store.session(session_id)
    except NotFound:
        if not create:
            return None
        try:
            session = store.create(id=session_id)
        except AlreadyExists:  # another process has created it meanwhile
            session = store.session(session_id)
    # Only the session stores a hashed name; a process that was killed may not have stored it yet.
    if _is_hashed(prefix, session_id) and _stored_name(session) is None:
        session.append(NewEntry({"kind": "name", "name": name}, id="name", type="custom", root=True))
    return session
