"""Arrays where programs run, and arguments that are given away."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Iterator, TypeVar

from ._arrc import Leaf, Session, View

if TYPE_CHECKING:
    import numpy as np

T = TypeVar("T")

DTYPES = {
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "u8": "uint8",
    "u16": "uint16",
    "u32": "uint32",
    "u64": "uint64",
    "f16": "float16",
    "f32": "float32",
    "f64": "float64",
    "bool": "bool",
}
"""The types of elements, and what NumPy calls them."""


class Give(Generic[T]):
    """An argument that is given away: see `give`."""

    __slots__ = ("value",)

    def __init__(self, value: T) -> None:
        self.value = value

    def __repr__(self) -> str:
        return f"arrc.give({self.value!r})"


def give(value: T) -> Give[T]:
    """Gives an argument away, so that the entry point may update it in place where its parameter is consumed (``*[n]f64``).

    An `arrc.Array` that was given away cannot be used any more: `arrc.ConsumedError`. An array of NumPy is changed, and belongs to the result
    as long as that is there: do not use it before. Without ``give`` such arguments are copied.
    """
    return value if isinstance(value, Give) else Give(value)


class Array:
    """An array that an entry point gave: of any rank, on the device where the program runs until somebody asks for its elements.

    It can be an argument of other entry points, and of most functions that take arrays: of NumPy (``__array__``), and of PyTorch or JAX by
    DLPack. Its elements do not change, so arrays that share them are read-only.
    """

    __slots__ = ("_leaf", "_session", "_pinned", "__weakref__")

    def __init__(self, leaf: Leaf, session: Session) -> None:
        self._leaf = leaf
        self._session = session
        self._pinned: View | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents, outermost first."""
        return self._leaf.shape

    @property
    def dtype(self) -> np.dtype:
        """The type of the elements, as NumPy has it."""
        import numpy as np

        return np.dtype(DTYPES[self._leaf.elem])

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self._leaf.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        size = 1
        for extent in self._leaf.shape:
            size *= extent
        return size

    @property
    def nbytes(self) -> int:
        """The bytes of all elements."""
        return self.size * self.dtype.itemsize

    @property
    def is_consumed(self) -> bool:
        """Whether it was given away."""
        return self._leaf.is_consumed

    def numpy(self, copy: bool = False) -> np.ndarray:
        """The elements as an array of NumPy: read-only and without a copy (from a GPU they are brought once), or a copy that may be changed."""
        import numpy as np

        array = np.asarray(self._leaf.view())
        return array.copy() if copy else array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        array = self.numpy()
        if dtype is not None and array.dtype != dtype:
            if copy is False:
                raise ValueError(f"an array of {array.dtype} cannot be one of {dtype} without a copy")
            return array.astype(dtype)
        return array.copy() if copy else array

    @property
    def __array_interface__(self) -> dict[str, Any]:
        # Whoever has the address has only the array to hold on to.
        if self._pinned is None:
            self._pinned = self._leaf.view()
        return self._pinned.__array_interface__

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        # TODO: elements in memory of a GPU are brought to the host; consumers there need the context of the driver that PyTorch uses.
        if max_version is None or max_version[0] < 1:
            # Whoever does not know of read-only arrays may change a copy.
            return self.numpy(copy=True).__dlpack__()
        return self.numpy().__dlpack__(max_version=max_version, dl_device=dl_device, copy=copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def tolist(self) -> list:
        """The elements as nested lists of Python's numbers."""
        return self.numpy().tolist()

    def __len__(self) -> int:
        return self._leaf.shape[0]

    def __getitem__(self, index: Any) -> Any:
        return self.numpy()[index]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.numpy())

    def __eq__(self, other: Any) -> Any:
        return self.numpy() == other

    def __ne__(self, other: Any) -> Any:
        return self.numpy() != other

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> Any:
        # Programs take arrays of NumPy, and a process has its own devices.
        return _restored, (self.numpy(),)

    def __repr__(self) -> str:
        if self.is_consumed:
            return "<arrc.Array, given away>"
        return self.numpy().__repr__().replace("array", "arrc.Array", 1)


def _restored(array: np.ndarray) -> np.ndarray:
    """What another process gets of an array."""
    return array
