"""The worst requests that are known for every operation and page, and the processor time that each of them takes."""

import re
import time
from collections.abc import Iterator, Sequence
from itertools import count, islice, product
from typing import Any
from urllib.parse import quote

from flask import Flask

from api.operations.puzzles import puzzles_of
from api.pages.learning.playable import represent
from api.representations.players import CAPACITY_GAMES
from api.resources.bots import MAX_BOTS_PER_PAGE
from api.services import EXTENSION, Services
from domain.contest.wishes import games_of
from domain.games import GAMES
from domain.match.decisions.moves import MAX_MOVES_PER_SUBMISSION
from events.notify.endpoints import MAX_ATTEMPTS_LOGGED
from events.operations.personal_data import MAX_MATCHES_PER_REQUEST, MAX_WEBHOOKS_PER_REQUEST, takes_long
from events.people.capacity import Capacity
from events.people.follows import MAX_FOLLOWED
from events.people.puzzles import MAX_PUZZLES
from events.pictures import standalone
from events.store.codec import draft_of
from events.store.contract import EMPTY, Request
from tests.support.callers import API, ME, OPEN, Caller, opponent
from tests.support.costs import Asked, Cost, slowness
from tests.support.large_contests import post_many_seeks, store_large_tournament
from tests.support.large_stores import fill_ledger, log_webhook, store_bundle, store_review
from tests.support.long_games import events_of
from tests.support.projected import project
from tests.support.tables import table
from workers.composition import make_opponents

CRAFTED = "2m/BPWCR1/2W2P3/r2Dn2P2/NKM5n1/1P1C3b1/wn2cWd1nq/m5Q2R/6b2/1bd1k1/2m w - RBNK/RBNK - 0 1"
"""Whether it is a mate takes more than a second to tell."""

BLOATED = {f"no-such-field-{number}": number for number in range(2300)}
"""A body of 60 KB in which every field is wrong."""

LINE_MOVES = 100
LINES_MOVES = 300
TREE_MOVES = 500
MESSAGES = 60
AS_BROWSERS = {"Accept-Encoding": "gzip, deflate, br"}
"""Compressing its answer belongs to what a request costs."""

KEPT_ARCHIVE_BYTES = 20_000_000
APPENDED_AT_ONCE = 500


