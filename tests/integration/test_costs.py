"""No request costs more than 100 ms of processor time, whatever is asked for: all operations, with the worst known."""

from typing import Any

import pytest
from flask import Flask

from tests.support.callers import API
from tests.support.worst import Cost, WorstWorld

MAX_MS = 100.0
"""Of processor time of the thread that answers, of which the least of three counts: other work on the machine adds."""

REPEATS = 3
PLIES = 700
MEDIUM_PLIES = 240
MATCHES = 60


@pytest.fixture
def world(app: Flask) -> WorstWorld:
    """Return an installation that is costly to ask about."""
    return WorstWorld(app, PLIES, MEDIUM_PLIES, MATCHES)


def test_no_request_costs_more_than_a_tenth_of_a_second_of_processor_time(world: WorstWorld) -> None:
    document: dict[str, Any] = world.anna.client.get("/openapi.json").json
    documented = {
        f"{method.upper()} {path.removeprefix(API)}"
        for path, operations in document["paths"].items()
        for method in operations
        if method != "parameters"
    }
    pages = [world.cost(asked, REPEATS, MAX_MS) for asked in world.pages()]
    archives = [world.cost(asked, REPEATS, MAX_MS) for asked in world.archives()]
    assert [cost.status for cost in archives] == [200, 202, 202, 200]
    costs = [*archives, *(world.cost(asked, REPEATS, MAX_MS) for asked in world.requests())]
    assert {cost.asked.operation for cost in costs} == documented, "each has a worst request listed"
    assert [cost for cost in pages if cost.status != 200] == []
    assert [cost for cost in costs if cost.status >= 500] == []
    too_much: list[Cost] = [
        cost._replace(asked=cost.asked._replace(body=None)) for cost in (*pages, *costs) if cost.least_ms > MAX_MS
    ]
    assert too_much == []


def test_no_erasure_costs_more_than_a_tenth_of_a_second_of_processor_time(world: WorstWorld) -> None:
    costs = [world.cost(asked, 1, MAX_MS) for asked in world.erasures()]
    assert [cost.status for cost in costs] == [200, 200]
    assert [cost for cost in costs if cost.least_ms > MAX_MS] == []
