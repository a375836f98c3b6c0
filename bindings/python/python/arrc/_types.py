"""Types of parameters and results: how Python's values become leaves, and leaves Python's values.

A leaf is a scalar or an array of scalars. An array of tuples or records is a tuple or record of arrays here as it is in a program that
runs; an irregular array is the lengths of its rows, and the elements of all rows.
"""

from __future__ import annotations

import keyword
import re
from collections import namedtuple
from collections.abc import Mapping, Sequence
from typing import Any, Iterator

from . import _exchange
from ._arrays import DTYPES, Array, Give
from ._arrc import Leaf, Session
from ._errors import ArgumentError, ConsumedError
from ._ragged import Ragged
from ._variants import Opaque, Variant


class Arguments:
    """The leaves of the arguments of a call."""

    __slots__ = ("session", "leaves", "given", "param")

    def __init__(self, session: Session) -> None:
        self.session = session
        self.leaves: list[Leaf] = []
        self.given: list[Array] = []
        """The arrays that are given away once all arguments are known to be right."""
        self.param = ""
        """The parameter at hand and its type, for messages."""

    def wrong(self, why: str, hint: str = "") -> ArgumentError:
        """The exception for a value that does not fit."""
        return ArgumentError(f"{self.param}, {why}{f' (hint: {hint})' if hint else ''}")


def described(value: Any) -> str:
    """What a value is, for messages."""
    if isinstance(value, Array):
        return f"an arrc.Array of {value.dtype} and shape {value.shape}"
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    if shape is not None and dtype is not None:
        return f"an array of {dtype} and shape {tuple(shape)}"
    text = repr(value)
    return f"{type(value).__name__} {text if len(text) <= 60 else text[:57] + '...'}"


class Scalar:
    """A number or truth value."""

    leaves = 1

    def __init__(self, elem: str) -> None:
        self.elem = elem
        self.annotation: Any = bool if elem == "bool" else float if elem[0] == "f" else int

    def put(self, value: Any, to: Arguments) -> None:
        try:
            to.leaves.append(to.session.scalar(self.elem, value))
            return
        except (TypeError, OverflowError):
            if isinstance(value, Give):
                return self.put(value.value, to)
        if isinstance(value, int) and not isinstance(value, bool) and self.elem[0] in "iu":
            raise to.wrong(f"which cannot hold {value}")
        raise to.wrong(f"got {described(value)}")

    def absent(self, to: Arguments) -> None:
        to.leaves.append(to.session.scalar(self.elem, False if self.elem == "bool" else 0))

    def take(self, leaves: Iterator[Any], session: Session) -> Any:
        return next(leaves)


