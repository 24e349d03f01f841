"""Seeks in the store: their read model, how they meet, and the matches that come of them."""

import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import NamedTuple

from domain.contest.seek import commands as c, events as e
from domain.contest.seek.state import Joining, Seek, SeekStatus
from domain.contest.wishes import SeekObstacle, Wish, compatible, setup_of, terms_of_match, usual_wait_days
from domain.match.enums import OccasionKind
from domain.match.refusals import CommandError
from domain.match.state import CLOCK, MatchState, Occasion
from domain.match.terms import DAY
from events.contests.contests import Contests, UnknownContestError
from events.contests.lists import UNFINISHED, ContestLists
from events.contests.outcomes import is_called_off, read_outcome
from events.contests.starting import MatchStarter, Started, WantedMatch
from events.matches.readmodels import ReadModels
from events.people.blocks import Blocks
from events.people.person import Person
from events.people.places import seeks_of
from events.store import contract
from events.store.converter import pack, unpack
from events.store.kinds import StreamKind, kind_of

OPEN = "seeks:open"
"""The list of those that can be taken."""

MAX_OPEN_SEEKS = 5
"""Of one person that are not over."""

MAX_JUDGED = 20
"""Seeks for a game by which one says how long the next will wait."""

JUDGED_FOR_MS = 90 * DAY

MAX_JOININGS = 3
"""At the table of the same other seek: if something keeps their match from beginning, they try no more."""


MET_AT_ONCE = 20
"""Seeks that agree with another one, whose authors are asked for room in one round trip."""


class SeenSeek(NamedTuple):
    """A seek as somebody sees it: why that person cannot take it, None if it can be taken."""

    seek: Seek
    obstacle: SeekObstacle | None


def lists_of(seek: Seek) -> dict[str, int]:
    """Return the lists that a seek is in: those open, those of its author not over, all of each person.

    Those that were answered, or expired without an answer, are listed for each game.
    """
    lists = {f"of:{person}": seek.posted_at for person in seek.people}
    if not seek.is_over:
        lists[f"seeks:by:{seek.author}"] = lists[UNFINISHED] = seek.posted_at
    if seek.status == SeekStatus.OPEN:
        lists[OPEN] = seek.posted_at
    judged_at = seek.updated_at if seek.status == SeekStatus.EXPIRED else None
    judged_at = judged_at if seek.answered_at is None else seek.answered_at
    if judged_at is not None:
        lists |= {f"seeks:judged:{game}": judged_at for game in seek.terms.games}
    return lists


