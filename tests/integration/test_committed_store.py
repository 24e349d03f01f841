"""A store written by an earlier commit can be opened, played on, proved and rebuilt by this one.

``python -m tests.stores`` records it again; see CONTRIBUTING.md for when that is allowed.
"""

import io
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from flask import Flask

from api.services import EXTENSION, Services
from deploy.cli import main
from domain.match.terms import DAY
from events.installation import Installation
from events.notify.addresses import wants
from events.notify.notice import NoticeKind
from events.proof.public_keys import read_key_set
from events.proof.verification import verify
from events.runtime.connections import StoreClient
from events.runtime.queues import ConsumerGroup
from events.runtime.settings import MailSettings
from events.store.feed import FeedGroup
from tests.support.callers import Caller, app_on
from tests.support.chains import verify_all
from tests.support.dumps import restore
from tests.support.eventually import eventually
from tests.support.relays import running
from tests.support.server import RealServer
from tests.support.stepped_installation import drain
from workers.composition import make_observer
from workers.consumers import Consumer
from workers.effects import DeliveryReader, match_by_match
from workers.relay import Relay

STORE = Path(__file__).parents[1] / "stores"
BUNDLES = sorted(path.stem for path in STORE.glob("*.json") if path.stem != "keys")

Run = Callable[..., Result]


@pytest.fixture
def facts(redis: StoreClient) -> dict[str, Any]:
    """Return what is known of the store of the earlier commit, which is now the one of this process."""
    return restore(redis, STORE / "store.json.gz")


@pytest.fixture
def matches(facts: dict[str, Any]) -> dict[str, str]:
    names: dict[str, str] = facts["matches"]
    return names


@pytest.fixture
def app(server: RealServer, facts: dict[str, Any]) -> Flask:
    """Return the app on that store, a minute after its last event."""
    return app_on(server.url, now=lambda: facts["now"])


@pytest.fixture
def services(app: Flask) -> Services:
    services: Services = app.extensions[EXTENSION]
    return services


@pytest.fixture
def anna(app: Flask, facts: dict[str, Any]) -> Caller:
    """Return a player whose session was opened by the earlier commit."""
    caller = Caller(app)
    caller.client.set_cookie("rookery_session", facts["session"])
    caller.id, caller.name = facts["people"]["anna"], "anna"
    return caller


