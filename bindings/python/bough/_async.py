"""Calls on a worker thread, so that the event loop goes on meanwhile."""

from __future__ import annotations

import asyncio
import functools
from typing import TYPE_CHECKING, Any, Callable, Coroutine, TypeVar

if TYPE_CHECKING:  # known to every type checker; nothing is imported when the program runs
    from typing_extensions import ParamSpec

    P = ParamSpec("P")
T = TypeVar("T")


def twin(method: Callable[P, T]) -> Callable[P, Coroutine[Any, Any, T]]:
    """The async variant of a method. The library releases the interpreter while it works. Python's own JSON does not: an
    answer of many megabytes holds the event loop while it is parsed, on whatever thread (docs/languages.md)."""

    @functools.wraps(method)
    async def call(*arguments: Any, **options: Any) -> T:
        return await asyncio.to_thread(method, *arguments, **options)

    return call
