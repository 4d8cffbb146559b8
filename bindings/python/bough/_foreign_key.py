"""Names of other frameworks (thread ids, session ids: any text) as session ids, reversibly: the same encoding as for Node.

Letters, digits and hyphens stay; every other byte of the UTF-8 text becomes `_` and two hex digits. A name that would be too
long becomes a hash; the session itself then says which name it stands for.
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
    encoded = "".join(chr(byte) if byte in _PLAIN else f"_{byte:02x}" for byte in name.encode())
    if len(prefix) + len(encoded) <= _MAX_ID:
        return prefix + encoded
    return prefix + _HASHED + hashlib.sha256(name.encode()).hexdigest()


def name_of(store: Store, prefix: str, session_id: str) -> Optional[str]:
    """The name that a session id stands for; None when it is of another prefix."""
    if not session_id.startswith(prefix):
        return None
    encoded = session_id[len(prefix) :]
    if encoded.startswith(_HASHED):
        with store.session(session_id) as session:
            return session.entry("name").payload["name"]
    return re.sub(rb"_([0-9a-f]{2})", lambda match: bytes([int(match.group(1), 16)]), encoded.encode()).decode()


def names_of(store: Store, prefix: str) -> List[str]:
    names = (name_of(store, prefix, session_id) for session_id in store.session_ids())
    return [name for name in names if name is not None]


def open_named(store: Store, prefix: str, name: str, *, create: bool = False) -> Optional[Session]:
    session_id = session_id_of(prefix, name)
    try:
        return store.session(session_id)
    except NotFound:
        if not create:
            return None
    try:
        session = store.create(id=session_id)
    except AlreadyExists:  # another process was faster
        return store.session(session_id)
    session.append(NewEntry({"kind": "name", "name": name}, id="name", type="custom", root=True))
    return session
