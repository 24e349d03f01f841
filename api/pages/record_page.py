"""The record of a match: every event in words, with its actor and instant, and whether the rules confirm it."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from flask import Response, abort, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as WerkzeugResponse

from api.access.matches import visible_match
from api.operations import jobs
from api.operations.exploration import MAX_OUTCOME_STEPS
from api.pages.case_page import GROUND_WORDS, RULING_WORDS
from api.pages.clocks import PAUSED
from api.pages.layout import blueprint
from api.pages.settings_page import DAYS
from api.pages.wording import instant, score_words
from api.representations.matches import MatchSummary, people_in, represent_summary
from api.representations.players import represent_player
from api.services import services
from domain.errors import OutcomeUnknownError, StepBudget
from domain.games import GAMES
from domain.match.audit import Proof
from domain.match.endings import reason_words
from domain.match.enums import Channel, Limit
from domain.match.player_signatures import PlayerSignature
from domain.match.state import CLOCK, OPPONENT_PREFIX, MatchState
from domain.match.terms import Terms, duration, in_words
from events.matches.jobs import RECOMPUTATION, Job
from events.matches.readmodels import summarise
from events.people.person import Person
from events.people.statements import MEMBERS, NamedText, named_texts
from events.proof.audit import Ply, Record, audit
from events.proof.bundle import BundleContent
from events.proof.documents import DocumentError
from events.proof.notes import parse_note
from events.proof.player_signatures import ACTS, key_id
from events.proof.tree_heads import find_cosignatures
from events.runtime.wall_clock import rfc3339
from events.store.codec import content_shown
from events.store.converter import read_value

_PLAYERS = frozenset({"creator", "player", "arbiter"})
_LIMITS = {
    Limit.TIME: "the time that was left",
    Limit.CEILING: "the time for one move",
    Limit.FIRST_MOVE: "the time for the first move",
}
_NAMES = {"creator": "created by", "statement": "digest of the statement", "dispute": "case", "setup": "start"}
"""The names of fields, where they are not the recorded ones."""

_PAUSES = ("clock-paused", "clock-resumed")
"""The events whose reason is one of ``PAUSED``; reasons of other events, except results, are written by people."""

_WORDS: Mapping[str, Callable[[Any], str]] = {
    "deadline": instant,
    "since": instant,
    "until": instant,
    "time": duration,
    "terms": lambda terms: " ".join(in_words(read_value(Terms, terms))),
    "scores": lambda scores: " : ".join(map(score_words, scores)),
    "calendar": lambda calendar: ", ".join(DAYS[day] for day in calendar["free_days"]) or "no free days",
    "ground": lambda ground: GROUND_WORDS[ground],
    "ruling": lambda ruling: RULING_WORDS[ruling],
    "limit": lambda limit: _LIMITS[limit],
    "occasion": lambda occasion: f"{occasion['kind']} {occasion['id']}, pairing {occasion['pairing']}",
    "signed": lambda signed: _signature_words(read_value(PlayerSignature, signed)),
}
"""The words of fields that need nothing but their value."""


@dataclass(frozen=True, slots=True)
class EventWording:
    """Describes the events of a match of ``game_id``; ``people`` are those whom ``people_named`` names."""

    seat_names: Sequence[str]
    game_id: str
    people: Mapping[str, Person]

    def describe(self, type: str, content: Mapping[str, Any]) -> list[tuple[str, str]]:
        """Return the fields of an event of ``type`` as pairs of name and value, both in words.

        A value that cannot be interpreted is shown as recorded: a record must show defects, not fail because of them.
        """
        pairs = []
        for field, value in content.items():
            try:
                words = self._value(type, field, value)
            except (LookupError, TypeError, ValueError, AttributeError):
                words = json.dumps(value, ensure_ascii=False)
            pairs.append((_NAMES.get(field, field.replace("_", " ")), words))
        if type in ACTS and content.get("channel") == Channel.MAIL:
            pairs.append(("signed", "no, for a mail carries no signature of a key"))
        return pairs

    def _value(self, type: str, field: str, value: Any) -> str:
        match field:
            case "creator" | "player" | "arbiter":
                return represent_player(value, self.people).name
            case "seat" | "to" | "claimed_by":
                return str(self.seat_names[int(value)])
            case "setup" if self.game_id in GAMES:
                return GAMES[self.game_id].setups[value].title
            case "seats":
                return self._by_seat(value, self._seat)
            case "remaining":
                return self._by_seat(value, duration)
            case "reason" if type == "match-finished":
                return reason_words(value, self.game_id)
            case "reason" if type in _PAUSES:
                return PAUSED[value]
            case _ if field in _WORDS:
                return _WORDS[field](value)
        return ("yes" if value else "no") if isinstance(value, bool) else str(value)

    def _by_seat(self, values: Sequence[Any], words: Callable[[Any], str]) -> str:
        return "; ".join(f"{name}: {words(value)}" for name, value in zip(self.seat_names, values, strict=True))

    def _seat(self, seat: Mapping[str, Any]) -> str:
        if not seat.get("player"):
            return "open"
        name = represent_player(seat["player"], self.people).name
        return name if seat["joined"] else f"{name}, invited"


def _signature_words(signed: PlayerSignature) -> str:
    return f"by the player's key {key_id(signed.key)}, over version {signed.version}"


def people_named(content: Mapping[str, Any]) -> set[str]:
    """Return the ids of the people named in the content of an event."""
    seats = content.get("seats", ())
    named = [seat.get("player") for seat in seats if isinstance(seat, Mapping)] if isinstance(seats, list) else []
    named += [content.get(field) for field in _PLAYERS]
    return {id for id in named if isinstance(id, str)}


EVENTS_PER_PAGE = 40
"""Events on one page."""

REFRESH_S = 3

HIDDEN = ("seed",)
"""Fields never shown: the seed would make the moves of the opponents predictable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordEntry:
    """An event in words; ``recomputed`` is the result of a worker that computed an opponent's answer again."""

    version: int
    type: str
    at: int
    actor: str
    digest: str
    fields: list[tuple[str, str]]
    error: str | None
    ply: Ply | None
    computable: bool
    computing: bool
    recomputed: str | None


