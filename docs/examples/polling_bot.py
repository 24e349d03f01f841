#!/usr/bin/env python3
"""A bot for Rookery that asks every minute what is waiting for it, and plays legal moves at random.

    python3 docs/examples/polling_bot.py http://127.0.0.1:8000 TOKEN

It needs only Python's standard library, and keeps nothing between two rounds: it may run from cron with --once.
"""

import json
import random
import sys
import time
import urllib.error
import urllib.request
from typing import Any

PAUSE_S = 60
ANSWERS = {"invitation": "joins", "draw-answer": "draw-refusal", "takeback-answer": "takeback-refusal"}


def ask(api: str, token: str, method: str, path: str, body: Any = None, version_tag: str | None = None) -> Any:
    """Return the JSON of the response. With ``version_tag`` an action counts once, and on this version only."""
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    if version_tag is not None:
        headers |= {"If-Match": f'"{version_tag}"', "Idempotency-Key": f"{path}-{version_tag}"}
    content = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(api + path, content, headers, method=method), timeout=20) as got:
        return json.load(got)


def attend(api: str, token: str, item: dict[str, Any]) -> None:
    """Do what one match waits for."""
    match = f"/matches/{item['match']['id']}"
    legal = ask(api, token, "GET", f"{match}/legal-moves")
    if item["owed"] != "move":
        ask(api, token, "POST", f"{match}/{ANSWERS[item['owed']]}", {}, legal["version_tag"])
    elif legal["legal_moves"]:
        ask(api, token, "POST", f"{match}/moves", {"move": random.choice(legal["legal_moves"])}, legal["version_tag"])
    else:  # only moves that are too many to list: see the compositions of Four Towers
        ask(api, token, "POST", f"{match}/resignation", {}, legal["version_tag"])


def play_round(url: str, token: str) -> int:
    """Attend to every match that is waiting, and return how many there were."""
    api = f"{url.rstrip('/')}/api/v1"
    items = ask(api, token, "GET", "/me/pending?limit=200")["items"]
    for item in items:
        try:
            attend(api, token, item)
        except urllib.error.HTTPError as error:
            print(f"{item['match']['id']}: {error} {error.read().decode(errors='replace')}", flush=True)
    return len(items)


if __name__ == "__main__":
    while True:
        try:
            play_round(*sys.argv[1:3])
        except OSError as error:  # the server cannot be reached now
            print(error, flush=True)
        if "--once" in sys.argv:
            break
        time.sleep(PAUSE_S)
