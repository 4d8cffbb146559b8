"""bough keeps the conversations of AI agents: durable, branching, portable.

    import bough

    with bough.Store("sessions") as store:
        session = store.create(title="First")
        session.append(bough.user_text("Hello"))          # durable when it returns
        for entry in session.history():
            print(entry.type, entry.payload)
"""

from ._entry import Entry, NewEntry, assistant_text, message, user_text
from ._errors import (
    AlreadyExists,
    BoughError,
    Busy,
    Closed,
    Conflict,
    Damaged,
    HasForks,
    IdConflict,
    InternalError,
    InvalidArgument,
    MigrationNeeded,
    NewerFormat,
    NoSpace,
    NotFound,
    OutOfDate,
    OutcomeUnknown,
    Poisoned,
    ReadOnly,
    StorageError,
    TimedOut,
    Unavailable,
    Unsupported,
)
from ._library import library as _loaded
from ._reading import Cursor, Follower
from ._session import Appended, Session
from ._store import Store, convert

__version__ = _loaded.bough_library_version().decode()

__all__ = [
    "AlreadyExists", "Appended", "BoughError", "Busy", "Closed", "Conflict", "Cursor", "Damaged", "Entry", "Follower",
    "HasForks", "IdConflict", "InternalError", "InvalidArgument", "MigrationNeeded", "NewEntry", "NewerFormat",
    "NoSpace", "NotFound", "OutOfDate", "OutcomeUnknown", "Poisoned", "ReadOnly", "Session", "StorageError", "Store", "TimedOut",
    "Unavailable", "Unsupported", "assistant_text", "convert", "message", "user_text",
]
