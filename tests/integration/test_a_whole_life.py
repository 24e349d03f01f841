"""Everything that somebody leaves in the store in a whole life: in the archive before, and gone after an erasure."""

import io
import json
import re
import zipfile
from hashlib import sha256
from typing import Any

import pytest

from api.access.limits import Limits
from api.services import Services
from domain.match.terms import DAY
from events.runtime.wall_clock import now_ms, rfc3339
from tests.support.callers import ME, OPEN, Caller, app_on, invited, opponent, started
from tests.support.chains import verify_all
from tests.support.projected import project
from tests.support.server import RealServer
from tests.support.stored import stored
from tests.support.tables import table

NAME, ZONE = "Zebulon-Quill", "Antarctica/Troll"
WORDS = {
    kind: f"{kind} words of nobody else"
    for kind in ("note", "chat", "statement", "reason", "rule", "proposal", "label", "appeal", "case", "report")
}


def ok(answer: Any) -> Any:
    assert answer.status_code < 300, answer.text
    return answer


class Life:
    """A person who has done everything once, ``me``, with all read models as the workers make them."""

    def __init__(self, url: str) -> None:
        app = self.app = app_on(url, Limits())
        self.services: Services = app.extensions["rookery"]
        self.other, self.third, self.me = (Caller(app).sign_up(name) for name in ("boris", "carla", NAME))
        credentials = {"name": NAME, "password": f"the secret of {NAME}"}
        assert Caller(app).post("/sessions", {**credentials, "password": "not the one"}).status_code >= 400
        ok(Caller(app).post("/sessions", credentials))
        ok(self.me.post("/me/tokens", {"label": WORDS["label"]}))
        ok(
            self.me.put(
                "/me/calendar", {"time_zone": ZONE, "free_days": [6], "auto_vacation": True, "plays_forced": True}
            )
        )
        self.play()
        self.dispute()
        self.judge()
        ok(self.me.post("/me/vacations", {"until": rfc3339(now_ms() + 3 * DAY)}))
        ok(self.me.get("/me/archive"))
        self.project()

    def play(self) -> None:
        """Play matches of every kind, with notes, lines and talk."""
        me, other = self.me, self.other
        match_id = self.match = started(me, other)
        ok(me.move(match_id))
        ok(
            me.put(
                f"/matches/{match_id}/lines",
                {"lines": [{"move": "h6-g5", "next": [{"move": "g3-h4"}]}], "forced": True},
            )
        )
        ok(me.put(f"/matches/{match_id}/notes", {"text": WORDS["note"]}))
        ok(me.put(f"/matches/{match_id}/exploration", {"ply": 0, "tree": [{"move": "a3-b4"}]}))
        ok(me.post(f"/matches/{match_id}/chat", {"text": WORDS["chat"]}, Idempotency_Key="1"))
        ok(other.post(f"/matches/{match_id}/chat", {"text": "Hm."}))
        ok(me.post(f"/matches/{match_id}/chat/2/reports", {"reason": WORDS["report"]}))
        ok(me.put("/me/mutes/carla", {}))
        ok(me.put("/me/follows/carla", {}))
        ok(me.put(f"/matches/{match_id}/chat/openness", {}))
        ok(me.post(f"/matches/{match_id}/time-gifts", {"seat": 1, "seconds": 3600}))
        for first, second, private in ((me, other, False), (other, me, True)):
            rated = started(first, second, rated=True, private=private)
            ok(first.move(rated))
            ok(second.move(rated))
            ok(other.post(f"/matches/{rated}/resignation"))
            ok(me.post(f"/matches/{rated}/rematches"))
            ok(me.get(f"/matches/{rated}/bundle"))
        ok(me.move(me.create(ME, opponent(1))))
        me.create(ME, OPEN)
        me.create(ME, invited("boris"), private=True)
        other.create(ME, invited(NAME))

    def dispute(self) -> None:
        me, match_id = self.me, self.match
        self.services.administration.grant(self.third.id, "arbiter", "console")
        said = {"ply": 1, "ground": "conduct", "statement": WORDS["statement"]}
        ok(me.post(f"/matches/{match_id}/disputes", said, Idempotency_Key="2"))
        ok(self.third.post(f"/matches/{match_id}/rulings", {"ruling": "let-stand", "reason": "So it is.", "rule": "1"}))
        ok(me.post(f"/matches/{match_id}/appeals", {"statement": WORDS["appeal"]}))

    def judge(self) -> None:
        """Open a case about others, rule on it, and propose another ruleset."""
        me, judged = self.me, started(self.other, self.third)
        self.services.administration.grant(me.id, "arbiter", "console")
        ok(me.post(f"/matches/{judged}/cases", {"ply": 0, "ground": "clock", "statement": WORDS["case"]}))
        ruling = {"ruling": "let-stand", "reason": WORDS["reason"], "rule": WORDS["rule"]}
        ok(me.post(f"/matches/{judged}/rulings", ruling, Idempotency_Key="3"))
        ok(me.post(f"/matches/{judged}/ruleset-proposals", {"ruleset": 2, "reason": WORDS["proposal"]}))

    def project(self) -> None:
        services = self.services
        ratings = services.ratings
        for match in project(services):
            ratings.rate(match)

    def archive(self) -> dict[str, str]:
        with zipfile.ZipFile(io.BytesIO(ok(self.me.get("/me/archive")).data)) as files:
            return {name: files.read(name).decode() for name in files.namelist()}

    def keys_of(self, *families: str) -> list[str]:
        return [key for key, _ in stored(self.services.store.client) if family(key).startswith(families)]

    def keys_with(self, *what: str) -> dict[str, set[str]]:
        """Return the families of keys of the store that hold any of ``what``, with what of it each holds."""
        found: dict[str, set[str]] = {}
        for key, content in stored(self.services.store.client):
            text = key + content.decode(errors="replace")
            if held := {each for each in what if each.lower() in text.lower()}:
                found.setdefault(family(key), set()).update(held)
        return found


