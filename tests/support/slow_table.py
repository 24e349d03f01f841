"""The table of a tournament by a second reading of its rules: slow, plain, and from the events alone."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from domain.contest.tournament import events as e

Line = tuple[str, int, int, int]
"""Player, the best and the worst place that the player shares, points."""


def read(events: Iterable[e.Event]) -> tuple[list[str], list[dict[str, Any]], set[str]]:
    """Return the players, the results that stand with scores by player and flags, and who is struck."""
    players: list[str] = []
    struck: set[str] = set()
    people: dict[int, list[str]] = {}
    results: dict[int, dict[str, Any]] = {}
    for event in events:
        if isinstance(event, e.TournamentStarted):
            players = list(event.players)
            people = {n: [players[one] for one in pairing] for n, pairing in enumerate(event.pairings, 1)}
        if isinstance(event, e.PlaceFilled):
            players.append(event.player)
            for pairing in event.pairings:
                people[len(people) + 1] = [players[one] for one in pairing]
        if isinstance(event, e.PlayerLeft) and event.struck:
            struck.add(event.player)
        if isinstance(event, e.ResultRecorded | e.PairingForfeited):
            flags = getattr(event, "flags", ())
            scores = dict(zip(people[event.pairing], event.scores, strict=True))
            results[event.pairing] = {"scores": scores, "flags": [people[event.pairing][seat] for seat in flags]}
        if isinstance(event, e.ResultTakenBack | e.PairingVoided | e.PairingStarted):
            results.pop(event.pairing, None)
    return players, list(results.values()), struck


def value(
    player: str, name: str, tied: list[str], counted: list[dict[str, Any]], totals: dict[str, Fraction]
) -> Fraction:
    """Return the value of a tie-break, the greater the better."""
    total = Fraction(0)
    for result in counted:
        scores = result["scores"]
        if player not in scores:
            continue
        others = [other for other in scores if other != player]
        above = sum(scores[other] > scores[player] for other in others)
        alone = all(scores[other] != scores[player] for other in others)
        if name == "wins":
            total += above == 0 and alone
        if name == "second-places":
            total += above == 1 and alone
        if name == "fewest-flags":
            total -= player in result["flags"]
        for other in others:
            better = Fraction(scores[player] > scores[other]) * 2 + (scores[player] == scores[other])
            if name == "sonneborn-berger" and other in totals:
                total += better * totals[other]
            if name == "mutual" and other in tied:
                total += better
    return total


def table_of(events: Iterable[e.Event], seats: int, winner_takes_all: bool, tie_breaks: list[str]) -> list[Line]:
    """Return the table after ``events``, best first, those who share a place in no order that means anything."""
    players, results, struck = read(events)
    ranked = [player for player in players if player not in struck]
    counted = [result for result in results if seats == 4 or not struck & set(result["scores"])]
    worth = [2, 0] if seats == 2 else [12, 0, 0, 0] if winner_takes_all else [6, 4, 2, 0]

    def gained(player: str) -> Fraction:
        total = Fraction(0)
        for scores in (result["scores"] for result in counted if player in result["scores"]):
            order = sorted(scores.values(), reverse=True)
            shared = [worth[place] for place in range(seats) if order[place] == scores[player]]
            total += Fraction(sum(shared), len(shared))
        return total

    totals = {player: gained(player) for player in ranked}

    lines: list[Line] = []

    def place(group: list[str], names: list[str]) -> None:
        if names and len(group) > 1:
            values = {player: value(player, names[0], group, counted, totals) for player in group}
            for best in sorted(set(values.values()), reverse=True):
                place([player for player in group if values[player] == best], names[1:])
            return
        first, last = len(lines) + 1, len(lines) + len(group)
        lines.extend((player, first, last, int(totals[player])) for player in group)

    for points in sorted(set(totals.values()), reverse=True):
        place([player for player in ranked if totals[player] == points], tie_breaks)
    return lines
