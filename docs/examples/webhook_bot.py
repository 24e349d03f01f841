#!/usr/bin/env python3
"""A bot for Rookery as one stateless function: it answers the webhook of each turn with a legal move at random.

    WEBHOOK_SECRET=whsec_... python3 docs/examples/webhook_bot.py 8080

It needs only Python's standard library; the webhook must have full payloads. It accepts invitations, and no draws.
"""

import base64
import hmac
import json
import os
import random
import sys
import time
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


def is_signed(headers: Mapping[str, str], body: bytes, secret: str, now: float) -> bool:
    """Tell whether the webhook is from the server that knows ``secret``, and of the last five minutes."""
    id, sent_at = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    key, signed = base64.b64decode(secret.removeprefix("whsec_")), f"{id}.{sent_at}.".encode() + body
    expected = b"v1," + base64.b64encode(hmac.digest(key, signed, "sha256"))
    genuine = any(hmac.compare_digest(expected, each.encode()) for each in headers.get("webhook-signature", "").split())
    return genuine and abs(now - int(sent_at)) <= 300


def respond(headers: Mapping[str, str], body: bytes, secret: str, now: float) -> tuple[int, dict[str, Any]]:
    """Return status and content of the response to a webhook: this is the whole bot."""
    if not is_signed(headers, body, secret, now):
        return 401, {}
    event = json.loads(body)
    told = event["data"]
    if "move" in told.get("answers", ()) and told["form"] == "full":
        moves = told["legal_moves"]  # none: only moves that are too many to list, see the compositions of Four Towers
        return 200, {"version": told["version"], **({"move": random.choice(moves)} if moves else {"resign": True})}
    if "accept" in told.get("answers", ()):
        wish = "accept" if event["type"] == "challenge.received" else "decline"
        return 200, {"version": told["version"], wish: True}
    return 202, {}


class Handler(BaseHTTPRequestHandler):
    """Hands webhooks to ``respond``."""

    def do_POST(self) -> None:
        """Answer a webhook."""
        headers = {name.lower(): text for name, text in self.headers.items()}
        body = self.rfile.read(int(headers["content-length"]))
        status, content = respond(headers, body, os.environ["WEBHOOK_SECRET"], time.time())
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps(content).encode())


if __name__ == "__main__":
    ThreadingHTTPServer(("", int(sys.argv[1])), Handler).serve_forever()
