"""Self-contained pictures of positions: SVG with its own colours, and PNG."""

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from markupsafe import escape

from domain.scene import Scene
from events.pictures.board import Trace, draw
from events.pictures.style_sheet import style_for

PNG_WIDTH = 600
PNG_HEIGHT = 315
"""In pixels: the minimum for large previews of links; a larger picture takes too long."""

SVG_SIDE = 720
"""The default of the longer side of an SVG picture, in pixels."""

MARGIN = 0.25
"""Around a board with labels, in squares."""

MAX_CACHED_PNGS = 128

_VIEW = re.compile(r'viewBox="(\S+) (\S+) (\S+) (\S+)"')
_CLASSES = re.compile(r'class="([^"]*)"')
_BOTH_SCHEMES = ":root{color-scheme:light dark}"
"""Lets a browser that shows only the picture surround it with the background of its scheme."""

_FONT = str(Path(__file__).with_name("labels.ttf"))


class Drawing(NamedTuple):
    """An SVG document and the style sheet within it, which a content security policy may have to allow."""

    svg: str
    style: str


def draw_document(
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
    """Return ``scene`` as an SVG document that refers to nothing outside itself; see ``draw``.

    With ``dark`` the colours follow the reader's preference. ``ratio`` is width to height (None: that of the board).
    """
    shown = scene if labels else scene._replace(labels=())
    drawing = draw(shown, colours, quarters=quarters, traces=traces, picture="Board")
    head, inside = drawing.split(">", 1)
    left, top, width, height = _frame(
        [float(number) for number in _VIEW.findall(head)[0]], MARGIN if labels else 0, ratio
    )
    scale = SVG_SIDE / max(width, height)
    classes = {*_CLASSES.findall(drawing), "ground"}
    style = style_for(frozenset(frozenset(each.split()) for each in classes), dark)
    if dark:
        style = f"{_BOTH_SCHEMES}{style}"
    frame = f'x="{left:g}" y="{top:g}" width="{width:g}" height="{height:g}"'
    return Drawing(
        f'<svg class="board" xmlns="http://www.w3.org/2000/svg" viewBox="{left:g} {top:g} {width:g} {height:g}" '
        f'width="{width * scale:.0f}" height="{height * scale:.0f}" role="img"><title>{escape(title)}</title>'
        f'<style>{style}</style><rect class="ground" {frame}/>{inside}',
        style,
    )


def render_png(drawing: Drawing, width: int = PNG_WIDTH, height: int = PNG_HEIGHT) -> bytes:
    """Return ``drawing``, whose ratio must be that of the size in pixels, as a PNG."""
    return _render(drawing.svg, width, height)


@lru_cache(maxsize=MAX_CACHED_PNGS)
def _render(svg: str, width: int, height: int) -> bytes:
    import resvg_py  # noqa: PLC0415 - most processes never draw a PNG and need not hold the library in memory

    # Only our own font, so that pictures are the same on every machine, without a search for fonts.
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


def _frame(view: Sequence[float], margin: float, ratio: float | None) -> tuple[float, float, float, float]:
    left, top, width, height = view
    framed_width, framed_height = width + 2 * margin, height + 2 * margin
    if ratio is not None:
        framed_width = max(framed_width, framed_height * ratio)
        framed_height = max(framed_height, framed_width / ratio)
    return left - (framed_width - width) / 2, top - (framed_height - height) / 2, framed_width, framed_height
