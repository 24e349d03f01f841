"""How often reads are served: per person, and per network address for anonymous callers."""

from typing import Any

import pytest

from api.access.limits import RateLimits
from api.pages.static_files import VERSION
from events.runtime.errors import StoreUnavailableError
from tests.support.callers import UNLIMITED, Caller, app_on, started
from tests.support.server import RealServer

FEW = UNLIMITED._replace(reads="2/hour", computations="1/hour")


def codes(caller: Caller, *paths: str, address: str = "192.0.2.1") -> list[int]:
    """Return the status of the answer to each path, asked from ``address``."""
    found = []
    for path in paths:
        with caller.client.get(path, environ_base={"REMOTE_ADDR": address}) as answer:
            found.append(answer.status_code)
    return found


def test_an_address_may_look_so_often_and_hears_when_it_may_again(server: RealServer) -> None:
    visitor = Caller(app_on(server.url, FEW))
    assert codes(visitor, *["/api/v1/games"] * 3) == [200, 200, 429]
    refused = visitor.client.get("/api/v1/terms", environ_base={"REMOTE_ADDR": "192.0.2.1"})
    assert (refused.status_code, refused.json["code"]) == (429, "too-many-requests")
    assert 0 < int(refused.headers["Retry-After"]) <= 3600
    assert "Too many pages were read" in refused.json["detail"]
    assert codes(visitor, "/api/v1/games", address="192.0.2.2") == [200]


def test_answers_tell_what_remains_of_the_limit_that_counted_them(server: RealServer) -> None:
    app = app_on(server.url, UNLIMITED._replace(reads="5/minute", writes="3/minute"))
    anna = Caller(app).sign_up("anna")
    program = {"Authorization": anna.token()}
    assert "RateLimit" not in anna.get("/games").headers, "pages do not plan by it"
    anna.client.delete_cookie("rookery_session")
    read = anna.get("/games", **program).headers
    assert (read["RateLimit-Policy"], read["RateLimit"]) == ('"reads";q=5;w=60', '"reads";r=3')
    written = [anna.put("/me/presence", {}, **program) for _ in range(3)]
    assert [answer.status_code for answer in written] == [422, 422, 429]
    assert [answer.headers["RateLimit"].partition(";t=")[0] for answer in written] == [
        f'"writes";r={remaining}' for remaining in (1, 0, 0)
    ]
    assert all(0 < int(answer.headers["RateLimit"].partition(";t=")[2]) <= 60 for answer in written)


def test_addresses_of_one_ipv6_network_count_as_one(server: RealServer) -> None:
    visitor = Caller(app_on(server.url, FEW))
    asked = [codes(visitor, "/api/v1/games", address=f"2001:db8::{number}")[0] for number in (1, 2, 3)]
    assert asked == [200, 200, 429]
    assert codes(visitor, "/api/v1/games", address="2001:db8:0:1::1") == [200]


def test_what_is_computed_has_a_limit_of_its_own(server: RealServer) -> None:
    app = app_on(server.url, UNLIMITED._replace(computations="1/hour"))
    anna, boris, visitor = Caller(app).sign_up("anna"), Caller(app).sign_up("boris"), Caller(app)
    match_id = started(anna, boris)
    assert codes(visitor, f"/matches/{match_id}", f"/api/v1/matches/{match_id}/bundle", "/games/bashni") == [
        200,
        429,
        200,
    ]


def test_people_count_each_for_themselves_behind_one_address(server: RealServer) -> None:
    app = app_on(server.url, FEW)
    anna, boris, visitor = Caller(app).sign_up("anna"), Caller(app).sign_up("boris"), Caller(app)
    # Signing up is looked at by the limits of its own and by this one.
    assert codes(anna, *["/api/v1/games"] * 3) == [200, 200, 429]
    assert codes(boris, *["/api/v1/games"] * 3) == [200, 200, 429]
    assert codes(visitor, "/api/v1/games", address="192.0.2.9") == [200]


def test_an_unknown_token_counts_as_its_address(server: RealServer) -> None:
    app = app_on(server.url, FEW)
    visitor = Caller(app)
    asked = [visitor.get("/games", Authorization=f"Bearer {number}").status_code for number in range(3)]
    assert asked == [200, 200, 429]


def test_what_belongs_to_every_page_is_not_counted(server: RealServer) -> None:
    visitor = Caller(app_on(server.url, FEW))
    style = f"/static/{VERSION}/style.css"
    assert codes(visitor, *[style, "/healthz"] * 4, "/api/v1/games") == [200] * 9


def test_looking_goes_on_when_nothing_can_be_counted(server: RealServer, monkeypatch: pytest.MonkeyPatch) -> None:
    visitor, asked = Caller(app_on(server.url, FEW)), []

    def away(*_: Any, **__: Any) -> None:
        asked.append(1)
        raise StoreUnavailableError("away")

    monkeypatch.setattr(RateLimits, "spend", away)
    assert codes(visitor, *["/api/v1/games"] * 5) == [200] * 5
    assert len(asked) == 1, "reads do not wait for a store that was just found to be away"
