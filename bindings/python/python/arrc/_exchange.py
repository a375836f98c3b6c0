"""Irregular arrays of other libraries: Arrow, Awkward Array, PyTorch's jagged tensors, SciPy's sparse rows.

Nothing here imports a library that the value at hand does not come from.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from ._arrc import arrow_export, arrow_parts
from ._ragged import Ragged

if TYPE_CHECKING:
    import numpy as np

FORMATS = {
    "c": "int8",
    "C": "uint8",
    "s": "int16",
    "S": "uint16",
    "i": "int32",
    "I": "uint32",
    "l": "int64",
    "L": "uint64",
    "e": "float16",
    "f": "float32",
    "g": "float64",
}
"""Arrow's letters for numbers, and what NumPy calls the types."""


def of(value: Any) -> Any:
    """The `Ragged` or array that a value of another library is; nothing of one that is not known.

    Elements are not copied where they lie as arrc has them.
    """
    module = type(value).__module__.partition(".")[0]
    if module == "awkward":
        return _of_awkward(value)
    if module == "torch" and getattr(value, "is_nested", False):
        return _of_torch(value)
    if module == "scipy" and hasattr(value, "indptr"):
        rows = value.tocsr()
        return Ragged(rows.indptr, (rows.indices, rows.data))
    if hasattr(value, "combine_chunks") and hasattr(value, "chunks"):
        # A column of pyarrow may be in pieces.
        value = value.combine_chunks()
    if hasattr(value, "__arrow_c_array__"):
        schema, array = value.__arrow_c_array__()
        return _of_arrow(arrow_parts(schema, array), (schema, array))
    return None


class _Memory:
    """Memory of somebody else, for NumPy."""

    def __init__(self, start: int, count: int, dtype: np.dtype, owner: Any) -> None:
        self.owner = owner
        self.__array_interface__ = {
            "version": 3,
            "typestr": dtype.str,
            "shape": (count,),
            "strides": None,
            "data": (start, True),
        }


