"""Bundles with positions, with opponents whose seed is withheld, and the vectors of bundles."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jsonschema_rs
import pytest

from domain.games import GAMES
from domain.match.commands import Resign
from domain.match.events import DrawAccepted, MatchFinished, MoveSubmitted
from events.proof.bundle import bundle_schema, read_bundle
from events.proof.verification import BEYOND, FaultyBundleError, verify
from tests.support import consistency_vectors
from tests.support.bundle_vectors import files
from tests.support.bundles import (
    STORIES,
    against_an_opponent,
    bundle_of,
    disputed,
    draw_refused,
    flagged,
    keys,
    resigned,
    taken_back,
    taken_up_again,
    under_another_ruleset,
)
from tests.support.matches import PlayedMatch, started
from tests.support.rulesets import unregister
from tests.support.verdicts import verdict
from tests.support.verifying import changed, fault, fault_after, resealed, steps

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


def test_the_seed_is_withheld_and_the_bundle_verifies() -> None:
    packed = bundle_of(against_an_opponent(), logged=3)
    first = json.loads(packed)["events"][0]
    assert first["withheld"] == ["seed"]
    assert "seed" not in first["data"]
    found = steps(packed, recompute=True)
    assert [name for name, step in found.items() if not step.proved] == ["seeds"]
    assert "the seed is withheld" in found["chain"].finding
    assert found["seeds"].finding.endswith("; of 1 this cannot be checked while the seed of the match is withheld")
    assert found["opponents"].finding == "1 answers of opponents computed again, all as recorded"


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
    assert found["seeds"].finding.startswith("1 moves of opponents have the seed that follows from the match; of 1 ")
    assert found["opponents"].finding == "2 answers of opponents computed again, all as recorded"


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
    assert (found.proved, found.finding) == (
        False,
        "0 answers of opponents computed again, all as recorded; 1 are of another engine",
    )


FILES = dict(files()) | {consistency_vectors.FILE: consistency_vectors.text()}


def test_the_vectors_are_those_that_their_program_writes() -> None:
    folders = {path.parent for path in FILES}
    assert sorted(FILES) == sorted(path for folder in folders for path in folder.iterdir())
    for path, text in FILES.items():
        assert path.read_text() == text, "write it again: python -m tests.proof_vectors"


@pytest.mark.parametrize("text", FILES.values(), ids=[path.stem for path in FILES])
def test_the_verifier_finds_in_every_vector_what_it_expects(text: str) -> None:
    for vector in json.loads(text):
        assert verdict(vector["given"]) == vector["expect"], vector["name"]
