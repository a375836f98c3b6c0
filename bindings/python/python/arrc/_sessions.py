"""Sessions by their options: programs with the same options share one, and so their arrays.

A process that was made by ``fork`` has none of its parent's threads, so it opens sessions of its own.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Iterator, NamedTuple

from ._arrc import Session
from ._errors import ArgumentError


class Options(NamedTuple):
    """What a session is made with."""

    target: str = "auto"
    device: int = 0
    threads: int | None = None
    mem_limit: int | None = None
    vector_bits: int | None = None
    cap: int | None = None
    chunk: int | None = None


_chosen: ContextVar[dict[str, Any]] = ContextVar("arrc options", default={})

_sessions: dict[Options, Session] = {}

generation = 0
"""How often the process has been forked: what belongs to another generation is the parent's."""

_of_the_parent: list[Any] = []
"""What must not be freed, since that would wait for threads that are not there."""


def keep(anything: Any) -> None:
    """Never frees something of the parent's."""
    _of_the_parent.append(anything)


def _after_fork() -> None:
    global generation
    generation += 1
    keep(list(_sessions.values()))
    _sessions.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def options(**given: Any) -> Options:
    """The options that were given, then those of `device`, then the defaults."""
    wanted = {**_chosen.get(), **{name: value for name, value in given.items() if value is not None}}
    chosen = Options(**wanted)
    for name in ("threads", "mem_limit", "chunk"):
        value = getattr(chosen, name)
        if value is not None and (not isinstance(value, int) or value < 1):
            raise ArgumentError(f"`{name}` must be a positive integer, not {value!r}")
    if chosen.vector_bits not in (None, 128, 256, 512):
        raise ArgumentError(f"`vector_bits` must be 128, 256 or 512, not {chosen.vector_bits!r}")
    return chosen


def session(chosen: Options) -> Session:
    """The session with these options."""
    found = _sessions.get(chosen)
    if found is None:
        found = _sessions.setdefault(chosen, Session(*chosen))
    return found


@contextmanager
def device(target: str, device: int | None = None, **more: Any) -> Iterator[None]:
    """Programs that are compiled inside of ``with arrc.device("ptx"):`` run there.

    ``device`` is the number of the GPU; ``more`` are other options of `arrc.compile`, such as ``threads=2``. What `arrc.compile` itself is
    given counts more.
    """
    given = {"target": target, "device": device, **more}
    unknown = sorted(set(given) - set(Options._fields))
    if unknown:
        raise ArgumentError(f"there is no option `{unknown[0]}`; there are {', '.join(Options._fields)}")
    given = {name: value for name, value in given.items() if value is not None}
    token = _chosen.set({**_chosen.get(), **given})
    try:
        yield
    finally:
        _chosen.reset(token)
