"""Sequences: from arrays, memory maps and iterators, as many elements at a time as an entry point works on; and to iterators."""

from __future__ import annotations

import queue
import threading
from itertools import islice
from typing import Any, Callable, Iterator

from . import _exchange, _types
from ._arrays import Array, Give
from ._arrc import Leaf, Session
from ._errors import ArgumentError
from ._ragged import Ragged

_NOTHING: Any = object()
"""What is read behind the end."""

Source = Callable[[int], list[Leaf]]


def source(value: Any, ty: Any, session: Session, param: str) -> Source:
    """What gives the leaves of the next elements of a sequence.

    An iterator gives elements, or arrays of elements of any lengths; anything else is an array of all of them.
    """
    if isinstance(value, Give):
        value = value.value
    if isinstance(value, _types.Sequence) and isinstance(ty, _types.ArrayOf):
        value = _whole(value, ty, session, param)
    chunks: Any = _Pieces(value) if hasattr(value, "__next__") else _Array(value)

    def read(most: int) -> list[Leaf]:
        to = _types.Arguments(session)
        to.param = param
        chunk = chunks.read(most, ty)
        if chunk is _NOTHING:
            # Nothing says what the elements are.
            ty.absent(to)
        else:
            ty.put(chunk, to)
        return to.leaves

    return read


def _whole(value: Any, ty: Any, session: Session, param: str) -> Any:
    """A list as an array."""
    to = _types.Arguments(session)
    to.param = param
    ty.put(value, to)
    return Array(to.leaves[0], session)


def length(value: Any) -> int:
    """How many elements there are."""
    if isinstance(value, dict):
        return length(next(iter(value.values())))
    if isinstance(value, tuple):
        return length(value[0]) if value else 0
    return len(value)


def cut(value: Any, begin: int, end: int) -> Any:
    """Some of the elements."""
    if isinstance(value, dict):
        return {name: cut(part, begin, end) for name, part in value.items()}
    if isinstance(value, tuple):
        parts = [cut(part, begin, end) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value[begin:end]


def joined(parts: list[Any]) -> Any:
    """Elements one after another."""
    import numpy as np

    first = parts[0]
    if len(parts) == 1:
        return first
    if isinstance(first, dict):
        return {name: joined([part[name] for part in parts]) for name in first}
    if isinstance(first, tuple):
        columns = [joined(list(column)) for column in zip(*parts)]
        return type(first)(*columns) if hasattr(first, "_fields") else tuple(columns)
    if isinstance(first, Ragged):
        lengths = np.concatenate([part.lengths for part in parts])
        return Ragged._of_lengths(lengths, joined([part.data for part in parts]))
    return np.concatenate([np.asarray(part) for part in parts])


class _Array:
    """All elements, which are somewhere already."""

    def __init__(self, value: Any) -> None:
        self.value = value
        self.at = 0

    def read(self, most: int, ty: Any) -> Any:
        begin = self.at
        try:
            self.at = min(begin + most, length(self.value))
            return cut(self.value, begin, self.at)
        except (TypeError, StopIteration, KeyError):
            # The type says what is wrong with the value.
            return self.value


class _Pieces:
    """What an iterator gives."""

    def __init__(self, pieces: Iterator[Any]) -> None:
        self.pieces = pieces
        self.left: list[Any] = []

    def read(self, most: int, ty: Any) -> Any:
        parts, count = [], 0
        while count < most:
            piece = self.left.pop() if self.left else self._next(most - count, ty)
            if piece is _NOTHING:
                break
            have = length(piece)
            if count + have > most:
                self.left.append(cut(piece, most - count, have))
                piece = cut(piece, 0, most - count)
                have = most - count
            parts.append(piece)
            count += have
        return joined(parts) if parts else _NOTHING

    def _next(self, most: int, ty: Any) -> Any:
        """The next array of elements, or nothing at the end."""
        import numpy as np

        piece = next(self.pieces, _NOTHING)
        if piece is _NOTHING:
            return piece
        if _exchange.is_foreign(piece):
            found = _exchange.of(piece)
            piece = piece if found is None else found
        if isinstance(ty, _types.ArrayOf) and np.ndim(piece) == ty.rank - 1:
            # They come one by one.
            return np.array([piece, *islice(self.pieces, most - 1)])
        if isinstance(ty, _types.ArrayOf):
            return np.asarray(piece)
        return tuple(piece) if isinstance(piece, list) and isinstance(ty, _types.TupleOf) else piece


class _Closed(Exception):
    """Nobody wants the rest."""


def pieces(call: Callable[[Callable[[list[Leaf]], None]], Any], convert: Callable[[list[Leaf]], Any]) -> Iterator[Any]:
    """What a call gives to its output, while another thread executes it, two pieces ahead at most."""
    done = object()
    ahead: queue.Queue[Any] = queue.Queue(2)
    closed = threading.Event()

    def put(what: Any) -> None:
        while True:
            if closed.is_set():
                raise _Closed
            try:
                return ahead.put(what, timeout=0.05)
            except queue.Full:
                pass

    def work() -> None:
        try:
            call(lambda leaves: put((leaves, None)))
            put((done, None))
        except _Closed:
            pass
        except BaseException as why:
            try:
                put((done, why))
            except _Closed:
                pass

    thread = threading.Thread(target=work, name="arrc", daemon=True)
    thread.start()
    try:
        while True:
            leaves, why = ahead.get()
            if why is not None:
                raise why
            if leaves is done:
                return
            yield convert(leaves)
    finally:
        closed.set()
        thread.join()


def refuse(entry: str) -> ArgumentError:
    """The exception for an entry point that gives no sequence."""
    return ArgumentError(f"the result of `{entry}` is no sequence")
