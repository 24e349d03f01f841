"""Bundles with their positions, and verification of what needs no rules."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jsonschema_rs
import pytest

from domain.games import GAMES
from events.proof.bundle import bundle_schema, read_bundle
from events.proof.verification import FaultyBundleError, verify
from tests.support.bundles import (
    STORIES,
    against_an_opponent,
    bundle_of,
    disputed,
    flagged,
    keys,
    resigned,
    taken_back,
    under_another_ruleset,
)
from tests.support.matches import PlayedMatch
from tests.support.rulesets import unregister
from tests.support.verifying import changed, fault, resealed, steps

WITHOUT_RULES = ["well-formed", "chain", "signature", "checkpoint"]


def positions_of(packed: bytes) -> list[tuple[int, str]]:
    return [tuple(each) for each in read_bundle(packed).facts.positions or ()]  # type: ignore[misc]


def test_a_bundle_with_positions_has_the_first_one_and_each_that_follows() -> None:
    match = resigned()
    play = match.state.play
    texts = [*play.history.texts(), GAMES["bashni"].format_position(play.position)]
    assert positions_of(bundle_of(match, positions=True)) == list(zip((1, 4, 5), texts, strict=True))


def test_a_takeback_brings_the_earlier_position_back() -> None:
    found = dict(positions_of(bundle_of(taken_back(), positions=True)))
    assert list(found) == [1, 4, 5, 8, 9]
    assert found[8] == found[4]


def test_another_ruleset_leaves_the_position_as_it_is() -> None:
    found = positions_of(bundle_of(under_another_ruleset(), positions=True))
    assert len({text for _, text in found}) == len(found) == 4


@pytest.mark.parametrize("made", [against_an_opponent, flagged, taken_back, under_another_ruleset])
def test_positions_are_proved_by_the_replay_and_fit_the_schema(made: Callable[[], PlayedMatch]) -> None:
    packed = bundle_of(made(), positions=True)
    assert steps(packed)["replay"].proved
    jsonschema_rs.validate(bundle_schema(), json.loads(packed))


def test_a_bundle_without_positions_is_written_as_before() -> None:
    assert b'"positions"' not in bundle_of(resigned())


def test_a_wrong_position_under_the_key_of_the_server_is_found_by_the_rules() -> None:
    def move_a_piece(content: dict[str, Any]) -> None:
        content["facts"]["positions"][1]["position"] = content["facts"]["positions"][0]["position"]

    packed = changed(bundle_of(resigned(), positions=True), move_a_piece)
    assert fault(packed).place == "facts.positions[1].position"


def test_positions_end_where_the_rules_cannot_follow(monkeypatch: pytest.MonkeyPatch) -> None:
    def break_a_move(events: list[Any]) -> None:
        events[4] = replace(events[4], move="h6-a1")

    assert [version for version, _ in positions_of(resealed(disputed(), break_a_move, positions=True))] == [1, 4]
    match = disputed()
    with monkeypatch.context() as patched:
        unregister(patched, "bashni")
        packed = bundle_of(match, positions=True)
    assert positions_of(packed) == []
    assert not steps(packed)["replay"].proved


@pytest.mark.parametrize("made", STORIES.values(), ids=list(STORIES))
def test_without_rules_a_bundle_is_verified_as_any_other_verifier_does(made: Callable[[], PlayedMatch]) -> None:
    found = list(verify(bundle_of(made(), logged=2, positions=True), keys(), rules=False))
    assert [step.name for step in found] == WITHOUT_RULES
    assert all(step.proved for step in found)


@pytest.mark.parametrize(
    ("change", "step", "place"),
    [
        (lambda content: content.update(match=1), "well-formed", "match"),
        (lambda content: content["events"][3].update(at=1), "chain", "version 4"),
        (lambda content: content["facts"].update(status="playing"), "signature", "signature"),
        (lambda content: content["inclusion"].update(leaf=0), "signature", "inclusion.path"),
        (lambda content: content.pop("inclusion"), "signature", "inclusion"),
    ],
)
def test_a_fault_names_its_step_and_place_without_rules(change: Any, step: str, place: str) -> None:
    packed = changed(bundle_of(resigned(), logged=5), change)
    with pytest.raises(FaultyBundleError) as found:
        list(verify(packed, keys(), rules=False))
    assert (found.value.step, found.value.place) == (step, place)


def test_a_result_that_does_not_follow_is_found_by_the_rules_alone() -> None:
    packed = resealed(resigned(), lambda events: events.pop())
    assert all(step.proved for step in verify(packed, keys(), rules=False) if step.name != "checkpoint")
