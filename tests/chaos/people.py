"""The people of a campaign: clients that play over HTTP and record what they ask, are told and see.

An unanswered request is repeated, with its idempotency key, until it is answered: at any of the API processes.
"""

import http.client
import random
import secrets
import time
from collections import deque
from collections.abc import Sequence
from threading import Event
from typing import Any, NamedTuple

from events.store.contract import DIGEST_DIGITS
from tests.chaos.history import NOTHING, Answered, History, Read, Tag, clock_ms
from tests.support.api_client import Answer, ApiClient

MATCHES_PER_PERSON = 3
POLL_INTERVAL_S = 0.02
THINKING_TIME_S = 0.15
"""The time between two visits of a person: more load would only slow the restarts down."""

MAX_RECOVERY_S = 60.0
TIMEOUT_S = 5
UNANSWERED = (OSError, http.client.HTTPException)


class Acknowledged(NamedTuple):
    match: str
    version: int
    event: str
    move: str


class Person:
    """A client that creates matches and plays whatever is pending, one request at a time."""

    def __init__(
        self, urls: Sequence[str], number: int, seed: int, history: History, among_people: bool = False
    ) -> None:
        """Sign up; each request goes to one of the API processes at ``urls``.

        Matches ``among_people`` are against no opponents and not rated: no worker has anything to do.
        """
        self.name = f"person-{number}"
        self.id = ""
        self.acknowledged: list[Acknowledged] = []
        self._history = history
        self._among_people = among_people
        self._chance = random.Random(f"{seed}/{number}")
        self._opened = 0
        self._matches: deque[str] = deque()
        self._clients = [ApiClient(url, timeout=TIMEOUT_S) for url in urls]
        self.id = self._clients[0].sign_up(self.name, secrets.token_urlsafe(12))
        for client in self._clients:
            client.token = self._clients[0].token

    def play(self, others: Sequence[str], stop: Event) -> None:
        """Play some matches until ``stop``; a request in progress is completed first."""
        while not stop.is_set():
            self._replace_ended_matches(others)
            pending = self._read("/me/pending?limit=50")
            for item in pending["items"] if pending else ():
                self._answer(item["owed"], item["match"]["id"])
            stop.wait(THINKING_TIME_S)

    def visit(self, match_ids: Sequence[str]) -> None:
        """Read matches once each, as a visitor at the end."""
        for match_id in match_ids:
            self._read_match(match_id)

    def close(self) -> None:
        for client in self._clients:
            client.close()

    def _replace_ended_matches(self, others: Sequence[str]) -> None:
        # Read one by one: lists come from the read models, which are not updated while the relay is down.
        if len(self._matches) == MATCHES_PER_PERSON:
            match_id = self._matches.popleft()
            state = self._read_match(match_id)
            if state is None or state.get("result", "") is None:
                self._matches.append(match_id)
        if len(self._matches) < MATCHES_PER_PERSON:
            self._open(others)

    def _open(self, others: Sequence[str]) -> None:
        self._opened += 1
        other: dict[str, Any] = {"kind": "opponent", "level": 1}
        if others and (self._opened % 2 or self._among_people):
            # Each in turn: a person may invite another 20 times a day.
            other = {"kind": "player", "name": others[self._opened // 2 % len(others)]}
        game, setup = self._chance.choice((("bashni", "start"), ("towers", "two-player")))
        seats = [{"kind": "me"}, other]
        self._chance.shuffle(seats)
        wanted = {"game": game, "setup": setup, "seats": seats, "rated": not self._among_people, "private": False}
        answer = self._post_until_answered("/matches", wanted, f"open-{self._opened}", "")
        if answer.status == 201:
            self._matches.append(answer.body["id"])

    def _answer(self, owed: str, match_id: str) -> None:
        if owed == "invitation":
            self._post_until_answered(f"/matches/{match_id}/joins", {}, secrets.token_hex(8), match_id)
            return
        legal = self._read_match(match_id, "/legal-moves")
        if not legal or not legal.get("legal_moves"):
            return
        move, tag = self._chance.choice(legal["legal_moves"]), legal["version_tag"]
        self._post_until_answered(f"/matches/{match_id}/moves", {"move": move}, secrets.token_hex(8), match_id, tag)

    def _read_match(self, match_id: str, part: str = "") -> Any:
        """Return a match, or a part of it, and record the version; {} for no such match, None without an answer."""
        sent_at = clock_ms()
        try:
            answer = self._client().ask("GET", f"/matches/{match_id}{part}")
        except UNANSWERED:
            return None
        if answer.status not in (200, 404):
            return None
        tag = Tag.parse(answer.body["version_tag"]) if answer.status == 200 else NOTHING
        self._history.add(Read(self.name, match_id, sent_at, clock_ms(), tag))
        return answer.body if answer.status == 200 else {}

    def _read(self, path: str) -> Any:
        try:
            answer = self._client().ask("GET", path)
        except UNANSWERED:
            return None
        return answer.body if answer.status == 200 else None

    def _client(self) -> ApiClient:
        return self._chance.choice(self._clients)

    def _post_until_answered(
        self, path: str, body: Any, key: str, match_id: str, version_tag: str | None = None
    ) -> Answer:
        """Repeat a POST with the same key until it is answered, and record the answer."""
        headers = {"Idempotency-Key": key}
        if version_tag is not None:
            headers["If-Match"] = f'"{version_tag}"'
        sent_at = clock_ms()
        answer = self._post(path, body, headers)
        events, moves = _acknowledged_by(answer)
        found = answer.body["id"] if answer.status == 201 and not match_id else match_id
        code = "" if answer.status == 201 else str((answer.body or {}).get("code"))
        self._history.add(Answered(self.name, key, found, sent_at, clock_ms(), answer.status, code, events, moves))
        if answer.status == 201 and moves and moves[0]:
            event = answer.body["events"][0]
            self.acknowledged.append(Acknowledged(found, event["version"], event["id"], moves[0]))
        return answer

    def _post(self, path: str, body: Any, headers: dict[str, str]) -> Answer:
        deadline = time.monotonic() + MAX_RECOVERY_S
        while True:
            try:
                answer = self._client().ask("POST", path, body, headers)
            except UNANSWERED as error:
                last: object = error
            else:
                # A limit that lasts longer, of new matches in an hour, is an answer: fewer matches are played then.
                is_limited = answer.status == 429 and int(answer.headers["retry-after"]) <= MAX_RECOVERY_S
                if answer.status < 500 and not is_limited:
                    return answer
                last = answer
            if time.monotonic() > deadline:
                raise TimeoutError(f"POST {path} got no answer for {MAX_RECOVERY_S:.0f} s, at last {last}")
            time.sleep(POLL_INTERVAL_S)


def _acknowledged_by(answer: Answer) -> tuple[tuple[Tag, ...], tuple[str, ...]]:
    """Return the events that ``answer`` acknowledges, and their moves ("" for what is none)."""
    if answer.status != 201:
        return (), ()
    if "events" not in answer.body:
        return (Tag.parse(answer.body["version_tag"]),), ("",)
    events = answer.body["events"]
    tags = tuple(Tag(event["version"], event["id"][:DIGEST_DIGITS]) for event in events)
    return tags, tuple(str(event["data"].get("move", "")) for event in events)