class Seeks:
    """The seeks of an installation."""

    def __init__(
        self,
        store: contract.EventStore,
        contests: Contests[Seek, c.Command, e.Event],
        lists: ContestLists,
        starter: MatchStarter,
        readmodels: ReadModels,
        blocks: Blocks,
        now: Callable[[], int],
    ) -> None:
        self._store = store
        self.contests = contests
        self.lists = lists
        self._starter = starter
        self._readmodels = readmodels
        self._blocks = blocks
        self._now = now

    def follow(self, id: str) -> None:
        """Bring the read model of a seek up to its events, and carry out the steps that they make due.

        A full table begins its match, a seek that has joined another takes a seat there, an open one looks for others.

        Crash-safe: every step is an append with a request key made of its cause, and is found again from the
        events until it is made. A seek that waits elsewhere cannot be taken, so one wish never gives two matches.
        """
        seek = self.refresh(id)
        if seek.status == SeekStatus.FULL:
            self._start(seek)
        elif seek.status == SeekStatus.JOINED:
            self._take_joined(seek)
        elif seek.status == SeekStatus.OPEN:
            self._meet(seek)
        elif seek.joined is not None:
            self._leave_joined(seek)
        self._answer_takers(seek)

    def refresh(self, id: str) -> Seek:
        """Bring the read model of a seek up to its events, and return the seek. Raises as ``Contests.load``."""
        seek, head = self.contests.load(id)
        self.lists.update(id, head.version, pack(seek), lists_of(seek))
        return seek

    def record(self, occasion: Occasion, match: MatchState, head: contract.Head) -> None:
        """Restore the wishes behind a match that was called off, except that of the player to blame.

        Where no single player is, the wishes of those who had not answered stay used.

        Crash-safe: a match is delivered again until all wishes stand, each restored by one append with its own key.
        """
        if not is_called_off(match):
            return
        self.follow(occasion.id)
        blamed = read_outcome(self._store, match, head).blamed
        to_blame = {seat.player for number, seat in enumerate(match.seats) if number == blamed}
        if blamed is None:
            to_blame = {seat.player for seat in match.seats if not seat.joined}
        seek = self.contests.load(occasion.id).state
        takers = [taker for begun in seek.begun if begun.match == match.match_id for taker in begun.table.takers]
        for player, wish in [(seek.author, seek.id), *((taker.player, taker.seek) for taker in takers)]:
            if wish is not None and player not in to_blame:
                self._execute(wish, c.RestoreWish(match.match_id), f"restored:{match.match_id}")
                self.refresh(wish)

    def settle(self, id: str) -> bool:
        """Let a seek expire whose time is up; return whether it did. Raises as ``Contests.execute``."""
        return self.contests.settle(id)

    def erase(self, person: str) -> None:
        """Withdraw the seeks of a person whose account is erased, and give back the seats at tables of others."""
        for id in self.lists.oldest(f"of:{person}"):
            if kind_of(id) != StreamKind.SEEK:
                continue
            seek = self.contests.load(id).state
            command: c.Command = c.LeaveTable(person)
            if seek.author == person:
                command = c.CloseSeek(person, e.WithdrawalReason.ERASURE)
            with suppress(CommandError):  # it is over, or its match is about to begin and will be resigned
                self._execute(id, command, f"erased:{person}", person)

    def ratings(self, players: Iterable[str], games: Iterable[str], seats: int) -> dict[str, dict[str, int]]:
        """Return the ratings of each of ``players`` by game (``towers/two-player``), without those who have none."""
        asked = list(dict.fromkeys(players))
        pools = {game: f"{setup_of(game)[0]}-{seats}" for game in games}
        wanted = [(player, pool) for player in asked for pool in dict.fromkeys(pools.values())]
        ratings = self._readmodels.ratings_in(wanted)
        rated = dict(zip(wanted, ratings, strict=True))
        return {
            player: {
                game: round(rating.rating)
                for game, pool in pools.items()
                if (rating := rated[player, pool]) is not None
            }
            for player in asked
        }

    def read(self, ids: Sequence[str]) -> list[Seek]:
        """Return the seeks ``ids`` as they were milliseconds ago, in one round trip."""
        return [unpack(Seek, content) for content in self.lists.contents(ids) if content]

    @contextmanager
    def place(self, person: str, id: str) -> Iterator[bool]:
        """Take the place of the open seek ``id`` that ``person`` posts in the block; yields False if all are taken."""

        def projected(seeks: Sequence[str]) -> list[str]:
            return [seek for seek, version in zip(seeks, self.lists.versions(seeks), strict=True) if version]

        counted = partial(self.lists.oldest, f"seeks:by:{person}")
        places = self._starter.places
        with places.hold(seeks_of(person), id, MAX_OPEN_SEEKS, projected=projected, counted=counted) as is_free:
            yield is_free

    def usual_days(self, games: Sequence[str]) -> dict[str, int]:
        """Return within how many days half of the last seeks for each of ``games`` were answered, where that is so."""
        names, since = [f"seeks:judged:{game}" for game in games], self._now() - JUDGED_FOR_MS
        by_game = dict(zip(games, self.lists.latest(names, MAX_JUDGED, since), strict=True))
        seeks = {seek.id: seek for seek in self.read(sorted({id for ids in by_game.values() for id in ids}))}
        usual = {}
        for game, ids in by_game.items():
            judged = [seeks[id] for id in ids if id in seeks]
            days = usual_wait_days([seek.answered_at and seek.answered_at - seek.posted_at for seek in judged])
            if days is not None:
                usual[game] = days
        return usual

    def listed(self) -> list[Seek]:
        """Return the open seeks, the oldest first; as they were milliseconds ago."""
        return self.read(self.lists.oldest(OPEN))

    def seen_by(self, person: Person | None, seeks: Sequence[Seek]) -> list[SeenSeek]:
        """Return ``seeks`` as ``person`` (None: somebody not signed in) sees them, own ones included."""
        if person is None:
            return [SeenSeek(seek, None) for seek in seeks]
        apart = self._blocks.between({person.id, *(seek.author for seek in seeks)})
        rooms = self._starter.room_of({seek.author for seek in seeks}, self._now())
        seen = []
        for seek, obstacle in self.seen_by_terms(person, seeks):
            hindrance = obstacle
            if obstacle is None and frozenset((person.id, seek.author)) in apart:
                hindrance = SeekObstacle.BLOCKED
            elif obstacle is None and not rooms[seek.author].room:
                hindrance = SeekObstacle.NO_ROOM
            seen.append(SeenSeek(seek, hindrance))
        return seen

    def seen_by_terms(self, person: Person | None, seeks: Sequence[Seek]) -> list[SeenSeek]:
        """Return ``seeks`` as ``person`` sees them, by their terms alone: without blocks and the room of authors."""
        if person is None:
            return [SeenSeek(seek, None) for seek in seeks]
        ratings = self._ratings_by_seats([person.id], seeks)
        return [
            SeenSeek(seek, self._obstacle(seek, person, ratings[seek.terms.seats].get(person.id, {}))) for seek in seeks
        ]

    def _obstacle(self, seek: Seek, person: Person, ratings: Mapping[str, int]) -> SeekObstacle | None:
        """Return why ``person`` cannot take a seek by its terms alone; None if nothing is in the way."""
        if person.id == seek.author:
            return SeekObstacle.SAME_PERSON
        if seek.terms.rated and person.kind == "guest":
            return SeekObstacle.RATED
        wish = Wish(person.id, seek.terms, ratings, seek.table.days)
        games = (seek.table.game,) if seek.table.game else seek.terms.games
        return None if any(seek.terms.rating.contains(wish.rating_in(game)) for game in games) else SeekObstacle.RATING

    def _meet(self, seek: Seek) -> None:
        """Let ``seek`` and the oldest open one that agrees with it meet: the newer joins the table of the older."""
        others = [other for other in self.listed() if other.id != seek.id and other.terms.seats == seek.terms.seats]
        authors = [seek.author, *(other.author for other in others)]
        ratings = self.ratings(authors, seek.terms.games, seek.terms.seats) if others else {}
        own = _wish(seek, ratings.get(seek.author, {}))
        agreeing = [
            other
            for other in others
            if not isinstance(compatible(_wish(other, ratings[other.author]), own), SeekObstacle)
        ]
        if not agreeing:
            return
        for first in range(0, len(agreeing), MET_AT_ONCE):
            if self._join(seek, agreeing[first : first + MET_AT_ONCE]):
                return

    def _join(self, seek: Seek, agreeing: Sequence[Seek]) -> bool:
        """Let ``seek`` meet the first of those that agree with it where all have room; return whether it did."""
        people = {person for table in (seek, *agreeing) for person in _seated(table)}
        apart, rooms = self._blocks.between(people), self._starter.room_of(people, self._now())
        for other in agreeing:
            joining, table = _joining(seek, other)
            among = {*_seated(joining), *_seated(table)}
            met = (taker.player for begun in table.begun for taker in begun.table.takers)
            if joining.table.takers or joining.author in met or joining.joinings.count(table.id) >= MAX_JOININGS:
                continue
            if any(pair <= among for pair in apart) or not all(rooms[person].room for person in among):
                continue
            key = f"join:{table.id}:{len(joining.joinings) + 1}"
            with suppress(CommandError):  # it was taken, or has joined another one, meanwhile: the next
                if self._execute(joining.id, c.JoinSeek(table.id), key, joining.author):
                    return True
        return False

    def _take_joined(self, seek: Seek) -> None:
        """Take a seat at the table that ``seek`` has joined; come back from there if that is refused."""
        assert seek.joined is not None  # noqa: S101  (its status says so)
        table, number = seek.joined
        try:
            other = self.contests.load(table).state
            ratings = self.ratings([seek.author, other.author], seek.terms.games, seek.terms.seats)
            own = ratings[seek.author]
            common = compatible(_wish(other, ratings[other.author]), _wish(seek, own))
            game = seek.terms.games[0] if isinstance(common, SeekObstacle) else common.game
            rating = _wish(seek, own).rating_in(game)
            command = c.TakeSeek(seek.author, game, seek.terms.days, rating, seek=seek.id, joining=number)
            # Refused on the stream of the other seek alone: killed or repeated, the first decision stands.
            self._execute(table, command, f"joined:{seek.id}:{number}", seek.author)
        except (CommandError, UnknownContestError):
            self._execute(seek.id, c.ReturnSeek(seek.joined), f"return:{table}:{number}")

    def _leave_joined(self, seek: Seek) -> None:
        """Give the seat back that a seek which was withdrawn has at the table of another one."""
        assert seek.joined is not None  # noqa: S101  (the caller has looked)
        with suppress(CommandError, UnknownContestError):  # the match there is about to begin, or it was left before
            self._execute(seek.joined.seek, c.LeaveTable(seek.author), f"left:{seek.id}", seek.author)

    def _answer_takers(self, seek: Seek) -> None:
        """Tell the seeks that have joined tables of ``seek`` the outcome of these."""
        for taker in seek.gone:
            if taker.seek is not None:
                command = c.ReturnSeek(Joining(seek.id, taker.joining))
                self._execute(taker.seek, command, f"return:{seek.id}:{taker.joining}")
        for begun in seek.begun:
            for taker in begun.table.takers:
                if taker.seek is not None:
                    answer = c.AnswerSeek(Joining(seek.id, taker.joining), begun.match)
                    self._execute(taker.seek, answer, f"answer:{seek.id}:{taker.joining}")

    def _start(self, seek: Seek) -> None:
        """Begin the match of the full table, or clear the table where that cannot be."""
        table = seek.table
        assert table.game is not None  # noqa: S101  (the first taker has brought it)
        game, setup = setup_of(table.game)
        wanted = WantedMatch(
            occasion=Occasion(kind=OccasionKind.SEEK, id=seek.id, pairing=str(table.number)),
            game=game,
            setup=setup,
            players=self._by_seat(seek),
            rated=seek.terms.rated,
            private=False,
            terms=terms_of_match(seek.terms, table.days),
            by_hand=frozenset(taker.player for taker in table.takers if taker.seek is None),
        )
        try:
            start = self._starter.start(wanted)
            reason = "" if isinstance(start, Started) else start.reason
        except CommandError as refusal:
            start, reason = None, str(refusal)
        key = f"table:{table.number}"
        if isinstance(start, Started):
            self._execute(seek.id, c.StartTable(table.number, start.match), key)
        else:
            leaving = tuple(taker.player for taker in table.takers)
            self._execute(seek.id, c.ClearTable(table.number, leaving, reason), f"clear:{table.number}")

    def _by_seat(self, seek: Seek) -> tuple[str | int, ...]:
        """Return the players by seat: of two, the one who has begun less often against the other; else by lot."""
        people: list[str | int] = [seek.author, *(taker.player for taker in seek.table.takers)]
        if seek.table.level is not None:
            people += [seek.table.level] * (seek.terms.seats - len(people))
        secrets.SystemRandom().shuffle(people)
        match people:
            case [str(first), str(second)]:
                often = self._readmodels.first_seats(first, second)
                return (second, first) if often[0] > often[1] else (first, second)
        return tuple(people)

    def _ratings_by_seats(self, players: list[str], seeks: Sequence[Seek]) -> dict[int, dict[str, dict[str, int]]]:
        by_seats = {
            seats: [seek for seek in seeks if seek.terms.seats == seats]
            for seats in {seek.terms.seats for seek in seeks}
        }
        return {
            seats: self.ratings(players, sorted({game for seek in of for game in seek.terms.games}), seats)
            for seats, of in by_seats.items()
        }

    def _execute(self, id: str, command: c.Command, key: str, actor: str = CLOCK) -> bool:
        """Execute a command that follows from events; return whether anything was, or had been, written."""
        return bool(self.contests.execute(id, command, actor, contract.Request(key, key)).events)


def _wish(seek: Seek, ratings: Mapping[str, int]) -> Wish:
    return Wish(seek.author, seek.terms, ratings, seek.table.days, seek.table.game)


def _seated(seek: Seek) -> Iterator[str]:
    yield seek.author
    yield from (taker.player for taker in seek.table.takers)


def _joining(seek: Seek, other: Seek) -> tuple[Seek, Seek]:
    """Return which of two seeks joins which: the newer one the older, unless others sit at the newer one's table."""
    newer, older = (seek, other) if (seek.posted_at, seek.id) > (other.posted_at, other.id) else (other, seek)
    return (older, newer) if newer.table.takers and not older.table.takers else (newer, older)
