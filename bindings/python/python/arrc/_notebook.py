"""The cell magic ``%%arrc`` of IPython and Jupyter: ``%load_ext arrc``."""

from __future__ import annotations

import shlex
import sys
from typing import Any

from ._errors import ArgumentError, CompileError
from ._program import Program, compile, warnings
from ._sessions import Options


def options_of(line: str) -> dict[str, Any]:
    """The options after ``%%arrc``: ``--target cpu --threads=2``."""
    out: dict[str, Any] = {}
    words = [part for word in shlex.split(line) for part in word.split("=", 1)]
    for option, value in zip(words[::2], [*words[1::2], None]):
        name = option.removeprefix("--").replace("-", "_")
        if not option.startswith("--") or name not in Options._fields or value is None:
            raise ArgumentError(f"`{option}` is no option with a value; there are --{', --'.join(Options._fields)}")
        out[name] = value if name == "target" else int(value)
    return out


def load_ipython_extension(shell: Any) -> None:
    """Defines ``%%arrc``: the entry points of a cell become functions of the notebook."""

    def arrc(line: str, cell: str) -> Program | None:
        try:
            program = compile(cell, name="<cell>", **options_of(line))
        except CompileError as why:
            # The message has the source; the lines of this module say nothing.
            print(why, file=sys.stderr)
            return None
        for warning in warnings(program):
            print(warning, file=sys.stderr)
        shell.push({program[entry].__name__: program[entry] for entry in program})
        return program

    shell.register_magic_function(arrc, "cell", "arrc")
