"""A simulated year from its seed: who plays whom on what terms, who is away when, and when the server is."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import NamedTuple

from structlog.testing import capture_logs

from domain.games import GAMES
from domain.match import commands as c
from domain.match.enums import Control, FlagRule, Status
from domain.match.refusals import Refused
from domain.match.rematch import rematch
from domain.match.state import MatchState, Seat
from domain.match.terms import DAY, HOUR, MINUTE, Terms, days_per_move
from domain.match.vacation import booked, ended
from events.private.availability import Availability, with_calendar
from tests.simulation.cases import Cases
from tests.simulation.people import Absence, Person, changes_of_clocks, crowd, new_year
from tests.simulation.players import Laid, Players, seats_of
from tests.simulation.ratings import LiveRatings
from tests.simulation.server import House, Kept, NobodyHome

YEAR = 2025
PEOPLE = 120
"""Players for 500 matches; fewer for fewer matches."""

BEGINNINGS = 300 * DAY
"""Matches begin in this part of the year; they have as long as they need to come to their end."""

LAST_REMATCH = 330 * DAY
"""From here on nobody plays again."""


class FreeDays(NamedTuple):
    """From the instant ``at`` on, these days of the week are free for ``player``."""

    at: int
    player: str
    days: tuple[int, ...]


class Away(NamedTuple):
    """From ``since`` to ``until`` the workers were away, and the API with them if ``whole``."""

    since: int
    until: int
    whole: bool


class Year(NamedTuple):
    """What a simulated year has left behind, beside the events in the store of ``house``.

    ``planned`` is the number of matches without the rematches, which come last in ``matches``.
    ``flagged`` is the availability of those whose flag fell, as it was then, by match, seat and deadline; ``said``
    is what was said in cases, ``ratings`` those that have followed every result and its undoing; ``counted`` is what
    happened how often, ``faults`` what the server itself complained of.
    """

    house: House
    people: Sequence[Person]
    matches: Sequence[str]
    planned: int
    free_days: Sequence[FreeDays]
    away: Sequence[Away]
    laid: Sequence[Laid]
    flagged: Mapping[tuple[str, int, int], Availability]
    said: Sequence[str]
    ratings: LiveRatings
    counted: Counter[str]
    faults: Sequence[str]


def simulate(kept: Kept, seed: int, matches: int, on_end: Callable[[], None] = lambda: None) -> Year:
    """Let ``matches`` be played; ``on_end`` is called as each comes to its first end.

    The same seed and number give the same events, wherever they are kept.
    """
    with capture_logs() as said:
        year = _Simulation(kept, seed, matches, on_end).run()
    complaints = [entry for entry in said if entry["log_level"] in ("warning", "error", "critical")]
    return year._replace(faults=[" ".join(f"{key}={value}" for key, value in entry.items()) for entry in complaints])


class _Simulation:
    def __init__(self, kept: Kept, seed: int, matches: int, on_end: Callable[[], None]) -> None:
        self._random = Random(f"year {seed}")
        self._begin = new_year(YEAR)
        self._on_end = on_end
        self._ended: set[str] = set()
        self._people = crowd(max(8, PEOPLE * matches // 500), self._begin, self._random)
        self._house = House(kept, self._begin, self._changed)
        self._players = Players(self._house, self._people, self._random)
        self._cases = Cases(self._house, self._random, self._players.counted)
        self._matches = [f"m{number:03}" for number in range(matches)]
        self._planned = frozenset(self._matches)
        self._ratings = LiveRatings()
        self._free_days: list[FreeDays] = []
        self._away: list[Away] = []
        self._flagged: dict[tuple[str, int, int], Availability] = {}

    def run(self) -> Year:
        for person in self._people:
            self._move_in(person)
        for number, match in enumerate(self._matches):
            self._house.at(self._begin + DAY + self._within(BEGINNINGS), self._arrival(number, match))
        self._plan_outages()
        self._house.run()
        counted = self._players.counted
        counted["changes of daylight saving"] = changes_of_clocks(self._people, self._begin, self._house.now)
        return Year(
            house=self._house,
            people=self._people,
            matches=self._matches,
            planned=len(self._planned),
            free_days=self._free_days,
            away=self._away,
            laid=self._players.laid,
            said=self._cases.said,
            ratings=self._ratings,
            flagged=self._flagged,
            counted=counted,
            faults=(),
        )

    def _within(self, span: int) -> int:
        return int(self._random.random() * span)

    def _changed(self, match: str) -> None:
        state = self._house.state(match)
        if match not in self._ended and state.ended:
            self._ended.add(match)
            if match in self._planned:
                self._on_end()
            if state.status == Status.FINISHED and self._random.random() < 0.08:
                self._propose_rematch(state)
        self._ratings.follow(state)
        if state.fallen is not None and state.fallen.at == self._house.now:
            player = state.seats[state.fallen.seat].player or ""
            availability = self._house.availability.read([player])[player]
            self._flagged[match, state.fallen.seat, state.fallen.deadline] = availability
        self._players.changed(match)
        self._cases.changed(match)

    def _propose_rematch(self, state: MatchState) -> None:
        """Let somebody propose to play again, and the others take their seats as they do in any match."""
        people = [seat.player for seat in state.seats if seat.player is not None and seat.level is None]
        proposer = self._random.choice(people)

        def propose(match: str, player: str) -> None:
            seed = str(self._random.randrange(2**40))
            try:
                create = rematch(self._house.state(match), player, f"{match}-again", seed, guest=False)
            except Refused as refused:
                # It is not over any more.
                self._players.counted[f"refused: {refused.code}"] += 1
                return
            self._open(create, [player, *(other for other in people if other != player)])
            self._matches.append(create.match)
            self._players.counted["rematches"] += 1

        if self._house.now < self._begin + LAST_REMATCH:
            self._players.later(proposer, self._within(2 * DAY), state.match, propose)

    def _arrival(self, number: int, match: str) -> Callable[[], None]:
        """Return what opens a match: every game and setup in turn, every control, seats of all kinds."""
        games = [(game, setup) for game in GAMES.values() for setup in game.setups.values()]
        game, setup = games[number % len(games)]

        def arrive() -> None:
            random = self._random
            people = [person.id for person in random.sample(self._people, len(setup.seat_names))]
            seats, terms = seats_of(people, random), _terms(random)
            if len(people) == 2 and random.random() < 0.12:
                people, seats = people[:1], (seats[0], Seat.opponent(1))
            rated = random.random() < 0.6 and not (terms.takebacks and len(people) == 1)
            seed = str(random.randrange(2**40))
            create = c.CreateMatch(
                match=match,
                creator=people[0],
                game=game.id,
                setup=setup.name,
                seats=seats,
                rated=rated,
                private=False,
                seed=seed,
                terms=terms,
            )
            self._players.later(people[0], 0, match, lambda _, __: self._open(create, people))

        return arrive

    def _open(self, create: c.CreateMatch, people: Sequence[str]) -> None:
        """Create a match, and let the others join it soon; sometimes one of them does not, or it is called off."""
        self._players.do(create.match, create.creator, create)
        for player in people[1:]:
            if self._random.random() < 0.985:
                self._players.later(player, self._within(3 * DAY), create.match, self._join)
        if self._random.random() < 0.03:
            caller = people[-1] if create.seats[-1].player == people[-1] else people[0]
            self._players.later(caller, self._within(2 * DAY), create.match, self._call_off)

    def _join(self, match: str, player: str) -> None:
        self._players.do(match, player, c.JoinMatch(player=player))

    def _call_off(self, match: str, player: str) -> None:
        self._players.do(match, player, c.AbortMatch(player=player))

    def _move_in(self, person: Person) -> None:
        """Let ``person`` set the calendar and preferences, and plan holidays."""
        now = self._begin

        def settings(availability: Availability) -> Availability:
            availability = availability._replace(auto_vacation=person.saves_flags, plays_forced=person.plays_forced)
            return with_calendar(availability, person.zone, person.free_days, now)

        self._house.availability.change(person.id, settings)
        self._free_days.append(FreeDays(now, person.id, person.free_days))
        for absence in person.absences:
            if absence.told is not None:
                self._house.at(absence.told, self._booking(person, absence))
        if self._random.random() < 0.3:
            self._house.at(now + self._within(365 * DAY), self._new_free_days(person))

    def _booking(self, person: Person, absence: Absence) -> Callable[[], None]:
        def book() -> None:
            def change(availability: Availability) -> Availability:
                since = max(absence.since, self._house.now)
                return availability._replace(book=booked(availability.book, since, absence.until, self._house.now))

            try:
                self._house.change_availability(person.id, change, killed=self._random.random() < 0.3)
            except NobodyHome as away:
                self._house.at(away.until + HOUR, book)
            except Refused as refused:
                self._players.counted[f"refused: {refused.code}"] += 1
            else:
                self._players.counted["vacations booked"] += 1
                if self._random.random() < 0.3:
                    early = absence.since + self._within(absence.until - absence.since)
                    self._house.at(early, self._coming_back(person))

        return book

    def _coming_back(self, person: Person) -> Callable[[], None]:
        def come_back() -> None:
            now = self._house.now
            try:
                self._house.change_availability(person.id, lambda own: own._replace(book=ended(own.book, now)))
            except NobodyHome:
                return
            except Refused as refused:
                self._players.counted[f"refused: {refused.code}"] += 1
            else:
                self._players.counted["vacations ended early"] += 1

        return come_back

    def _new_free_days(self, person: Person) -> Callable[[], None]:
        def change() -> None:
            days = tuple(sorted(self._random.sample(range(7), self._random.randint(0, 3))))
            now = self._house.now
            try:
                self._house.change_availability(person.id, lambda own: with_calendar(own, person.zone, days, now))
            except NobodyHome:
                return
            self._free_days.append(FreeDays(now, person.id, days))
            self._players.counted["calendars changed"] += 1

        return change

    def _plan_outages(self) -> None:
        """Let the workers, or the whole server, be away now and then, for minutes up to two days."""
        at = self._begin + 5 * DAY
        while at < self._begin + 400 * DAY:
            at += 3 * DAY + self._within(30 * DAY)
            length = self._random.choice([10 * MINUTE, HOUR, 6 * HOUR, DAY, 2 * DAY])
            self._away.append(Away(at, at + length + self._within(length), self._random.random() < 0.5))
            at = self._away[-1].until
        for away in self._away:
            self._house.at(away.since, lambda away=away: self._house.go_away(away.until, away.whole))  # type: ignore[misc]


def _terms(random: Random) -> Terms:
    """Return terms of any kind that people agree on."""
    share = random.random
    terms = days_per_move(random.choice([1, 2, 3, 5, 7]))
    if share() < 0.5:
        bank = random.choice([1, 2, 5, 10]) * DAY
        increment = random.choice([0, 6 * HOUR, 12 * HOUR, DAY])
        terms = replace(terms, control=Control.BANK, bank=bank, increment=increment, cap=bank * random.choice([1, 2]))
    return replace(
        terms,
        ceiling=random.choice([2, 4]) * DAY if share() < 0.15 else None,
        first_move=random.choice([2, 4, 7]) * DAY,
        flag=FlagRule.CLAIM if share() < 0.2 else FlagRule.AUTOMATIC,
        vacations=share() < 0.85,
        weekends=share() < 0.85,
        takebacks=share() < 0.4,
        lines=share() < 0.95,
    )
