"""A player's ratings over time as a small picture."""

from collections.abc import Sequence

from markupsafe import Markup, escape

from api.representations.ratings import PublicChange

WIDTH, HEIGHT = 600, 150
MARGIN = 40
"""Room on the left for the numbers, in the units of the picture as the sizes above."""

STEPS = (10, 25, 50, 100, 250, 500, 1000)
MAX_GRID_LINES = 5


def rating_chart(changes: Sequence[PublicChange], title: str) -> Markup:
    """Return the SVG element of ``changes`` in the order of time; empty when there are fewer than two to join."""
    if len(changes) < 2:
        return Markup()
    ratings = [changes[0].before, *(change.after for change in changes)]
    step = next((step for step in STEPS if (max(ratings) - min(ratings)) / step < MAX_GRID_LINES - 1), STEPS[-1])
    low, high = min(ratings) // step * step, -(-max(ratings) // step) * step
    room = max(high - low, step)

    def height(rating: float) -> float:
        return HEIGHT - 8 - (rating - low) / room * (HEIGHT - 16)

    points = " ".join(
        f"{MARGIN + number * (WIDTH - MARGIN - 8) / (len(ratings) - 1):.1f},{height(rating):.1f}"
        for number, rating in enumerate(ratings)
    )
    said = escape(f"{title}: from {round(ratings[0])} to {round(ratings[-1])} in {len(changes)} changes")
    lines = (
        f'<path d="M{MARGIN} {y:.1f}H{WIDTH}"/><text x="{MARGIN - 6}" y="{y:.1f}" dy=".35em">{at}</text>'
        for at in range(round(low), round(low + room) + 1, step)
        for y in [height(at)]
    )
    parts = [
        f'<svg class="chart" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{said}">',
        *lines,
        f'<polyline points="{points}"/></svg>',
    ]
    return Markup("".join(parts))  # noqa: S704 - numbers, and one text that is escaped
