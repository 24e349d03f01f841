"""Pictures of positions that need nothing beside themselves: SVG with its own colours, and PNG."""

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from markupsafe import escape

from domain.scene import Scene
from events.pictures.board import Trace, draw
from events.pictures.style_sheet import style_of

PNG_WIDTH = 600
PNG_HEIGHT = 315
"""The least that those who show links ask of a large picture, in pixels; a larger one costs too much time."""

SVG_SIDE = 720
"""The longer side of an SVG picture where nobody asks for another size, in pixels."""

MARGIN = 0.25
"""Around a board with labels, in squares."""

MAX_CACHED_PNGS = 128
"""Of some 40 kB each, per process."""

_VIEW = re.compile(r'viewBox="(\S+) (\S+) (\S+) (\S+)"')
_CLASSES = re.compile(r'class="([^"]*)"')
_BOTH_SCHEMES = ":root{color-scheme:light dark}"
"""Lets a browser that shows a picture alone surround it with the ground of its scheme."""

_FONT = str(Path(__file__).with_name("labels.ttf"))


class Drawing(NamedTuple):
    """An SVG document, and its style sheet as it stands in it: the sender of the document may have to permit that."""

    svg: str
    style: str


def draw_alone(
    scene: Scene,
    colours: Sequence[str],
    title: str,
    *,
    quarters: int = 0,
    traces: Sequence[Trace] = (),
    labels: bool = True,
    dark: bool = True,
    ratio: float | None = None,
) -> Drawing:
    """Return ``scene`` as an SVG document that refers to nothing outside itself.

    ``colours``, ``quarters`` and ``traces`` are those of ``draw``; ``title`` says what is seen. A small picture is
    better without ``labels``. With ``dark`` the colours follow the reader's preference, else they are the light ones.
    ``ratio`` is that of width to height (None: as the board is).
    """
    shown = scene if labels else scene._replace(labels=())
    drawing = draw(shown, colours, quarters=quarters, traces=traces, picture="Board")
    head, inside = drawing.split(">", 1)
    left, top, width, height = _framed(
        [float(number) for number in _VIEW.findall(head)[0]], MARGIN if labels else 0, ratio
    )
    scale = SVG_SIDE / max(width, height)
    classes = {*_CLASSES.findall(drawing), "ground"}
    style = style_of(frozenset(frozenset(each.split()) for each in classes), dark)
    if dark:
        style = f"{_BOTH_SCHEMES}{style}"
    frame = f'x="{left:g}" y="{top:g}" width="{width:g}" height="{height:g}"'
    return Drawing(
        f'<svg class="board" xmlns="http://www.w3.org/2000/svg" viewBox="{left:g} {top:g} {width:g} {height:g}" '
        f'width="{width * scale:.0f}" height="{height * scale:.0f}" role="img"><title>{escape(title)}</title>'
        f'<style>{style}</style><rect class="ground" {frame}/>{inside}',
        style,
    )


def as_png(drawing: Drawing, width: int = PNG_WIDTH, height: int = PNG_HEIGHT) -> bytes:
    """Return ``drawing``, whose ratio must be that of the size in pixels, as a PNG."""
    return _rendered(drawing.svg, width, height)


@lru_cache(maxsize=MAX_CACHED_PNGS)
def _rendered(svg: str, width: int, height: int) -> bytes:
    import resvg_py  # noqa: PLC0415 - most processes never draw a PNG and need not hold the library in memory

    # Only the font that comes with it: pictures are the same on every machine, and none is searched for fonts.
    return bytes(
        resvg_py.svg_to_bytes(
            svg_string=svg,
            width=width,
            height=height,
            skip_system_fonts=True,
            font_files=[_FONT],
            sans_serif_family="Rookery Sans",
        )
    )


def _framed(view: Sequence[float], margin: float, ratio: float | None) -> tuple[float, float, float, float]:
    """Return ``view`` (left, top, width, height) with a margin around it, and wider or higher as ``ratio`` asks."""
    left, top, width, height = view
    framed_width, framed_height = width + 2 * margin, height + 2 * margin
    if ratio is not None:
        framed_width = max(framed_width, framed_height * ratio)
        framed_height = max(framed_height, framed_width / ratio)
    return left - (framed_width - width) / 2, top - (framed_height - height) / 2, framed_width, framed_height
