"""The audit of a simulated year: what must be true of every match, found out by other ways than those that made it so.

Flags are reckoned again from the streams, and held against what people and the server really did: who was on vacation
when, on which local days of the week, and when the server was away. What was laid down in secret is looked for in
everything that others can read.
"""

import json
from bisect import bisect
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict
from hashlib import sha256
from itertools import islice
from typing import Any, NamedTuple

from domain.games import find_ruleset
from domain.match import events as e
from domain.match import vacation
from domain.match.authority import Authority
from domain.match.clock import left
from domain.match.enums import Channel, FlagRule, LineAction, Status
from domain.match.evolve import evolve, replay
from domain.match.lines import ANY, Line
from domain.match.state import MatchState
from domain.match.terms import UNCLAIMED_FOR, Terms
from events.proof.audit import audit as records
from events.proof.bundle import make_bundle
from events.proof.documents import DocumentError
from events.proof.keys import SigningKey
from events.proof.verification import BEYOND
from events.proof.verification import verify as verify_bundle
from events.readmodels.summary import summarise
from events.service.matches import Matches
from events.store.chain import verify
from events.store.codec import event_of
from events.store.contract import DamagedStreamError
from events.store.envelope import Envelope, canonical_json
from tests.simulation.players import Laid
from tests.simulation.ratings import from_scratch
from tests.simulation.reference_clock import Reckoning
from tests.simulation.server import BEAT
from tests.simulation.year import Year

KEY = SigningKey(bytes(32), 0)
SAMPLED = 10
"""Of so many matches one is bundled, beside all that were disputed."""


class Audited(NamedTuple):
    """What was checked how often, what was found wanting, how matches ended, and one digest of all streams.

    ``endings`` counts by game and reason, ``seen`` events and other things by what they are.
    """

    checks: Counter[str]
    wanting: list[str]
    endings: Counter[tuple[str, str]]
    seen: Counter[str]
    digest: str


def audit(year: Year, on_match: Callable[[], None] = lambda: None) -> Audited:
    """Return what is found in all matches of ``year``; ``on_match`` is called after each but the rematches."""
    auditor = _Auditor(year)
    planned = frozenset(year.matches[: year.planned])
    for match in year.matches:
        auditor.match(match)
        if match in planned:
            on_match()
    auditor.feeds()
    auditor.ratings()
    for fault in year.faults:
        auditor.check("the server complained of nothing", False, fault)
    return auditor.report()