def _of_arrow(parts: tuple, owner: Any) -> Any:
    """An array of Arrow: vectors, rows, or a dictionary of columns."""
    import numpy as np

    format, _, length, offset, nulls, buffers, children = parts

    def memory(buffer: int, begin: int, count: int, dtype: Any) -> np.ndarray:
        dtype = np.dtype(dtype)
        if count == 0:
            return np.zeros(0, dtype)
        return np.asarray(_Memory(buffers[buffer] + begin * dtype.itemsize, count, dtype, owner))

    def bits(buffer: int) -> np.ndarray:
        first = offset // 8
        packed = memory(buffer, first, (offset + length + 7) // 8 - first, "uint8")
        unpacked = np.unpackbits(packed, bitorder="little")
        return unpacked[offset % 8 : offset % 8 + length].view(bool)

    if nulls != 0 and buffers and buffers[0] != 0 and not bits(0).all():
        raise ValueError("values are missing, which arrc has not")
    if format in FORMATS:
        return memory(1, offset, length, FORMATS[format])
    if format == "b":
        return bits(1)
    if format in ("+l", "+L"):
        offsets = memory(1, offset, length + 1, "int32" if format == "+l" else "int64")
        return Ragged(offsets if length else [0], _of_arrow(children[0], owner))
    if format.startswith("+w:"):
        width = int(format[3:])
        inner = _cut(_of_arrow(children[0], owner), offset * width, (offset + length) * width)
        if isinstance(inner, (Ragged, dict)):
            return Ragged(np.arange(length + 1, dtype=np.int64) * width, inner)
        return inner.reshape((length, width) + inner.shape[1:])
    if format == "+s":
        return {child[1]: _cut(_of_arrow(child, owner), offset, offset + length) for child in children}
    raise ValueError(f"arrays of Arrow's format {format!r} cannot be read")


def _cut(columns: Any, begin: int, end: int) -> Any:
    if isinstance(columns, dict):
        return {name: column[begin:end] for name, column in columns.items()}
    return columns[begin:end]


def arrow_capsules(rows: Ragged) -> tuple[Any, Any]:
    """Rows as Arrow's capsules: large lists of numbers."""
    import numpy as np

    levels: list[tuple[str, int, Any]] = []
    inner: Any = rows
    while isinstance(inner, Ragged):
        if inner.lengths.ndim != 1:
            raise ValueError("rows in an array of more dimensions are no list of Arrow's")
        levels.append(("+L", len(inner), np.ascontiguousarray(inner.offsets)))
        inner = inner.data
    if isinstance(inner, (tuple, dict)):
        raise ValueError("rows of tuples are no list of numbers")
    data = np.ascontiguousarray(inner)
    length = len(data)
    for width in data.shape[1:]:
        levels.append((f"+w:{width}", length, None))
        length *= width
    if data.dtype == bool:
        levels.append(("b", length, np.packbits(data.reshape(-1), bitorder="little")))
    else:
        formats = {dtype: letter for letter, dtype in FORMATS.items()}
        levels.append((formats[data.dtype.name], length, data))
    # The outermost level counts rows, each inner one what the rows have.
    return arrow_export(levels)


def _of_awkward(value: Any) -> Any:
    """An array of Awkward's, by its layout."""
    import awkward as ak

    return _of_layout(ak.to_layout(ak.to_packed(value)))


def _of_layout(layout: Any) -> Any:
    import numpy as np

    if layout.is_list and not layout.is_regular:
        layout = layout.to_ListOffsetArray64(True)
        return Ragged(np.asarray(layout.offsets.data), _of_layout(layout.content))
    if layout.is_regular:
        inner, size = _of_layout(layout.content), layout.size
        if isinstance(inner, (Ragged, dict, tuple)):
            return Ragged(np.arange(len(layout) + 1, dtype=np.int64) * size, inner)
        return inner.reshape((len(layout), size) + inner.shape[1:])
    if layout.is_numpy:
        return np.asarray(layout.data)
    if layout.is_record:
        contents = [_of_layout(content) for content in layout.contents]
        return tuple(contents) if layout.is_tuple else dict(zip(layout.fields, contents))
    raise ValueError(f"arrays of Awkward's {type(layout).__name__} cannot be read")


def to_awkward(rows: Any) -> Any:
    """Rows as an array of Awkward's."""
    import awkward as ak

    return ak.Array(_layout(rows))


def _layout(rows: Any) -> Any:
    import awkward as ak
    import numpy as np

    if isinstance(rows, Ragged):
        layout = ak.contents.ListOffsetArray(ak.index.Index64(rows.offsets), _layout(rows.data))
        for extent in reversed(rows.lengths.shape[1:]):
            layout = ak.contents.RegularArray(layout, extent)
        return layout
    if isinstance(rows, tuple):
        fields = getattr(rows, "_fields", None)
        return ak.contents.RecordArray([_layout(part) for part in rows], list(fields) if fields else None)
    return ak.contents.NumpyArray(np.asarray(rows))


def _of_torch(value: Any) -> Any:
    if "jagged" not in str(value.layout):
        raise ValueError("nested tensors must have the layout torch.jagged")
    if getattr(value, "lengths", lambda: None)() is not None:
        value = value.contiguous()
    return Ragged(value.offsets().detach().numpy(), value.values().detach().numpy())


def to_torch(rows: Ragged) -> Any:
    """Rows as a nested tensor of the layout ``torch.jagged``."""
    import numpy as np
    import torch

    # PyTorch has no tensors that are read-only.
    values, offsets = (torch.from_numpy(np.array(part)) for part in (rows.data, rows.offsets))
    return torch.nested.nested_tensor_from_jagged(values, offsets)


def to_scipy(rows: Ragged, columns: int) -> Any:
    """Rows of pairs of column and value as a sparse array of SciPy's."""
    import numpy as np
    from scipy.sparse import csr_array

    if not isinstance(rows.data, tuple) or len(rows.data) != 2:
        raise ValueError("a sparse array is rows of pairs of a column and a value")
    indices, data = map(np.asarray, rows.data)
    return csr_array((data, indices, rows.offsets), shape=(len(rows), columns))


def is_foreign(value: Any) -> bool:
    """Whether `of` may know the value."""
    module = type(value).__module__.partition(".")[0]
    return module in ("awkward", "torch", "scipy") and module in sys.modules or hasattr(value, "__arrow_c_array__") or hasattr(value, "chunks")