class ReplayVerdict(NamedTuple):
    """The result of the replay: the version and the reason of the first error, or the proof of the result."""

    error_version: int | None
    reason: str
    proof: str


@blueprint.get("/matches/<match_id>/record")
def record_page(match_id: str) -> Response:
    """Return a page of the record, from the event that the query asks for; a worker replays long matches."""
    state = visible_match(match_id).state
    first = _number(request.args.get("from"), 1, state.version, default=1)
    records = _records(state)
    stored = jobs.stored_content(match_id) if records is None else None
    verdict = _verdict(records) if records is not None else stored and _verdict_of_content(stored[0])
    shown = _read_records(match_id, first) if records is None else records[first - 1 : first - 1 + EVENTS_PER_PAGE]
    summary = summarise(state)
    match = represent_summary(summary, people_in([summary]))
    job = services().jobs.pending(match_id)
    page = render_template(
        "record.html",
        cosigned=_cosigned(),
        match=match,
        moves=state.play.moves,
        entries=_entries(state, match, shown, job),
        verdict=verdict,
        has_bundle=records is not None or verdict is not None,
        job=job,
        events=state.version,
        first=first,
        events_per_page=EVENTS_PER_PAGE,
    )
    # The browser reloads a page that waits for a worker, without any script.
    return Response(page, headers={"Refresh": str(REFRESH_S)} if job is not None else {})


@blueprint.post("/matches/<match_id>/record")
def request_work(match_id: str) -> WerkzeugResponse:
    """Request a recomputation of the answer at ``version`` of the form, or without it a replay of the match."""
    state = visible_match(match_id).state
    version = _number(request.form.get("version"), 1, state.version, default=0)
    if version:
        jobs.request_recomputation(match_id, version)
    else:
        jobs.request_bundle(match_id)
    first = max(version - 1, 0) // EVENTS_PER_PAGE * EVENTS_PER_PAGE + 1
    return redirect(f"{url_for('web.record_page', match_id=match_id)}?from={first}#v{version or first}", 303)


@blueprint.route("/matches/<match_id>/replay", methods=["GET", "POST"])
def former_record_page(match_id: str) -> WerkzeugResponse:
    """Redirect from the former address of the record, with the query and the form."""
    query: dict[str, Any] = request.args.to_dict()
    return redirect(url_for("web.record_page", **(query | {"match_id": match_id})), 308)


def _records(state: MatchState) -> list[Record] | None:
    """Return the audit of a match, None when that takes too long for a request."""
    if state.version > jobs.MAX_EVENTS_AT_ONCE:
        return None
    try:
        return list(audit(state.match_id, services().store.read(state.match_id), StepBudget(MAX_OUTCOME_STEPS)))
    except OutcomeUnknownError:
        return None


