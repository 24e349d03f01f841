"""Drawings that several pictures on one page share, so that each is sent once."""

from collections.abc import Mapping

from markupsafe import Markup


class Symbols:
    """The shared drawings of the pictures of one page, which has to include ``definitions`` too."""

    def __init__(self) -> None:
        self._named: dict[str, str] = {}
        self._shared: dict[str, str] = {}

    def define(self, drawings: Mapping[str, str]) -> None:
        """Add elements by their ids; those with the same id are the same."""
        self._named.update(drawings)

    def share(self, drawing: str) -> str:
        """Return a reference to ``drawing``, a sequence of elements."""
        name = self._shared.setdefault(drawing, f"shared-{len(self._shared) + 1}")
        return f'<use href="#{name}"/>'

    def definitions(self) -> Markup:
        """Return an element without size that defines all shared drawings."""
        shared = (f'<g id="{name}">{drawing}</g>' for drawing, name in self._shared.items())
        drawings = "".join((*self._named.values(), *shared))
        return Markup(  # noqa: S704 - made of drawings, whose texts are escaped
            f'<svg class="symbols" width="0" height="0" aria-hidden="true"><defs>{drawings}</defs></svg>'
        )
