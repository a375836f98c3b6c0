"""Entry points that are written where they are used."""

from __future__ import annotations

import ast
import inspect
import re
from typing import Any, Callable, overload

from ._errors import ArgumentError
from ._program import Function, compile


@overload
def function(definition: Callable[..., Any], /) -> Function: ...
@overload
def function(*, prelude: str = "", **options: Any) -> Callable[[Callable[..., Any]], Function]: ...


def function(definition: Callable[..., Any] | None = None, /, *, prelude: str = "", **options: Any) -> Any:
    """Makes an entry point of a Python function whose annotations are types, and whose documentation is an expression.

    >>> import arrc
    >>> @arrc.function
    ... def dot(xs: "[n]f64", ys: "[n]f64") -> "f64":
    ...     "f64.sum (map2 (*) xs ys)"
    >>> dot([1, 2, 3], [4, 5, 6])
    32.0

    Sizes of parameters, such as ``n`` here, need not be declared. ``prelude`` is a text of definitions that the expression may use;
    options are those of `arrc.compile`.
    """
    if definition is None:
        return lambda definition: _made(definition, prelude, options)
    return _made(definition, prelude, options)


def _made(definition: Callable[..., Any], prelude: str, options: dict[str, Any]) -> Function:
    name = definition.__name__
    body = inspect.getdoc(definition)
    if not body:
        raise ArgumentError(f"`{name}` has no expression: it is the function's documentation")
    signature = inspect.signature(definition)
    params = [(param.name, _type(param.annotation, name)) for param in signature.parameters.values()]
    known: set[str] = set()
    binders = ""
    for param, text in params:
        for size in re.findall(r"\[([A-Za-z_]\w*)\]", text):
            # A parameter that stands before may be a size.
            binders += "" if size in known else f" [{size}]"
            known.add(size)
        known.add(param)
    arguments = "".join(f" ({param}: {text})" for param, text in params)
    result = signature.return_annotation
    result = "" if result is inspect.Signature.empty else f" : {_type(result, name)}"
    lines = "\n".join(f"  {line}" for line in body.splitlines())
    text = f"{prelude}\nentry {name}{binders}{arguments}{result} =\n{lines}\n"
    return compile(text, name=f"<{name}>", **options)[name]


def _type(annotation: Any, name: str) -> str:
    """The text of an annotation, which may be one of a text."""
    if not isinstance(annotation, str):
        raise ArgumentError(f"each parameter of `{name}` needs a type, as a text: `xs: \"[n]f64\"`")
    try:
        inner = ast.literal_eval(annotation)
    except (SyntaxError, ValueError):
        return annotation
    return inner if isinstance(inner, str) else annotation
