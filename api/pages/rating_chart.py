"""A player's ratings over time as a small chart."""

from collections.abc import Sequence

from markupsafe import Markup

from api.representations.ratings import PublicChange

WIDTH, HEIGHT = 600, 150
MARGIN = 40
"""Room for the labels on the left; lengths are in units of the chart."""

STEPS = (10, 25, 50, 100, 250, 500, 1000)
MAX_GRID_LINES = 5

_CHART = Markup(
    '<svg class="chart" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
    'aria-label="{label}">{grid}<polyline points="{points}"/></svg>'
)
_GRID_LINE = Markup('<path d="M{margin} {y:.1f}H{width}"/><text x="{x}" y="{y:.1f}" dy=".35em">{rating}</text>')


def rating_chart(changes: Sequence[PublicChange], title: str) -> Markup:
    """Return the SVG element of ``changes``, which are in the order of time; empty for fewer than two changes."""
    if len(changes) < 2:
        return Markup()
    ratings = [changes[0].before, *(change.after for change in changes)]
    step = next((step for step in STEPS if (max(ratings) - min(ratings)) / step < MAX_GRID_LINES - 1), STEPS[-1])
    low, high = min(ratings) // step * step, -(-max(ratings) // step) * step
    span = max(high - low, step)

    def height(rating: float) -> float:
        return HEIGHT - 8 - (rating - low) / span * (HEIGHT - 16)

    points = " ".join(
        f"{MARGIN + number * (WIDTH - MARGIN - 8) / (len(ratings) - 1):.1f},{height(rating):.1f}"
        for number, rating in enumerate(ratings)
    )
    grid = Markup().join(
        _GRID_LINE.format(margin=MARGIN, width=WIDTH, x=MARGIN - 6, y=height(rating), rating=rating)
        for rating in range(round(low), round(low + span) + 1, step)
    )
    label = f"{title}: from {round(ratings[0])} to {round(ratings[-1])} in {len(changes)} changes"
    return _CHART.format(width=WIDTH, height=HEIGHT, label=label, grid=grid, points=points)
