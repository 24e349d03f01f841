"""The demonstration: two complete matches over HTTP on a temporary installation, and their verification.

It knows only the answers of the API, until it finally recomputes the hash chains in the store.
"""

import json
import secrets
import tempfile
import time
from collections.abc import Callable
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from deploy.local.installation import LocalInstallation
from domain.games import GAMES
from domain.search import choose
from events.store.archive.store import make_store
from events.store.chain import verify
from events.store.contract import DamagedStreamError

NAMES = ("Ada", "Grace")
PLAYER_LEVEL = 1
"""The level at which the player's moves are chosen."""

OPPONENT_LEVEL = 2
TOWERS_LEVELS = (1, 2, 1, 2)
MAX_DURATION_S = 55.0
"""A demonstration that has not finished by then fails."""

BOARD_INTERVAL_PLIES = 20
POLL_INTERVAL_S = 0.02


class DemoError(Exception):
    """The demonstration failed; the message says why."""


def play_demo(seed: int, print_line: Callable[[str], None]) -> None:
    """Play and verify the matches; ``seed`` determines the player's moves. Raises DemoError or InstallationError."""
    with (
        tempfile.TemporaryDirectory(prefix="rookery-") as var,
        LocalInstallation(Path(var), embedded=True) as installation,
    ):
        print_line(f"A temporary installation is running on {installation.url}")
        try:
            _Demo(installation, seed, print_line).run()
        except (OSError, HTTPException, DamagedStreamError) as error:
            raise DemoError(str(error)) from error


class _Player:
    """A player who has signed up; every request raises OSError or HTTPException when it fails."""

    def __init__(self, url: str, name: str) -> None:
        self._api = f"{url}/api/v1"
        self._credentials: dict[str, str] = {}
        account, cookies = self._request("/players", {"name": name, "password": secrets.token_urlsafe(12)})
        self.id = account["id"]
        self._credentials = {"Cookie": cookies[0].partition(";")[0]}
        token = self.post("/me/tokens", {"label": "demo"})
        self._credentials = {"Authorization": f"Bearer {token['secret']}"}

    def get(self, path: str) -> Any:
        """Return the answer to a GET."""
        return self._request(path)[0]

    def post(self, path: str, body: dict[str, Any]) -> Any:
        """Return the answer to a POST."""
        return self._request(path, body)[0]

    def _request(self, path: str, body: dict[str, Any] | None = None) -> tuple[Any, list[str]]:
        content = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json", "Idempotency-Key": secrets.token_hex(8), **self._credentials}
        with urlopen(Request(self._api + path, content, headers), timeout=10) as response:  # noqa: S310 - the installation's
            return json.load(response), response.headers.get_all("Set-Cookie") or []


