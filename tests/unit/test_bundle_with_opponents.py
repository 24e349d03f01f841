"""Bundles of matches with opponents: the seed stays with the server while it counts, and answers are computed again."""

import json
from dataclasses import replace
from typing import Any

from domain.match.commands import Resign
from domain.match.events import DrawAccepted, MatchFinished, MoveSubmitted
from events.proof.verification import BEYOND
from tests.support.bundles import against_an_opponent, bundle_of, draw_refused, keys, taken_up_again
from tests.support.matches import started
from tests.support.verifying import changed, fault, fault_after, resealed, steps


def test_the_seed_is_withheld_and_the_bundle_verifies() -> None:
    packed = bundle_of(against_an_opponent(), logged=3)
    first = json.loads(packed)["events"][0]
    assert first["withheld"] == ["seed"]
    assert "seed" not in first["data"]
    found = steps(packed, recompute=True)
    assert [name for name, step in found.items() if not step.proved] == ["seeds"]
    assert "the seed is withheld" in found["chain"].found
    assert found["seeds"].found.endswith("; of 1 this cannot be checked while the seed of the match is withheld")
    assert found["opponents"].found == "1 answers of opponents computed again, all as recorded"


def test_every_change_of_the_first_event_is_found_all_the_same() -> None:
    packed, trusted = bundle_of(against_an_opponent()), keys()
    end = packed.index(b'"version":1,"withheld":["seed"]}') + 32
    assert all(fault_after(packed, offset, trusted) for offset in range(11, end))


def test_the_fault_says_that_what_is_withheld_may_be_why() -> None:
    packed = changed(bundle_of(against_an_opponent()), lambda b: b["events"][0].update(actor="mallory"))
    assert "version 1, of which something is withheld" in str(fault(packed))


def test_the_seed_is_there_when_the_match_has_ended() -> None:
    match = against_an_opponent()
    match.do(Resign(player="alice"))
    packed = bundle_of(match)
    assert json.loads(packed)["events"][0]["data"]["seed"] == "7"
    assert steps(packed, recompute=True)["opponents"].proved


def test_a_match_that_goes_on_has_another_seed_which_is_withheld_alone() -> None:
    packed = bundle_of(taken_up_again(), logged=3)
    events = json.loads(packed)["events"]
    drawn = next(event for event in events if event["type"] == "seed-drawn")
    assert (events[0]["data"]["seed"], drawn["data"], drawn["withheld"]) == ("7", {}, ["seed"])
    assert sum("withheld" in event for event in events) == 1
    found = steps(packed, recompute=True)
    assert {name for name, step in found.items() if not step.proved} == {"seeds", BEYOND}
    assert found["seeds"].found.startswith("1 moves of opponents have the seed that follows from the match; of 1 ")
    assert found["opponents"].found == "2 answers of opponents computed again, all as recorded"


def test_all_seeds_are_there_when_it_has_ended_again() -> None:
    match = taken_up_again()
    match.do(Resign(player="alice"))
    packed = bundle_of(match)
    assert "withheld" not in packed.decode()
    assert steps(packed, recompute=True)["opponents"].proved


def test_a_seed_that_is_withheld_though_it_counts_no_more_is_refused() -> None:
    def withhold(content: Any) -> None:
        del content["events"][0]["data"]["seed"]
        content["events"][0]["withheld"] = ["seed"]

    said = str(fault(changed(bundle_of(taken_up_again()), withhold)))
    assert said == "version 1, withheld: only the last seed of the match may be withheld"


def test_a_word_on_a_draw_that_the_opponent_would_not_give_is_found_when_it_is_computed_again() -> None:
    match = draw_refused()

    def agree(events: list[Any]) -> None:
        events[5:] = [
            DrawAccepted(at=events[5].at, seat=1, engine=events[5].engine),
            MatchFinished(at=events[5].at, scores=(0.5, 0.5), reason="draw-agreed"),
        ]

    said = str(fault(resealed(match, agree), recompute=True))
    assert said == "version 6: the opponent turns the draw down, and that it agrees to the draw is recorded"


def test_nothing_is_withheld_of_a_match_between_people() -> None:
    assert "withheld" not in json.loads(bundle_of(started()))["events"][0]


def test_a_move_that_the_opponent_would_not_play_is_found_when_it_is_computed_again() -> None:
    match = against_an_opponent()
    match.do(Resign(player="alice"))
    played = match.events[3]
    assert isinstance(played, MoveSubmitted)

    def play_another(events: list[Any]) -> None:
        events[3] = replace(played, move="b6-a5" if played.move != "b6-a5" else "b6-c5")

    said = str(fault(resealed(match, play_another), recompute=True))
    assert said.startswith("version 4: the opponent plays ")


def test_a_node_budget_that_was_not_the_opponents_is_found_when_the_move_is_computed_again() -> None:
    match = against_an_opponent()
    match.do(Resign(player="alice"))

    def with_budget(nodes: int | None) -> bytes:
        return resealed(match, lambda events: events.__setitem__(3, replace(events[3], nodes=nodes)))

    for nodes in (None, 400):
        assert steps(with_budget(nodes), recompute=True)["opponents"].proved
    said = str(fault(with_budget(401), recompute=True))
    assert said.startswith("version 4: it cannot be computed again: ValueError: an opponent of level 1 visits 1 to ")


def test_a_seed_that_does_not_follow_from_the_match_is_found() -> None:
    match = against_an_opponent()
    match.do(Resign(player="alice"))
    packed = resealed(match, lambda events: events.__setitem__(3, replace(events[3], seed=1)))
    for recompute in (False, True):
        assert "follows from the match, and 1 is recorded" in str(fault(packed, recompute=recompute))


def test_moves_of_another_engine_are_counted_and_not_proved() -> None:
    match = against_an_opponent()
    packed = resealed(match, lambda events: events.__setitem__(3, replace(events[3], engine="0")))
    found = steps(packed, recompute=True)["opponents"]
    assert (found.proved, found.found) == (
        False,
        "0 answers of opponents computed again, all as recorded; 1 are of another engine",
    )
