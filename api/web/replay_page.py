"""The audit replay of a match: every event with who, when and how, and what the rules say to it."""

from collections.abc import Mapping
from typing import Any

from flask import abort, render_template, request

from api.auth import current_person
from api.limits import spend
from api.representations import match_summary, people_in, player
from api.services import services
from api.web.frame import blueprint
from api.web.pictures import visible_match
from api.web.recorded import people_in_event, told
from domain.games import GAMES
from domain.match.audit import Proof
from domain.match.state import CLOCK
from events.codec import content_shown
from events.people import Person
from events.proof.audit import Record, audit
from events.readmodels import summarise
from events.statements import MEMBERS, Recalled, recalled

PAGE = 40
"""Events on one page."""

_ACTORS = {CLOCK: "the clock"}

HIDDEN = ("seed",)
"""What is said of the creation of a match to nobody: with it the moves of its opponents could be known beforehand."""


@blueprint.get("/matches/<match_id>/replay")
def replay_page(match_id: str) -> str:
    """Return a page of the replay; ``?recompute=VERSION`` computes one answer of an opponent again."""
    state = visible_match(match_id).state
    first = _number("from", 1, state.version, default=1)
    wanted = _number("recompute", 1, state.version, default=0)
    if wanted:
        person = current_person()
        spend("recomputations", person.id if person else request.remote_addr or "unknown")
        first = (wanted - 1) // PAGE * PAGE + 1
    records = list(audit(match_id, services().store.read(match_id)))
    shown = records[first - 1 : first - 1 + PAGE]
    summary = summarise(state)
    named = {id for record in shown for id in (record.envelope.actor, *people_in_event(record.envelope.data))}
    people = services().people.persons(named)
    naming = any(record.envelope.type in MEMBERS for record in shown)
    kept = services().statements.of_match(match_id) if naming else {}
    shown_match = match_summary(summary, people_in([summary]))
    names = [seat["name"] for seat in shown_match["seats"]]
    starts = {setup.name: setup.title for setup in GAMES[state.game].setups.values()} if state.game in GAMES else {}

    def content(record: Record) -> list[tuple[str, str]]:
        texts = recalled(record.envelope, kept, people)
        recorded = content_shown(record.envelope)
        shown = {name: _in_words(texts, name, value) for name, value in recorded.items() if name not in HIDDEN}
        return told(record.envelope.type, shown, names, starts, people)

    return render_template(
        "replay.html",
        match=shown_match,
        state=state,
        entries=[_entry(record, people, content(record), record.envelope.version == wanted) for record in shown],
        fault=next((record for record in records if record.fault is not None), None),
        proof=_proof_words(records[-1].proof) if records and records[-1].proof else "",
        events=len(records),
        first=first,
        page=PAGE,
    )


def _in_words(texts: Mapping[str, Recalled], field: str, value: Any) -> Any:
    """Return what a field of an event's content says: an arbiter's text in the place of its digest."""
    text = texts.get(field)
    if text is None or field == "statement":
        return value
    if text.fault is not None:
        return f"not shown: {text.fault}; SHA-256 {text.sha256}"
    return f"erased with its author; SHA-256 {text.sha256}" if text.text is None else text.text


def _entry(
    record: Record, people: Mapping[str, Person], content: list[tuple[str, str]], recompute: bool
) -> dict[str, Any]:
    envelope, ply, answer = record.envelope, record.ply, record.answer
    known = envelope.actor in people or envelope.actor.startswith("opponent-")
    return {
        "version": envelope.version,
        "type": envelope.type,
        "at": envelope.at,
        "actor": player(envelope.actor, people)["name"] if known else _ACTORS.get(envelope.actor, envelope.actor),
        "id": envelope.id,
        "content": content,
        "fault": record.fault,
        "ply": ply,
        "computable": answer is not None and answer.computable,
        "recomputed": (answer.recompute() or "it is what is recorded") if answer and recompute else None,
    }


def _proof_words(proof: Proof) -> str:
    """Return what proves the result, as a sentence."""
    if proof.plies is not None:
        return f"the position after ply {proof.ply} is the same as after plies {', '.join(map(str, proof.plies[:-1]))}"
    if proof.decided_by is not None:
        return f"event {proof.decided_by} decided it, after ply {proof.ply}"
    return f"by the rules the game is over after ply {proof.ply}"


def _number(name: str, least: int, most: int, default: int) -> int:
    asked = request.args.get(name)
    if asked is None:
        return default
    if not asked.isascii() or not asked.isdigit() or len(asked) > 9 or not least <= int(asked) <= most:
        abort(404, f"This match has versions {least} to {most}.")
    return int(asked)
