"""A stretch of a match as an animated GIF."""

from collections.abc import Sequence
from io import BytesIO
from math import sqrt
from typing import Any, Final

from domain.game import AnyGame
from events.pictures.board import Trace, trace_between
from events.pictures.standalone import draw_document, render_png

MAX_ANIMATED_PLIES: Final = 120

SIDE: Final = 400
"""The side of a square frame in pixels; others have the same area."""

FRAME_MS: Final = 900
LAST_FRAME_MS: Final = 3_000
COLOURS: Final = 64
"""Colours of a frame: more make the file larger, and nobody sees them."""


def animate(
    game: AnyGame, position: Any, moves: Sequence[str], colours: Sequence[str], title: str, quarters: int = 0
) -> bytes:
    """Return a GIF of ``position`` and the boards after each of ``moves``, in canonical notation.

    ``colours`` are the colour classes of the seats, ``quarters`` the quarter turns of the board.
    """
    from PIL import Image  # noqa: PLC0415 - only the worker that makes one needs the library in memory

    scene = game.scene(position)
    upright = quarters % 2 == 0
    width, height = (scene.width, scene.height) if upright else (scene.height, scene.width)
    size = (round(SIDE * sqrt(width / height)), round(SIDE * sqrt(height / width)))
    traces: list[Trace] = []
    frames = []
    for move in (*moves, None):
        drawing = draw_document(
            game.scene(position), colours, title, quarters=quarters, traces=traces, dark=False, ratio=size[0] / size[1]
        )
        frame = Image.open(BytesIO(render_png(drawing, *size))).convert("RGB")
        frames.append(frame.quantize(COLOURS, dither=Image.Dither.NONE))
        if move is not None:
            seat, before = game.to_move(position), scene
            position = game.play(position, game.parse_move(position, move))
            scene = game.scene(position)
            traces = [trace_between(seat, before, scene)]
    file = BytesIO()
    durations = [FRAME_MS] * len(moves) + [LAST_FRAME_MS]
    frames[0].save(file, "GIF", save_all=True, append_images=frames[1:], duration=durations, loop=0)
    return file.getvalue()
