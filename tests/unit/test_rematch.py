"""The match that follows: who sits where, under which terms, and when there is none."""

from dataclasses import replace

import pytest

from domain.match.commands import AbortMatch, Resign
from domain.match.decisions.creation import rematch
from domain.match.refusals import CommandError
from domain.match.state import Seat
from domain.match.terms import days_per_move
from tests.support.matches import PlayedMatch, creation, started_by_four


def test_everybody_moves_on_by_one_seat_and_the_others_are_invited() -> None:
    match = started_by_four()
    for player in ("wendy", "blue", "rita"):
        if not match.state.ended:
            match.do(Resign(player=player))
    proposed = rematch(match.state, "rita", "m2", "5", guest=False)
    assert proposed.seats == (Seat.invited("blue"), Seat.taken("rita"), Seat.invited("bob"), Seat.invited("wendy"))
    assert (proposed.game, proposed.setup, proposed.creator) == ("towers", "four-player", "rita")
    assert (proposed.match, proposed.rematch_of, proposed.seed) == ("m2", "m", "5")


def test_it_is_played_under_the_same_terms_and_rules() -> None:
    create = creation(Seat.taken("alice"), Seat.opponent(3), rated=False, private=True, ruleset=1)
    match = PlayedMatch(replace(create, terms=days_per_move(3)))
    match.do(Resign(player="alice"))
    proposed = rematch(match.state, "alice", "m2", "5", guest=False)
    assert (proposed.terms, proposed.rated, proposed.private, proposed.ruleset) == (days_per_move(3), False, True, 1)
    assert proposed.seats == (Seat.opponent(3), Seat.taken("alice"))


def test_there_is_none_of_a_match_that_never_began() -> None:
    match = PlayedMatch()
    match.do(AbortMatch(player="alice"))
    with pytest.raises(CommandError, match="never began"):
        rematch(match.state, "alice", "m2", "5", guest=False)
