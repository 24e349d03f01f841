"""Record the committed store and the bundles beside it again: ``python -m tests.stores``.

It plays through the API on a virtual clock. Passwords are salted and keys are drawn by the system, so that each run
makes another store. Until 0.1.0 is released a change of stored forms records it again; later ones never do.
"""

import base64
import gzip
import json
import tempfile
from pathlib import Path
from random import Random
from typing import Any

from api.services import EXTENSION, Services
from events.proof.public_keys import key_set
from events.runtime.connections import StoreClient
from events.runtime.keys import TimeKeys
from events.runtime.wall_clock import rfc3339
from events.store.incidents import Incident
from tests.support.callers import ME, OPEN, Caller, app_on, invited, opponent
from tests.support.server import RealServer
from tests.support.stepped_installation import SteppedInstallation, drain
from workers.composition import make_opponents

DIRECTORY = Path(__file__).parent
PREFIX, SHARDS = "rk:", 16

HOUR = 3_600_000
DAY = 24 * HOUR
START = 1_767_268_800_000  # 2026-01-01T12:00:00Z
STEP = 60_000


class World:
    def __init__(self, server: RealServer) -> None:
        self.now = START
        self.app = app_on(server.url, now=self.tick)
        self.services: Services = self.app.extensions[EXTENSION]
        self.keys: dict[str, str] = {}
        self.shop = SteppedInstallation(server.url, prefix=PREFIX, shards=SHARDS)
        self.count = 0

    def tick(self) -> int:
        """Return the time, which goes on a little whenever somebody looks."""
        self.now += 7
        return self.now

    def wait(self, duration: int) -> None:
        """Let time pass while the clocks are kept: a beat each minute would be the same."""
        self.now += duration
        self.services.store.client.set(TimeKeys(PREFIX).heartbeat, self.now)

    def ok(self, answer: Any) -> Any:
        """Return the answer, which must be a success; a minute passes."""
        assert answer.status_code < 300, answer.text
        self.wait(STEP)
        return answer.json

    def post(self, caller: Caller, path: str, body: Any = None) -> Any:
        self.count += 1
        return self.ok(caller.post(path, body, Idempotency_Key=f"key-{self.count}"))

    def put(self, caller: Caller, path: str, body: Any) -> Any:
        return self.ok(caller.put(path, body))

    def move(self, caller: Caller, match: str, move: str | None = None) -> None:
        """Move, at random unless said otherwise."""
        if move is None:
            moves = self.ok(caller.get(f"/matches/{match}/legal-moves"))["legal_moves"]
            move = Random(f"{match}{self.count}").choice(sorted(moves))
        self.post(caller, f"/matches/{match}/moves", {"move": move})

    def begin(self, game: str, setup: str, people: list[Caller], **more: Any) -> str:
        host, *others = people
        seats = [ME, *(invited(each.name) for each in others)]
        match = self.post(host, "/matches", {"game": game, "setup": setup, "seats": seats, **more})["id"]
        for each in others:
            self.post(each, f"/matches/{match}/joins")
        return str(match)

    def play(self, match: str, people: list[Caller], plies: int) -> None:
        for _ in range(plies):
            shown = self.ok(people[0].get(f"/matches/{match}"))
            if shown["status"] != "playing":
                return
            self.move(people[shown["to_move"]], match)

    def answer(self, match: str) -> None:
        while make_opponents(self.shop.parts).answer(match) is not None:
            self.wait(STEP)

    def relay(self) -> None:
        shop = self.shop
        shop.now = self.now
        consumers = [shop.projections(), shop.opponents(), shop.rating_requests(), shop.clocks(), shop.logged_acts()]
        drain(*consumers)
        for match in dict.fromkeys(shop.answers):
            self.answer(match)
        drain(*consumers)
        shop.rate_all()
        shop.answers.clear()