def _read_records(match_id: str, first: int) -> list[Record]:
    """Return events as they are recorded, without a replay."""
    return [
        Record(envelope, None, None, None) for envelope in services().store.read(match_id, first - 1, EVENTS_PER_PAGE)
    ]


def _verdict(records: list[Record]) -> ReplayVerdict:
    faulty = next((record for record in records if record.fault is not None), None)
    if faulty is not None:
        return ReplayVerdict(faulty.envelope.version, faulty.fault or "", "")
    proof = records[-1].proof if records else None
    return ReplayVerdict(None, "", _proof_words(proof) if proof else "")


def _verdict_of_content(stored: BundleContent) -> ReplayVerdict:
    """Return the verdict on a bundle of this server."""
    content = json.loads(stored.packed)
    facts = content["facts"]
    if facts["replayed"] < content["head"]["version"]:
        return ReplayVerdict(facts["replayed"] + 1, "the rules do not allow this event; the bundle says why", "")
    proof = facts.get("result", {}).get("proof")
    return ReplayVerdict(None, "", _proof_words(read_value(Proof, proof)) if proof else "")


def _entries(state: MatchState, match: MatchSummary, records: Sequence[Record], job: Job | None) -> list[RecordEntry]:
    ids = {id for record in records for id in (record.envelope.actor, *people_named(record.envelope.data))}
    people = services().people.persons(ids)
    has_texts = any(record.envelope.type in MEMBERS for record in records)
    texts = services().statements.of_match(state.match_id) if has_texts else {}
    wording = EventWording([seat.name for seat in match.seats], state.game, people)

    def entry(record: Record) -> RecordEntry:
        envelope = record.envelope
        named = named_texts(envelope, texts, people)
        recorded = content_shown(envelope)
        content = {name: _resolved(named, name, value) for name, value in recorded.items() if name not in HIDDEN}
        computable = jobs.is_recomputable(envelope)
        difference = jobs.recomputation_of(envelope) if computable else None
        return RecordEntry(
            version=envelope.version,
            type=envelope.type,
            at=envelope.at,
            actor=_actor(envelope.actor, people),
            digest=envelope.id,
            fields=wording.describe(envelope.type, content),
            error=record.fault,
            ply=record.ply,
            computable=computable,
            computing=job is not None and job[:2] == (RECOMPUTATION, envelope.version),
            recomputed=None if difference is None else difference or "it is what is recorded",
        )

    return [entry(record) for record in records]


def _actor(actor: str, people: Mapping[str, Person]) -> str:
    if actor in people or actor.startswith(OPPONENT_PREFIX):
        return represent_player(actor, people).name
    return "the clock" if actor == CLOCK else actor


def _resolved(texts: Mapping[str, NamedText], field: str, value: Any) -> Any:
    """Return the value of a field of an event: the text of an arbiter instead of its digest."""
    text = texts.get(field)
    if text is None or field == "statement":
        return value
    if text.fault is not None:
        return f"not shown: {text.fault}; SHA-256 {text.sha256}"
    return f"erased with its author; SHA-256 {text.sha256}" if text.text is None else text.text


def _proof_words(proof: Proof) -> str:
    """Return the proof of the result, as a clause."""
    if proof.plies is not None:
        return f"the position after move {proof.ply} is the same as after moves {', '.join(map(str, proof.plies[:-1]))}"
    if proof.decided_by is not None:
        return f"event {proof.decided_by} decided it, after move {proof.ply}"
    return f"by the rules the game is over after move {proof.ply}"


def _number(text: str | None, least: int, most: int, default: int) -> int:
    if text is None:
        return default
    if not text.isascii() or not text.isdigit() or len(text) > 9 or not least <= int(text) <= most:
        abort(404, f"This match has versions {least} to {most}.")
    return int(text)


def _cosigned() -> list[tuple[str, str]]:
    """Return which witnesses have cosigned the last checkpoint, and when each did."""
    note, keys = services().checkpoints.note(), [witness.key for witness in services().witnesses.all()]
    if note is None or not keys:
        return []
    try:
        cosignatures = find_cosignatures(parse_note(note), keys)
    except DocumentError:
        return []
    return [(cosignature.witness.name, rfc3339(cosignature.time_s * 1000)) for cosignature in cosignatures]
