"""A simulated year, drawn from a seed: who plays whom on what terms, who is absent, when the server is down."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import NamedTuple

from structlog.testing import capture_logs

from domain.games import GAMES
from domain.match import commands as c
from domain.match.decisions.creation import rematch
from domain.match.due import Availability
from domain.match.enums import Control, FlagRule, Status
from domain.match.refusals import CommandError
from domain.match.state import MatchState, Seat
from domain.match.terms import DAY, HOUR, MINUTE, Terms, days_per_move
from domain.match.vacation import booked, ended
from events.people.availability import with_calendar
from tests.simulation.cases import Cases
from tests.simulation.notices import MAIL_SERVER_WARNING, SimulatedNotices, ToldOf
from tests.simulation.people import Absence, Person, count_dst_changes, make_people, year_start
from tests.simulation.players import LinesSet, Players, make_seats
from tests.simulation.ratings import LiveRatings
from tests.simulation.server import Backend, ServerDownError, SimulatedServer

YEAR = 2025
PEOPLE = 120
"""Players for 500 matches; fewer for fewer matches."""

START_PERIOD = 300 * DAY
"""Matches start in this part of the year and take as long as they need."""

LAST_REMATCH = 330 * DAY
"""From then on no rematches are proposed."""


class FreeDaysChange(NamedTuple):
    """From the instant ``at`` on, ``player`` has these free days of the week."""

    at: int
    player: str
    days: tuple[int, ...]


class Downtime(NamedTuple):
    """From ``since`` to ``until`` the workers were down, and the API too if ``with_api``."""

    since: int
    until: int
    with_api: bool


class Year(NamedTuple):
    """The outcome of a simulated year, beside the events in the store of ``server``.

    ``planned`` is the number of matches without rematches, which come last in ``matches``. ``flagged`` has the
    availability of those whose flag fell, as it was then, by match, seat and deadline; ``case_texts`` the texts of
    cases; ``ratings`` those that have followed every result and its removal; ``counts`` what happened how often;
    ``faults`` the warnings that the server logged; ``told`` what people were told, None without a database for that.
    """

    server: SimulatedServer
    people: Sequence[Person]
    matches: Sequence[str]
    planned: int
    free_days: Sequence[FreeDaysChange]
    away: Sequence[Downtime]
    lines_set: Sequence[LinesSet]
    flagged: Mapping[tuple[str, int, int], Availability]
    case_texts: Sequence[str]
    ratings: LiveRatings
    counts: Counter[str]
    faults: Sequence[str]
    told: ToldOf | None


def simulate(backend: Backend, seed: int, matches: int, on_end: Callable[[], None] = lambda: None) -> Year:
    """Play ``matches`` matches; ``on_end`` is called when one ends for the first time.

    Equal seeds and numbers give equal events, wherever they are stored.
    """
    with capture_logs() as entries:
        year = _Simulation(backend, seed, matches, on_end).run()
    warnings = [
        entry
        for entry in entries
        if entry["log_level"] in ("warning", "error", "critical") and entry["event"] != MAIL_SERVER_WARNING
    ]
    return year._replace(faults=[" ".join(f"{key}={value}" for key, value in entry.items()) for entry in warnings])


class _Simulation:
    def __init__(self, backend: Backend, seed: int, matches: int, on_end: Callable[[], None]) -> None:
        self._random = Random(f"year {seed}")
        self._begin = year_start(YEAR)
        self._on_end = on_end
        self._ended: set[str] = set()
        self._people = make_people(max(8, PEOPLE * matches // 500), self._begin, self._random)
        self._server = SimulatedServer(backend, self._begin, self._changed)
        self._notices = None
        if backend.client is not None:
            self._notices = SimulatedNotices(self._server.parts, self._people, self._begin, seed)
            self._server.notices = self._notices
        self._players = Players(self._server, self._people, self._random)
        self._cases = Cases(self._server, self._random, self._players.counts)
        self._matches = [f"m{number:03}" for number in range(matches)]
        self._planned = frozenset(self._matches)
        self._ratings = LiveRatings()
        self._free_days: list[FreeDaysChange] = []
        self._downtimes: list[Downtime] = []
        self._flagged: dict[tuple[str, int, int], Availability] = {}

    def run(self) -> Year:
        for person in self._people:
            self._set_up_person(person)
        for number, match_id in enumerate(self._matches):
            self._server.at(self._begin + DAY + self._random_span(START_PERIOD), self._plan_match(number, match_id))
        self._plan_outages()
        self._server.run()
        counts = self._players.counts
        counts["changes of daylight saving"] = count_dst_changes(self._people, self._begin, self._server.now)
        return Year(
            server=self._server,
            people=self._people,
            matches=self._matches,
            planned=len(self._planned),
            free_days=self._free_days,
            away=self._downtimes,
            lines_set=self._players.lines_set,
            case_texts=self._cases.case_texts,
            ratings=self._ratings,
            flagged=self._flagged,
            counts=counts,
            faults=(),
            told=None if self._notices is None else self._notices.result(),
        )

    def _random_span(self, span: int) -> int:
        return int(self._random.random() * span)

    def _changed(self, match_id: str) -> None:
        state = self._server.state(match_id)
        if match_id not in self._ended and state.ended:
            self._ended.add(match_id)
            if match_id in self._planned:
                self._on_end()
            if state.status == Status.FINISHED and self._random.random() < 0.08:
                self._propose_rematch(state)
        self._ratings.update(state)
        if state.result.fallen is not None and state.result.fallen.at == self._server.now:
            player = state.seats[state.result.fallen.seat].player or ""
            availability = self._server.availability.read([player])[player]
            self._flagged[match_id, state.result.fallen.seat, state.result.fallen.deadline] = availability
        self._players.changed(match_id)
        self._cases.changed(match_id)

    def _propose_rematch(self, state: MatchState) -> None:
        """Have a player propose a rematch, which the others join like any match."""
        people = [seat.player for seat in state.seats if seat.player is not None and seat.level is None]
        proposer = self._random.choice(people)

        def propose(match_id: str, player: str) -> None:
            seed = str(self._random.randrange(2**40))
            try:
                create = rematch(self._server.state(match_id), player, f"{match_id}r", seed, guest=False)
            except CommandError as refused:
                # It is no longer over.
                self._players.counts[f"refused: {refused.code}"] += 1
                return
            self._open(create, [player, *(other for other in people if other != player)])
            self._matches.append(create.match)
            self._players.counts["rematches"] += 1

        if self._server.now < self._begin + LAST_REMATCH:
            self._players.later(proposer, self._random_span(2 * DAY), state.match_id, propose)

    def _plan_match(self, number: int, match_id: str) -> Callable[[], None]:
        """Return an action that creates a match: games and setups in turn, all time controls, all kinds of seats."""
        games = [(game, setup) for game in GAMES.values() for setup in game.setups.values()]
        game, setup = games[number % len(games)]

        def arrive() -> None:
            random = self._random
            people = [person.id for person in random.sample(self._people, len(setup.seat_names))]
            seats, terms = make_seats(people, random), _terms(random)
            if len(people) == 2 and random.random() < 0.12:
                people, seats = people[:1], (seats[0], Seat.opponent(1))
            rated = random.random() < 0.6 and not (terms.takebacks and len(people) == 1)
            seed = str(random.randrange(2**40))
            create = c.CreateMatch(
                match=match_id,
                creator=people[0],
                game=game.id,
                setup=setup.name,
                seats=seats,
                rated=rated,
                private=False,
                seed=seed,
                terms=terms,
            )
            self._players.later(people[0], 0, match_id, lambda _, __: self._open(create, people))

        return arrive

    def _open(self, create: c.CreateMatch, people: Sequence[str]) -> None:
        """Create a match that the others join soon; sometimes one does not, or it is cancelled."""
        self._players.do(create.match, create.creator, create)
        for player in people[1:]:
            if self._random.random() < 0.985:
                self._players.later(player, self._random_span(3 * DAY), create.match, self._join)
        if self._random.random() < 0.03:
            caller = people[-1] if create.seats[-1].player == people[-1] else people[0]
            self._players.later(caller, self._random_span(2 * DAY), create.match, self._call_off)

    def _join(self, match_id: str, player: str) -> None:
        self._players.do(match_id, player, c.JoinMatch(player=player))

    def _call_off(self, match_id: str, player: str) -> None:
        self._players.do(match_id, player, c.AbortMatch(player=player))

    def _set_up_person(self, person: Person) -> None:
        """Set the availability and preferences of ``person``, and plan absences."""
        now = self._begin

        def settings(availability: Availability) -> Availability:
            availability = availability._replace(auto_vacation=person.saves_flags, plays_forced=person.plays_forced)
            return with_calendar(availability, person.zone, person.free_days, now)

        self._server.availability.change(person.id, settings)
        self._free_days.append(FreeDaysChange(now, person.id, person.free_days))
        for absence in person.absences:
            if absence.announced_at is not None:
                self._server.at(absence.announced_at, self._book_vacation(person, absence))
        if self._random.random() < 0.3:
            self._server.at(now + self._random_span(365 * DAY), self._change_free_days(person))

    def _book_vacation(self, person: Person, absence: Absence) -> Callable[[], None]:
        def book() -> None:
            def change(availability: Availability) -> Availability:
                since = max(absence.since, self._server.now)
                return availability._replace(book=booked(availability.book, since, absence.until, self._server.now))

            try:
                self._server.change_availability(person.id, change, killed=self._random.random() < 0.3)
            except ServerDownError as down:
                self._server.at(down.until + HOUR, book)
            except CommandError as refused:
                self._players.counts[f"refused: {refused.code}"] += 1
            else:
                self._players.counts["vacations booked"] += 1
                if self._random.random() < 0.3:
                    early = absence.since + self._random_span(absence.until - absence.since)
                    self._server.at(early, self._end_vacation_early(person))

        return book

    def _end_vacation_early(self, person: Person) -> Callable[[], None]:
        def come_back() -> None:
            now = self._server.now
            try:
                self._server.change_availability(person.id, lambda own: own._replace(book=ended(own.book, now)))
            except ServerDownError:
                return
            except CommandError as refused:
                self._players.counts[f"refused: {refused.code}"] += 1
            else:
                self._players.counts["vacations ended early"] += 1

        return come_back

    def _change_free_days(self, person: Person) -> Callable[[], None]:
        def change() -> None:
            days = tuple(sorted(self._random.sample(range(7), self._random.randint(0, 3))))
            now = self._server.now
            try:
                self._server.change_availability(person.id, lambda own: with_calendar(own, person.zone, days, now))
            except ServerDownError:
                return
            self._free_days.append(FreeDaysChange(now, person.id, days))
            self._players.counts["calendars changed"] += 1

        return change

    def _plan_outages(self) -> None:
        """Plan downtimes of the workers or the whole server, from minutes to two days."""
        at = self._begin + 5 * DAY
        while at < self._begin + 400 * DAY:
            at += 3 * DAY + self._random_span(30 * DAY)
            length = self._random.choice([10 * MINUTE, HOUR, 6 * HOUR, DAY, 2 * DAY])
            self._downtimes.append(Downtime(at, at + length + self._random_span(length), self._random.random() < 0.5))
            at = self._downtimes[-1].until
        for down in self._downtimes:
            self._server.at(down.since, lambda down=down: self._server.go_down(down.until, down.with_api))  # type: ignore[misc]


def _terms(random: Random) -> Terms:
    share = random.random
    terms = days_per_move(random.choice([1, 2, 3, 5, 7]))
    if share() < 0.5:
        bank = random.choice([1, 2, 5, 10]) * DAY
        increment = random.choice([0, 6 * HOUR, 12 * HOUR, DAY])
        terms = terms._replace(control=Control.BANK, bank=bank, increment=increment, cap=bank * random.choice([1, 2]))
    return terms._replace(
        ceiling=random.choice([2, 4]) * DAY if share() < 0.15 else None,
        first_move=random.choice([2, 4, 7]) * DAY,
        flag=FlagRule.CLAIM if share() < 0.2 else FlagRule.AUTOMATIC,
        vacations=share() < 0.85,
        weekends=share() < 0.85,
        takebacks=share() < 0.4,
        lines=share() < 0.95,
    )
