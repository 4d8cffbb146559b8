"""Runs calls on a worker thread, so that they do not block the event loop."""

from __future__ import annotations

import asyncio
import functools
from typing import TYPE_CHECKING, Any, Callable, Coroutine, TypeVar

if TYPE_CHECKING:  # type checkers know it; the program itself imports nothing
    from typing_extensions import ParamSpec

    P = ParamSpec("P")
T = TypeVar("T")


def twin(method: Callable[P, T]) -> Callable[P, Coroutine[Any, Any, T]]:
    """Returns the async variant of a method. The library releases the interpreter while it works. Python's JSON
    parser does not: parsing an answer of many megabytes blocks the event loop, on any thread (docs/languages.md)."""

    @functools.wraps(method)
    async def call(*arguments: Any, **options: Any) -> T:
        return await asyncio.to_thread(method, *arguments, **options)

    return call
