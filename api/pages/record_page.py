"""The record of a match: every event with who, when and how, and what the rules say to it."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from flask import Response, abort, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as WerkzeugResponse

from api.access.matches import visible_match
from api.operations.exploration import MAX_OUTCOME_STEPS
from api.operations.jobs import (
    MAX_EVENTS_AT_ONCE,
    is_recomputable,
    recomputation_of,
    request_bundle,
    request_recomputation,
    stored_bundle,
)
from api.pages.event_wording import describe, people_named
from api.pages.layout import blueprint
from api.representations.matches import people_in, represent_summary
from api.representations.players import represent_player
from api.services import services
from domain.game import OutcomeUnknownError, StepBudget
from domain.match.audit import Proof
from domain.match.state import CLOCK, MatchState
from events.people.person import Person
from events.private.statements import MEMBERS, NamedText, named_texts
from events.proof.audit import Record, audit
from events.readmodels import summarise
from events.service.jobs import RECOMPUTATION, Job
from events.store.codec import content_shown
from events.store.converter import read_value

EVENTS_PER_PAGE = 40
"""Events on one page."""

REFRESH_S = 3

_ACTORS = {CLOCK: "the clock"}

HIDDEN = ("seed",)
"""What is said of the creation of a match to nobody: with it the moves of its opponents could be known beforehand."""


@blueprint.get("/matches/<match_id>/record")
def record_page(match_id: str) -> Response:
    """Return a page of the record, from the event that the query asks for on.

    A match that is too long for a request is replayed by a worker; until then its events are shown as recorded.
    """
    loaded = visible_match(match_id)
    state = loaded.state
    first = _number(request.args.get("from"), 1, state.version, default=1)
    records = _records(state)
    verdict = _verdict(records) if records is not None else _verdict_of_bundle(stored_bundle(match_id))
    shown = _read_records(match_id, first) if records is None else records[first - 1 : first - 1 + EVENTS_PER_PAGE]
    named = {id for record in shown for id in (record.envelope.actor, *people_named(record.envelope.data))}
    people = services().people.persons(named)
    naming = any(record.envelope.type in MEMBERS for record in shown)
    kept = services().statements.of_match(match_id) if naming else {}
    summary = summarise(state)
    shown_match = represent_summary(summary, people_in([summary]))
    names = [seat.name for seat in shown_match.seats]
    job = services().jobs.pending(match_id)

    def content(record: Record) -> list[tuple[str, str]]:
        texts = named_texts(record.envelope, kept, people)
        recorded = content_shown(record.envelope)
        shown = {name: _in_words(texts, name, value) for name, value in recorded.items() if name not in HIDDEN}
        return describe(record.envelope.type, shown, names, state.game, people)

    page = render_template(
        "record.html",
        match=shown_match,
        state=state,
        entries=[_entry(record, people, content(record), job) for record in shown],
        verdict=verdict,
        bundled=records is not None or verdict is not None,
        job=job,
        events=state.version,
        first=first,
        page=EVENTS_PER_PAGE,
    )
    # A page that waits for a worker is loaded again by the browser, without any script.
    return Response(page, headers={"Refresh": str(REFRESH_S)} if job is not None else {})


@blueprint.post("/matches/<match_id>/record")
def ask_record(match_id: str) -> WerkzeugResponse:
    """Ask a worker to compute an answer again (``version`` of the form), or to replay the match, and show the page."""
    state = visible_match(match_id).state
    version = _number(request.form.get("version"), 1, state.version, default=0)
    if version:
        request_recomputation(match_id, version)
    else:
        request_bundle(match_id)
    first = max(version - 1, 0) // EVENTS_PER_PAGE * EVENTS_PER_PAGE + 1
    return redirect(f"{url_for('web.record_page', match_id=match_id)}?from={first}#v{version or first}", 303)


@blueprint.route("/matches/<match_id>/replay", methods=["GET", "POST"])
def former_record_page(match_id: str) -> WerkzeugResponse:
    """Redirect from the former address of the record, with the query and the form."""
    query: dict[str, Any] = request.args.to_dict()
    return redirect(url_for("web.record_page", **(query | {"match_id": match_id})), 308)


class Verdict(NamedTuple):
    """What the rules say to a match: the version and the reason of the first fault, or how its result is proved."""

    fault: int | None
    reason: str
    proof: str


def _records(state: MatchState) -> list[Record] | None:
    """Return the audit of a match, None when that takes too long for a request."""
    if state.version > MAX_EVENTS_AT_ONCE:
        return None
    try:
        return list(audit(state.match_id, services().store.read(state.match_id), StepBudget(MAX_OUTCOME_STEPS)))
    except OutcomeUnknownError:
        return None


def _read_records(match: str, first: int) -> list[Record]:
    """Return events as they are recorded, with nothing said of the rules."""
    return [Record(envelope, None, None, None) for envelope in services().store.read(match, first - 1, EVENTS_PER_PAGE)]


def _verdict(records: list[Record]) -> Verdict:
    fault = next((record for record in records if record.fault is not None), None)
    if fault is not None:
        return Verdict(fault.envelope.version, fault.fault or "", "")
    proof = records[-1].proof if records else None
    return Verdict(None, "", _proof_words(proof) if proof else "")


def _verdict_of_bundle(packed: bytes | None) -> Verdict | None:
    """Return what a bundle of this server says; None without one."""
    if packed is None:
        return None
    content = json.loads(packed)
    facts = content["facts"]
    if facts["replayed"] < content["head"]["version"]:
        return Verdict(facts["replayed"] + 1, "the rules do not give this event; the bundle says why", "")
    proof = facts.get("result", {}).get("proof")
    return Verdict(None, "", _proof_words(read_value(Proof, proof)) if proof else "")


def _in_words(texts: Mapping[str, NamedText], field: str, value: Any) -> Any:
    """Return what a field of an event's content says: an arbiter's text in the place of its digest."""
    text = texts.get(field)
    if text is None or field == "statement":
        return value
    if text.fault is not None:
        return f"not shown: {text.fault}; SHA-256 {text.sha256}"
    return f"erased with its author; SHA-256 {text.sha256}" if text.text is None else text.text


def _entry(
    record: Record, people: Mapping[str, Person], content: list[tuple[str, str]], job: Job | None
) -> dict[str, Any]:
    envelope = record.envelope
    known = envelope.actor in people or envelope.actor.startswith("opponent-")
    computable = is_recomputable(envelope)
    differs = recomputation_of(envelope) if computable else None
    return {
        "version": envelope.version,
        "type": envelope.type,
        "at": envelope.at,
        "actor": represent_player(envelope.actor, people).name
        if known
        else _ACTORS.get(envelope.actor, envelope.actor),
        "id": envelope.id,
        "content": content,
        "fault": record.fault,
        "ply": record.ply,
        "computable": computable,
        "computing": job is not None and job[:2] == (RECOMPUTATION, envelope.version),
        "recomputed": None if differs is None else differs or "it is what is recorded",
    }


def _proof_words(proof: Proof) -> str:
    """Return what proves the result, as a sentence."""
    if proof.plies is not None:
        return f"the position after ply {proof.ply} is the same as after plies {', '.join(map(str, proof.plies[:-1]))}"
    if proof.decided_by is not None:
        return f"event {proof.decided_by} decided it, after ply {proof.ply}"
    return f"by the rules the game is over after ply {proof.ply}"


def _number(asked: str | None, least: int, most: int, default: int) -> int:
    if asked is None:
        return default
    if not asked.isascii() or not asked.isdigit() or len(asked) > 9 or not least <= int(asked) <= most:
        abort(404, f"This match has versions {least} to {most}.")
    return int(asked)