class _Demo:
    """Two players, two matches, one deadline."""

    def __init__(self, installation: LocalInstallation, seed: int, print_line: Callable[[str], None]) -> None:
        self._installation = installation
        self._seed = seed
        self._print = print_line
        self._deadline = time.monotonic() + MAX_DURATION_S

    def run(self) -> None:
        """Play both matches to the end, then print ratings and verify."""
        ada, grace = (_Player(self._installation.url, name) for name in NAMES)
        self._print(f"{' and '.join(NAMES)} have signed up")
        towers = self._create_match(grace, "towers", [{"kind": "opponent", "level": level} for level in TOWERS_LEVELS])
        bashni = self._create_match(ada, "bashni", [{"kind": "me"}, {"kind": "opponent", "level": OPPONENT_LEVEL}])
        self._play(ada, bashni)
        self._follow(grace, towers)
        self._print_ratings(ada, bashni)
        self._print_ratings(grace, towers)
        self._verify(bashni, towers)

    def _create_match(self, player: _Player, game: str, seats: list[dict[str, Any]]) -> str:
        setups = GAMES[game].setups.values()
        setup = next(setup.name for setup in setups if len(setup.seat_names) == len(seats))
        wanted = {"game": game, "setup": setup, "seats": seats, "rated": True, "private": False}
        match = player.post("/matches", wanted)
        self._print(f"A match of {GAMES[game].title} has started: {self._installation.url}/matches/{match['id']}")
        return str(match["id"])

    def _play(self, player: _Player, match_id: str) -> None:
        game = GAMES["bashni"]
        shown = 0
        while True:
            state = self._wait_for_match(
                player, match_id, lambda state: _is_over(state) or _player_to_move(state) == player.id
            )
            if _is_over(state):
                break
            if state["ply"] >= shown:
                self._print_board(state)
                shown += BOARD_INTERVAL_PLIES
            position = game.initial(state["setup"])
            history = []
            for text in state["moves"]:
                history.append(position)
                position = game.play(position, game.parse_move(position, text))
            move = choose(game, position, history, PLAYER_LEVEL, self._seed).move
            player.post(f"/matches/{match_id}/moves", {"move": game.format_move(position, move)})
        self._print_board(state)

    def _follow(self, player: _Player, match_id: str) -> None:
        state = self._wait_for_ply(player, match_id, 0)
        while not _is_over(state):
            self._print_board(state)
            state = self._wait_for_ply(player, match_id, state["ply"] + BOARD_INTERVAL_PLIES)
        self._print_board(state)

    def _print_ratings(self, player: _Player, match_id: str) -> None:
        state = player.get(f"/matches/{match_id}")
        pool = f"{state['game']['id']}-{len(state['seats'])}"
        for rated, name in {seat["player"]["id"]: seat["player"]["name"] for seat in state["seats"]}.items():

            def read_change(rated: str = rated) -> dict[str, Any] | None:
                history = player.get(f"/players/{rated}/ratings/{pool}/history")["items"]
                return next((item for item in history if item["match"] == match_id), None)

            change = self._wait_for(f"rating of {name} after match {match_id}", read_change)
            self._print(f"{name} in {pool}: {change['before']:.0f} -> {change['after']:.0f}")

    def _verify(self, *match_ids: str) -> None:
        store = make_store(self._installation.settings)
        with store.client:
            for match_id in match_ids:
                head = verify(store, match_id).head
                self._print(f"The chain of match {match_id} is intact: {head.version} events, {head.digest.hex()}")

    def _print_board(self, state: dict[str, Any]) -> None:
        title = state["game"]["title"]
        players = " - ".join(seat["player"]["name"] for seat in state["seats"])
        self._print(f"\n{title}, {players}, after ply {state['ply']}\n\n{state['diagram']}\n")
        if state["result"]:
            scores = " - ".join(f"{score:g}" for score in state["result"]["scores"])
            self._print(f"Game over: {scores} ({state['result']['reason']})")

    def _wait_for_ply(self, player: _Player, match_id: str, ply: int) -> dict[str, Any]:
        return self._wait_for_match(player, match_id, lambda state: _is_over(state) or state["ply"] >= ply)

    def _wait_for_match(
        self, player: _Player, match_id: str, is_awaited: Callable[[dict[str, Any]], bool]
    ) -> dict[str, Any]:
        def read() -> dict[str, Any] | None:
            state: dict[str, Any] = player.get(f"/matches/{match_id}")
            return state if is_awaited(state) else None

        state: dict[str, Any] = self._wait_for(f"next move of match {match_id}", read)
        return state

    def _wait_for(self, what: str, read: Callable[[], Any]) -> Any:
        while (answer := read()) is None:
            if time.monotonic() > self._deadline:
                raise DemoError(f"the {what} did not come within {MAX_DURATION_S:.0f} s")
            time.sleep(POLL_INTERVAL_S)
        return answer


def _is_over(state: dict[str, Any]) -> bool:
    return state["status"] in ("finished", "aborted")


def _player_to_move(state: dict[str, Any]) -> str | None:
    seat = state["to_move"]
    return None if seat is None else state["seats"][seat]["player"]["id"]
