"""A client of the HTTP API over one persistent connection."""

import http.client
import json
import secrets
from collections.abc import Mapping
from types import TracebackType
from typing import Any, NamedTuple, Self
from urllib.parse import urlsplit

PREFIX = "/api/v1"


class Answer(NamedTuple):
    """A response: status, header fields (names in lower case) and JSON body (None: no body)."""

    status: int
    headers: Mapping[str, str]
    body: Any


class ApiError(Exception):
    """The API refused a request; ``answer`` is its problem document."""

    def __init__(self, method: str, path: str, answer: Answer) -> None:
        problem = answer.body if isinstance(answer.body, dict) else {}
        super().__init__(f"{method} {path}: {answer.status} {problem.get('code', '')} {problem.get('detail', '')}")
        self.answer = answer


class ApiClient:
    """One client of the API, for one thread at a time.

    A lost connection raises OSError or http.client.HTTPException and is opened again at the next request: the caller,
    who knows the idempotency key, decides whether to repeat the request.
    """

    def __init__(self, url: str, token: str | None = None, timeout: float = 10.0) -> None:
        """Prepare requests to the installation at ``url``; ``timeout`` is in seconds."""
        self.token = token
        self._connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    def ask(self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None) -> Answer:
        """Return the response, whatever its status; ``path`` is below /api/v1.

        Raises OSError or http.client.HTTPException when the connection is lost before the response.
        """
        sent = {"Accept": "application/json", **(headers or {})}
        if self.token is not None:
            sent["Authorization"] = f"Bearer {self.token}"
        content = None
        if body is not None:
            sent["Content-Type"] = "application/json"
            content = json.dumps(body).encode()
        try:
            self._connection.request(method, PREFIX + path, content, sent)
            response = self._connection.getresponse()
            received = response.read()
        except (OSError, http.client.HTTPException):
            self._connection.close()
            raise
        fields = {name.lower(): ", ".join(response.headers.get_all(name) or []) for name in response.headers}
        spoken = "json" in fields.get("content-type", "") and received
        return Answer(response.status, fields, json.loads(received) if spoken else None)

    def get(self, path: str) -> Any:
        """Return the body of a GET; raises ApiError unless the status is 200."""
        return self._expect("GET", path, None, None)

    def post(self, path: str, body: Any, key: str | None = None) -> Any:
        """Return the body of a POST, with ``key`` (or a fresh one) as idempotency key; raises ApiError."""
        return self._expect("POST", path, body, {"Idempotency-Key": key or secrets.token_hex(8)})

    def sign_up(self, name: str, password: str) -> str:
        """Sign up, use an API token of the new player from then on, and return the player's id; raises ApiError."""
        answer = self.ask("POST", "/players", {"name": name, "password": password})
        if answer.status != 201:
            raise ApiError("POST", "/players", answer)
        cookie = answer.headers["set-cookie"].partition(";")[0]  # the first is that of the session
        granted = self.ask("POST", "/me/tokens", {"label": "client"}, {"Cookie": cookie})
        if granted.status != 201:
            raise ApiError("POST", "/me/tokens", granted)
        self.token = granted.body["secret"]
        return str(answer.body["id"])

    def _expect(self, method: str, path: str, body: Any, headers: Mapping[str, str] | None) -> Any:
        answer = self.ask(method, path, body, headers)
        if answer.status not in (200, 201, 204):
            raise ApiError(method, path, answer)
        return answer.body
