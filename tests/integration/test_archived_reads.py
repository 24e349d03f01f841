"""Every answer about matches is the same, byte for byte, before and after they were archived."""

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
from flask import Flask

from api.services import EXTENSION, Services
from events.operations.archiving import Archiver
from tests.support.callers import ME, Caller, app_on, invited, started
from tests.support.projected import project
from tests.support.server import RealServer

STREAMS = "streams."
LISTS = ("/", "/lobby", "/matches", "/cases", "/notices", "/leaderboards")


@pytest.fixture
def archive_url(tmp_path: Path) -> str:
    return (tmp_path / "archive").as_uri()


@pytest.fixture
def app(server: RealServer, archive_url: str) -> Flask:
    return app_on(server.url, archive_url=archive_url)


def services_of(app: Flask) -> Services:
    found: Services = app.extensions[EXTENSION]
    return found


def archive_now(app: Flask) -> int:
    """Archive what is over without waiting for days to pass; return how many matches went."""
    parts = services_of(app)
    project(parts)
    for match_id in parts.store.all_streams():
        parts.ratings.rate(match_id)
    archiver = Archiver(parts.store, parts.readmodels, parts.ratings, parts.now, 0, parts.checkpoints)
    return archiver.archive_all(parts.store.all_live_streams())


def play_some(anna: Caller, boris: Caller) -> list[str]:
    """Play matches of several kinds to their ends; return them."""
    won, private = started(anna, boris), started(boris, anna, private=True)
    unrated = started(anna, boris, rated=False)
    aborted = anna.create(ME, invited("boris"))
    for match in (won, private, unrated):
        white, black = (boris, anna) if match == private else (anna, boris)
        for mover in (white, black, white, black):
            assert mover.move(match).status_code == 201
        assert mover.post(f"/matches/{match}/resignation").status_code == 201
    assert anna.post(f"/matches/{aborted}/abortion").status_code == 201
    return [won, private, unrated, aborted]


def paths(app: Flask, matches: list[str], people: list[str]) -> Iterator[str]:
    """Yield the paths of everything that can be read of ``matches`` and ``people``."""
    values = {
        "match_id": matches, "player": people, "other": people, "pool": ["bashni-2"], "version": ["4"],
        "square": ["a1"],
    }  # fmt: skip
    for rule in app.url_map.iter_rules():
        wanted = sorted(rule.arguments)
        if "GET" not in (rule.methods or ()) or rule.endpoint.startswith(STREAMS) or not set(wanted) <= set(values):
            continue
        if not {"match_id", "player", "pool"}.intersection(wanted) and rule.rule not in LISTS:
            continue
        for chosen in product(*(values[name] for name in wanted)):
            path = rule.rule
            for name, value in zip(wanted, chosen, strict=True):
                path = path.replace(f"<{name}>", value).replace(f"<int:{name}>", value)
            yield path
    for view in ("active", "finished", "recent"):
        for player in people:
            yield f"/api/v1/players/{player}/matches?view={view}&limit=2"
        yield f"/api/v1/me/matches?view={view}&limit=2"
        yield f"/api/v1/matches?view={view}&limit=1"


def answers(app: Flask, wanted: list[str], credential: str) -> dict[str, tuple[int, str, bytes]]:
    """Return status, version tag and body of the answers, and of all further pages of lists."""
    client, found = app.test_client(), {}
    for first in wanted:
        path: str | None = first
        while path is not None:
            answer = client.get(path, headers={"Authorization": credential} if credential else {})
            assert answer.status_code < 500, (path, answer.text)
            # A refusal names its request.
            content = answer.data if answer.status_code == 200 else b""
            found[path] = (answer.status_code, answer.headers.get("ETag", ""), content)
            following = answer.json.get("next") if answer.is_json and "limit=" in first else None
            path = following and f"{first}&cursor={following}"
    return found


