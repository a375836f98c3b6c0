"""Programs and their entry points."""

from __future__ import annotations

import inspect
import os
from contextlib import contextmanager
from typing import Any, Iterator

from . import _sessions, _streams, _types
from ._arrc import Program as Compiled
from ._errors import ArgumentError, Diagnostic
from ._sessions import Options


class Function:
    """An entry point. Its signature has the parameters with the types that the source gives them."""

    def __init__(self, program: Program, entry: dict[str, Any]) -> None:
        self._program = program
        self._entry: str = entry["name"]
        self.__name__ = self.__qualname__ = _types.identifier(self._entry)
        self.__module__ = "arrc"
        params = entry["params"]
        self._names = _distinct([_types.identifier(param["name"]) for param in params])
        self._texts = [_text(param) for param in params]
        self._types = [_types.of(param["type"]) for param in params]
        self._labels = [
            f"`{name}` of `{self._entry}` must have type {text}" for name, text in zip(self._names, self._texts)
        ]
        self._sequences = [param["sequence"] for param in params]
        self._gives_sequence: bool = entry["sequence"]
        self._streams = self._gives_sequence or any(self._sequences)
        results = [_types.of(ty) for ty in entry["results"]]
        self._result = results[0] if len(results) == 1 else _types.TupleOf(results)
        shown = entry["text"] or ", ".join(map(_types.text_of, entry["results"]))
        self.__signature__ = _signature(self._names, self._texts, shown)
        self.__doc__ = _doc(self._names, self._texts, shown, entry["doc"])

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if kwargs or len(args) != len(self._names):
            args = self._bound(args, kwargs)
        if self._streams:
            return self._streamed(args)
        compiled, session = self._program._ready()
        to = _types.Arguments(session)
        for label, ty, value in zip(self._labels, self._types, args):
            to.param = label
            ty.put(value, to)
        for array in to.given:
            array._leaf.discard()
        results = compiled.call(self._entry, to.leaves)
        return self._result.take(iter(results), session)

    def stream(self, *args: Any, **kwargs: Any) -> Iterator[Any]:
        """Calls an entry point whose result is a sequence: an iterator of arrays, each of some elements.

        Another thread calls the entry point while these are used. Memory holds no more elements than what is worked on.
        """
        if not self._gives_sequence:
            raise _streams.refuse(self._entry)
        args = self._bound(args, kwargs)
        session = self._program._ready()[1]

        def convert(leaves: list[Any]) -> Any:
            return self._result.take(iter(leaves), session)

        return _streams.pieces(lambda output: self._call_streaming(args, output), convert)

    def _streamed(self, args: tuple) -> Any:
        """A call with sequences. A sequence that is the result is an array."""
        session = self._program._ready()[1]
        if not self._gives_sequence:
            return self._result.take(iter(self._call_streaming(args, None)), session)
        chunks: list[Any] = []
        self._call_streaming(args, lambda leaves: chunks.append(self._result.take(iter(leaves), session)))
        to = _types.Arguments(session)
        if chunks:
            self._result.put(_streams.joined(chunks), to)
        else:
            self._result.absent(to)
        return self._result.take(iter(to.leaves), session)

    def _call_streaming(self, args: tuple, output: Any) -> list[Any]:
        """Calls the entry point with sequences from wherever they come, which go to `output`."""
        session = self._program._ready()[1]
        to = _types.Arguments(session)
        inputs = []
        for label, ty, is_sequence, value in zip(self._labels, self._types, self._sequences, args):
            if is_sequence:
                inputs.append(_streams.source(value, ty, session, label))
            else:
                to.param = label
                ty.put(value, to)
        with self._program._for_streams() as compiled:
            return compiled.stream(session, self._entry, to.leaves, inputs, output)

    def _bound(self, args: tuple, kwargs: dict[str, Any]) -> tuple:
        """The arguments in the order of the parameters."""
        try:
            return self.__signature__.bind(*args, **kwargs).args
        except TypeError as why:
            raise ArgumentError(f"`{self._entry}`: {why}; it takes {self.__signature__}") from None

    def __repr__(self) -> str:
        return f"<entry point {self._entry}{self.__signature__}>"

    def __reduce__(self) -> Any:
        return _entry_of, (self._program, self._entry)


def _entry_of(program: Program, name: str) -> Function:
    """The entry point of another process's program."""
    return program[name]


def _text(param: dict[str, Any]) -> str:
    """The type of a parameter, as the source writes it."""
    text = param["text"] or _types.text_of(param["type"])
    return f"*{text}" if param["consumed"] and not text.startswith("*") else text


def _distinct(names: list[str]) -> list[str]:
    """The names, none twice: parameters whose pattern is no name have none."""
    out: list[str] = []
    for i, name in enumerate(names):
        name = name if name.strip("_") else f"arg{i}"
        out.append(name if name not in out else f"{name}_{i}")
    return out


def _signature(names: list[str], texts: list[str], result: str) -> inspect.Signature:
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    params = [inspect.Parameter(name, kind, annotation=_Type(text)) for name, text in zip(names, texts)]
    return inspect.Signature(params, return_annotation=_Type(result))