class ArrayOf:
    """An array of scalars."""

    leaves = 1
    annotation: Any = Array

    def __init__(self, rank: int, elem: str) -> None:
        self.rank = rank
        self.elem = elem

    def put(self, value: Any, to: Arguments) -> None:
        is_given = isinstance(value, Give)
        if is_given:
            value = value.value
        if isinstance(value, Array):
            held = value._leaf
            if held.is_consumed:
                raise ConsumedError(f"{to.param}, got an arrc.Array that was given away")
            self._check(held, value, to)
            if value._session is to.session:
                to.leaves.append(held.share())
                if is_given:
                    to.given.append(value)
                return
            # It is in memory of another session.
            value, is_given = held.view(), False
        leaf = to.session.array(self.elem, value, is_given)
        if leaf is None:
            leaf = to.session.array(self.elem, self._numpy(value, to), is_given)
        if leaf is None:
            raise to.wrong(f"got {described(value)}")
        self._check(leaf, value, to)
        to.leaves.append(leaf)

    def _check(self, leaf: Leaf, value: Any, to: Arguments) -> None:
        if len(leaf.shape) != self.rank:
            dims = "1 dimension" if self.rank == 1 else f"{self.rank} dimensions"
            raise to.wrong(f"which has {dims}, got {described(value)}")
        if leaf.elem != self.elem:
            raise to.wrong(f"got {described(value)}", f"`.numpy().astype({DTYPES[self.elem]!r})` converts it")

    def _numpy(self, value: Any, to: Arguments) -> Any:
        """The value as an array of NumPy with elements of this type, copied if that changes none of them."""
        import numpy as np

        wanted = np.dtype(DTYPES[self.elem])
        is_array = hasattr(value, "__array__") or hasattr(value, "__array_interface__")
        if not is_array and hasattr(value, "__dlpack__"):
            value, is_array = np.from_dlpack(value), True
        if isinstance(value, (str, bytes, Mapping, Ragged)) or value is None:
            raise to.wrong(f"got {described(value)}")
        try:
            if _exchange.is_foreign(value):
                # NumPy does not refuse missing values.
                found = _exchange.of(value)
                value, is_array = (value, is_array) if found is None else (found, True)
            array = np.asarray(value)
        except (ValueError, TypeError, RuntimeError, BufferError) as why:
            if "inhomogeneous" in str(why):
                raise to.wrong("got rows of different lengths") from None
            raise to.wrong(str(why)) from None
        if not is_array and array.size == 0 and array.ndim <= self.rank:
            return np.zeros((array.shape + (0,) * self.rank)[: self.rank], wanted)
        if np.can_cast(array.dtype, wanted, "safe"):
            return np.ascontiguousarray(array, wanted).reshape(array.shape)
        if not is_array and array.dtype.kind in "iuf" and wanted.kind in "iuf":
            # Python's numbers have no width.
            if array.dtype.kind == "f" and wanted.kind == "f":
                return array.astype(wanted)
            if array.dtype.kind in "iu":
                limits = np.iinfo(wanted) if wanted.kind in "iu" else None
                if limits is None or (array.min() >= limits.min and array.max() <= limits.max):
                    return array.astype(wanted)
                raise to.wrong(f"which cannot hold {array.min()} to {array.max()}")
        hint = f"`.astype({wanted.name!r})` converts it" if array.dtype.kind in "biuf" else ""
        raise to.wrong(f"got {described(array if is_array else value)}", hint)

    def absent(self, to: Arguments) -> None:
        import numpy as np

        self.put(np.zeros((0,) * self.rank, DTYPES[self.elem]), to)

    def take(self, leaves: Iterator[Any], session: Session) -> Array:
        return Array(next(leaves), session)