def loosely_written(tree: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return ``tree`` with its moves written without marks, which takes longer to read."""
    return [
        {
            **line,
            "move": re.sub("(?<=[0-9])[-x](?=[a-z])", " ", line["move"]),
            "next": loosely_written(line.get("next", [])),
        }
        for line in tree
    ]


class WorstWorld:
    """An installation that is as costly to ask about as callers can make it.

    ``long`` is a match of ``plies`` plies, ``medium`` one that is just short enough to be replayed in a request,
    ``crowded`` one of Four Towers, ``answered`` one in which an opponent has moved, by the event ``version``. Of anna
    more is kept than can be collected at once, of boris as much as can.
    """

    def __init__(self, app: Flask, plies: int, medium: int, matches: int) -> None:
        self.app = app
        self.services: Services = app.extensions[EXTENSION]
        self.anna, self.boris = Caller(app).sign_up("anna"), Caller(app).sign_up("boris")
        players = (self.anna.id, self.boris.id)
        clara = Caller(app).sign_up("clara")
        self.long = self._append("mlong", "tower-game", "original", plies, (self.anna.id, clara.id))
        self.medium = self._append("mmedium", "tower-game", "original", medium, players)
        self.reviewed = self._append("mreviewed", "tower-game", "original", medium, (self.anna.id, clara.id))
        self.anna.post(f"/matches/{self.reviewed}/resignation")
        self.crowded = self._append("mcrowded", "four-towers", "standard", 120, players)
        self.answered = self.anna.create(ME, opponent(1))
        self.anna.move(self.answered)
        written = make_opponents(self.services).answer(self.answered)
        assert written is not None
        self.version = written.version
        for _ in range(matches):
            self.anna.create(ME, OPEN)
        for _ in range(MAX_MATCHES_PER_REQUEST - len(("medium", "crowded"))):
            self.boris.create(ME, OPEN)
        for number in range(MESSAGES):
            self.anna.post(f"/matches/{self.long}/chat", {"text": f"{number} " + "ä" * 900})
        for letters in islice(product("aceks", repeat=3), MAX_BOTS_PER_PAGE):
            person = self.services.people.sign_up(f"Bot-{''.join(letters)}", "the secret of a bot")
            self.services.bots.declare(person, Capacity(games=tuple(CAPACITY_GAMES), concurrent=10))
            self.services.directory.record(person)
            self.services.follows.put(self.anna.id, person.id)
        self.webhook = log_webhook(self.services, self.anna, self.long, MAX_ATTEMPTS_LOGGED)
        log_webhook(self.services, self.boris, self.long, MAX_WEBHOOKS_PER_REQUEST)
        fill_ledger(self.services, self.anna.id, (self.long, self.medium, self.crowded))
        self.seek, *self.seeks = post_many_seeks(self.services, self.anna.id)
        self.tournament = store_large_tournament(self.services)
        project(self.services)
        for match in (self.long, self.medium, self.crowded):
            self.services.matches.load(match)
        store_bundle(self.services, self.long)
        store_review(self.services, self.reviewed)
        self.leaves = self.services.checkpoints.sign(self.services.now()).size
        self._fill_archive()

    def sign_in(self) -> None:
        """Sign anna and boris in again, who may have signed out."""
        for caller in (self.anna, self.boris):
            signed_in = caller.post("/sessions", {"name": caller.name, "password": f"the secret of {caller.name}"})
            assert signed_in.status_code == 201, signed_in.text

    def _append(self, match_id: str, game: str, setup: str, plies: int, players: Sequence[str]) -> str:
        store, head = self.services.store, EMPTY
        events = events_of(GAMES[game], setup, plies, players, self.services.now())
        for place in range(0, len(events), APPENDED_AT_ONCE):
            drafts = [draft_of(event, players[0]) for event in events[place : place + APPENDED_AT_ONCE]]
            head = store.append(match_id, head, drafts, Request(f"{place}", "")).head
        return match_id

    def _about_seeks(self) -> Iterator[Asked]:
        yield Asked("GET /seeks", "/seeks?limit=50", name="boris")
        yield Asked("GET /me/seeks", "/me/seeks")
        yield Asked("GET /seeks/{seek}", f"/seeks/{self.seek}", name="boris")
        wanted = {"games": games_of(2), "seats": 2, "count": 10}
        yield Asked("POST /seeks", "/seeks", wanted)
        yield Asked("POST /seeks/{seek}/taking", f"/seeks/{self.seeks[-1]}/taking", {})
        yield Asked("POST /seeks/{seek}/leaving", f"/seeks/{self.seek}/leaving", {})
        yield Asked(
            "POST /seeks/{seek}/opponents", f"/seeks/{self.seek}/opponents", {"level": 1, "game": games_of(2)[0]}
        )
        yield Asked("POST /seeks/{seek}/withdrawal", f"/seeks/{self.seek}/withdrawal", {})

    def _about_puzzles(self) -> Iterator[Asked]:
        for number in range(1, MAX_PUZZLES + 1):
            listed = next(iter(puzzles_of("bashni").values()))
            position = listed.position.rsplit(" ", 1)[0]
            self.services.puzzles.add(listed._replace(position=f"{position} {number}", match="m1", ply=1))
        hardest = max(puzzles_of("bashni").values(), key=lambda puzzle: len(puzzle.line))
        taken = [{"puzzle": id, "solved": False, "at": "2026-01-01T00:00:00Z"} for id in puzzles_of("bashni")]
        path = f"/games/bashni/puzzles/{hardest.id}"
        yield Asked("POST /games/{game}/puzzles/attempts", "/games/bashni/puzzles/attempts", {"attempts": taken})
        yield Asked("POST /games/{game}/puzzles/{puzzle}/looks", f"{path}/looks", {})
        moves = {"moves": hardest.solver_moves}
        yield Asked("POST /games/{game}/puzzles/{puzzle}/attempts", f"{path}/attempts", moves)
        yield Asked("GET /games/{game}/puzzles", "/games/bashni/puzzles")

    def _fill_archive(self) -> None:
        """Let boris talk until no more about him can be collected at once."""
        person = self.services.people.person(self.boris.id)
        assert person is not None
        assert not takes_long(self.services, person)
        for number in count():
            request = Request(f"filling-{number}", "")
            self.services.chats.post(self.medium, person.id, f"{number} " + "ä" * 900, request)
            if takes_long(self.services, person):
                break
        self.services.store.client.xtrim(f"rk:chat:{{{self.medium}}}", number, approximate=False)
        assert not takes_long(self.services, person)

    def requests(self) -> Iterator[Asked]:
        wide = "?limit=200"
        for operation, path in _PLAIN.items():
            yield Asked(operation, path)
        yield Asked("GET /games/{game}/positions", f"/games/four-towers/positions?position={quote(CRAFTED)}")
        for place in ("/matches", "/me/matches", "/me/pending", "/me/queue"):
            yield Asked(f"GET {place}", place + wide)
        yield Asked("GET /players/{player}/matches", f"/players/anna/matches{wide}")
        deliveries = f"/me/webhooks/{self.webhook}/deliveries?limit={MAX_ATTEMPTS_LOGGED}"
        yield Asked("GET /me/webhooks/{webhook}/deliveries", deliveries)
        yield Asked("GET /bots", f"/bots?limit={MAX_BOTS_PER_PAGE}")
        yield from self._about_puzzles()
        yield from self._about_seeks()
        yield Asked("GET /me/room", "/me/room")
        yield Asked("PUT /me/room", "/me/room", {"concurrent": 100, "starts": "yes"})
        yield Asked("GET /players", "/players?room=true&seen_days=30&limit=50", name="boris")
        yield Asked("GET /players/{player}/record", "/players/anna/record")
        yield Asked("GET /players/{player}/tournaments", "/players/p0/tournaments?limit=50")
        yield Asked("GET /me/listing", "/me/listing")
        yield Asked("PUT /me/listing", "/me/listing", {"listed": True})
        for number in range(MAX_FOLLOWED - MAX_BOTS_PER_PAGE):
            self.services.follows.put(self.anna.id, f"p{number}")
        yield Asked("GET /me/follows", "/me/follows")
        yield Asked("PUT /me/follows/{player}", "/me/follows/boris", {})
        yield Asked("DELETE /me/follows/{player}", "/me/follows/boris")
        for path in ("", "/table.csv", "/bundle"):
            yield Asked(f"GET /tournaments/{{id}}{path}", f"/tournaments/{self.tournament}{path}")
        yield Asked("POST /tournaments/{id}/entries", f"/tournaments/{self.tournament}/entries")
        yield Asked("DELETE /tournaments/{id}/entries/me", f"/tournaments/{self.tournament}/entries/me")
        yield Asked("DELETE /tournaments/{id}", f"/tournaments/{self.tournament}")
        yield from self._about_matches()
        yield from self._written()

    def archives(self) -> Iterator[Asked]:
        """Yield the requests about all that is kept about somebody: at once, and too much for that."""
        yield Asked("GET /me/archive", "/me/archive", name="boris")
        for name in ("anna", "boris"):
            yield Asked("POST /me/archive", "/me/archive", {}, name)
        self.services.jobs.store_archive(self.anna.id, bytes(KEPT_ARCHIVE_BYTES))
        self.services.jobs.work.discard("", [self.anna.id])
        yield Asked("GET /me/archive", "/me/archive")

    def erasures(self) -> Iterator[Asked]:
        """Yield real erasures, each of which can be asked for once: at once, and of too much for that."""
        for name in ("boris", "anna"):
            yield Asked("POST /me/erasure", "/me/erasure", {"name": name}, name)

    def _about_matches(self) -> Iterator[Asked]:
        for part in ("", "legal-moves", "events", "stream", "chat", "disputes", "lines", "notes", "exploration"):
            path = f"/{part}".rstrip("/")
            for match_id in (self.long, self.crowded):
                yield Asked(f"GET /matches/{{match}}{path}", f"/matches/{match_id}{path}")
        for match_id, square in ((self.long, "cc1"), (self.long, "aa1"), (self.crowded, "e11"), (self.crowded, "g1")):
            yield Asked("GET /matches/{match}/squares/{square}", f"/matches/{match_id}/squares/{square}")
        yield Asked("GET /matches/{match}", f"/matches/{self.long}?ply=7")
        yield Asked("GET /matches/{match}/events", f"/matches/{self.long}/events?limit=1000")
        yield Asked("GET /matches/{match}/chat", f"/matches/{self.long}/chat?limit=500")
        for match_id in (self.long, self.medium):
            yield Asked("GET /matches/{match}/bundle", f"/matches/{match_id}/bundle")
            yield Asked("GET /matches/{match}/tlog-proof", f"/matches/{match_id}/tlog-proof")
            yield Asked("POST /matches/{match}/bundle", f"/matches/{match_id}/bundle", {})
            yield Asked("GET /matches/{match}/bundle", f"/matches/{match_id}/bundle?positions=true")
            yield Asked("GET /matches/{match}/receipt", f"/matches/{match_id}/receipt?version=1")
        yield Asked("GET /matches/{match}/review", f"/matches/{self.reviewed}/review")
        yield Asked("POST /matches/{match}/review", f"/matches/{self.reviewed}/review", {})
        line = {"ply": 0, "line": self._line(self.reviewed, 0, LINE_MOVES)}
        yield Asked("POST /matches/{match}/evaluations", f"/matches/{self.reviewed}/evaluations", line)
        yield Asked("POST /matches/{match}/animations", f"/matches/{self.reviewed}/animations", {"first": 0, "last": 1})
        recomputations = f"/matches/{self.answered}/recomputations"
        yield Asked("POST /matches/{match}/recomputations", recomputations, {"version": self.version})
        yield Asked("GET /matches/{match}/recomputations/{version}", f"{recomputations}/{self.version}")
        for match_id in (self.long, self.crowded):
            for ply in (0, 5):
                line = {"ply": ply, "line": self._line(match_id, ply, LINE_MOVES)}
                yield Asked("POST /matches/{match}/positions", f"/matches/{match_id}/positions", line)
        for kind, part in (("multi", "e6-e7"), *((f"rearrange-{number}", "e6-e7") for number in ("V", "IX"))):
            parts = {"kind": kind, "parts": [part] * 64}
            yield Asked("POST /matches/{match}/compositions", f"/matches/{self.crowded}/compositions", parts)

    def _written(self) -> Iterator[Asked]:
        for match_id in (self.long, self.crowded):
            tree = self._tree(match_id, TREE_MOVES)
            for grown in (tree, loosely_written(tree)):
                body = {"ply": 0, "tree": grown}
                yield Asked("PUT /matches/{match}/exploration", f"/matches/{match_id}/exploration", body)
        anna = f"/matches/{self.reviewed}/exploration"
        self.anna.put(anna, {"ply": 0, "tree": self._tree(self.reviewed, TREE_MOVES)})
        comment = {"comment": "ä" * 2000}
        yield Asked("PUT /matches/{match}/exploration/publication", f"{anna}/publication", comment)
        yield Asked("GET /matches/{match}/explorations", f"{anna}s")
        yield Asked("GET /matches/{match}/explorations/{player}", f"{anna}s/{self.anna.id}")
        yield Asked("DELETE /matches/{match}/exploration/publication", f"{anna}/publication")
        notes = {"text": "ä" * 10_000}
        yield Asked("PUT /matches/{match}/notes", f"/matches/{self.long}/notes", notes)
        yield Asked("POST /matches/{match}/chat", f"/matches/{self.long}/chat", {"text": "ä" * 900})
        new = {"game": "four-towers", "setup": "standard", "seats": [ME, OPEN]}
        yield Asked("POST /matches", "/matches", new)
        yield Asked("POST /matches/{match}/moves", f"/matches/{self.long}/moves", {"move": "a1" * 5000})
        turn = {"moves": ["e1-e2"] * MAX_MOVES_PER_SUBMISSION}
        yield Asked("POST /matches/{match}/moves", f"/matches/{self.crowded}/moves", turn)
        for operation in _WITH_BODIES:
            yield Asked(operation, self._path(operation), BLOATED)
        line = {"lines": self._tree(self.long, LINES_MOVES)}
        yield Asked("PUT /matches/{match}/lines", f"/matches/{self.long}/lines", line)
        yield Asked("PUT /me/bot", "/me/bot", {"games": CAPACITY_GAMES, "concurrent": 1})
        yield Asked("GET /me/bot", "/me/bot")
        yield Asked("DELETE /me/bot", "/me/bot")
        for operation in _LAST:
            yield Asked(operation, self._path(operation))

    def _path(self, operation: str) -> str:
        path = operation.split(" ")[1].replace("{match}", self.long)
        return path.replace("{player}", "boris").replace("{number}", "1")

    def _line(self, match_id: str, ply: int, moves: int) -> list[str]:
        return list(self.services.matches.load(match_id).state.play.moves[ply : ply + moves])

    def _tree(self, match_id: str, moves: int) -> list[dict[str, Any]]:
        """Return a tree: the moves that were played, and beside each of them others that were possible."""
        state = self.services.matches.load(match_id).state
        game, grown, beside = GAMES[state.game], list[dict[str, Any]](), moves // 60
        for ply in range(59, -1, -1):
            position = state.play.history[ply]
            others = (game.format_move(position, move) for move in game.legal_moves(position))
            here = [name for name in others if name != state.play.moves[ply]][: beside - 1]
            grown = [{"move": state.play.moves[ply], "next": grown}, *({"move": name} for name in here)]
        return grown

    def pages(self) -> Iterator[Asked]:
        for path in (
            f"/matches/{self.long}",
            f"/matches/{self.long}/record",
            f"/matches/{self.long}/board.png",
            f"/matches/{self.medium}/record?from=200",
            "/checkpoint",
            f"/tile/0/000.p/{self.leaves}",
            f"/tile/entries/000.p/{self.leaves}",
        ):
            yield Asked("page", path)
        for match_id in (self.long, self.crowded):
            for path in ("/plies", "/plies?from=7&to=37"):
                yield Asked("page", f"/matches/{match_id}{path}")
        for path in ("/board.svg", "/board.svg?ply=7&inline=1", "/small.svg", "/board.png", "/case", ""):
            yield Asked("page", f"/matches/{self.crowded}{path}")
        for path in (
            "/",
            "/lobby",
            "/matches",
            "/matches/new",
            "/games/bashni",
            "/games/four-towers/pieces",
            "/games/tower-game/small.svg",
            "/players/anna",
            "/players/anna/ratings/bashni-2",
            "/leaderboards",
            "/games/four-towers/first-steps/move",
            "/games/four-towers/first-steps/queen/2",
            "/games/tower-game/strategy",
            "/games/four-towers/strategy/direct",
            "/people",
            "/people?room=true",
            "/games/bashni/puzzles",
            "/games/bashni/puzzles/today",
            *(
                f"/games/{game_id}/puzzles/{next(iter(puzzles_of(game_id)))}"
                for game_id in GAMES
                if puzzles_of(game_id)
            ),
            "/seeks",
            f"/seeks/{self.seeks[0]}",
            "/tournaments",
            "/tournaments/new",
            f"/tournaments/{self.tournament}",
            f"/tournaments/{self.tournament}/feed.atom",
            f"/tournaments/{self.tournament}/dates.ics",
            "/notices",
            "/settings/notices",
            f"/settings/webhooks/{self.webhook}",
            "/games/four-towers/rules",
            "/games/tower-game/board.png",
        ):
            yield Asked("page", path)
        for match_id in (self.long, self.crowded):
            yield Asked("page", f"/matches/{match_id}/feed.atom")
        secret = self.services.feed_addresses.begin(self.anna.id, "a" * 32, self.services.now())
        for path in ("deadlines.ics", "matches.atom", f"matches/{self.long}.atom"):
            yield Asked("page", f"/feeds/{secret}/{path}")

    def cost(self, asked: Asked, repeats: int, enough: float = 0.0) -> Cost:
        """Return the cost of a request ``repeats`` times, or until it is below ``enough`` for the first time.

        Without ``enough`` it is the time measured; with it, a longer time is divided by the slowness of the machine.

        Nothing about matches is remembered from the request before.
        """
        method = "GET" if asked.operation == "page" else asked.operation.split(" ")[0]
        outside = asked.operation == "page" or asked.path.startswith("/.well-known/")
        path = asked.path if outside else API + asked.path
        client = getattr(self, asked.name).client
        taken, status = [], 0
        for _ in range(repeats):
            self.services.matches._cache.clear()
            standalone._render.cache_clear()
            represent.cache_clear()
            began = time.thread_time()
            body = {} if asked.body is None else {"json": asked.body}
            answered = client.open(path, method=method, headers=AS_BROWSERS, **body)
            answered.get_data()
            taken.append(1000 * (time.thread_time() - began))
            status = answered.status_code
            if enough and taken[-1] > enough:
                taken[-1] /= slowness()
            if taken[-1] < enough:
                break
        return Cost(asked, tuple(taken), status)


_PLAIN: dict[str, str] = table(__file__, "operations that read little")
"""Operations that read little or have nothing to do here: the path that is asked for, by operation."""

_WITH_BODIES: list[str] = table(__file__, "operations with bodies")
"""Operations that read a body: each is sent one in which everything is wrong."""

_LAST = (
    "DELETE /matches/{match}/chat/openness",
    "DELETE /matches/{match}/explorations/{player}",
    "DELETE /matches/{match}/lines",
    "DELETE /sessions/current",
    "DELETE /sessions",
)
"""What comes after all else, for it takes away what others are about."""
