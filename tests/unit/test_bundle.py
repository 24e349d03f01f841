"""Bundles: what proves itself, and that nothing else passes for it."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from domain.game import AnyGame
from domain.games import GAMES
from domain.match.commands import JoinMatch, OfferDraw, Resign, SubmitMove
from domain.match.enums import Status
from domain.match.state import Seat
from domain.match.terms import DAY, STANDARD
from events.proof.bundle import MAX_BUNDLE_BYTES, bundle_schema, make_bundle, read_bundle
from events.proof.documents import DocumentError, write_document
from events.proof.public_keys import key_set, read_key_set
from events.proof.verification import BEYOND, verify
from tests.support.bundles import (
    KEY,
    OTHER_KEY,
    SIGNED_AT,
    STORIES,
    against_an_opponent,
    annulled,
    bundle_of,
    disputed,
    draw_refused,
    envelopes,
    flagged,
    included,
    keys,
    repeated,
    resigned,
    taken_up_again,
)
from tests.support.draws import sampled
from tests.support.matches import FOUR, T0, PlayedMatch, creation, started
from tests.support.rulesets import unregister
from tests.support.verifying import Change, changed, fault, fault_after, resealed, steps

SCHEMA_FILE = Path(__file__).parents[2] / "docs" / "bundle-1.schema.json"


def test_a_bundle_proves_its_match_step_by_step() -> None:
    found = steps(bundle_of(resigned(), logged=5))
    assert list(found) == ["well-formed", "chain", "signature", "replay", "authority", "result", "checkpoint"]
    assert all(step.proved for step in found.values())
    assert found["chain"].finding.startswith("7 events, each linked to the one before, up to ")
    assert found["signature"].finding == f"of key {KEY.id}, made 2023-11-14T23:13:20.000Z"
    assert found["replay"].finding == "2 plies, all legal under ruleset 1 of bashni"
    said = "1 - 0 by resignation: decided by version 6, player-resigned of bob, after ply 2."
    assert found["result"].finding == said
    assert found["checkpoint"].finding.startswith(
        "version 5 is in that of 2023-11-15 of server 0123456789abcdef, root "
    )


def test_a_repetition_is_proved_by_the_plies_after_which_the_position_stood() -> None:
    packed = bundle_of(repeated())
    proof = read_bundle(packed).facts.result
    assert proof is not None
    assert proof.proof.plies == (0, 4, 8)
    assert proof.proof.key == GAMES["tower-game"].key_string(repeated().state.play.position)
    assert steps(packed)["result"].finding.startswith("0.5 - 0.5 by repetition: after plies 0, 4, 8 the same position")


def random_match(game: AnyGame, setup: str, plies: int = 16) -> PlayedMatch:
    """Return a match of ``game`` that goes on after some plies."""
    players = FOUR[: len(game.setups[setup].seat_names)]
    seats = [Seat.taken(players[0]), *[Seat.open()] * (len(players) - 1)]
    match = PlayedMatch(creation(*seats, creator=players[0], game=game.id, setup=setup))
    for player in players[1:]:
        match.do(JoinMatch(player=player))
    for ply in range(plies):
        if match.state.status == Status.PLAYING:
            legal = match.legal_moves()
            match.move(players[game.to_move(match.state.play.position)], legal[ply * 37 % len(legal)])
    return match


@pytest.mark.parametrize("game", GAMES.values(), ids=list(GAMES))
def test_bundles_of_every_game_prove_their_matches(game: AnyGame) -> None:
    for setup in game.setups:
        match = random_match(game, setup)
        assert steps(bundle_of(match))["result"].finding == "none: the match is playing"
        for player in FOUR[:-1]:
            if match.state.status == Status.PLAYING and match.state.seat_of(player) is not None:
                match.do(Resign(player=player))
        found = steps(bundle_of(match, logged=len(match.events)))
        assert all(step.proved for step in found.values())
        assert "16 plies, all legal" in found["replay"].finding
        assert not found["result"].finding.startswith("none")


@sampled("first", range(6))
def test_every_change_of_any_byte_is_found_and_located(first: int) -> None:
    packed, trusted = bundle_of(resigned(), logged=5, leaves=2), keys()
    unfound = []
    for offset in range(first, len(packed), 6):
        found = fault_after(packed, offset, trusted)
        if found is None or not (found.place or "byte" in found.reason or "field" in found.reason):
            unfound.append((offset, packed[max(0, offset - 20) : offset + 1], found))
    assert unfound == []


def test_a_change_in_an_event_is_located_at_its_version() -> None:
    packed = bundle_of(resigned())
    for version in range(1, 8):
        for name, value in (("actor", "mallory"), ("at", T0), ("digest", "0" * 64)):

            def change(content: dict[str, Any], at: int = version - 1, name: str = name, value: Any = value) -> None:
                content["events"][at][name] = value

            assert fault(changed(packed, change)).place == f"version {version}"


@pytest.mark.parametrize("cut", [1, 2, 100, 1000, -1])
def test_a_truncated_bundle_is_refused(cut: int) -> None:
    assert str(fault(bundle_of(resigned())[:-cut]))


def elsewhere() -> Any:
    """Return a valid inclusion of the resigned match in another checkpoint than that of its bundle."""
    return json.loads(bundle_of(resigned(), logged=5, leaves=9))["inclusion"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda b: b["events"].insert(3, b["events"].pop(4)), "version 4: version 5 is in its place"),
        (lambda b: b["events"].insert(3, b["events"][3]), "version 5: version 4 is in its place"),
        (lambda b: b["events"].pop(3), "version 4: version 5 is in its place"),
        (lambda b: b["events"].pop(), "head.version: the last event has version 6, the head 7"),
        (lambda b: b["events"].clear(), "events: a bundle has at least one event"),
        (lambda b: b.update(match="another"), "version 1: its content, its digest or an event before it was changed"),
        (lambda b: b["head"].update(digest="0" * 64), "head.digest: it is not the digest of version 7"),
        (lambda b: b["facts"]["result"].update(scores=[0, 1]), "facts.result.scores[0]: 0.0 is stated, and 1.0"),
        (lambda b: b["facts"]["result"]["proof"].update(decided_by=5), "facts.result.proof.decided_by: 5 is stated"),
        (lambda b: b["facts"].pop("result"), "facts.result: None is stated"),
        (lambda b: b["facts"].update(replayed=4), "facts.replayed: 4 is stated, and 7 follows"),
        (lambda b: b["facts"].update(replayed=99), "facts.replayed: 99 is stated, and 7 follows"),
        (lambda b: b["facts"].update(replayed=-1), "facts.replayed: -1 is stated, and 7 follows"),
        (lambda b: b["facts"]["terms"].update(rated=False), "facts.terms.rated: False is stated, and True follows"),
        (lambda b: b["facts"]["seats"][1].update(player="eve"), "facts.seats[1].player: 'eve' is stated, and 'bob'"),
        (lambda b: b["facts"]["rulesets"][0].update(ruleset=2), "facts.rulesets[0].ruleset: 2 is stated, and 1"),
        (lambda b: b["signature"].update(key="another"), "signature.key: key another is not among the keys given"),
        (lambda b: b["signature"].update(signed_at=SIGNED_AT + 1), "signature: it is not the signature of key 1IG2"),
        (lambda b: b["signature"].update(value="0" * 128), "signature: it is not the signature of key 1IG2"),
        (lambda b: b["signature"].update(value="00"), "signature.value: a string of 128 lower-case hexadecimal digits"),
        (lambda b: b["inclusion"].update(version=4), "inclusion.path: it does not lead from version 4"),
        (lambda b: b["inclusion"].update(version=8), "inclusion.version: the bundle has versions 1 to 7"),
        (lambda b: b["inclusion"].update(leaf=0), "inclusion.path: it does not lead from version 5"),
        (lambda b: b["inclusion"]["checkpoint"].update(format=2), "inclusion.checkpoint.format: format 2 is not known"),
        (lambda b: b["inclusion"]["checkpoint"].update(day="2023-11-16"), "inclusion.checkpoint.signature: it is not"),
        (lambda b: b["inclusion"]["checkpoint"].update(key="x"), "inclusion.checkpoint.key: key x is not among"),
        (lambda b: b.pop("inclusion"), "inclusion: it was cut out: the signature is over a bundle with another"),
        (lambda b: b.update(inclusion=elsewhere()), "inclusion: it is another: the signature is over a bundle with"),
        (lambda b: b["signature"].pop("inclusion"), "signature: the field 'inclusion' is missing"),
        (lambda b: b.update(format=2), "format: format 2 is not known here, only 1"),
        (lambda b: b.update(format=True), "format: a whole number was expected, not bool True"),
        (lambda b: b.update(extra=1), "the field 'extra' is unknown"),
        (lambda b: b["events"][4]["data"].update(move=5), "version 5: its content"),
        (lambda b: b["events"][2].pop("at"), "version 3: the field 'at' is missing"),
        (lambda b: b["events"][2].update(data=[]), "version 3, data: an object was expected, not list []"),
        (lambda b: b["events"][2].update(withheld=["at"]), "version 3, withheld: only the last seed of the match may"),
        (lambda b: b["events"][0].update(withheld=["seed"]), "version 1, withheld: only the last seed of the"),
    ],
)  # fmt: skip
def test_what_was_changed_by_hand_is_refused_at_its_place(change: Change, said: str) -> None:
    packed = bundle_of(resigned(), logged=5)
    assert str(fault(changed(packed, change))).startswith(said)


def test_a_bundle_mixed_of_two_matches_is_refused_where_the_other_begins() -> None:
    ours, other = started(), started()
    ours.move("alice", "c3-d4")
    other.move("alice", "c3-b4")
    foreign = json.loads(bundle_of(other))["events"][3:]
    packed = changed(bundle_of(ours), lambda content: content.update(events=content["events"][:3] + foreign))
    assert fault(packed).place == "head.digest"
    other.move("bob", "b6-a5")
    foreign = json.loads(bundle_of(other))["events"][4:]
    packed = changed(bundle_of(ours), lambda content: content.update(events=content["events"] + foreign))
    assert fault(packed).place == "version 5"


def test_a_bundle_signed_anew_by_another_key_is_refused() -> None:
    forged = bundle_of(resigned(), key=OTHER_KEY)
    assert str(fault(forged)) == f"signature.key: key {OTHER_KEY.id} is not among the keys given"
    renamed = changed(forged, lambda content: content["signature"].update(key=KEY.id))
    assert fault(renamed).place == "signature"
    assert steps(forged, keys(OTHER_KEY))["signature"].proved


def test_terms_that_were_exchanged_together_with_the_chain_are_refused_by_the_signature_and_by_the_checkpoint() -> None:
    match, other = resigned(), STANDARD._replace(bank=2 * DAY, cap=2 * DAY)
    forged = json.loads(
        resealed(match, lambda events: events.__setitem__(0, replace(events[0], terms=other)), OTHER_KEY)
    )
    true = json.loads(bundle_of(match, logged=5))
    forged |= {"signature": true["signature"], "inclusion": true["inclusion"]}
    packed = write_document(forged)
    assert str(fault(packed)).startswith("signature: it is not the signature of key ")
    with pytest.raises(DocumentError, match=r"inclusion\.path: it does not lead from version 5"):
        list(verify(packed))


def test_an_inclusion_of_another_tree_or_of_a_checkpoint_of_another_size_is_refused() -> None:
    content = json.loads(bundle_of(resigned(), logged=5))
    larger = json.loads(bundle_of(resigned(), logged=5, leaves=9))["inclusion"]
    for inclusion in (
        larger | {"path": content["inclusion"]["path"]},
        content["inclusion"] | {"checkpoint": larger["checkpoint"]},
        content["inclusion"] | {"checkpoint": content["inclusion"]["checkpoint"] | {"size": 9}},
        content["inclusion"] | {"leaf": 2},
        content["inclusion"] | {"path": content["inclusion"]["path"] * 1000},
    ):
        forged = write_document(content | {"inclusion": inclusion})
        assert str(fault(forged)).startswith("inclusion.path: it does not lead from version 5 to the root")


def test_a_key_that_stands_twice_in_a_set_with_another_time_is_refused() -> None:
    once = key_set([KEY.public])["keys"]
    twice = json.dumps({"keys": [*once, {**once[0], "since": 0}]}).encode()
    with pytest.raises(DocumentError, match=r"keys\[1\]\.kid: this key stands twice"):
        read_key_set(twice)


def test_without_keys_nobody_vouches_for_a_signature() -> None:
    found = {step.name: step for step in verify(bundle_of(resigned(), logged=2))}
    assert [name for name, step in found.items() if not step.proved] == ["signature", "checkpoint"]
    assert f"signed by key {KEY.id}, which is not vouched for" in found["signature"].finding
    assert KEY.id in found["checkpoint"].finding


def test_a_signature_counts_only_from_the_time_when_its_key_was_in_use() -> None:
    packed = bundle_of(resigned())
    for since, until in ((SIGNED_AT + 1, None), (T0, SIGNED_AT)):
        trusted = {KEY.id: KEY.public._replace(since=since, until=until)}
        assert "was not in use when this is said to have been signed" in str(fault(packed, trusted))
    assert steps(packed, {KEY.id: KEY.public._replace(until=SIGNED_AT + 1)})["signature"].proved


def test_an_oversized_bundle_is_refused_unread() -> None:
    assert (
        str(fault(b" " * (MAX_BUNDLE_BYTES + 1))) == f"it is larger than the {MAX_BUNDLE_BYTES:,} bytes that are read"
    )


def test_a_match_that_the_server_cannot_replay_has_a_bundle_that_says_so() -> None:
    packed = resealed(started(), lambda events: events.__setitem__(0, replace(events[0], ruleset=99)))
    assert json.loads(packed)["facts"]["replayed"] == 0
    found = steps(packed)
    assert (found["signature"].proved, found["replay"].proved) == (True, False)
    assert found["replay"].finding.startswith("the server itself could not replay version 1: ")


def test_a_bundle_of_a_ruleset_that_is_not_here_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    packed = bundle_of(resigned())
    unregister(monkeypatch, "bashni")
    said = "version 1: it cannot be replayed: the start: this installation does not know ruleset 1 of 'bashni'"
    assert str(fault(packed)) == said


@pytest.mark.parametrize("made", STORIES.values(), ids=list(STORIES))
def test_whatever_happened_in_a_match_its_bundle_proves_and_fits_the_schema(made: Callable[[], PlayedMatch]) -> None:
    match = made()
    published = json.loads(SCHEMA_FILE.read_text())
    open_seed = {"seeds"} if made in (against_an_opponent, draw_refused, taken_up_again) else set()
    for logged, unchecked in ((None, {"checkpoint"}), (2, set())):
        packed = bundle_of(match, logged=logged)
        unproved = {name for name, step in steps(packed).items() if not step.proved}
        assert unproved - {BEYOND} == unchecked | open_seed
        jsonschema_rs.validate(published, json.loads(packed))


def test_the_result_of_a_flag_is_told_with_the_words_of_the_clock() -> None:
    said = steps(bundle_of(flagged()))["result"].finding
    assert said.startswith("0 - 1 by flag: decided by version 6, flag-fell of ")
    assert said.endswith(" White has nothing left and gets 1 day more after moving.")


def test_an_annulled_match_has_no_result_and_says_why() -> None:
    assert steps(bundle_of(annulled()))["result"].finding == "none: the match is annulled"


def test_a_match_with_a_fault_that_an_arbiter_decided_has_a_bundle_with_that_result() -> None:
    def break_a_move(events: list[Any]) -> None:
        events[4] = replace(events[4], move="h6-a1")

    found = steps(resealed(disputed(), break_a_move))
    unproved = [name for name, step in found.items() if not step.proved]
    assert unproved == ["replay", "authority", BEYOND, "checkpoint"]
    assert found["replay"].finding.startswith(
        "the server itself could not replay version 5: it cannot be replayed: ply 2"
    )
    assert found["result"].finding.startswith("0 - 1 by ruling: decided by version 7, ruling-made of ")


def test_a_match_that_only_the_server_cannot_replay_is_replayed_here(monkeypatch: pytest.MonkeyPatch) -> None:
    match = disputed()
    with monkeypatch.context() as patched:
        unregister(patched, "bashni")
        packed = bundle_of(match)
    found = steps(packed)
    assert found["replay"].finding == "the server itself could not replay version 1: here it can be replayed"
    assert not found["replay"].proved
    assert found["result"].proved


def test_the_published_schema_is_that_of_the_present_events() -> None:
    again = "write it again: rookery audit schema > docs/bundle-1.schema.json"
    assert json.loads(SCHEMA_FILE.read_text()) == bundle_schema(), again


def test_the_schema_refuses_what_no_bundle_is() -> None:
    published = json.loads(SCHEMA_FILE.read_text())
    for change in (
        lambda b: b.update(format=2),
        lambda b: b.pop("head"),
        lambda b: b["events"][3]["data"].pop("move"),
        lambda b: b["events"][3].update(type="move-imagined"),
    ):
        assert not jsonschema_rs.is_valid(published, json.loads(changed(bundle_of(resigned()), change)))


def test_without_an_inclusion_nothing_is_said_to_be_proved_about_checkpoints() -> None:
    step = steps(bundle_of(resigned()))["checkpoint"]
    assert not step.proved
    assert step.finding.startswith("the server gave no inclusion of this match when it signed the bundle")


def test_a_revoked_key_counts_for_what_it_signed_before_and_this_is_said() -> None:
    packed = bundle_of(resigned(), logged=5)
    before = {KEY.id: KEY.public._replace(revoked=SIGNED_AT + 1)}
    for name in ("signature", "checkpoint"):
        step = steps(packed, before)[name]
        assert "the key is revoked from 2023-11-14T23:13:20.001Z on" in step.finding
    revoked = {KEY.id: KEY.public._replace(revoked=SIGNED_AT)}
    said = "is revoked from 2023-11-14T23:13:20.000Z on, and this was signed later"
    assert said in str(fault(packed, revoked))
    again = read_key_set(json.dumps(key_set(revoked.values())).encode())
    assert again == revoked


def test_an_offer_on_the_table_is_part_of_a_bundle_like_everything_else() -> None:
    match = started()
    match.do(OfferDraw(player="alice"))
    match.do(SubmitMove(player="alice", move="c3-d4"))
    assert steps(bundle_of(match))["replay"].proved


def test_an_inclusion_may_be_of_an_earlier_version() -> None:
    match = resigned()
    stored = envelopes(match.events)
    for version, leaves in ((1, 1), (7, 2), (4, 9)):
        packed = make_bundle("m", stored, KEY, SIGNED_AT, included(stored[version - 1], leaves))
        assert steps(packed)["checkpoint"].finding.startswith(f"version {version} is in that of ")