def test_every_answer_is_the_same_before_and_after_archiving(app: Flask, server: RealServer, archive_url: str) -> None:
    anna, boris = Caller(app).sign_up("anna"), Caller(app).sign_up("boris")
    matches, credential = play_some(anna, boris), anna.token()
    project(services_of(app))
    for match_id in matches:
        services_of(app).ratings.rate(match_id)
    now = services_of(app).now()
    wanted = list(paths(app, matches, [anna.id, boris.id]))

    def read(credential: str) -> dict[str, tuple[int, str, bytes]]:
        return answers(app_on(server.url, archive_url=archive_url, now=lambda: now), wanted, credential)

    before = [read(credential), read("")]
    assert archive_now(app) == len(matches)
    assert all(services_of(app).store.are_archived(matches))
    after = [read(credential), read("")]
    for then, later in zip(before, after, strict=True):
        different = [path for path in then if then[path] != later.get(path)]
        assert different == [], different
        assert len(later) == len(then) > 40


def test_a_damaged_file_is_answered_with_503(app: Flask, server: RealServer, tmp_path: Path, archive_url: str) -> None:
    anna, boris = Caller(app).sign_up("anna"), Caller(app).sign_up("boris")
    over = play_some(anna, boris)
    archive_now(app)
    for file in (tmp_path / "archive" / "packs").iterdir():
        file.write_bytes(bytes(file.stat().st_size))
    client = app_on(server.url, archive_url=archive_url).test_client()
    client.environ_base["HTTP_AUTHORIZATION"] = anna.token()
    answered = {path: client.get(path) for path in paths(app, over, [anna.id, boris.id])}
    assert {path: answer.status_code for path, answer in answered.items() if answer.status_code == 500} == {}
    refused = answered[f"/api/v1/matches/{over[0]}"]
    assert (refused.status_code, refused.json["code"]) == (503, "store-unavailable")
    assert "its file in the archive is damaged" in refused.json["detail"]
    assert answered[f"/api/v1/players/{anna.id}"].status_code == 200


def test_without_the_storage_only_archived_matches_are_unread(app: Flask, server: RealServer, tmp_path: Path) -> None:
    anna, boris = Caller(app).sign_up("anna"), Caller(app).sign_up("boris")
    over = play_some(anna, boris)
    archive_now(app)
    going_on = started(anna, boris)
    project(services_of(app))
    away = app_on(server.url, archive_url=(tmp_path / "elsewhere").as_uri())
    credential = anna.token()
    client = away.test_client()
    client.environ_base["HTTP_AUTHORIZATION"] = credential

    refused = client.get(f"/api/v1/matches/{over[0]}")
    assert (refused.status_code, refused.json["code"]) == (503, "store-unavailable")
    assert "archive cannot be reached" in refused.json["detail"]
    assert client.get(f"/api/v1/matches/{going_on}").status_code == 200
    listed = client.get("/api/v1/matches?view=recent").json
    assert [match["id"] for match in listed["items"]] == [going_on]
    assert listed["incomplete"]
    assert "Older matches are missing" in client.get(f"/players/{anna.id}?view=finished").text
    assert client.post(f"/api/v1/matches/{going_on}/moves", json={"move": anna.legal_move(going_on)}).status_code == 201


def test_a_dispute_brings_the_match_back_with_everything_that_it_had(app: Flask, server: RealServer) -> None:
    anna, boris = Caller(app).sign_up("anna"), Caller(app).sign_up("boris")
    match = play_some(anna, boris)[0]
    archive_now(app)
    store = services_of(app).store
    before = store.read(match)
    opened = anna.post(f"/matches/{match}/disputes", {"ply": 2, "ground": "clock", "statement": "It was wrong."})
    assert opened.status_code == 201, opened.text
    assert store.are_archived([match]) == [False]
    assert store.read(match)[: len(before)] == before
    project(services_of(app))
    assert match in [item["id"] for item in anna.get("/matches?view=recent").json["items"]]
    assert archive_now(app) == 0, "an arbiter has to rule"
