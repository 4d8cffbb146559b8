"""Exceptions, one for each code of the library that a caller can act on."""

from __future__ import annotations


class BoughError(Exception):
    """A call of bough failed. `code` is the stable name, `hint` says what to do next."""

    code = "error"

    def __init__(self, message: str, *, code: str = "", hint: str = "", retryable: bool = False, tail: str = "", batch_place: int = 0):
        super().__init__(f"{message} ({hint})" if hint else message)
        self.message = message
        self.code = code or type(self).code
        self.hint = hint
        self.retryable = retryable
        self.tail = tail
        self.batch_place = batch_place


class InvalidArgument(BoughError, ValueError):
    """An id, an option or an entry breaks a rule."""


class NotFound(BoughError, LookupError):
    """No such store, session, entry or attachment."""


class AlreadyExists(BoughError):
    """A session of that id exists already."""


class Conflict(BoughError):
    """The expected tail is not the tail; `tail` is. Reload, then retry or branch."""


class IdConflict(BoughError):
    """An entry of that id exists with other content."""


class HasForks(BoughError):
    """Other sessions share this one's history."""


class Damaged(BoughError):
    """Stored bytes cannot be read as what they should be."""


class Busy(BoughError):
    """Another process holds the session's lock for too long."""


class NoSpace(BoughError):
    """The storage is full; nothing was written."""


class Closed(BoughError):
    """The store, or the handle, was closed."""


class Unavailable(BoughError):
    """The server cannot be reached, did not answer in time, or the outcome is unknown: repeat with the same entry ids."""


_BY_NAME = {
    "invalid_argument": InvalidArgument,
    "not_found": NotFound,
    "already_exists": AlreadyExists,
    "conflict": Conflict,
    "id_conflict": IdConflict,
    "has_forks": HasForks,
    "damaged": Damaged,
    "busy": Busy,
    "no_space": NoSpace,
    "closed": Closed,
    "bad_handle": Closed,
    "unavailable": Unavailable,
    "timeout": Unavailable,
    "outcome_unknown": Unavailable,
}


def error_class(name: str) -> type[BoughError]:
    return _BY_NAME.get(name, BoughError)
