"""Locks that Ctrl-C never leaves locked."""

from __future__ import annotations

import threading
from typing import Any, Callable


def new_lock() -> Any:
    """Returns a reentrant lock."""
    return threading.RLock()


def holding(lock: Any, work: Callable[..., Any], *arguments: Any) -> Any:
    """Returns the result of `work`, called with the lock held. `with` is not used, because in Python 3.14 Ctrl-C may
    end it between taking the lock and its body, and the lock would stay locked forever."""
    try:
        lock.acquire()
        return work(*arguments)
    finally:
        try:
            lock.release()  # the first call here, so that nothing comes before it
        except RuntimeError:  # Ctrl-C came before the lock was taken
            pass
