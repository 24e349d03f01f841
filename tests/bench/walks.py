"""The walks of the product's own code: calls, files and packages that one act passes through, counted by a profiler.

Unlike a time these figures are exact; they grow when a layer is added. Calls are those of functions of the product,
comprehensions and generators included. EARLIER are the figures of a review of commit d4bdd19.
"""

import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import NamedTuple

import domain
from api.services import EXTENSION
from domain.match.due import deadline_of
from domain.match.terms import days_per_move
from events.runtime.keys import TimeKeys
from events.store.redis import RedisStore
from tests.bench.measure import Table
from tests.support.callers import ME, OPEN, Caller, app_on
from tests.support.fleet import run_here
from tests.support.mail_play import MailSite
from tests.support.projected import project
from tests.support.server import RealServer
from tests.support.stepped_installation import SteppedInstallation
from workers.fleet.kinds import REBUILD

ROOT = str(Path(domain.__file__).parents[1])
PRODUCT = tuple(f"{ROOT}/{package}/" for package in ("domain", "events", "workers", "api", "deploy"))
EARLIER = {
    "a move over HTTP, to its append": (289, 67, 22),
    "a flag, one tick of the clock": (427, 43, 12),
    "a mail with a move, read and answered": (2106, 82, 18),
    "the page of a match": (12978, 128, 24),
    "the rebuild of a store with one match": (2862, 62, 15),
}


class Walk(NamedTuple):
    """The calls of functions of the product, and the files and packages that these are in."""

    calls: int
    files: int
    packages: int


def walk(act: Callable[[], object], until: CodeType | None = None) -> Walk:
    """Return the walk of ``act``; with ``until`` up to the first call of that function."""
    calls: list[str] = []
    ended = False

    def profile(frame: FrameType, event: str, _: object) -> None:
        nonlocal ended
        if event == "call" and not ended and frame.f_code.co_filename.startswith(PRODUCT):
            calls.append(frame.f_code.co_filename)
            ended = frame.f_code is until

    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        act()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    files = set(calls)
    return Walk(len(calls), len(files), len({Path(file).parent for file in files}))


def tables() -> Iterator[Table]:
    table = Table("Walks through the product's own code", "act", "calls", "files", "packages", "EARLIER")
    with tempfile.TemporaryDirectory() as folder:
        server = RealServer(Path(folder))
        try:
            for act, passed in _walks(server):
                table.add(act, *map(str, passed), " / ".join(map(str, EARLIER[act])))
        finally:
            server.close()
    yield table


def _walks(server: RealServer) -> Iterator[tuple[str, Walk]]:
    app = app_on(server.url)
    white, black = Caller(app).play_as_guest(), Caller(app).play_as_guest()
    match_id = white.create(ME, OPEN)
    black.post(f"/matches/{match_id}/joins")
    for player in (white, black, white, black):  # nothing is met for the first time afterwards
        player.move(match_id)
    move = white.legal_move(match_id)
    yield "a move over HTTP, to its append", walk(lambda: white.move(match_id, move), RedisStore.append.__code__)
    white.move(match_id, move)
    project(app.extensions[EXTENSION])
    black.client.get(f"/matches/{match_id}")
    yield "the page of a match", walk(lambda: black.client.get(f"/matches/{match_id}"))

    site = MailSite(server.url)
    mailed = site.start(site.enrol("alice"), site.enrol("bob"), terms=days_per_move(3))
    earlier = site.start("px", "py")
    first_move = site.play(earlier, 1).play.moves[0]
    site.deliver("palice", site.token("palice", mailed), first_move)
    yield "a mail with a move, read and answered", walk(site.reader.read_due)
    _require(site.state(mailed).play.moves == (first_move,), "the mail is not played")

    deadline = deadline_of(site.state(mailed))
    _require(deadline is not None, "the match has no deadline")
    site.now = deadline or 0
    site.client.set(TimeKeys(site.settings.prefix).heartbeat, site.now)
    ticker = site.ticker()
    yield "a flag, one tick of the clock", walk(ticker.tick)
    _require(site.state(mailed).ended, "the flag has not fallen")

    site.client.flushall()
    alone = SteppedInstallation(server.url)
    alone.play(alone.start("px", "py"), 2)
    yield "the rebuild of a store with one match", walk(lambda: run_here(alone.parts, REBUILD, {}))


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise AssertionError(otherwise)