def populate(world: World) -> dict[str, Any]:
    """Do a little of everything; return what the test has to know."""
    services, administration = world.services, world.services.administration
    anna, boris, clara, dmitri = (Caller(world.app).sign_up(name) for name in ("anna", "boris", "clara", "dmitri"))
    judge = Caller(world.app).sign_up("judith")
    guest = Caller(world.app).play_as_guest()
    world.wait(STEP)
    administration.grant(judge.id, "arbiter", "console")
    administration.grant(dmitri.id, "operator", "console")
    administration.grant(clara.id, "arbiter", "console")
    token = world.post(anna, "/me/tokens", {"label": "a bot"})["secret"]
    calendar = {"time_zone": "Europe/Berlin", "free_days": [6], "auto_vacation": True, "plays_forced": True}
    world.put(anna, "/me/calendar", calendar)
    world.put(boris, "/me/calendar", {**calendar, "time_zone": "Asia/Tokyo", "free_days": [], "auto_vacation": False})
    world.relay()
    names: dict[str, str] = {}

    # Bashni: played to its end, rated, talked about, with a rematch; one that runs, with conditional moves.
    match = names["finished"] = world.begin("bashni", "start", [anna, boris], rated=True)
    world.move(anna, match, "c3-d4")
    world.post(anna, f"/matches/{match}/chat", {"text": "Good luck!"})
    world.post(boris, f"/matches/{match}/chat", {"text": "You too. <b>Have fun</b>"})
    world.put(boris, f"/matches/{match}/notes", {"text": "Keep the centre."})
    world.play(match, [anna, boris], 400)
    assert world.ok(anna.get(f"/matches/{match}"))["status"] == "finished"
    names["rematch"] = world.post(boris, f"/matches/{match}/rematches")["id"]
    world.post(anna, f"/matches/{names['rematch']}/joins")
    world.play(names["rematch"], [boris, anna], 3)
    world.post(boris, f"/matches/{match}/chat/1/reports", {"reason": "Rude."})

    match = names["running"] = world.begin("bashni", "start", [anna, boris], rated=True)
    world.move(anna, match, "c3-d4")
    world.move(boris, match, "b6-a5")
    world.post(anna, f"/matches/{match}/time-gifts", {"seat": 1, "seconds": 3600})
    world.put(
        boris,
        f"/matches/{match}/lines",
        {"lines": [{"move": "d4-c5", "next": [{"move": "d6xb4", "next": [{"move": "a3xc5"}]}]}], "forced": True},
    )
    world.put(anna, f"/matches/{match}/notes", {"text": "A note of anna's."})
    tree = [{"move": "d4-c5", "next": [{"move": "d6xb4"}]}, {"move": "d4-e5"}]
    world.put(anna, f"/matches/{match}/exploration", {"ply": 2, "tree": tree})
    world.post(anna, f"/matches/{match}/chat", {"text": "A long one."})

    # Towers: four people, one resigns, two agree to a draw; two people, private, with a takeback.
    people = [anna, boris, clara, dmitri]
    match = names["four"] = world.begin("towers", "four-player", people, rated=True)
    world.play(match, people, 6)
    world.post(anna, f"/matches/{match}/draw-offers")
    for each in people[1:]:
        world.post(each, f"/matches/{match}/draw-acceptance")
    match = names["private"] = world.begin(
        "towers", "two-player", [clara, anna], private=True,
        terms={"control": "days-per-move", "bank": 259_200, "takebacks": True},
    )  # fmt: skip
    world.play(match, [clara, anna], 4)
    world.post(anna, f"/matches/{match}/takeback-requests")
    world.post(clara, f"/matches/{match}/takeback-acceptance")
    world.post(clara, f"/matches/{match}/draw-offers")

    # The tower game against an opponent; Fourplay with an army that is set up piece by piece; Four Towers, composed.
    match = names["opponent"] = world.post(
        anna, "/matches", {"game": "tower-game", "setup": "original", "seats": [ME, opponent(2)], "rated": True}
    )["id"]
    for _ in range(2):
        world.move(anna, match)
        world.answer(match)
    world.post(anna, f"/matches/{match}/resignation")
    match = names["left"] = world.begin("fourplay", "standard", people, rated=True)
    world.play(match, people, 5)
    world.post(dmitri, f"/matches/{match}/resignation")
    match = names["draft"] = world.begin("fourplay", "draft", people)
    world.play(match, people, 10)
    match = names["opponents"] = world.post(
        boris, "/matches", {"game": "fourplay", "setup": "standard", "seats": [ME, *[opponent(1)] * 3]}
    )["id"]
    world.move(boris, match)
    world.answer(match)
    match = names["composed"] = world.begin("four-towers", "standard", [anna, boris])
    for ply, move in enumerate(["b3+d2", "k8-k7", "d2-e4", "i8-i7", "e4-d5", "j8-j7", "I:Pa4,Rb3,Pb4,Pc3,Bc4"]):
        world.move((anna, boris)[ply % 2], match, move)
    world.relay()

    # Cases: ruled and appealed; frozen and annulled; one that waits.
    reason = {"reason": "So the record shows.", "rule": "BA-02"}
    match = names["ruled"] = world.begin("bashni", "start", [anna, boris], rated=True)
    world.play(match, [anna, boris], 2)
    world.post(boris, f"/matches/{match}/disputes", {"ply": 2, "ground": "clock", "statement": "My clock ran."})
    world.post(anna, f"/matches/{match}/statements", {"statement": "It did not."})
    world.post(judge, f"/matches/{match}/rulings", {"ruling": "take-back", "ply": 1, **reason})
    world.post(anna, f"/matches/{match}/appeals", {"statement": "Really not."})
    world.post(clara, f"/matches/{match}/rulings", {"ruling": "let-stand", **reason})
    match = names["annulled"] = world.begin("towers", "two-player", [anna, boris])
    world.play(match, [anna, boris], 1)
    world.post(judge, f"/matches/{match}/cases", {"ply": 1, "ground": "conduct", "statement": "I look at this."})
    world.post(judge, f"/matches/{match}/freezing", {"frozen": True})
    world.post(clara, f"/matches/{match}/rulings", {"ruling": "annul", **reason})
    match = names["disputed"] = world.begin("tower-game", "alternate", [boris, anna], rated=True)
    world.play(match, [boris, anna], 3)
    world.post(anna, f"/matches/{match}/disputes", {"ply": 3, "ground": "repetition", "statement": "A third time."})

    # A flag that falls, an outage, a vacation; a match that waits for players; a guest; blocks; an erasure.
    match = names["flagged"] = world.begin(
        "bashni",
        "start",
        [clara, guest],
        terms={"control": "days-per-move", "bank": 86_400, "vacations": False, "weekends": False},
    )
    world.play(match, [clara, guest], 2)
    world.relay()
    world.wait(2 * DAY)
    heartbeat = services.heartbeat
    world.now += 3 * HOUR
    heartbeat.beat(world.now, 0)
    shop = world.shop
    shop.now = world.now
    shop.ticker().tick()
    assert world.ok(clara.get(f"/matches/{match}"))["status"] == "finished", match
    world.post(boris, "/me/vacations", {"until": rfc3339(world.now + 3 * DAY)})
    names["open"] = world.post(anna, "/matches", {"game": "bashni", "setup": "start", "seats": [ME, OPEN]})["id"]
    names["invited"] = world.post(
        boris, "/matches", {"game": "towers", "setup": "two-player", "seats": [ME, invited("anna")]}
    )["id"]
    world.put(anna, "/me/blocks/dmitri", {})
    world.put(anna, "/me/mutes/clara", {})
    gone = Caller(world.app).sign_up("gone")
    world.wait(STEP)
    names["of one who is gone"] = world.begin("bashni", "start", [anna, gone])
    world.play(names["of one who is gone"], [anna, gone], 2)
    world.post(gone, "/me/erasure", {"name": "gone"})
    services.incidents.record(Incident("power-1", world.now, "The power failed.", lost={names["ruled"]: 30}))

    # Two days of checkpoints, and a little that the workers have not seen yet.
    world.relay()
    services.checkpoints.sign(world.tick())
    world.wait(DAY)
    services.checkpoints.sign(world.tick())
    world.relay()
    world.post(anna, f"/matches/{names['rematch']}/draw-offers")
    return {
        "now": world.now + STEP, "matches": names, "session": anna.client.get_cookie("rookery_session").value,
        "token": token, "people": {each.name: each.id for each in (anna, boris, clara, dmitri, judge, guest)},
    }  # fmt: skip


