"""Arrays whose rows differ in length."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Iterator

from ._arrays import Array

if TYPE_CHECKING:
    import numpy as np


class Ragged:
    """An irregular array (``[n][..]f64``): where rows begin and end, and the elements of all rows, one after another.

    ``offsets`` has one element more than there are rows; row ``i`` is ``data[offsets[i]:offsets[i + 1]]``. ``data`` is an array of any rank,
    or itself ragged.

    >>> Ragged([0, 2, 2, 3], [1.0, 2.0, 3.0]).tolist()
    [[1.0, 2.0], [], [3.0]]
    """

    __slots__ = ("_lengths", "_offsets", "_data")

    def __init__(self, offsets: Any, data: Any) -> None:
        import numpy as np

        offsets = np.asarray(offsets)
        if offsets.ndim != 1 or len(offsets) == 0 or offsets.dtype.kind not in "iu":
            raise ValueError(f"offsets must be a vector of integers that begins with 0, not {offsets!r}")
        offsets = offsets.astype(np.int64, copy=False)
        lengths = np.diff(offsets)
        if offsets[0] < 0 or (lengths < 0).any():
            raise ValueError("offsets must not be negative, nor decrease")
        if isinstance(data, Mapping):
            data = namedtuple("record", data, rename=True)(*data.values())
        if not isinstance(data, (Array, Ragged, tuple)):
            data = np.asarray(data)
        count = _length(data)
        if offsets[-1] > count:
            raise ValueError(f"the last offset is {offsets[-1]}, but there are {count} elements")
        if offsets[0] != 0 or offsets[-1] != count:
            data = _cut(data, int(offsets[0]), int(offsets[-1]))
            offsets = offsets - offsets[0]
        self._offsets: np.ndarray | None = offsets
        self._lengths: Any = lengths
        self._data = data

    @classmethod
    def _of_lengths(cls, lengths: Any, data: Any) -> Ragged:
        """Rows of these lengths, a vector or an array of more dimensions."""
        made = cls.__new__(cls)
        made._lengths, made._data, made._offsets = lengths, data, None
        return made

    @classmethod
    def from_lists(cls, rows: Any) -> Ragged:
        """From a list of rows, each a list, an array or a list of rows.

        >>> Ragged.from_lists([[1, 2], [], [3]]).offsets
        array([0, 2, 2, 3])
        """
        import numpy as np

        rows = list(rows)
        lengths = np.array([len(row) for row in rows], dtype=np.int64)
        if any(isinstance(row, Ragged) for row in rows) or _is_ragged(rows):
            return cls._of_lengths(lengths, cls.from_lists([each for row in rows for each in row]))
        filled = [np.asarray(row) for row in rows if len(row) > 0]
        data = np.concatenate(filled) if filled else np.zeros(0)
        return cls._of_lengths(lengths, data)

    @classmethod
    def of(cls, value: Any) -> Ragged:
        """From an array of Awkward's, of anything with Arrow's ``__arrow_c_array__`` (pyarrow), a nested tensor of PyTorch's
        with the layout ``torch.jagged``, or the rows of a sparse array of SciPy's, which are pairs of a column and a value.

        Elements are not copied where they lie side by side. Missing values are refused with a ValueError.
        """
        from ._exchange import of

        found = value if isinstance(value, Ragged) else of(value)
        if not isinstance(found, Ragged):
            raise ValueError(f"an array of rows is wanted, not {type(value).__name__}")
        return found

    def awkward(self) -> Any:
        """As an array of Awkward's, without a copy of the elements."""
        from ._exchange import to_awkward

        return to_awkward(self)

    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]:
        """As an array of Arrow's, without a copy of the elements: ``pyarrow.array(ragged)``."""
        from ._exchange import arrow_capsules

        return arrow_capsules(self)

    def torch(self) -> Any:
        """As a nested tensor of PyTorch's with the layout ``torch.jagged``. The elements are copied, for tensors may be changed."""
        from ._exchange import to_torch

        return to_torch(self)

    def scipy(self, columns: int) -> Any:
        """Rows of pairs of a column and a value as a ``csr_array`` of SciPy's with so many columns."""
        from ._exchange import to_scipy

        return to_scipy(self, columns)

    @property
    def lengths(self) -> np.ndarray:
        """The lengths of the rows."""
        import numpy as np

        return np.asarray(self._lengths)

    @property
    def offsets(self) -> np.ndarray:
        """Where each row begins in ``data``, and where the last ends."""
        import numpy as np

        if self._offsets is None:
            lengths = self.lengths.reshape(-1)
            self._offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
            np.cumsum(lengths, out=self._offsets[1:])
        return self._offsets

    @property
    def data(self) -> Any:
        """The elements of all rows, one after another."""
        return self._data

    def __len__(self) -> int:
        return self.lengths.shape[0]

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            begin, end, step = index.indices(len(self))
            if step != 1:
                raise IndexError("rows can be sliced with a step of 1 only")
            return Ragged(self.offsets[begin : max(begin, end) + 1], self._data)
        begin, end = self._bounds(index)
        return _cut(self._data, begin, end)

    def _bounds(self, index: int) -> tuple[int, int]:
        count = len(self)
        if self.lengths.ndim != 1:
            raise IndexError("rows of an array of more dimensions have to be taken from `data`")
        if not -count <= index < count:
            raise IndexError(f"row {index} of {count}")
        index %= count
        return int(self.offsets[index]), int(self.offsets[index + 1])

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def tolist(self) -> list:
        """The rows as lists of Python's numbers."""
        flat = self._data.tolist()
        bounds = self.offsets.tolist()
        rows = [flat[begin:end] for begin, end in zip(bounds, bounds[1:])]
        for extent in reversed(self.lengths.shape[1:]):
            rows = [rows[i : i + extent] for i in range(0, len(rows), extent)]
        return rows

    def __repr__(self) -> str:
        return f"arrc.Ragged({self.tolist()!r})" if len(self) <= 10 else f"<arrc.Ragged of {len(self)} rows>"


def _length(data: Any) -> int:
    """The number of elements of all rows."""
    return min(map(_length, data)) if isinstance(data, tuple) and data else len(data)


def _cut(data: Any, begin: int, end: int) -> Any:
    """Some of the elements of all rows."""
    if isinstance(data, tuple):
        parts = (_cut(part, begin, end) for part in data)
        return type(data)(*parts) if hasattr(data, "_fields") else tuple(parts)
    return data[begin:end]


def _is_ragged(rows: list) -> bool:
    """Whether rows of rows differ in length."""
    inner = [each for row in rows if not hasattr(row, "dtype") for each in row]
    nested = [each for each in inner if isinstance(each, (list, tuple))]
    return len({len(each) for each in nested}) > 1 or any(_is_ragged([each]) for each in nested)