PLACES: dict[str, str] = table(__file__, "places of what is kept")
"""The keys of the store that know of a person, and the file of the archive that holds what they know."""

STAYING = {
    "chat:{MATCH}",  # that something was said
    "{administration}:log",
    "{administration}:once",
    "{cases}:unconfirmed",  # for an hour
    *(f"{{people}}:erasures:{of}" for of in (":due", ":of:", "entry:PERSON")),  # for a minute
    "made:{MATCH}:bundle",  # for a day; what it is made of stays
    *(place for place in PLACES if place.startswith(("{ratings}:", "{SHARD}:"))),
}
"""The keys that know the opaque id of somebody who was erased, and nothing else."""


def family(key: str) -> str:
    """Return the kind of a key: with words in the places of ids, names, secrets and numbers."""
    for found, word in (
        ("^rk:", ""),
        (r"\bm[a-z2-7]{16}\b", "MATCH"),
        (r"\bp[a-z2-7]{16}\b", "PERSON"),
        (r"\bopponent-\d\b", "OPPONENT"),
        (r"\bs\d\d\b", "SHARD"),
        ("[0-9a-f]{64}", "SECRET"),
        (":bundle:.*", ":bundle"),
        ("^{people}:look:.*", "{people}:look:LOOK"),
        (NAME.lower(), "NAME"),
        (r"\bday:\d+", "day:DAY"),
        (r"^{ratings}:[a-z-]+-\d\b", "{ratings}:POOL"),
    ):
        key = re.sub(found, word, key)
    return key


@pytest.fixture
def life(server: RealServer) -> Life:
    return Life(server.url)


def test_whatever_is_kept_about_a_person_is_in_the_archive(life: Life) -> None:
    archive = life.archive()
    kept = life.keys_with(life.me.id, NAME, ZONE, *WORDS.values())
    assert {place for place in kept if place not in PLACES} == set(), "say where the archive has what these keys hold"
    for place, held in kept.items():
        file = "".join(text for name, text in archive.items() if name.startswith(PLACES[place]))
        assert file, place
        for what in held - {life.me.id}:
            assert what in file, (place, what)
    assert len(kept) > 25
    own = json.loads(archive["person.json"])
    assert len(own["sessions"]) == 2
    assert all(session["created_at"] < now_ms() < session["expires_at"] for session in own["sessions"])
    secrets = re.findall("[0-9a-f]{64}", " ".join(life.keys_of("{people}:session:", "{people}:token:")))
    assert len(secrets) >= 3
    assert not any(secret in text for secret in secrets for text in archive.values())


def test_the_archive_has_the_salts_by_which_digests_in_events_are_computed_again(life: Life) -> None:
    archive = life.archive()
    said = [each for texts in json.loads(archive["statements.json"]).values() for each in texts]
    assert {each["text"] for each in said} == {
        WORDS[kind] for kind in ("statement", "appeal", "case", "reason", "rule", "proposal")
    }
    events = "".join(text for name, text in archive.items() if name.startswith(("matches/", "cases/")))
    for each in said:
        assert sha256((each["salt"] + each["text"]).encode()).hexdigest() == each["sha256"]
        assert each["sha256"] in events


def test_the_archive_has_every_rating_and_what_changed_it(life: Life) -> None:
    (pool,) = json.loads(life.archive()["ratings.json"]).values()
    history = life.me.get(f"/players/{life.me.id}/ratings/bashni-2/history").json["items"]
    assert [change["after"] for change in pool["changes"]] == [change["after"] for change in history]
    assert (len(history), pool["matches"]) == (2, 2)


def test_after_an_erasure_the_store_knows_an_opaque_id_and_no_name_zone_or_word(life: Life) -> None:
    ok(life.me.post("/me/erasure", {"name": NAME}))
    life.project()
    assert life.keys_with(NAME, NAME[:7], ZONE, *WORDS.values()) == {}
    assert set(life.keys_with(life.me.id)) <= STAYING
    assert verify_all(life.services.store) == []
