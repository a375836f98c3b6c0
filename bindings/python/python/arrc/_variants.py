"""Values of sum types."""

from __future__ import annotations

from typing import Any

from ._arrc import Leaf, Session


class Variant:
    """A value of a sum type: a constructor and its payload. ``Variant("some", 3)`` is ``#some 3``."""

    __slots__ = ("name", "payload")
    __match_args__ = ("name", "payload")

    def __init__(self, name: str, *payload: Any) -> None:
        self.name = name.removeprefix("#")
        self.payload = payload

    def __eq__(self, other: Any) -> bool:
        if not isinstance(other, Variant):
            return NotImplemented
        return (self.name, self.payload) == (other.name, other.payload)

    def __hash__(self) -> int:
        return hash((self.name, self.payload))

    def __repr__(self) -> str:
        arguments = "".join(f", {each!r}" for each in self.payload)
        return f"Variant({self.name!r}{arguments})"


class Opaque:
    """An array of values of a sum type: something to be passed to an entry point that takes it."""

    __slots__ = ("type", "_leaves", "_session")

    def __init__(self, type: str, leaves: list[Leaf], session: Session) -> None:
        self.type = type
        """The type, as the source writes it, without sizes."""
        self._leaves = leaves
        self._session = session

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents, outermost first."""
        return self._leaves[0].shape

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"<arrc.Opaque {self.type} of shape {self.shape}>"
