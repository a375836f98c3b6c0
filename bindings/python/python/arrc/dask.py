"""Entry points on arrays of Dask: each worker compiles the program, in milliseconds, for as many threads as it has for a task.

>>> import arrc, arrc.dask
>>> program = arrc.compile("entry twice [n] (xs: [n]f64) = map (* 2) xs")
>>> y = arrc.dask.map_blocks(program.twice, x)       # doctest: +SKIP
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._program import Function


class _Block:
    """An entry point that gives arrays of NumPy. It can be pickled."""

    def __init__(self, function: Function) -> None:
        self.function = function

    def __call__(self, *args: Any) -> Any:
        return np.asarray(self.function(*args))

    @property
    def __name__(self) -> str:
        return self.function.__name__

    def __reduce__(self) -> Any:
        return _Block, (self.function,)

    def __dask_tokenize__(self) -> Any:
        program = self.function._program
        return (program._name, program._text, program._options, self.function._entry)


def map_blocks(function: Function, *args: Any, dtype: Any = None, **kwargs: Any) -> Any:
    """As ``dask.array.map_blocks``, with an entry point as the function: it is called for each block, and its result is a block.

    ``dtype`` is that of the result; where it is not given, it is that of the declared result. Other arguments are those of Dask, such as
    ``drop_axis``.
    """
    import dask.array as da

    if dtype is None:
        dtype = _dtype(function)
    return da.map_blocks(_Block(function), *args, dtype=dtype, meta=np.empty((0,), dtype), **kwargs)


def reduce(function: Function, combine: Function, x: Any) -> Any:
    """Combines what an entry point gives for each block along the first axis, in the order of the blocks: a delayed value.

    Blocks may be worked on anywhere: how many workers there are, and which is done first, changes no bit of the result. What is given for a
    block must be an array or a number, two of which ``combine`` makes one of.
    """
    import dask

    blocks = [block for block in x.to_delayed().reshape(-1)]
    partial = dask.delayed(_Block(function), pure=True)
    parts = [partial(block) for block in blocks]
    fold = dask.delayed(_Block(combine), pure=True)
    # Neighbours are combined, so that not all wait for one.
    while len(parts) > 1:
        pairs = [fold(*parts[i : i + 2]) for i in range(0, len(parts) - 1, 2)]
        parts = pairs + parts[len(pairs) * 2 :]
    return parts[0]


def _dtype(function: Function) -> Any:
    from ._arrays import DTYPES

    elem = getattr(function._result, "elem", None)
    if elem is None:
        raise TypeError(f"the result of `{function.__name__}` is no array: say `dtype`")
    return np.dtype(DTYPES[elem])
