"""``rookery rules impact`` on a real store: it finds what would have gone differently, and changes nothing."""

from typing import Any

import pytest
from click.testing import CliRunner, Result

from deploy.cli import main
from domain.match.commands import SubmitMove
from domain.match.state import Seat
from events.store.contract import EMPTY, Request
from events.store.envelope import Draft
from tests.support.server import RealServer
from tests.support.stepped_installation import PREFIX, SteppedInstallation
from tests.support.tables import table
from workers.fleet.impact import MATCHES_PER_SLICE

PARTING = "c3-b4 b6-c5 b4-a5 c7-b6 a5xc7xe5 f6xd4 e3-f4 b8-c7"


@pytest.fixture
def shop(server: RealServer, monkeypatch: pytest.MonkeyPatch) -> SteppedInstallation:
    monkeypatch.setenv("REDIS_URL", server.url)
    monkeypatch.setenv("ROOKERY_PREFIX", PREFIX)
    monkeypatch.delenv("ROOKERY_SHARDS", raising=False)
    return SteppedInstallation(server.url)


def rookery(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["rules", "impact", *arguments])


def play(shop: SteppedInstallation, moves: str, ruleset: int = 1) -> str:
    """Play ``moves`` of Bashni from the start and return the match."""
    match = shop.start("alice", "bob", ruleset=ruleset)
    for number, move in enumerate(moves.split()):
        player = ("alice", "bob")[number % 2]
        shop.do(match, SubmitMove(player=player, move=move), player)
    return match


def everything(client: Any) -> dict[bytes, bytes]:
    """Return all keys of the store with their content, but for the record of the job."""
    jobs = f"{PREFIX}{{fleet}}:".encode()
    return {key: client.dump(key) or b"" for key in client.keys("*") if not key.startswith(jobs)}


def test_matches_that_would_have_gone_otherwise_are_listed_and_nothing_is_changed(shop: SteppedInstallation) -> None:
    parting = play(shop, f"{PARTING} f4xd6xb8")
    play(shop, f"{PARTING} f4xd6xb4")
    play(shop, f"{PARTING} f4xd6xb8xf4", ruleset=2)
    shop.start("alice", "bob", game="towers", setup="two-player")
    shop.create(Seat.taken("alice"), Seat.open())
    before = everything(shop.client)
    listed = rookery("bashni", "1", "2", "--processes", "1")
    assert listed.exit_code == 0, listed.output
    first, summary, rate = listed.stdout.splitlines()
    assert first == f"{parting}  ply 9: f4xd6xb8 is not legal: the capture must go on from b8"
    assert summary == "1 of 3 matches of ruleset 1 would differ under ruleset 2"
    assert rate.startswith("18 plies replayed in ")
    assert everything(shop.client) == before


def test_all_slices_are_listed_in_the_order_of_the_store(shop: SteppedInstallation) -> None:
    played = [shop.store.read(play(shop, line)) for line in (f"{PARTING} f4xd6xb8", f"{PARTING} f4xd6xb4", "c3-d4")]
    for number in range(3 * MATCHES_PER_SLICE):
        drafts = [event.draft for event in played[number % 3]]
        shop.store.append(f"copy{number}", EMPTY, drafts, Request("copy", ""))
    listed = rookery("bashni", "1", "2", "--processes", "1").stdout.splitlines()
    order = list(shop.store.all_streams())
    places = [order.index(line.split()[0]) for line in listed[:-2]]
    assert places == sorted(places)
    assert listed[-2].startswith(f"{MATCHES_PER_SLICE + 1} of {3 * MATCHES_PER_SLICE + 3} matches of ruleset 1 ")
    assert len(places) == MATCHES_PER_SLICE + 1


def test_a_match_that_cannot_be_replayed_is_left_out_by_name_and_the_others_are_not(shop: SteppedInstallation) -> None:
    parting = play(shop, f"{PARTING} f4xd6xb8")
    broken = play(shop, "c3-d4")
    move = Draft("move-submitted", 1, shop.tick(), "bob", {"move": "h8-a1", "ply": 2, "seat": 1})
    shop.store.append(broken, shop.store.head(broken), [move], Request("wrong", ""))
    listed = rookery("bashni", "1", "2", "--processes", "1")
    assert listed.exit_code == 1
    assert f"LEFT OUT {broken}: " in listed.stdout
    assert f"{parting}  ply 9" in listed.stdout


@pytest.mark.parametrize(("arguments", "said"), table(__file__, "senseless requests are refused"))
def test_senseless_requests_are_refused(monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], said: str) -> None:
    monkeypatch.setenv("REDIS_URL", "redis://127.0.0.1:1/0")
    refused = rookery(*arguments)
    assert refused.exit_code == 2
    assert said in refused.stderr


def test_a_store_that_is_not_there_is_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDIS_URL", "redis://127.0.0.1:1/0")
    refused = rookery("bashni", "1", "2")
    assert refused.exit_code == 1
    assert "Traceback" not in refused.output
    assert refused.stderr