@pytest.fixture
def rookery(server: RealServer, facts: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return what runs commands of ``rookery`` on the store."""
    monkeypatch.setenv("REDIS_URL", server.url)
    return lambda *arguments: CliRunner().invoke(main, list(arguments))


def signed_in(app: Flask, name: str) -> Caller:
    """Return a player who signs in with a password that was chosen then."""
    caller = Caller(app)
    answer = caller.post("/sessions", {"name": name, "password": f"the secret of {name}"})
    assert answer.status_code == 201, answer.text
    caller.id, caller.name = answer.json["id"], name
    return caller


def get(caller: Caller, path: str, **headers: str) -> Any:
    """Return what the API answers, which must be a success."""
    answer = caller.get(path, **headers)
    assert answer.status_code == 200, answer.text
    return answer.json


def test_sessions_tokens_and_passwords_of_then_are_good_today(app: Flask, facts: dict[str, Any], anna: Caller) -> None:
    assert get(anna, "/me")["id"] == anna.id
    assert get(Caller(app), "/me", Authorization=f"Bearer {facts['token']}")["id"] == anna.id
    for name in ("anna", "boris", "judith"):
        assert signed_in(app, name).id == facts["people"][name]


def test_a_match_goes_on_and_conditional_moves_are_played(app: Flask, anna: Caller, matches: dict[str, str]) -> None:
    match_id = matches["running"]
    assert get(anna, f"/matches/{match_id}")["moves"] == ["c3-d4", "b6-a5"]
    boris = signed_in(app, "boris")
    assert get(boris, f"/matches/{match_id}/lines")["lines"][0]["move"] == "d4-c5"
    answer = anna.move(match_id, "d4-c5")
    assert answer.status_code == 201, answer.text
    assert get(anna, f"/matches/{match_id}")["moves"] == ["c3-d4", "b6-a5", "d4-c5", "d6xb4"]


@pytest.mark.parametrize("name", ["rematch", "private", "draft", "composed", "opponents"])
def test_a_running_match_of_every_game_takes_a_move(app: Flask, matches: dict[str, str], name: str) -> None:
    match_id = matches[name]
    people = [signed_in(app, each) for each in ("anna", "boris", "clara", "dmitri")]
    for _ in range(2):
        seen_by = next(each for each in people if each.get(f"/matches/{match_id}").status_code == 200)
        shown = get(seen_by, f"/matches/{match_id}")
        player = shown["seats"][shown["to_move"]]["player"]["name"]
        mover = next(each for each in people if each.name == player)
        assert mover.move(match_id).status_code == 201
        assert get(mover, f"/matches/{match_id}")["ply"] == shown["ply"] + 1
        if name == "opponents":
            break


def test_every_page_of_every_match_opens(app: Flask, anna: Caller, matches: dict[str, str]) -> None:
    judith = signed_in(app, "judith")
    paths = ["/", "/lobby", "/matches", "/settings", "/leaderboards?pool=bashni-2", "/players/anna", "/players/boris"]
    paths += [f"/matches/{match_id}" for match_id in matches.values()]
    for name in ("finished", "private", "disputed", "draft", "composed"):
        paths += [f"/matches/{matches[name]}{page}" for page in ("/record", "/board.svg", "/plies")]
    paths += [f"/matches/{matches[name]}/case" for name in ("ruled", "annulled", "disputed")]
    opened = {path: anna.client.get(path).status_code for path in paths}
    assert opened == dict.fromkeys(paths, 200)
    assert judith.client.get("/cases").status_code == 200


def test_lists_and_ratings_are_there_before_a_rebuild(app: Flask, anna: Caller, matches: dict[str, str]) -> None:
    mine = {match["id"] for match in get(anna, "/me/matches?limit=200")["items"]}
    assert {name for name in matches if matches[name] in mine} == {
        "composed", "disputed", "draft", "left", "of one who is gone", "open", "private", "rematch", "ruled", "running",
    }  # fmt: skip
    over = {match["id"] for match in get(anna, "/players/anna/matches?limit=200")["items"]} - mine
    assert {name for name in matches if matches[name] in over} == {"finished", "four", "opponent"}
    owed = {item["match"]["id"]: item["owed"] for item in get(anna, "/me/pending")["items"]}
    assert owed[matches["running"]] == "move"
    assert owed[matches["invited"]] == "invitation"
    assert [rating["pool"] for rating in get(anna, "/players/anna/ratings")["items"]] == [
        "bashni-2",
        "tower-game-2",
        "towers-4",
    ]
    assert get(anna, "/players/anna/head-to-head/boris")
    results = {name: get(anna, f"/matches/{matches[name]}")["result"] for name in ("four", "opponent", "flagged")}
    assert {name: (result["reason"], result["scores"]) for name, result in results.items()} == {
        "four": ("draw-agreed", [0.25] * 4),
        "opponent": ("resignation", [0.0, 1.0]),
        "flagged": ("flag", [0.0, 1.0]),
    }
    assert [case["id"] for case in get(signed_in(app, "judith"), "/cases")["items"]] == [matches["disputed"]]


def test_what_a_player_keeps_in_private_is_still_there(app: Flask, anna: Caller, matches: dict[str, str]) -> None:
    running, finished = matches["running"], matches["finished"]
    assert get(anna, f"/matches/{running}/notes")["text"] == "A note of anna's."
    assert [line["move"] for line in get(anna, f"/matches/{running}/exploration")["tree"]] == ["d4-c5", "d4-e5"]
    talk = [message["text"] for message in get(anna, f"/matches/{finished}/chat")["items"]]
    assert talk == ["Good luck!", "You too. <b>Have fun</b>"]
    assert get(anna, "/me/calendar") == {
        "time_zone": "Europe/Berlin",
        "free_days": [6],
        "auto_vacation": True,
        "plays_forced": True,
    }
    assert len(get(signed_in(app, "boris"), "/me/vacations")["items"]) == 1
    assert get(anna, "/me/blocks")["items"]
    (case,) = get(anna, f"/matches/{matches['ruled']}/disputes")["disputes"]
    assert [each["text"] for each in case["statements"]] == ["My clock ran.", "It did not.", "Really not."]
    archive = anna.get("/me/archive")
    with zipfile.ZipFile(io.BytesIO(archive.data)) as files:
        assert "A note of anna's." in "".join(files.read(name).decode() for name in files.namelist())


def test_the_log_of_administration_is_whole(app: Flask, services: Services) -> None:
    acts = [entry["act"] for entry in get(signed_in(app, "judith"), "/administration/log")["items"]]
    assert len(acts) == services.administration.verify()
    assert {"role-granted", "case-opened", "match-frozen", "ruling-made"} <= set(acts)


@pytest.mark.parametrize("name", BUNDLES)
def test_a_bundle_is_what_it_was_byte_for_byte(anna: Caller, matches: dict[str, str], name: str) -> None:
    answer = anna.get(f"/matches/{matches[name]}/bundle")
    assert answer.status_code == 200, answer.text
    assert answer.data == (STORE / f"{name}.json").read_bytes()


@pytest.mark.parametrize("name", BUNDLES)
def test_a_bundle_verifies_with_the_keys_of_then(name: str) -> None:
    trusted = read_key_set((STORE / "keys.json").read_bytes())
    found = {step.name: step for step in verify((STORE / f"{name}.json").read_bytes(), trusted)}
    for step in ("chain", "signature", "checkpoint"):
        assert found[step].proved, found[step]


def test_a_relay_goes_on_where_the_last_one_stopped(app: Flask, services: Services, matches: dict[str, str]) -> None:
    assert services.readmodels.summary(matches["rematch"]).version < services.store.head(matches["rematch"]).version
    with running(Relay(services.settings._replace(shards=services.store.shards), services.now)):
        eventually(
            lambda: (
                services.readmodels.summary(matches["rematch"]).version
                == services.store.head(matches["rematch"]).version
            ),
            "the last event in the lists",
        )


def test_a_relay_that_sees_old_events_tells_nobody(app: Flask, services: Services, facts: dict[str, Any]) -> None:
    later = Installation(services.settings, lambda: facts["now"] + 3 * DAY)
    later.settings = later.settings._replace(mail=MailSettings("smtp+plain://127.0.0.1:1", "mail.example.org"))
    for name, person in facts["people"].items():
        later.addresses.change(person, partial(wants, address=f"{name}@example.org", now=facts["now"]))
        assert later.addresses.confirm(person, f"{name}@example.org", facts["now"])
    group = FeedGroup(later.client, later.prefix, later.store.shards, ConsumerGroup.EFFECTS, "one")
    read = DeliveryReader(later.store, later.matches, later.availability).read
    drain(Consumer(group, match_by_match(group, read, [make_observer(later).look_at_match]), later.now))
    noted = [notice for person in facts["people"].values() for notice in later.ledger.page(person).notices]
    assert {notice.kind for notice in noted} <= {NoticeKind.TURN, NoticeKind.OFFER, NoticeKind.INVITATION}
    assert len({(notice.match, notice.player, notice.kind) for notice in noted}) == len(noted) > 0, "what awaits them"
    assert {notice.reason for notice in noted} == {
        "Not sent, because it was more than a day old when it was first seen."
    }
    assert later.outbox.next_due() is None


def test_it_is_verified_audited_and_rebuilt(services: Services, matches: dict[str, str], rookery: Run) -> None:
    assert verify_all(services.store) == []
    for command in (("verify",), ("audit", "all", "--processes", "1", "--opponents"), ("rebuild",)):
        done = rookery(*command)
        assert done.exit_code == 0, done.output
        assert f"{len(matches)} matches, " in done.output
    checked = rookery("rebuild", "--check")
    assert (checked.exit_code, "DIFFERENT" in checked.output) == (0, False), checked.output
