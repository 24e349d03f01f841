"""Tournaments for tests: terms, and a tournament that is played by commands."""

from dataclasses import replace
from typing import Any

from domain.contest.schedules import Form
from domain.contest.tournament import commands as c
from domain.contest.tournament.decide import decide
from domain.contest.tournament.events import Event
from domain.contest.tournament.evolve import evolve
from domain.contest.tournament.state import PairingStatus, TournamentState
from domain.contest.tournament.terms import TournamentTerms
from domain.match.terms import DAY, STANDARD

ANNOUNCED = 1_700_000_000_000
START = ANNOUNCED + 10 * DAY

TWO_SEATS = TournamentTerms(
    title="Autumn round",
    game="bashni",
    setup="start",
    form=Form.ALL_PLAY_ALL,
    clock=STANDARD,
    rated=True,
    private=False,
    least=4,
    most=8,
    starts_at=START,
    latest_end=START + 300 * DAY,
)
FOUR_SEATS = replace(TWO_SEATS, game="fourplay", setup="standard", form=Form.SHIFTED, least=5, most=16)

FIVE = ("ann", "bob", "cyd", "dan", "eve")


class PlayedTournament:
    """A tournament to which commands are given."""

    def __init__(self, terms: TournamentTerms = TWO_SEATS, **more: Any) -> None:
        self.state: TournamentState | None = None
        self.events: list[Event] = []
        self.now = ANNOUNCED
        self.do(c.AnnounceTournament(organiser="olga", terms=replace(terms, **more)))

    def do(self, command: c.Command) -> tuple[Event, ...]:
        """Carry a command out and return its events."""
        events = decide(self.state, command, self.now)
        for event in events:
            self.state = evolve(self.state, event, "tournament-test")
        self.events += events
        return events

    def enter(self, *players: str) -> None:
        for player in players:
            self.do(c.EnterTournament(player=player, facts=None))

    def begin(self, *players: str, seed: str = "lots") -> None:
        """Let ``players`` enter, and start at the time of the start."""
        self.enter(*players)
        self.now = max(self.now, self.state.starts_at)
        self.do(c.CloseEntries(seed=seed))

    def start(self, pairing: int) -> None:
        self.do(c.StartPairing(pairing=pairing, match=f"match-{pairing}"))

    def record(self, pairing: int, scores: tuple[float, ...] | None, version: int = 10, **more: Any) -> None:
        """Record how the match of a pairing stands at ``version``; its start first."""
        self.start(pairing)
        self.do(
            c.RecordMatch(
                pairing=pairing,
                match=f"match-{pairing}",
                version=version,
                head=f"head-{version}",
                scores=scores,
                ended=more.pop("ended", scores is not None),
                **more,
            )
        )


def finish(tournament: PlayedTournament) -> None:
    """Let the first seat win every pairing that is not over."""
    for status in (PairingStatus.WAITING, PairingStatus.RUNNING):
        for number in tournament.state.numbers(status):
            seats = tournament.state.terms.seats
            tournament.record(number, (1.0, *([0.0] * (seats - 1))))


def number_of(tournament: PlayedTournament, player: str) -> int:
    return tournament.state.entrant_of(player)
