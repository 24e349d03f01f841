"""Golden matches as compressed text: a line of facts, then the stored bytes of every event behind its digest."""

import gzip
import hashlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from domain.games import find_ruleset
from domain.match.events import Event
from domain.match.evolve import evolve
from domain.match.state import MatchState
from events.store.codec import event_of
from events.store.contract import GENESIS
from events.store.envelope import Envelope, canonical_bytes, chain_digest, unpack

DIRECTORY = Path(__file__).parent


class Golden(NamedTuple):
    """A stored match and what it came to.

    ``events`` are digests and stored bytes. ``plays`` is the SHA-256 of all that the rules said on the way:
    see ``said_by_the_rules``.
    """

    match: str
    made_by: str
    position: str
    scores: tuple[float, ...]
    reason: str
    plays: str
    events: tuple[tuple[str, str], ...]


def path_of(game: str, ruleset: int) -> Path:
    """Return the file of the golden matches of a ruleset."""
    return DIRECTORY / f"{game}-{ruleset}.txt.gz"


def write(path: Path, goldens: Iterable[Golden]) -> None:
    """Write the matches to a file: the same ones to the same bytes."""
    lines = []
    for golden in goldens:
        facts = golden._asdict()
        del facts["events"]
        lines.append(json.dumps(facts, sort_keys=True))
        lines += [f"{digest} {packed}" for digest, packed in golden.events]
        lines.append("")
    path.write_bytes(gzip.compress("\n".join(lines).encode(), mtime=0))


def read(path: Path) -> list[Golden]:
    goldens = []
    for block in gzip.decompress(path.read_bytes()).decode().rstrip("\n").split("\n\n"):
        facts, *events = block.split("\n")
        fields: dict[str, Any] = json.loads(facts)
        fields["scores"] = tuple(fields["scores"])
        fields["events"] = tuple((line[:64], line[65:]) for line in events)
        goldens.append(Golden(**fields))
    return goldens


def envelopes(golden: Golden) -> Iterator[Envelope]:
    """Yield the events of a match; raises AssertionError at the first whose bytes do not have its digest."""
    previous = GENESIS
    for version, (digest, packed) in enumerate(golden.events, 1):
        event = unpack(packed.encode(), golden.match, version, bytes.fromhex(digest))
        previous = chain_digest(previous, canonical_bytes(event.draft, golden.match, version))
        assert previous.hex() == digest, f"version {version} of {golden.match} is not what was stored"
        yield event


def replayed(golden: Golden, events: Iterable[Event] | None = None) -> tuple[MatchState, str]:
    """Return the match after all its events, or after ``events`` in their place, and what the rules said on the way."""
    state: MatchState | None = None
    said = hashlib.sha256()
    for event in map(event_of, envelopes(golden)) if events is None else events:
        before, state = state, evolve(state, event, golden.match)
        if before is None or state.play.position is not before.play.position:
            said.update(said_by_the_rules(state).encode())
    assert state is not None
    return state, said.hexdigest()


def said_by_the_rules(state: MatchState) -> str:
    """Return position, outcome and all listed legal moves where a match stands, as text."""
    game, position = find_ruleset(state.game, state.ruleset), state.play.position
    moves = " ".join(game.format_move(position, move) for move in game.legal_moves(position))
    outcome = game.outcome(position, state.play.history)
    return f"{game.format_position(position)}\n{game.to_move(position)}\n{outcome and tuple(outcome)}\n{moves}\n"