LEFT_OUT = ("rk:limits:", "rk:made:", ":acts:")
"""Parts of the names of keys that count requests, or hold what is computed from the events."""


def text(value: bytes) -> Any:
    """Return bytes as JSON can hold them: text, or a list with their base64."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return [base64.b64encode(value).decode()]


def texts(values: Any) -> list[Any]:
    """Return the bytes of pairs, one after the other."""
    return [text(part) for pair in values for part in pair]


def dumped(client: Any) -> list[Any]:
    """Return every key as ``tests.support.dumps.restore`` reads it."""
    keys = []
    for key in sorted(client.scan_iter(count=1000)):
        name, kind, expires_in_ms = key.decode(), client.type(key).decode(), client.pttl(key)
        if not any(part in name for part in LEFT_OUT):
            # The years of a committed store: a key that expires is kept for as long as tests read it.
            keys.append([name, kind, None if expires_in_ms == -1 else 100 * 365 * DAY, content_of(client, key, kind)])
    return keys


def content_of(client: Any, key: bytes, kind: str) -> Any:
    match kind:
        case "string":
            return text(client.get(key))
        case "hash":
            return texts(sorted(client.hgetall(key).items()))
        case "list":
            return [text(item) for item in client.lrange(key, 0, -1)]
        case "set":
            return sorted(text(member) for member in client.smembers(key))
        case "zset":
            return [[repr(score), text(member)] for member, score in client.zrange(key, 0, -1, withscores=True)]
    groups = client.xinfo_groups(key)
    assert not any(group["pending"] for group in groups), key
    return {
        "entries": [[id.decode(), texts(fields.items())] for id, fields in client.xrange(key)],
        "last": client.xinfo_stream(key)["last-generated-id"].decode(),
        "groups": {group["name"].decode(): group["last-delivered-id"].decode() for group in groups},
    }


def main() -> None:
    """Write the store, the keys that it signs with, and some bundles."""
    with tempfile.TemporaryDirectory() as directory:
        server = RealServer(Path(directory))
        try:
            world = World(server)
            facts = populate(world)
            client: StoreClient = world.services.store.client
            packed = json.dumps({"facts": facts, "keys": dumped(client)}, indent=0, ensure_ascii=False).encode()
            reader = Caller(app_on(server.url, now=lambda: facts["now"]))
            assert reader.post("/sessions", {"name": "anna", "password": "the secret of anna"}).status_code < 300
            for name in ("finished", "ruled", "opponent", "private", "composed", "draft"):
                bundle = reader.get(f"/matches/{facts['matches'][name]}/bundle")
                assert bundle.status_code == 200, (name, bundle.text)
                (DIRECTORY / f"{name}.json").write_bytes(bundle.data)
            public = json.dumps(key_set(world.services.keys.known()))
        finally:
            server.close()
    (DIRECTORY / "keys.json").write_text(f"{public}\n")
    (DIRECTORY / "store.json.gz").write_bytes(gzip.compress(packed, 9, mtime=0))
    print(f"{DIRECTORY}: {len(packed):,} bytes before compression")


main()
