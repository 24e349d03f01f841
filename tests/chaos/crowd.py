"""People who ask all the time who they are, each with a token of their own: nobody may be taken for somebody else."""

import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import partial

from events.installation import Installation
from tests.chaos.people import TIMEOUT_S, UNANSWERED
from tests.support.api_client import ApiClient
from tests.support.eventually import working

PEOPLE = 24
THREADS = 6
PAUSE_S = 0.05


class Crowd:
    """People of an installation whose API processes are at ``urls``."""

    def __init__(self, parts: Installation, urls: Sequence[str]) -> None:
        people = [parts.people.guest() for _ in range(PEOPLE)]
        self._tokens = {person.id: parts.people.tokens.create(person, "crowd")[1] for person in people}
        self._urls = urls
        self._end = threading.Event()
        self._lock = threading.Lock()
        self.recognised = 0
        self.mistaken: list[str] = []

    def asking(self) -> AbstractContextManager[None]:
        ids = list(self._tokens)
        return working([partial(self._ask, ids[number::THREADS], number) for number in range(THREADS)], self._end)

    def _ask(self, ids: Sequence[str], number: int) -> None:
        with ApiClient(self._urls[number % len(self._urls)], timeout=TIMEOUT_S) as client:
            while not self._end.is_set():
                for id in ids:
                    client.token = self._tokens[id]
                    try:
                        answer = client.ask("GET", "/me")
                    except UNANSWERED:
                        client.close()
                        continue
                    self._note(id, answer.status, answer.body)
                self._end.wait(PAUSE_S)

    def _note(self, id: str, status: int, body: object) -> None:
        shown = body.get("id") if isinstance(body, dict) else None
        with self._lock:
            if status == 200 and shown == id:
                self.recognised += 1
            elif status == 200 or status == 401:
                self.mistaken.append(f"{id} was answered {status} and {shown}")
