#!/usr/bin/env python3
"""A bot for Rookery that plays legal moves at random, with nothing but Python's standard library.

    python3 docs/examples/bot.py http://127.0.0.1:8000 TOKEN --play bashni

It accepts every invitation, moves where it is its turn and refuses draws and requests to take moves back, until it is
stopped, or as many matches as --matches says are over. The live stream of the account tells it when there is something
to do; nothing is asked again and again. Create a token in your settings. What the API offers: /docs/api.
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
"""Between two acts: one person can do 600 a minute."""

RETRY_S = 2


class Bot:
    """Plays all matches of one account. ``answers`` counts the statuses of the server's answers."""

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
        """Do what there is to do until ``matches`` are over (None: until it is stopped)."""
        for item in self.items():
            self.attend(item)
            if matches is not None and len(self.over) >= matches:
                return

    def items(self) -> Iterator[dict[str, Any]]:
        """Yield what is told of each match that awaits the account, or has changed; never ends by itself."""
        while True:
            try:
                for kind, told in self.stream():
                    yield from told["items"] if kind == "pending" else [told] if kind == "match" else []
            except OSError as error:
                print(f"The stream was interrupted, and is opened again: {error}", flush=True)
            time.sleep(RETRY_S)

    def stream(self) -> Iterator[tuple[str, Any]]:
        """Yield kind and content of each message of the account's live stream."""
        with self.open("GET", "/me/stream", timeout=60) as answer:
            kind = ""
            for line in answer:
                name, _, value = line.decode().rstrip("\n").partition(": ")
                if name == "event":
                    kind = value
                elif name == "data":
                    yield kind, json.loads(value)

    def attend(self, item: dict[str, Any]) -> None:
        """Do what a match expects at the version that ``item`` tells of; what was told before was done before."""
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
        if not legal["moves"]:
            self.act(match, "resignation", legal["version_tag"])
            return
        self.moves[match] += 1
        self.act(match, "moves", legal["version_tag"], {"move": self.random.choice(legal["moves"])})

    def act(self, match: str, what: str, version_tag: str, body: dict[str, Any] | None = None) -> None:
        """Act on a match that is still at the version; repeated with the same key, it is done once."""
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
        """Return the answer as JSON. What is refused is printed, for the stream tells what to do next."""
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
        """Return the open answer, and count its status; raises urllib.error.HTTPError for a refusal."""
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
    """Run a bot as the command line says."""
    parser = argparse.ArgumentParser(description="Play legal moves at random.")
    parser.add_argument("url", help="The address of the server, such as http://127.0.0.1:8000")
    parser.add_argument("token", help="A token of the account that the bot plays for")
    parser.add_argument("--play", action="append", default=[], metavar="GAME", help="Begin a match of GAME. Repeatable")
    parser.add_argument("--level", type=int, default=1, help="The level of the opponents in it (1)")
    parser.add_argument("--matches", type=int, help="Stop when this many matches are over")
    parser.add_argument("--seed", type=int, help="Decides the moves")
    wanted = parser.parse_args()
    bot = Bot(wanted.url, wanted.token, wanted.seed)
    for game in wanted.play:
        print(f"{wanted.url}/matches/{bot.play(game, wanted.level)}", flush=True)
    bot.run(wanted.matches)


if __name__ == "__main__":
    main()
