"""Matches with cases, and the rulings on them."""

from hashlib import sha256

import pytest

from domain.match.commands import Command, RaiseDispute, Rule
from domain.match.enums import Ground, RulingKind
from domain.match.refusals import CommandError
from tests.support.matches import PlayedMatch, started

WORDS, REASON, RULE = (
    sha256(text.encode()).hexdigest() for text in ("He moved twice.", "So the record says.", "BA-02")
)
"""Digests of what is said in cases."""


def refusal(match: PlayedMatch, command: Command) -> CommandError:
    """Return why ``command`` is refused; the match must be as before."""
    before = (match.state, list(match.events))
    with pytest.raises(CommandError) as refused:
        match.do(command, match.now)
    assert (match.state, match.events) == before
    return refused.value


def disputed(ground: Ground = Ground.REPETITION) -> PlayedMatch:
    """Return a match of alice and bob, two plies old, about which bob has raised a dispute."""
    match = started()
    match.move("alice", "c3-d4")
    match.move("bob", "b6-a5")
    match.do(RaiseDispute(player="bob", ply=2, ground=ground, statement=WORDS))
    return match


def ruling(kind: str, arbiter: str = "ann", **facts: object) -> Rule:
    return Rule(arbiter=arbiter, ruling=RulingKind(kind), reason=REASON, rule=RULE, **facts)  # type: ignore[arg-type]
