"""What can go wrong, as exceptions."""

from __future__ import annotations

from typing import NamedTuple


class Diagnostic(NamedTuple):
    """One message of the compiler."""

    severity: str
    """``error``, ``warning`` or ``remark``."""
    code: str
    """The stable code, such as ``E0301``."""
    message: str
    """One sentence."""
    file: str | None
    """The file, or what the text was called."""
    line: int | None
    """The line, from one."""
    column: int | None
    """The column in characters, from one."""
    notes: tuple[str, ...]
    """Facts that explain."""
    hints: tuple[str, ...]
    """What may help."""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}: " if self.file else ""
        return f"{place}{self.severity}[{self.code}]: {self.message}"


class Error(Exception):
    """Every exception of arrc is one of these."""


class CompileError(Error):
    """A program cannot be compiled. The text of the exception shows the source."""

    def __init__(self, message: str, diagnostics: list | tuple = ()) -> None:
        super().__init__(message)
        self.diagnostics: list[Diagnostic] = [Diagnostic(*each) for each in diagnostics]

    def _first(self) -> Diagnostic | None:
        errors = (each for each in self.diagnostics if each.severity == "error")
        return next(errors, None)

    @property
    def file(self) -> str | None:
        """The file of the first error."""
        first = self._first()
        return first.file if first else None

    @property
    def line(self) -> int | None:
        """The line of the first error, from one."""
        first = self._first()
        return first.line if first else None

    @property
    def column(self) -> int | None:
        """The column of the first error, from one."""
        first = self._first()
        return first.column if first else None

    @property
    def hint(self) -> str | None:
        """What may help."""
        first = self._first()
        return first.hints[0] if first and first.hints else None

    def __reduce__(self):
        return type(self), (str(self), self.diagnostics)


class RunError(Error):
    """A program failed: an index out of bounds, a division by zero, a failed assertion."""

    def __init__(self, message: str, trail: list | tuple = ()) -> None:
        super().__init__(message)
        self.trail: list[tuple[str, int, int]] = list(trail)
        """File, line and column of where it happened, then of the calls that led there."""

    def _place(self) -> tuple[str, int, int] | None:
        own = (place for place in self.trail if place[0] != "prelude")
        return next(own, self.trail[0] if self.trail else None)

    @property
    def file(self) -> str | None:
        """The file of the program where it happened."""
        place = self._place()
        return place[0] if place else None

    @property
    def line(self) -> int | None:
        """The line, from one."""
        place = self._place()
        return place[1] if place else None

    @property
    def column(self) -> int | None:
        """The column, from one."""
        place = self._place()
        return place[2] if place else None

    def __reduce__(self):
        return type(self), (str(self), self.trail)


class OutOfMemoryError(RunError, MemoryError):
    """Arrays need more memory than there is, or than ``mem_limit`` allows."""

    def __init__(
        self,
        message: str,
        trail: list | tuple = (),
        bytes: int | None = None,
        limit: int | None = None,
    ) -> None:
        super().__init__(message, trail)
        self.bytes = bytes
        """How many bytes were asked for."""
        self.limit = limit
        """How many are allowed, if that is known."""

    def __reduce__(self):
        return type(self), (str(self), self.trail, self.bytes, self.limit)


class ArgumentError(Error, TypeError, ValueError):
    """An argument or an option does not fit what is asked for. The message names the parameter."""


class ConsumedError(Error, ValueError):
    """An array is used that was given away (`arrc.give`)."""


class DeviceError(Error):
    """A device cannot be had, or has failed."""


class InterruptedError(Error):
    """A call was stopped because another call of the same session was: by Ctrl-C, in the main thread."""


class InternalError(Error):
    """A mistake in arrc. Please report it."""
