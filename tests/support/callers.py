"""People who call the API in tests, through the app itself, without a network."""

from collections.abc import Callable
from copy import copy
from functools import cache
from typing import Any, cast

from argon2 import PasswordHasher
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from api.access.limits import Limits, RateLimits, install
from api.app import create_app
from api.services import EXTENSION, Services
from events import installation
from events.people.accounts import People
from events.people.passwords import Passwords
from events.runtime.logs import configure
from events.runtime.settings import MailSettings, Settings, next_database
from events.store.archive.store import make_store

API = "/api/v1"
UNLIMITED = Limits(*["1000000/second"] * len(Limits._fields))
REQUEST_ID = {"X-Request-Id": "same-for-all"}
"""For requests whose answers are compared: the id of a request is part of problem documents and pages."""

QUICK_HASHES = Passwords(PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))


def settings_for(url: str) -> Settings:
    """Return the settings of an installation on the Redis at ``url``."""
    return Settings(
        redis_url=url, broker_url=broker_beside(url), prefix="rk:", stream_url="http://127.0.0.1:8001",
        secure_cookies=False, shards=None, contact="mailto:operator@rookery.example",
        mail=MailSettings("smtp+plain://127.0.0.1:9", "mail.rookery.test"),
    )  # fmt: skip


def broker_beside(url: str) -> str:
    """Return the URL of a broker for the store at ``url``: of a cluster one in memory, which no test reads from."""
    return "memory://" if url.startswith("redis+cluster://") else next_database(url)


@cache
def _assembled() -> Flask:
    """Return an app whose routes, document and templates all apps of this process share: they take a while to make."""
    app = create_app(settings_for("redis://127.0.0.1:1/0"))
    assert app.jinja_env is not None  # made now, lest every app make its own
    return app


def app_on(
    url: str, limits: Limits = UNLIMITED, now: Callable[[], int] | None = None, archive_url: str | None = None
) -> Flask:
    """Return the product's app on the Redis at ``url``, with quickly hashed passwords and the clock ``now``.

    None is the wall clock. Matches are archived at ``archive_url``, if there is one. What an app works with and
    remembers is its own, as ``create_app`` makes it.
    """
    configure()
    settings = settings_for(url)._replace(archive_url=archive_url)
    # Tests of wrong clocks replace the clock there.
    wall_clock = installation.now_ms  # type: ignore[attr-defined]
    store = make_store(settings, None if now else wall_clock, creates=True)
    services = Services(settings, now, store)
    services.people = People(services.store.client, settings.prefix, services.now, QUICK_HASHES)
    app = copy(_assembled())
    app.extensions = {**app.extensions, EXTENSION: services}
    install(app, RateLimits(services.store.client, settings.prefix, limits))
    return app


class Answer(TestResponse):
    """An answer of the API, which is JSON: ``json`` may be read without asking whether there is any."""

    json: Any


class Caller:
    """A visitor with a cookie jar, who may come to be a person."""

    def __init__(self, app: Flask) -> None:
        self.client: FlaskClient = app.test_client()
        self.id = ""
        self.name = ""

    def get(self, path: str, **headers: str) -> Answer:
        """GET ``path`` below the API's prefix."""
        return cast(Answer, self.client.get(API + path, headers=_fields(headers)))

    def post(self, path: str, body: Any = None, **headers: str) -> Answer:
        """POST ``body`` (an empty object if None) as JSON."""
        return cast(Answer, self.client.post(API + path, json={} if body is None else body, headers=_fields(headers)))

    def put(self, path: str, body: Any, **headers: str) -> Answer:
        """PUT ``body`` as JSON."""
        return cast(Answer, self.client.put(API + path, json=body, headers=_fields(headers)))

    def delete(self, path: str, **headers: str) -> Answer:
        """DELETE ``path``."""
        return cast(Answer, self.client.delete(API + path, headers=_fields(headers)))

    def sign_up(self, name: str) -> "Caller":
        """Sign up as ``name`` and return the caller."""
        return self._become(self.post("/players", {"name": name, "password": f"the secret of {name}"}))

    def play_as_guest(self) -> "Caller":
        return self._become(self.post("/guests"))

    def token(self) -> str:
        made = self.post("/me/tokens", {"label": "for a test"})
        assert made.status_code == 201, made.text
        return f"Bearer {made.json['secret']}"

    def create(self, *seats: dict[str, Any], game: str = "bashni", setup: str = "start", **more: Any) -> str:
        made = self.post("/matches", {"game": game, "setup": setup, "seats": list(seats), **more})
        assert made.status_code == 201, made.text
        return str(made.json["id"])

    def legal_move(self, match_id: str) -> str:
        return str(self.get(f"/matches/{match_id}/legal-moves").json["legal_moves"][0])

    def move(self, match_id: str, move: str | None = None, **headers: str) -> Answer:
        """Submit ``move``, or the first legal one."""
        return self.post(f"/matches/{match_id}/moves", {"move": move or self.legal_move(match_id)}, **headers)

    def _become(self, answer: Answer) -> "Caller":
        assert answer.status_code == 201, answer.text
        self.id, self.name = answer.json["id"], answer.json["name"]
        return self


ME: dict[str, Any] = {"kind": "me"}
OPEN: dict[str, Any] = {"kind": "open"}


def invited(name: str) -> dict[str, Any]:
    """Return a seat to which ``name`` is invited."""
    return {"kind": "player", "name": name}


def opponent(level: int) -> dict[str, Any]:
    return {"kind": "opponent", "level": level}


def started(white: Caller, black: Caller, **more: Any) -> str:
    """Return a Bashni match of the two that has just started."""
    match_id = white.create(ME, invited(black.name), **more)
    joined = black.post(f"/matches/{match_id}/joins")
    assert joined.status_code == 201, joined.text
    return match_id


def _fields(headers: dict[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}
