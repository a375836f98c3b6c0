"""Data-parallel array programs, compiled in milliseconds for all cores of the CPU and for GPUs.

>>> import arrc
>>> lib = arrc.compile("def mean [n] (xs: [n]f64) = f64.sum xs / f64.i64 n  entry main = mean")
>>> lib.main([1, 2, 3, 4])
2.5

`compile` gives a `Program`, whose entry points are functions. Arrays of NumPy go in without a copy if their elements are side by
side; results are `Array`, of which ``numpy()`` makes an array of NumPy without a copy. What goes wrong is an `Error`.
"""

from ._arrays import Array, give
from ._arrc import __version__
from ._errors import (
    ArgumentError,
    CompileError,
    ConsumedError,
    DeviceError,
    Diagnostic,
    Error,
    InternalError,
    InterruptedError,
    OutOfMemoryError,
    RunError,
)
from ._function import function
from ._notebook import load_ipython_extension
from ._program import Function, Program, compile, device_name, warnings
from ._ragged import Ragged
from ._sessions import device
from ._variants import Opaque, Variant

__all__ = [
    "ArgumentError",
    "Array",
    "CompileError",
    "ConsumedError",
    "DeviceError",
    "Diagnostic",
    "Error",
    "Function",
    "InternalError",
    "InterruptedError",
    "Opaque",
    "OutOfMemoryError",
    "Program",
    "Ragged",
    "RunError",
    "Variant",
    "__version__",
    "compile",
    "device",
    "device_name",
    "function",
    "give",
    "load_ipython_extension",
    "warnings",
]

# What messages and documentation call them.
for _name in __all__:
    if isinstance(globals()[_name], type):
        globals()[_name].__module__ = "arrc"
del _name
