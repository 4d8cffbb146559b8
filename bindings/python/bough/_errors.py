"""Exceptions: one for each code of the library that a caller can react to."""

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


class OutOfDate(UserWarning):
    """A list, search or usage lacks newer entries, because this process may not update the catalog. Not an error."""


class NotFound(BoughError, LookupError):
    """There is no such store, session, entry or attachment."""


class AlreadyExists(BoughError):
    """A session with this id already exists."""


class Conflict(BoughError):
    """The expected tail is not the tail (`tail` is), or a later turn has begun. Reload, then retry or branch."""


class IdConflict(BoughError):
    """An entry with this id exists and has other content."""


class HasForks(BoughError):
    """Other sessions share the history of this session."""


class Damaged(BoughError):
    """Stored bytes are not what they should be and cannot be read."""


class Busy(BoughError):
    """Another process held a lock for too long, or the lease of another turn is running."""


class NoSpace(BoughError):
    """The storage is full; nothing was written."""


class Closed(BoughError):
    """The store, or the handle, was closed."""


class NewerFormat(BoughError):
    """A newer version of bough wrote this."""


class MigrationNeeded(BoughError):
    """The session has an older format: readable, not writable. `Session.migrate` converts it."""


class ReadOnly(BoughError):
    """The storage does not allow writing."""


class Poisoned(BoughError):
    """A sync failed, so the content of the disk is unknown; reopen the store."""


class Unsupported(BoughError):
    """This kind of store does not support the call."""


class StorageError(BoughError):
    """The operating system reported an error."""


class Unavailable(BoughError):
    """The server cannot be reached; nothing was changed."""


class TimedOut(Unavailable):
    """The server did not answer in time; nothing was changed."""


class OutcomeUnknown(Unavailable):
    """The connection was lost before the answer; repeat with the same entry ids."""


class InternalError(BoughError):
    """A bug in bough."""


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
    "newer_format": NewerFormat,
    "migration_needed": MigrationNeeded,
    "read_only": ReadOnly,
    "poisoned": Poisoned,
    "unsupported": Unsupported,
    "io": StorageError,
    "unavailable": Unavailable,
    "timeout": TimedOut,
    "outcome_unknown": OutcomeUnknown,
    "internal": InternalError,
}


def error_class(name: str) -> type[BoughError]:
    return _BY_NAME.get(name, BoughError)
