"""The demonstration: two whole matches over HTTP on a temporary installation, and the proof of what happened in them.

A person plays Bashni against an opponent, the moves sent one by one as any client would; a second person opens a match
of four opponents at Towers. Nothing is reached into: the demonstration knows what the API tells it, until at the end
it computes the hash chains in the store again.
"""

import http.client
import secrets
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from deploy.api_client import ApiClient, ApiError
from deploy.runner import Installation
from domain.games import GAMES
from domain.search import choose
from events.runtime.settings import store_from
from events.store.chain import verify
from events.store.contract import DamagedStream

NAMES = ("Ada", "Grace")
PERSON_LEVEL = 1
"""The level at which the demonstration chooses the person's moves."""

OPPONENT_LEVEL = 2
TOWERS_LEVELS = (1, 2, 1, 2)
WITHIN = 55.0
"""Seconds after which a demonstration that has not come to its end has failed."""

BOARD_EVERY = 20
PAUSE = 0.02

Say = Callable[[str], None]


class DemonstrationFailed(Exception):
    """Something did not happen as it must; the message says what."""


def demonstrate(seed: int, say: Say) -> None:
    """Play, print boards and results through ``say``, and prove the result.

    ``seed`` decides the person's moves. Raises DemonstrationFailed or InstallationError.
    """
    with tempfile.TemporaryDirectory(prefix="rookery-") as var, Installation(Path(var), embedded=True) as house:
        say(f"A temporary installation runs on {house.url}")
        try:
            Demonstration(house, seed, say).run()
        except (ApiError, OSError, http.client.HTTPException, DamagedStream) as error:
            raise DemonstrationFailed(str(error)) from error


class Demonstration:
    """Two people, two matches, one deadline."""

    def __init__(self, house: Installation, seed: int, say: Say) -> None:
        self._house = house
        self._seed = seed
        self._say = say
        self._deadline = time.monotonic() + WITHIN

    def run(self) -> None:
        """Play both matches to their ends, then show ratings and verify."""
        with ApiClient(self._house.url) as ada, ApiClient(self._house.url) as grace:
            me, _ = (
                person.sign_up(name, secrets.token_urlsafe(12))
                for person, name in zip((ada, grace), NAMES, strict=True)
            )
            self._say(f"{' and '.join(NAMES)} have signed up")
            towers = self._open(grace, "towers", [{"kind": "opponent", "level": level} for level in TOWERS_LEVELS])
            bashni = self._open(ada, "bashni", [{"kind": "me"}, {"kind": "opponent", "level": OPPONENT_LEVEL}])
            self._play(ada, bashni, me)
            self._watch(grace, towers)
            self._show_ratings(ada, bashni)
            self._show_ratings(grace, towers)
            self._verify(bashni, towers)

    def _open(self, client: ApiClient, game: str, seats: list[dict[str, Any]]) -> str:
        setups = GAMES[game].setups.values()
        setup = next(setup.name for setup in setups if len(setup.seat_names) == len(seats))
        wanted = {"game": game, "setup": setup, "seats": seats, "rated": True, "private": False}
        match = client.post("/matches", wanted)
        self._say(f"A match of {GAMES[game].title} is open: {self._house.url}/matches/{match['id']}")
        return str(match["id"])

    def _play(self, client: ApiClient, match: str, me: str) -> None:
        game = GAMES["bashni"]
        shown = 0
        while True:
            state = self._changed(client, match, lambda state: _ended(state) or _turn_of(state) == me)
            if _ended(state):
                break
            if state["ply"] >= shown:
                self._show(state)
                shown += BOARD_EVERY
            position = game.initial(state["setup"])
            history = []
            for text in state["moves"]:
                history.append(position)
                position = game.play(position, game.parse_move(position, text))
            move = choose(game, position, history, PERSON_LEVEL, self._seed).move
            client.post(f"/matches/{match}/moves", {"move": game.format_move(position, move)})
        self._show(state)

    def _watch(self, client: ApiClient, match: str) -> None:
        state = self._after_ply(client, match, 0)
        while not _ended(state):
            self._show(state)
            state = self._after_ply(client, match, state["ply"] + BOARD_EVERY)
        self._show(state)

    def _show_ratings(self, client: ApiClient, match: str) -> None:
        state = client.get(f"/matches/{match}")
        pool = f"{state['game']['id']}-{len(state['seats'])}"
        for player, name in {seat["player"]["id"]: seat["player"]["name"] for seat in state["seats"]}.items():

            def change(player: str = player) -> dict[str, Any] | None:
                history = client.get(f"/players/{player}/ratings/{pool}/history")["items"]
                return next((item for item in history if item["match"] == match), None)

            found = self._until(f"rating of {name} after match {match}", change)
            self._say(f"{name} in {pool}: {found['before']:.0f} -> {found['after']:.0f}")

    def _verify(self, *matches: str) -> None:
        store = store_from(self._house.settings)
        with store.client:
            for match in matches:
                head = verify(store, match).head
                self._say(f"The chain of match {match} is whole: {head.version} events, {head.digest.hex()}")

    def _show(self, state: dict[str, Any]) -> None:
        title = state["game"]["title"]
        players = " - ".join(seat["player"]["name"] for seat in state["seats"])
        self._say(f"\n{title}, {players}, after ply {state['ply']}\n\n{state['diagram']}\n")
        if state["result"]:
            scores = " - ".join(f"{score:g}" for score in state["result"]["scores"])
            self._say(f"It is over: {scores} ({state['result']['reason']})")

    def _after_ply(self, client: ApiClient, match: str, ply: int) -> dict[str, Any]:
        return self._changed(client, match, lambda state: _ended(state) or state["ply"] >= ply)

    def _changed(self, client: ApiClient, match: str, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        def look() -> dict[str, Any] | None:
            state: dict[str, Any] = client.get(f"/matches/{match}")
            return state if wanted(state) else None

        state: dict[str, Any] = self._until(f"next move of match {match}", look)
        return state

    def _until(self, what: str, look: Callable[[], Any]) -> Any:
        while (found := look()) is None:
            if time.monotonic() > self._deadline:
                raise DemonstrationFailed(f"the {what} has not come within {WITHIN:.0f} s")
            time.sleep(PAUSE)
        return found


def _ended(state: dict[str, Any]) -> bool:
    return state["status"] in ("finished", "aborted")


def _turn_of(state: dict[str, Any]) -> str | None:
    seat = state["to_move"]
    return None if seat is None else state["seats"][seat]["player"]["id"]
