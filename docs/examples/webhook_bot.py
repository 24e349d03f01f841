#!/usr/bin/env python3
"""A bot for Rookery as one stateless function: it answers the webhook of each turn with a legal move at random.

    WEBHOOK_SECRET=whsec_... python3 docs/examples/webhook_bot.py 8080

It needs only Python's standard library. Create the webhook with full payloads, and declare that the account is a bot
that accepts invitations at once: then moves are all that it is asked for.
"""

import base64
import hashlib
import hmac
import json
import os
import random
import sys
import time
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MAX_AGE_S = 300


def is_signed(headers: Mapping[str, str], body: bytes, secret: str, now: float) -> bool:
    """Tell whether the webhook is from the server that knows ``secret``, and not older than MAX_AGE_S."""
    id, sent_at = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    key = base64.b64decode(secret.removeprefix("whsec_"))
    digest = hmac.digest(key, f"{id}.{sent_at}.".encode() + body, hashlib.sha256)
    expected = f"v1,{base64.b64encode(digest).decode()}"
    given = headers.get("webhook-signature", "").split(" ")
    genuine = any(hmac.compare_digest(expected.encode(), each.encode()) for each in given)
    return genuine and abs(now - int(sent_at)) <= MAX_AGE_S


def respond(headers: Mapping[str, str], body: bytes, secret: str, now: float) -> tuple[int, dict[str, Any] | None]:
    """Return status and content of the response to a webhook: this is the whole bot."""
    if not is_signed(headers, body, secret, now):
        return 401, None
    event = json.loads(body)
    moves = event["data"].get("legal_moves")
    if event["type"] != "match.turn" or not moves:
        return 204, None
    return 200, {"move": random.choice(moves), "version": event["data"]["version"]}


class Handler(BaseHTTPRequestHandler):
    """Hands webhooks to ``respond``."""

    def do_POST(self) -> None:
        """Answer a webhook."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        status, content = respond(
            {name.lower(): text for name, text in self.headers.items()}, body, os.environ["WEBHOOK_SECRET"], time.time()
        )
        self.send_response(status)
        self.end_headers()
        self.wfile.write(b"" if content is None else json.dumps(content).encode())


if __name__ == "__main__":
    ThreadingHTTPServer(("", int(sys.argv[1])), Handler).serve_forever()