class _Type:
    """A type of the language as an annotation, which is shown as the source writes it."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text

    def __eq__(self, other: Any) -> bool:
        return getattr(other, "text", other) == self.text

    def __hash__(self) -> int:
        return hash(self.text)


def _doc(names: list[str], texts: list[str], result: str, doc: str | None) -> str:
    """The documentation comment, then the types of parameters and result."""
    lines = [line.removeprefix(" ") for line in (doc or "").splitlines()]
    if lines:
        lines.append("")
    if names:
        lines.append("Parameters:")
        lines.extend(f"    {name}: {text}" for name, text in zip(names, texts))
    lines.extend(["Returns:", f"    {result}", "Raises:"])
    lines.append("    ArgumentError: an argument has another type or shape.")
    lines.append("    RunError: the program fails.")
    return "\n".join(lines)


class Program:
    """A compiled program. Its entry points are its attributes: ``program.main(1, 2)``, or ``program["main"]``.

    Programs can be pickled: as their text and options. Another process compiles the text anew.
    """

    def __init__(self, name: str, text: str | None, options: Options) -> None:
        self._name = name
        self._text = text
        self._options = options
        self._compile()
        self._entries = {entry["name"]: Function(self, entry) for entry in self._compiled.entries()}
        # An entry point may have any name.
        by_name = {_types.identifier(entry): function for entry, function in self._entries.items()}
        self.__dict__.update(by_name)

    def _compile(self) -> None:
        self._generation = _sessions.generation
        self._session = _sessions.session(self._options)
        self._compiled = self._compiled_for(self._session)
        self._idle: list[Compiled] = []

    def _compiled_for(self, session: Any) -> Compiled:
        if self._text is not None:
            return session.compile_text(self._name, self._text)
        with open(self._name, encoding="utf-8", errors="surrogateescape") as file:
            self._text = file.read()
        return session.compile_file(self._name)

    def _ready(self) -> tuple[Compiled, Any]:
        """What to call entry points of."""
        if self._generation != _sessions.generation:
            # The process was forked: threads are the parent's.
            _sessions.keep((self._compiled, self._session, self._idle))
            self._compile()
        return self._compiled, self._session

    @contextmanager
    def _for_streams(self) -> Iterator[Compiled]:
        """What to call entry points of that read sequences.

        What an iterator does may be other calls. A GPU is for one call at a time, so this one has a session of its own there.
        """
        compiled = self._ready()[0]
        if self._options.target in ("cpu", "interp", "ptx-emu"):
            yield compiled
            return
        try:
            own = self._idle.pop()
        except IndexError:
            own = self._compiled_for(_sessions.Session(*self._options))
        try:
            yield own
        finally:
            self._idle.append(own)

    def __getattr__(self, name: str) -> Function:
        entries = self.__dict__.get("_entries", {})
        if name.startswith("__") or not entries:
            raise AttributeError(name)
        raise AttributeError(f"there is no entry point `{name}`; there are {', '.join(entries)}")

    def __getitem__(self, name: str) -> Function:
        """The entry point of that name, as the source writes it."""
        if name not in self._entries:
            raise KeyError(f"there is no entry point `{name}`; there are {', '.join(self._entries)}")
        return self._entries[name]

    def __iter__(self) -> Iterator[str]:
        """The names of the entry points."""
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *map(_types.identifier, self._entries)})

    def __reduce__(self) -> Any:
        return Program, (self._name, self._text, self._options)

    def __repr__(self) -> str:
        entries = self.__dict__.get("_entries", ())
        return f"<arrc.Program {self._name}: {', '.join(entries)}>"


def warnings(program: Program) -> list[Diagnostic]:
    """What the compiler warned of."""
    return [Diagnostic(*each) for each in program._ready()[0].warnings()]


def device_name(program: Program) -> str:
    """What people call the device that a program runs on."""
    return program._ready()[1].device


def compile(
    source: str | os.PathLike[str],
    *,
    target: str | None = None,
    threads: int | None = None,
    device: int | None = None,
    mem_limit: int | None = None,
    vector_bits: int | None = None,
    cap: int | None = None,
    chunk: int | None = None,
    name: str = "<string>",
) -> Program:
    """Compiles a program: a file, or a text.

    A ``str`` that ends in ``.fut`` is a path; so is whatever is no ``str``. What is imported is looked for beside the file, or beside the file
    that ``name`` says a text is.

    Options, which are those of the command ``arrc run``:
        target: ``auto`` (for each call the CPU or the GPU, whichever is expected to be faster), ``cpu``, ``ptx``, ``ptx-emu``, ``interp``.
        threads: threads for parallel work; one per core, unless said otherwise.
        device: the number of the GPU.
        mem_limit: bytes that arrays may occupy at once, in all programs with the same options.
        vector_bits: bits of the widest vector registers to use: 128, 256 or 512.
        cap: the most lane-instructions of a call on ``ptx-emu``.
        chunk: elements of sequences to work on at once.

    Raises:
        FileNotFoundError: there is no such file.
        CompileError: the program is wrong; the message shows where.
        ArgumentError: there is no such option or target.
        DeviceError: there is no such device.
    """
    options = _sessions.options(
        target=target,
        threads=threads,
        device=device,
        mem_limit=mem_limit,
        vector_bits=vector_bits,
        cap=cap,
        chunk=chunk,
    )
    if isinstance(source, str) and not (source.endswith((".fut", ".ir")) and "\n" not in source):
        return Program(name, source, options)
    return Program(os.fspath(source), None, options)
