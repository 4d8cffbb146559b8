"""Locks that Ctrl-C leaves free, whenever it comes."""

from __future__ import annotations

import threading
from typing import Any, Callable


def new_lock() -> Any:
    """One that knows its thread, which may take it again."""
    return threading.RLock()


def holding(lock: Any, work: Callable[..., Any], *arguments: Any) -> Any:
    """What `work` gives, called with the lock. In Python 3.14 Ctrl-C may end a `with` between taking its lock and its body: the lock
    was never free again."""
    try:
        lock.acquire()
        return work(*arguments)
    finally:
        try:
            lock.release()  # the first call here, so that nothing comes before it
        except RuntimeError:  # Ctrl-C came before it was taken
            pass