class RaggedOf:
    """Rows that differ in length, in an array of `rank` dimensions."""

    annotation: Any = Ragged

    def __init__(self, rank: int, data: Any) -> None:
        self.lengths = ArrayOf(rank, "i64")
        self.data = data
        self.leaves = 1 + data.leaves

    def put(self, value: Any, to: Arguments) -> None:
        if isinstance(value, Give):
            value = value.value
        if not isinstance(value, Ragged):
            value = self._of_others(value, to)
        if not isinstance(value, Ragged):
            value = self._from_rows(value, to)
        self.lengths.put(value._lengths, to)
        self.data.put(value.data, to)

    def _of_others(self, value: Any, to: Arguments) -> Any:
        """The rows that a value of another library is, or the value."""
        if not _exchange.is_foreign(value):
            return value
        try:
            found = _exchange.of(value)
        except ValueError as why:
            raise to.wrong(str(why)) from None
        return value if found is None else found

    def _from_rows(self, value: Any, to: Arguments) -> Ragged:
        """From lists of rows, or from an array, whose rows have the same length."""
        import numpy as np

        rank = self.lengths.rank
        rows, shape = value, []
        try:
            for _ in range(rank - 1):
                extents = {len(each) for each in rows}
                if len(extents) > 1:
                    raise to.wrong("got rows of different lengths in a dimension where they must be the same")
                shape.append(len(rows))
                rows = [each for row in rows for each in row]
            shape.append(len(rows) if rank == 1 else len(rows) // max(1, int(np.prod(shape))))
            lengths = np.array([len(row) for row in rows], dtype=np.int64).reshape(shape)
            if hasattr(rows, "dtype"):
                return Ragged._of_lengths(lengths, rows.reshape((-1,) + rows.shape[2:]))
            if rows and all(hasattr(row, "dtype") for row in rows):
                return Ragged._of_lengths(lengths, np.concatenate([np.asarray(row) for row in rows]))
            return Ragged._of_lengths(lengths, [each for row in rows for each in row])
        except TypeError:
            raise to.wrong(f"got {described(value)}") from None

    def absent(self, to: Arguments) -> None:
        self.lengths.absent(to)
        self.data.absent(to)

    def take(self, leaves: Iterator[Any], session: Session) -> Ragged:
        lengths = self.lengths.take(leaves, session)
        return Ragged._of_lengths(lengths, self.data.take(leaves, session))


class TupleOf:
    """A tuple, or an array of tuples."""

    annotation: Any = tuple

    def __init__(self, parts: list[Any]) -> None:
        self.parts = parts
        self.leaves = sum(part.leaves for part in parts)

    def put(self, value: Any, to: Arguments) -> None:
        value = given_parts(value)
        if not isinstance(value, Sequence) or isinstance(value, (str, bytes)):
            raise to.wrong(f"which is a tuple of {len(self.parts)}, got {described(value)}")
        if len(value) != len(self.parts):
            raise to.wrong(f"which is a tuple of {len(self.parts)}, got {len(value)} values")
        for part, each in zip(self.parts, value):
            part.put(each, to)

    def absent(self, to: Arguments) -> None:
        for part in self.parts:
            part.absent(to)

    def take(self, leaves: Iterator[Any], session: Session) -> tuple:
        return tuple(part.take(leaves, session) for part in self.parts)


class RecordOf:
    """A record, or an array of records: a named tuple."""

    annotation: Any = tuple

    def __init__(self, name: str, fields: list[tuple[str, Any]]) -> None:
        self.fields = fields
        self.leaves = sum(part.leaves for _, part in fields)
        self.type = _tuple_type(name, [field for field, _ in fields])

    def put(self, value: Any, to: Arguments) -> None:
        value = given_parts(value)
        names = [name for name, _ in self.fields]
        columns = getattr(getattr(value, "dtype", None), "names", None)
        if isinstance(value, Mapping) or columns:
            have = set(columns or value)
            if have != set(names):
                raise to.wrong(f"which has the fields {', '.join(names)}, got {', '.join(map(str, sorted(have)))}")
            parts = [value[name] for name in names]
        elif isinstance(value, tuple) and len(value) == len(names) and not hasattr(value, "_fields"):
            parts = list(value)
        else:
            try:
                parts = [getattr(value, identifier(name)) for name in names]
            except AttributeError:
                raise to.wrong(f"which has the fields {', '.join(names)}, got {described(value)}") from None
        for (_, part), each in zip(self.fields, parts):
            part.put(each, to)

    def absent(self, to: Arguments) -> None:
        for _, part in self.fields:
            part.absent(to)

    def take(self, leaves: Iterator[Any], session: Session) -> tuple:
        return self.type(*[part.take(leaves, session) for _, part in self.fields])


class SumOf:
    """A value of a sum type."""

    annotation: Any = Variant

    def __init__(self, constructors: list[tuple[str, list[Any]]]) -> None:
        self.constructors = constructors
        self.leaves = 1 + sum(part.leaves for _, payload in constructors for part in payload)

    def put(self, value: Any, to: Arguments) -> None:
        if isinstance(value, Give):
            value = value.value
        if isinstance(value, str):
            value = Variant(value)
        names = [name for name, _ in self.constructors]
        if not isinstance(value, Variant):
            raise to.wrong(f"which is an arrc.Variant, got {described(value)}")
        if value.name not in names:
            raise to.wrong(f"whose constructors are {', '.join(names)}, got {value!r}")
        to.leaves.append(to.session.scalar("u8", names.index(value.name)))
        for name, payload in self.constructors:
            if name != value.name:
                for part in payload:
                    part.absent(to)
                continue
            if len(payload) != len(value.payload):
                raise to.wrong(f"whose constructor {name} has {len(payload)} values, got {value!r}")
            for part, each in zip(payload, value.payload):
                part.put(each, to)

    def absent(self, to: Arguments) -> None:
        to.leaves.append(to.session.scalar("u8", 0))
        for _, payload in self.constructors:
            for part in payload:
                part.absent(to)

    def take(self, leaves: Iterator[Any], session: Session) -> Variant:
        at = next(leaves)
        all_payloads = [[part.take(leaves, session) for part in payload] for _, payload in self.constructors]
        return Variant(self.constructors[at][0], *all_payloads[at])


class OpaqueOf:
    """An array of values of a sum type, which only entry points look into."""

    annotation: Any = Opaque

    def __init__(self, text: str, parts: list[Any]) -> None:
        self.text = text
        self.parts = parts
        self.leaves = sum(part.leaves for part in parts)

    def put(self, value: Any, to: Arguments) -> None:
        if isinstance(value, Give):
            value = value.value
        if not isinstance(value, Opaque) or value.type != self.text:
            raise to.wrong(f"which is an arrc.Opaque of type {self.text}, got {described(value)}")
        if value._session is not to.session:
            raise to.wrong("got an arrc.Opaque of another session")
        to.leaves.extend(leaf.share() for leaf in value._leaves)

    def absent(self, to: Arguments) -> None:
        for part in self.parts:
            part.absent(to)

    def take(self, leaves: Iterator[Any], session: Session) -> Opaque:
        return Opaque(self.text, [next(leaves) for _ in range(self.leaves)], session)


def _tuple_type(name: str, fields: list[str]) -> Any:
    """The named tuples for a record."""
    return namedtuple(identifier(name), [identifier(field) for field in fields], rename=True)


def given_parts(value: Any) -> Any:
    """A tuple or record that is given away is one whose parts are."""
    if not isinstance(value, Give):
        return value
    value = value.value
    if isinstance(value, Mapping):
        return {name: Give(part) for name, part in value.items()}
    if hasattr(value, "_fields"):
        return type(value)(*[Give(part) for part in value])
    return tuple(Give(part) for part in value) if isinstance(value, (tuple, list)) else value


def identifier(name: str) -> str:
    """A name of the language as a name of Python: ``x'`` is ``x_``, ``lambda`` is ``lambda_``."""
    name = re.sub(r"\W", "_", name) or "_"
    if name[0].isdigit():
        name = f"_{name}"
    return f"{name}_" if keyword.iskeyword(name) else name


def text_of(ty: tuple) -> str:
    """A type as the source writes it, without sizes."""
    kind = ty[0]
    if kind == "scalar":
        return ty[1]
    if kind == "array":
        return "[]" * ty[1] + text_of(ty[2])
    if kind == "rows":
        return f"[..]{text_of(ty[1])}"
    if kind == "tuple":
        return f"({', '.join(map(text_of, ty[1]))})"
    if kind == "record":
        return f"{{{', '.join(f'{name}: {text_of(part)}' for name, part in ty[1])}}}"
    if kind == "sum":
        all_of_them = (" ".join([f"#{name}", *map(text_of, payload)]) for name, payload in ty[1])
        return f"({' | '.join(all_of_them)})"
    return ty[1]


def count(ty: tuple) -> int:
    """How many leaves a value has that is not in an array."""
    kind = ty[0]
    if kind == "scalar":
        return 1
    if kind == "array":
        return max(1, count(ty[2]))
    if kind == "rows":
        return 1 + max(1, count(ty[1]))
    if kind == "tuple":
        return sum(map(count, ty[1]))
    if kind == "record":
        return sum(count(part) for _, part in ty[1])
    if kind == "sum":
        return 1 + sum(count(part) for _, payload in ty[1] for part in payload)
    return count(ty[2])


def of(ty: tuple, rank: int = 0, name: str = "record") -> Any:
    """The converter for a type, in an array of so many dimensions."""
    kind = ty[0]
    if kind == "scalar":
        return ArrayOf(rank, ty[1]) if rank else Scalar(ty[1])
    if kind == "array":
        # Elements without data are kept as truth values, for their number.
        return of(ty[2], rank + ty[1], name) if count(ty[2]) else ArrayOf(rank + ty[1], "bool")
    if kind == "rows":
        return RaggedOf(rank, of(("array", 1, ty[1]), 0, name))
    if kind == "tuple":
        return TupleOf([of(part, rank) for part in ty[1]])
    if kind == "record":
        return RecordOf(name, [(field, of(part, rank)) for field, part in ty[1]])
    if kind == "sum":
        if rank == 0:
            return SumOf([(name, [of(part) for part in payload]) for name, payload in ty[1]])
        parts = [ArrayOf(rank, "u8")] + [of(part, rank) for _, payload in ty[1] for part in payload]
        return OpaqueOf(f"{'[]' * rank}{text_of(ty)}", parts)
    return of(ty[2], rank, re.split(r"\W", ty[1].strip("[]"))[-1] or name)
