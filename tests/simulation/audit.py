"""The audit of a simulated year: checks that every match must pass, computed in other ways than the match itself.

Flags are recomputed from the streams and compared with what people and the server really did: vacations, local days of
the week, downtimes. Private texts and conditional moves are searched for in everything that others can read.
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
from domain.match import events as e, vacation
from domain.match.authority import Authority
from domain.match.clock import left
from domain.match.enums import Channel, FlagRule, LineAction, Status
from domain.match.evolve import evolve, replay
from domain.match.lines import ANY, Line
from domain.match.state import MatchState
from domain.match.terms import MAX_UNCLAIMED_MS, Terms
from events.matches.matches import Matches
from events.matches.readmodels.summary import summarise
from events.proof.audit import audit as records
from events.proof.bundle import make_bundle
from events.proof.documents import DocumentError
from events.proof.keys import SigningKey
from events.proof.verification import BEYOND, verify as verify_bundle
from events.store.chain import verify
from events.store.codec import event_of
from events.store.contract import DamagedStreamError
from events.store.envelope import Envelope, canonical_json
from tests.simulation.notices_audit import audit_notices
from tests.simulation.players import LinesSet
from tests.simulation.ratings import final_day_ends
from tests.simulation.reference_clock import ReferenceClock
from tests.simulation.server import BEAT_INTERVAL
from tests.simulation.year import Year

KEY = SigningKey(bytes(32), 0)
SAMPLE_INTERVAL = 10
"""One in this many matches is bundled, and all that were disputed."""


class Audited(NamedTuple):
    """How often each check was made, the failures, how matches ended, and one digest of all streams.

    ``endings`` counts by game and reason, ``seen`` events and other things by kind.
    """

    checks: Counter[str]
    failures: list[str]
    endings: Counter[tuple[str, str]]
    seen: Counter[str]
    digest: str


def audit(year: Year, on_match: Callable[[], None] = lambda: None) -> Audited:
    """Audit all matches of ``year``; ``on_match`` is called after each except rematches."""
    auditor = _Auditor(year)
    planned = frozenset(year.matches[: year.planned])
    for match_id in year.matches:
        auditor.match(match_id)
        if match_id in planned:
            on_match()
    auditor.feeds()
    auditor.ratings()
    if year.told is not None:
        audit_notices(year.told, year.case_texts, auditor.check)
    for fault in year.faults:
        auditor.check("the server logged no warnings", False, fault)
    return auditor.report()


class _Auditor:
    def __init__(self, year: Year) -> None:
        self._year = year
        self._store = year.server.store
        self._people = {person.id: person for person in year.people}
        self._lines_set: dict[tuple[str, int], list[LinesSet]] = {}
        for lines in year.lines_set:
            self._lines_set.setdefault((lines.match, lines.seat), []).append(lines)
        self._checks: Counter[str] = Counter()
        self._failures: list[str] = []
        self._endings: Counter[tuple[str, str]] = Counter()
        self._seen: Counter[str] = Counter()
        self._digest = sha256()
        self._states: list[MatchState] = []

    def check(self, rule: str, holds: bool, place: str) -> None:
        """Count that ``rule`` was checked in ``place``, and record the place if it does not hold."""
        self._checks[rule] += 1
        if not holds:
            self._failures.append(f"{rule}: failed in {place}")

    def report(self) -> Audited:
        return Audited(self._checks, self._failures, self._endings, self._seen, self._digest.hexdigest())

    def match(self, match_id: str) -> None:
        try:
            verified = verify(self._store, match_id)
        except DamagedStreamError as damage:
            self.check("every hash chain is intact", False, str(damage))
            return
        self.check("every hash chain is intact", verified.head.version > 0, match_id)
        self._digest.update(match_id.encode() + verified.head.digest)
        envelopes = self._store.read(match_id)
        events = [event_of(envelope) for envelope in envelopes]
        state = self._year.server.state(match_id)
        self.check("a replay gives the live state", replay(match_id, events) == state, match_id)
        afresh = Matches(self._store, lambda: 0).load(match_id).state
        self.check("a snapshot and later events give the live state", afresh == state, match_id)
        self.check("every match ended", state.ended, f"{match_id}, which is {state.status}")
        instants = [event.at for event in events]
        self.check("time never runs backwards", instants == sorted(instants), match_id)
        ending = (
            (state.result.reason or "?")
            if state.status == Status.FINISHED or state.result.annulled is not None
            else "cancelled"
        )
        self._endings[state.game, ending] += 1
        self._states.append(state)
        objections = (record.objection for record in records(match_id, envelopes, authority=Authority(match_id)))
        objection = next((found for found in objections if found is not None), None)
        self.check("every actor was authorised", objection is None, f"{match_id}, {objection}")
        self._time(match_id, events)
        self._frozen(match_id, events)
        self._said(match_id, envelopes)
        if state.cases.disputes or len(self._states) % SAMPLE_INTERVAL == 0:
            self._bundled(match_id, envelopes)
        self._conditional(match_id, events)
        self._secrets(match_id, envelopes)

    def _time(self, match_id: str, events: list[e.Event]) -> None:
        """Check every flag against the reference clock and against what really happened."""
        created = events[0]
        if not isinstance(created, e.MatchCreated):
            raise ValueError(f"{match_id} does not begin with its creation")
        clock = ReferenceClock(created)
        seats = [seat.player for seat in created.seats]
        for version, event in enumerate(events[1:], 2):
            self._update_active(event)
            place = f"{match_id}, version {version}"
            if isinstance(event, e.ClockPaused):
                public = event.seat is None or event.since <= event.at
                self.check("no pause is recorded before it counts", public, place)
            if isinstance(event, e.PlayerJoined):
                seats[event.seat] = event.player
            elif isinstance(event, e.FlagFell):
                found = (event.seat, event.deadline, event.limit)
                self.check("every flag fell at its expected instant", clock.flag() == found, place)
                still = clock.is_paused(event.seat, event.deadline)
                self.check("no flag fell while the clock was paused", not still, place)
                self.check("no flag fell in a frozen match", not clock.frozen, place)
                self._promptness(event, created.terms, place)
                self._circumstances(event, seats[event.seat] or "", created.terms, match_id, place)
            elif isinstance(event, e.MoveSubmitted):
                flag = clock.flag()
                in_time = flag is not None and (
                    flag.at is None or event.at < flag.at or created.terms.flag == FlagRule.CLAIM
                )
                self.check("no move came after the flag", in_time, place)
                self.check("no move was made in a frozen match", not clock.frozen, place)
                if event.channel == Channel.FORCED:
                    game = find_ruleset(created.game, created.ruleset)
                    choice = len(list(islice(game.legal_moves(clock.position), 2)))
                    self.check("a forced move was the only legal one", choice == 1, place)
            clock.record(event)

    def _frozen(self, match_id: str, events: list[e.Event]) -> None:
        """Check that a freeze cost no one time."""
        state: MatchState | None = None
        held: tuple[int, ...] | None = None
        for version, event in enumerate(events, 1):
            before, state = state, evolve(state, event, match_id)
            if before is not None and before.cases.frozen and not state.cases.frozen and held is not None:
                after = _times(before, event.at)
                costs = [one for one, other in zip(held, after, strict=True) if other < one]
                self.check("a freeze cost no time", not costs, f"{match_id}, version {version}")
            if state.cases.frozen and (before is None or not before.cases.frozen):
                held = _times(state, event.at)

    def _said(self, match_id: str, envelopes: list[Envelope]) -> None:
        """Search the events for texts of cases."""
        if any("statement" in envelope.data for envelope in envelopes):
            texts = [_bytes(envelope._asdict()) for envelope in envelopes]
            leaked = any(
                _found(json.dumps(text).encode(), texts) for text in self._year.case_texts if f" {match_id} " in text
            )
            self.check("no text of a case is in an event", not leaked, match_id)

    def _bundled(self, match_id: str, envelopes: list[Envelope]) -> None:
        """Check that the bundle of a match verifies with only the public key; there is no checkpoint."""
        packed = make_bundle(match_id, envelopes, KEY, envelopes[-1].at, None)
        try:
            steps = verify_bundle(packed, {KEY.id: KEY.public})
            unproved = [step.name for step in steps if not step.proved and step.name not in ("checkpoint", BEYOND)]
            self.check("bundles verify", not unproved, f"{match_id}, {', '.join(unproved)}")
        except DocumentError as fault:
            self.check("bundles verify", False, f"{match_id}, {fault}")

    def ratings(self) -> None:
        """Check that annulled, revoked and taken-back results have left no trace in the ratings."""
        live, recomputed = self._year.ratings.day_ends(), final_day_ends(self._states)
        for place in sorted(live.keys() | recomputed.keys()):
            same = live.get(place) == recomputed.get(place)
            self.check("undone results left no trace in the ratings", same, " ".join(map(str, place)))
        self._seen["results removed from the ratings"] = self._year.ratings.undone

    def _update_active(self, event: e.Event) -> None:
        """Count an event by its type and what distinguishes it in the table."""
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
        due = event.deadline if by_itself or event.claimed_by is not None else event.deadline + MAX_UNCLAIMED_MS
        on_time = event.at == due or (event.claimed_by is not None and event.at > due)
        self.check("every flag was recorded when it was due", on_time, place)

    def _circumstances(self, event: e.FlagFell, player: str, terms: Terms, match_id: str, place: str) -> None:
        """Check a flag against what its player and the server really did at its deadline."""
        at = event.deadline
        downtimes = [down for down in self._year.away if down.since + BEAT_INTERVAL < at < down.until]
        # With the workers down, the API keeps time whenever it is asked, but only of that instant.
        time_was_kept = not downtimes or (not downtimes[0].with_api and event.at == at)
        self.check("no one was flagged during an outage", time_was_kept, place)
        person = self._people.get(player)
        if person is None:
            return
        if terms.weekends:
            settings = [setting for setting in self._year.free_days if setting.player == player]
            days = settings[bisect(settings, at, key=lambda setting: setting.at) - 1].days
            self.check("no one was flagged on a free day", person.is_workday(at, days), place)
        if terms.vacations:
            book = self._year.flagged[match_id, event.seat, at].book
            self.check("no one was flagged on vacation", vacation.current(book, at) is None, place)
            if person.saves_flags and event.limit != "first-move":
                spared = vacation.automatic(book, at) is not None
                self.check("no one was flagged with automatic vacation left", not spared, place)

    def _conditional(self, match_id: str, events: list[e.Event]) -> None:
        """Check that conditional moves were played at the instant of their trigger, and as they were set."""
        moves: list[str] = []
        for version, event in enumerate(events, 1):
            if (
                isinstance(event, e.MoveSubmitted | e.DrawAccepted | e.PlayerResigned)
                and event.channel == Channel.CONDITIONAL
            ):
                place = f"{match_id}, version {version}"
                self.check("a conditional move was played with its trigger", event.at == events[version - 2].at, place)
                earlier = [each for each in self._lines_set.get((match_id, event.seat), ()) if each.version < version]
                fits = bool(earlier) and _follows(earlier[-1], moves, event)
                self.check("a conditional move was played as it was set", fits, place)
            if isinstance(event, e.MoveSubmitted):
                moves.append(event.move)
            elif isinstance(event, e.MovesTakenBack):
                del moves[event.ply :]

    def _secrets(self, match_id: str, envelopes: list[Envelope]) -> None:
        """Search everything that others can read for conditional moves."""
        own = [each for (other, _), lines in self._lines_set.items() if other == match_id for each in lines]
        words = {move for each in own for move in _moves_in(each.lines.first)}
        played = {envelope.data["move"] for envelope in envelopes if envelope.type == "move-submitted"}
        other_events = [_bytes(envelope._asdict()) for envelope in envelopes if envelope.type != "move-submitted"]
        state = self._year.server.state(match_id)
        reads = [
            _bytes(self._store.open(match_id, None).snapshot),
            json.dumps(summarise(state)._asdict(), default=asdict).encode(),
        ]
        moves = [_bytes(envelope._asdict()) for envelope in envelopes if envelope.type == "move-submitted"]
        for word in words:
            quoted = json.dumps(word).encode()
            self.check(
                "no conditional move leaked into another event", not _found(quoted, other_events), f"{match_id}: {word}"
            )
            if word not in played:
                self.check(
                    "no unplayed conditional move leaked", not _found(quoted, reads + moves), f"{match_id}: {word}"
                )

    def feeds(self) -> None:
        """Check that the feeds contain each event once and nothing else."""
        pointers_seen: Counter[tuple[str, int]] = Counter()
        for shard in range(self._store.shards):
            after = 0
            while pointers := self._store.feed(shard, after):
                pointers_seen.update((pointer.stream, pointer.version) for pointer in pointers)
                after = pointers[-1].sequence
        heads = {match_id: self._store.head(match_id).version for match_id in self._year.matches}
        wanted = {(match_id, version) for match_id, head in heads.items() for version in range(1, head + 1)}
        self.check(
            "the feeds contain every event once",
            set(pointers_seen) == wanted and max(pointers_seen.values()) == 1,
            "the feeds",
        )


def _follows(lines_set: LinesSet, moves: list[str], event: e.MoveSubmitted | e.DrawAccepted | e.PlayerResigned) -> bool:
    """Return whether ``event`` is what ``lines_set`` prescribes after the moves played since it was set."""
    last, following = None, lines_set.lines.first
    for move in moves[lines_set.lines.ply :]:
        last = next((line for name in (move, ANY) for line in following if line.move == name), None)
        if last is None:
            return False
        following = last.next
    if last is None:
        return False
    if isinstance(event, e.MoveSubmitted):
        # The answer to any move stays as it was written: whether it captures shows only when it is played.
        marks = ("x", "-") if last.move == ANY else ("", "")
        return [line.move.replace(*marks) for line in following] == [event.move.replace(*marks)]
    return last.then == (LineAction.RESIGN if isinstance(event, e.PlayerResigned) else LineAction.ACCEPT_DRAW)


def _moves_in(lines: tuple[Line, ...]) -> set[str]:
    return {line.move for line in lines if line.move != ANY} | {word for line in lines for word in _moves_in(line.next)}


def _times(state: MatchState, at: int) -> tuple[int, ...]:
    clock = state.clock
    return () if clock is None else tuple(left(clock, seat, at) for seat in range(len(state.seats)))


def _bytes(value: Mapping[str, Any] | None) -> bytes:
    return b"" if value is None else canonical_json(value)


def _found(word: bytes, texts: list[bytes]) -> bool:
    return any(word in text for text in texts)
