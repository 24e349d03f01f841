"""Ratings as docs/proof/ratings.md specifies them, by a program of its own that knows nothing of the product's."""

from collections import defaultdict
from math import exp, fsum, log, pi, sqrt
from typing import Any

S, TAU, EPSILON, MAX = 173.7178, 0.5, 1e-6, 350.0

Numbers = tuple[float, float, float]
"""Rating, deviation and volatility."""


def reason(match: dict[str, Any]) -> str | None:
    """Return why a match does not count (section 2)."""
    if not match["rated"]:
        return "agreed"
    if not match["finished"] or match["scores"] is None:
        return "without-result"
    if match["plies"] < len(match["seats"]):
        return "too-short"
    return "one-player" if len(set(match["seats"])) == 1 else None


def results(match: dict[str, Any]) -> list[tuple[str, str, float]]:
    """Return player, opponent and score of all pairwise results of a match (section 4)."""
    seats, s = match["seats"], match["scores"]
    found = []
    for i, player in enumerate(seats):
        for j, opponent in enumerate(seats):
            if player == opponent:
                continue
            if len(seats) == 2:
                found.append((player, opponent, (1 + s[i] - s[j]) / 2))
            elif s[i] != s[j]:
                found.append((player, opponent, 1.0 if s[i] > s[j] else 0.0))
            elif s[i] == max(s):
                found.append((player, opponent, 0.5))
    return found


def ratings(matches: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rating after every rated day of all players, by pool, player and day."""
    periods = defaultdict(list)
    for match in matches:
        if reason(match) is None:
            periods[f"{match['game']}-{len(match['seats'])}", match["ended_at"] // 86_400_000].append(match)
    known: dict[tuple[str, str], tuple[int, int, Numbers]] = {}
    found = []
    for (pool, day), played in sorted(periods.items()):
        players = {player for match in played for player in match["seats"]}
        starts = {player: start(known.get((pool, player)), day) for player in players}
        for player in players:
            met = [
                (starts[opponent], score, 2 / len(match["seats"]))
                for match in played
                for own, opponent, score in results(match)
                if own == player
            ]
            count = sum(player in match["seats"] for match in played)
            count += known[pool, player][1] if (pool, player) in known else 0
            known[pool, player] = day, count, after(starts[player], met)
            rating, deviation, volatility = known[pool, player][2]
            found.append(
                {
                    "pool": pool, "player": player, "day": day, "matches": count, "rating": rating,
                    "deviation": deviation, "volatility": volatility,
                }
            )  # fmt: skip
    return sorted(found, key=lambda each: (each["pool"], each["player"], each["day"]))


def start(known: tuple[int, int, Numbers] | None, day: int) -> Numbers:
    """Return the rating at the start of a day (section 5)."""
    if known is None:
        return 1500.0, 350.0, 0.06
    last, _, (rating, deviation, volatility) = known
    grown = S * sqrt((deviation / S) ** 2 + (day - last - 1) * volatility**2)
    return rating, min(MAX, max(deviation, grown)), volatility


def after(own: Numbers, met: list[tuple[Numbers, float, float]]) -> Numbers:
    """Return the rating after a period (section 6)."""
    r, d, v = own
    certainties, surprises = [], []
    for (r_j, d_j, _), s, w in met:
        g = 1 / sqrt(1 + 3 * (d_j / S) ** 2 / pi**2)
        x = g * ((r - 1500) / S - (r_j - 1500) / S)
        o = exp(max(-150, min(150, x)))
        certainties.append(w * (g**2 * o / (1 + o) / (1 + o)))
        surprises.append(w * (g * (s / (1 + o) - (1 - s) * o / (1 + o))))
    c, e = fsum(certainties), fsum(surprises)
    phi = d / S
    volatility = new_volatility(phi, v, 1 / c, e / c)
    rested = min(MAX / S, sqrt(phi**2 + volatility**2))
    n = 1 / sqrt(1 / rested**2 + c)
    return r + S * n**2 * e, min(MAX, S * n), volatility


def new_volatility(phi: float, v: float, variance: float, q: float) -> float:
    """Return the volatility after a period (section 6)."""
    a = log(v**2)

    def f(x: float) -> float:
        m = phi**2 + variance + exp(x)
        return exp(x) * (q**2 - m) / (2 * m**2) - (x - a) / TAU**2

    low = a
    if q**2 > phi**2 + variance:
        high = log(q**2 - phi**2 - variance)
    else:
        k = 1
        while f(a - k * TAU) < 0:
            k += 1
        high = a - k * TAU
    f_low, f_high = f(low), f(high)
    while abs(high - low) > EPSILON:
        middle = low + (low - high) * f_low / (f_high - f_low)
        f_middle = f(middle)
        if f_middle * f_high <= 0:
            low, f_low = high, f_high
        else:
            f_low = f_low / 2
        high, f_high = middle, f_middle
    return exp(low / 2)