class _Auditor:
    def __init__(self, year: Year) -> None:
        self._year = year
        self._store = year.house.store
        self._people = {person.id: person for person in year.people}
        self._laid: dict[tuple[str, int], list[Laid]] = {}
        for laid in year.laid:
            self._laid.setdefault((laid.match, laid.seat), []).append(laid)
        self._checks: Counter[str] = Counter()
        self._wanting: list[str] = []
        self._endings: Counter[tuple[str, str]] = Counter()
        self._seen: Counter[str] = Counter()
        self._digest = sha256()
        self._states: list[MatchState] = []

    def check(self, rule: str, holds: bool, place: str) -> None:
        """Count that ``rule`` was looked at in ``place``, and note the place if it does not hold."""
        self._checks[rule] += 1
        if not holds:
            self._wanting.append(f"{rule}: not so in {place}")

    def report(self) -> Audited:
        """Return what was found."""
        return Audited(self._checks, self._wanting, self._endings, self._seen, self._digest.hexdigest())

    def match(self, match: str) -> None:
        """Audit one match."""
        try:
            verified = verify(self._store, match)
        except DamagedStreamError as damage:
            self.check("the hash chain of every match holds", False, str(damage))
            return
        self.check("the hash chain of every match holds", verified.head.version > 0, match)
        self._digest.update(match.encode() + verified.head.digest)
        envelopes = self._store.read(match)
        events = [event_of(envelope) for envelope in envelopes]
        state = self._year.house.state(match)
        self.check("a replay gives what was played live", replay(match, events) == state, match)
        afresh = Matches(self._store, lambda: 0).load(match).state
        self.check("a snapshot and what follows it give the same", afresh == state, match)
        self.check("every match ended", state.ended, f"{match}, which is {state.status}")
        instants = [event.at for event in events]
        self.check("time never runs backwards", instants == sorted(instants), match)
        ending = (
            (state.reason or "?") if state.status == Status.FINISHED or state.annulled is not None else "called off"
        )
        self._endings[state.game, ending] += 1
        self._states.append(state)
        objections = (record.objection for record in records(match, envelopes, authority=Authority(match)))
        objection = next((found for found in objections if found is not None), None)
        self.check("everything was done by who could do it", objection is None, f"{match}, {objection}")
        self._time(match, events)
        self._frozen(match, events)
        self._said(match, envelopes)
        if state.disputes or len(self._states) % SAMPLED == 0:
            self._bundled(match, envelopes)
        self._conditional(match, events)
        self._secrets(match, envelopes)

    def _time(self, match: str, events: list[e.Event]) -> None:
        """Check every flag against a second reckoning and against what was really going on."""
        created = events[0]
        if not isinstance(created, e.MatchCreated) or created.terms is None:
            raise ValueError(f"{match} does not begin with its creation, or has no terms")
        reckoning = Reckoning(created)
        seats = [seat.player for seat in created.seats]
        for version, event in enumerate(events[1:], 2):
            self._note(event)
            place = f"{match}, version {version}"
            if isinstance(event, e.ClockPaused | e.CalendarSet):
                public = isinstance(event, e.ClockPaused) and (event.seat is None or event.since <= event.at)
                self.check("nothing of a player's time is recorded before it counts", public, place)
            if isinstance(event, e.PlayerJoined):
                seats[event.seat] = event.player
            elif isinstance(event, e.FlagFell):
                found = (event.seat, event.deadline, event.limit)
                self.check("every flag fell at its forecast instant", reckoning.flag() == found, place)
                still = reckoning.stands_still(event.seat, event.deadline)
                self.check("no flag fell while the clock stood still", not still, place)
                self.check("no flag fell in a frozen match", not reckoning.frozen, place)
                self._promptness(event, created.terms, place)
                self._circumstances(event, seats[event.seat] or "", created.terms, match, place)
            elif isinstance(event, e.MoveSubmitted):
                flag = reckoning.flag()
                in_time = flag is not None and (
                    flag.at is None or event.at < flag.at or created.terms.flag == FlagRule.CLAIM
                )
                self.check("no move came after the flag", in_time, place)
                self.check("no move was made in a frozen match", not reckoning.frozen, place)
                if event.channel == Channel.FORCED:
                    game = find_ruleset(created.game, created.ruleset)
                    choice = len(list(islice(game.legal_moves(reckoning.position), 2)))
                    self.check("a forced move was the only one", choice == 1, place)
            reckoning.record(event)

    def _frozen(self, match: str, events: list[e.Event]) -> None:
        """Check that the time in which a match stood still was nobody's."""
        state: MatchState | None = None
        held: tuple[int, ...] | None = None
        for version, event in enumerate(events, 1):
            before, state = state, evolve(state, event, match)
            if before is not None and before.frozen and not state.frozen and held is not None:
                after = _times(before, event.at)
                costs = [one for one, other in zip(held, after, strict=True) if other < one]
                self.check("frozen clocks cost nothing", not costs, f"{match}, version {version}")
            if state.frozen and (before is None or not before.frozen):
                held = _times(state, event.at)

    def _said(self, match: str, envelopes: list[Envelope]) -> None:
        """Look in events for what was said in cases."""
        if any("statement" in envelope.data for envelope in envelopes):
            texts = [_bytes(envelope._asdict()) for envelope in envelopes]
            leaked = any(_found(json.dumps(said).encode(), texts) for said in self._year.said if f" {match} " in said)
            self.check("nothing said in a case is in an event", not leaked, match)

    def _bundled(self, match: str, envelopes: list[Envelope]) -> None:
        """Check that the bundle of a match proves it to a reader who has only the public key; there is no log."""
        packed = make_bundle(match, envelopes, KEY, envelopes[-1].at, None)
        try:
            steps = verify_bundle(packed, {KEY.id: KEY.public})
            unproved = [step.name for step in steps if not step.proved and step.name not in ("checkpoint", BEYOND)]
            self.check("bundles verify", not unproved, f"{match}, {', '.join(unproved)}")
        except DocumentError as fault:
            self.check("bundles verify", False, f"{match}, {fault}")

    def ratings(self) -> None:
        """Check that what was annulled, forgiven or taken back has left nothing in the ratings."""
        followed, anew = self._year.ratings.ends(), from_scratch(self._states)
        for place in sorted(followed.keys() | anew.keys()):
            same = followed.get(place) == anew.get(place)
            self.check("ratings are as if what was undone had never been rated", same, " ".join(map(str, place)))
        self._seen["results that went out of the ratings again"] = self._year.ratings.undone

    def _note(self, event: e.Event) -> None:
        """Count an event by its kind and what is told of it in the table."""
        kind = type(event).__name__
        if isinstance(event, e.ClockPaused):
            kind += (
                f" {event.reason}{' automatic' if event.automatic else ''}{' late' if event.since < event.at else ''}"
            )
        elif isinstance(event, e.FlagFell):
            kind += f" {event.limit}{' claimed' if event.claimed_by is not None else ''}"
        elif isinstance(event, e.MoveSubmitted):
            kind += f" {event.channel}"
        elif isinstance(event, e.RulingMade):
            kind += f" {event.ruling}{' on appeal' if event.appeal else ''}"
        self._seen[kind] += 1

    def _promptness(self, event: e.FlagFell, terms: Terms, place: str) -> None:
        by_itself = terms.flag != FlagRule.CLAIM or event.limit == "first-move"
        due = event.deadline if by_itself or event.claimed_by is not None else event.deadline + UNCLAIMED_FOR
        on_time = event.at == due or (event.claimed_by is not None and event.at > due)
        self.check("every flag was recorded at the instant it was due", on_time, place)

    def _circumstances(self, event: e.FlagFell, player: str, terms: Terms, match: str, place: str) -> None:
        """Check a flag against what people and the server really did at its deadline."""
        at = event.deadline
        away = [away for away in self._year.away if away.since + BEAT < at < away.until]
        # With the workers away the API keeps time when it is asked to: of the instant at which it is, it knows.
        kept = not away or (not away[0].whole and event.at == at)
        self.check("nobody was flagged while nobody kept time", kept, place)
        person = self._people.get(player)
        if person is None:
            return
        if terms.weekends:
            settings = [setting for setting in self._year.free_days if setting.player == player]
            days = settings[bisect(settings, at, key=lambda setting: setting.at) - 1].days
            self.check("nobody was flagged on a free day", person.works(at, days), place)
        if terms.vacations:
            book = self._year.flagged[match, event.seat, at].book
            self.check("nobody was flagged on vacation", vacation.current(book, at) is None, place)
            if person.saves_flags and event.limit != "first-move":
                spared = vacation.automatic(book, at) is not None
                self.check("nobody was flagged who had a day of automatic vacation left", not spared, place)

    def _conditional(self, match: str, events: list[e.Event]) -> None:
        """Check that what was laid down was played in the same breath as what set it off, and just as laid down."""
        moves: list[str] = []
        for version, event in enumerate(events, 1):
            if (
                isinstance(event, e.MoveSubmitted | e.DrawAccepted | e.PlayerResigned)
                and event.channel == Channel.CONDITIONAL
            ):
                place = f"{match}, version {version}"
                self.check("a line fired with what set it off", event.at == events[version - 2].at, place)
                laid = [laid for laid in self._laid.get((match, event.seat), ()) if laid.version < version]
                fits = bool(laid) and _answers(laid[-1], moves, event)
                self.check("a line fired as it was laid down", fits, place)
            if isinstance(event, e.MoveSubmitted):
                moves.append(event.move)
            elif isinstance(event, e.MovesTakenBack):
                del moves[event.ply :]

    def _secrets(self, match: str, envelopes: list[Envelope]) -> None:
        """Look for moves that were laid down in all that others can read."""
        laid = [laid for (other, _), all_laid in self._laid.items() if other == match for laid in all_laid]
        words = {move for each in laid for move in _words(each.lines.first)}
        played = {envelope.data["move"] for envelope in envelopes if envelope.type == "move-submitted"}
        other_events = [_bytes(envelope._asdict()) for envelope in envelopes if envelope.type != "move-submitted"]
        state = self._year.house.state(match)
        reads = [
            _bytes(self._store.open(match, None).snapshot),
            json.dumps(summarise(state)._asdict(), default=asdict).encode(),
        ]
        moves = [_bytes(envelope._asdict()) for envelope in envelopes if envelope.type == "move-submitted"]
        for word in words:
            quoted = json.dumps(word).encode()
            self.check(
                "no line leaked into an event that is no move", not _found(quoted, other_events), f"{match}: {word}"
            )
            if word not in played:
                self.check(
                    "no line that did not fire leaked at all", not _found(quoted, reads + moves), f"{match}: {word}"
                )

    def feeds(self) -> None:
        """Check that the feeds announce each event once and say nothing else."""
        told: Counter[tuple[str, int]] = Counter()
        for shard in range(self._store.shards):
            after = 0
            while pointers := self._store.feed(shard, after):
                told.update((pointer.stream, pointer.version) for pointer in pointers)
                after = pointers[-1].sequence
        heads = {match: self._store.head(match).version for match in self._year.matches}
        wanted = {(match, version) for match, head in heads.items() for version in range(1, head + 1)}
        self.check("the feeds announce every event once", set(told) == wanted and max(told.values()) == 1, "the feeds")


def _answers(laid: Laid, moves: list[str], event: e.MoveSubmitted | e.DrawAccepted | e.PlayerResigned) -> bool:
    """Tell whether ``event`` is what ``laid`` has after the moves that were made since."""
    last, following = None, laid.lines.first
    for move in moves[laid.lines.ply :]:
        last = next((line for name in (move, ANY) for line in following if line.move == name), None)
        if last is None:
            return False
        following = last.next
    if last is None:
        return False
    if isinstance(event, e.MoveSubmitted):
        return [line.move for line in following] == [event.move]
    return last.then == (LineAction.RESIGN if isinstance(event, e.PlayerResigned) else LineAction.ACCEPT_DRAW)


def _words(lines: tuple[Line, ...]) -> set[str]:
    return {line.move for line in lines if line.move != ANY} | {word for line in lines for word in _words(line.next)}


def _times(state: MatchState, at: int) -> tuple[int, ...]:
    clock = state.clock
    return () if clock is None else tuple(left(clock, seat, at) for seat in range(len(state.seats)))


def _bytes(value: Mapping[str, Any] | None) -> bytes:
    return b"" if value is None else canonical_json(value)


def _found(word: bytes, texts: list[bytes]) -> bool:
    return any(word in text for text in texts)
