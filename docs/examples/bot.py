#!/usr/bin/env python3
"""A bot for Rookery that plays legal moves at random, with nothing but Python's standard library.

    python3 docs/examples/bot.py http://127.0.0.1:8000 TOKEN --play bashni

It accepts every invitation, moves when it is its turn, and declines draws and takebacks, until it is stopped or as many
matches as --matches says are over. The live stream of the account tells it when there is something to do, so it does
not poll. Create a token on the settings page. The API is described at /docs/api.
"""

import argparse
import json
import random
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from typing import Any

PAUSE_S = 0.15
"""The time between two writes: the limit is 600 a minute."""

RETRY_S = 2


class Bot:
    """Plays all matches of one account. ``answers`` counts the status codes of the responses."""

    def __init__(self, url: str, token: str, seed: int | None = None, pause_s: float = PAUSE_S) -> None:
        self.api = f"{url.rstrip('/')}/api/v1"
        self.token = token
        self.random = random.Random(seed)
        self.pause_s = pause_s
        self.answers: Counter[int] = Counter()
        self.moves: Counter[str] = Counter()
        self.over: set[str] = set()
        self._seen: dict[str, int] = {}

    def run(self, matches: int | None = None) -> None:
        """Play until ``matches`` are over (None: until the bot is stopped)."""
        for item in self.items():
            self.attend(item)
            if matches is not None and len(self.over) >= matches:
                return

    def items(self) -> Iterator[dict[str, Any]]:
        """Yield an item for each match that is waiting for the account or has changed; never ends by itself."""
        while True:
            try:
                for kind, content in self.stream():
                    yield from content["items"] if kind == "pending" else [content] if kind == "match" else []
            except OSError as error:
                print(f"The stream was interrupted; reconnecting: {error}", flush=True)
            time.sleep(RETRY_S)

    def stream(self) -> Iterator[tuple[str, Any]]:
        """Yield the event and the data of each message of the account's live stream."""
        with self.open("GET", "/me/stream", timeout=60) as answer:
            kind = ""
            for line in answer:
                name, _, value = line.decode().rstrip("\n").partition(": ")
                if name == "event":
                    kind = value
                elif name == "data":
                    yield kind, json.loads(value)

    def attend(self, item: dict[str, Any]) -> None:
        """Do what a match expects at the version of ``item``, unless that was done before."""
        match, version = item["match"], item["version"]
        if self._seen.get(match, 0) >= version:
            return
        self._seen[match] = version
        if item["status"] in ("finished", "aborted"):
            self.over.add(match)
        elif item["owed"] == "move":
            self.move(match)
        elif item["owed"] == "invitation":
            self.act(match, "joins", item["version_tag"])
        elif item["owed"] == "draw-answer":
            self.act(match, "draw-refusal", item["version_tag"])
        elif item["owed"] == "takeback-answer":
            self.act(match, "takeback-refusal", item["version_tag"])

    def move(self, match: str) -> None:
        """Play one of the legal moves; resign where none is listed (see the compositions of Four Towers)."""
        legal = self.ask("GET", f"/matches/{match}/legal-moves")
        if not legal["legal_moves"]:
            self.act(match, "resignation", legal["version_tag"])
            return
        self.moves[match] += 1
        self.act(match, "moves", legal["version_tag"], {"move": self.random.choice(legal["legal_moves"])})

    def act(self, match: str, what: str, version_tag: str, body: dict[str, Any] | None = None) -> None:
        """Act on a match if it is still at the version; the key makes a repetition harmless."""
        headers = {"If-Match": f'"{version_tag}"', "Idempotency-Key": f"{what}-{match}-{version_tag}"}
        self.ask("POST", f"/matches/{match}/{what}", body or {}, headers)
        time.sleep(self.pause_s)

    def play(self, game: str, level: int) -> str:
        """Create a match against opponents of ``level`` on all other seats and return its id."""
        setup = self.ask("GET", f"/games/{game}")["setups"][0]
        seats = [{"kind": "me"}, *[{"kind": "opponent", "level": level}] * (len(setup["seats"]) - 1)]
        match: str = self.ask("POST", "/matches", {"game": game, "setup": setup["name"], "seats": seats})["id"]
        return match

    def ask(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> Any:
        """Return the JSON of the response. Errors are printed: the stream tells what to do next."""
        while True:
            try:
                with self.open(method, path, body, headers) as answer:
                    return json.load(answer)
            except urllib.error.HTTPError as error:
                problem = json.load(error)
                print(f"{method} {path}: {error.code} {problem['code']}: {problem['detail']}", flush=True)
                if error.code not in (429, 503):
                    return problem
                time.sleep(int(error.headers.get("Retry-After", RETRY_S)))

    def open(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None, timeout: int = 20
    ) -> Any:
        """Return the open response and count its status; raises urllib.error.HTTPError."""
        content = None if body is None else json.dumps(body).encode()
        sent = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json", **(headers or {})}
        request = urllib.request.Request(self.api + path, content, sent, method=method)
        try:
            answer = urllib.request.urlopen(request, timeout=timeout)
        except urllib.error.HTTPError as error:
            self.answers[error.code] += 1
            raise
        self.answers[answer.status] += 1
        return answer


def main() -> None:
    """Run a bot with the options of the command line."""
    parser = argparse.ArgumentParser(description="Play legal moves at random.")
    parser.add_argument("url", help="The address of the server, such as http://127.0.0.1:8000")
    parser.add_argument("token", help="A token of the account that the bot plays for")
    parser.add_argument(
        "--play", action="append", default=[], metavar="GAME", help="Start a match of GAME. May be repeated"
    )
    parser.add_argument("--level", type=int, default=1, help="The level of the opponents in it (1)")
    parser.add_argument("--matches", type=int, help="Stop when this many matches are over")
    parser.add_argument("--seed", type=int, help="Determines the moves")
    wanted = parser.parse_args()
    bot = Bot(wanted.url, wanted.token, wanted.seed)
    for game in wanted.play:
        print(f"{wanted.url}/matches/{bot.play(game, wanted.level)}", flush=True)
    bot.run(wanted.matches)


if __name__ == "__main__":
    main()
