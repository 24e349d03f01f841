"""The audit of the log of administration: its chain and its end, against roles, matches and checkpoints."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from events.people.administration import ACTS, Administration, AdministrativeAct
from events.proof.checkpoints import Checkpoint
from events.proof.log_audit import LogFinding
from events.proof.log_growth import CHECKPOINT_SIGNED
from events.runtime.errors import StoreUnavailableError
from events.store.contract import GENESIS, Head
from events.store.envelope import Envelope
from events.store.redis import RedisStore

LAG_MS = 60_000
"""An act of an arbiter may reach the log this much later."""


class AuditedAdministration(NamedTuple):
    """The number of audited entries, their faults, and the events (match, version, digest) they name."""

    entries: int
    findings: list[LogFinding]
    named: frozenset[tuple[str, int, str]]


class RecordedAct(NamedTuple):
    """An act of an arbiter as an event of a match records it; ``digest`` is that of the event."""

    match: str
    version: int
    digest: str
    type: str
    arbiter: str
    at: int


def recorded_act(event: Envelope) -> RecordedAct:
    """Return the act that ``event`` records."""
    return RecordedAct(event.stream, event.version, event.id, event.type, event.data["arbiter"], event.at)


def audit_administration(
    store: RedisStore,
    administration: Administration,
    checkpoints: Mapping[str, Checkpoint],
    saved: Sequence[Checkpoint] = (),
) -> AuditedAdministration:
    """Return the findings in the log, compared with the checkpoints of the store and ``saved`` ones."""
    return _Audit(store, administration, checkpoints, saved).run()


def unlogged(audited: AuditedAdministration, acts: Iterable[RecordedAct], now: int) -> Iterator[LogFinding]:
    """Yield which of the ``acts`` of matches are not in the log, but for the latest before ``now``."""
    for act in acts:
        if act.at <= now - LAG_MS and (act.match, act.version, act.digest) not in audited.named:
            place = f"{act.match} at version {act.version}"
            yield LogFinding(place, f"{act.type} is not in the log of administration", act.match)


class _Audit:
    def __init__(
        self,
        store: RedisStore,
        administration: Administration,
        checkpoints: Mapping[str, Checkpoint],
        saved: Sequence[Checkpoint],
    ) -> None:
        self._store, self._administration, self._checkpoints = store, administration, checkpoints
        self._findings: list[LogFinding] = []
        self._named: set[tuple[str, int, str]] = set()
        self._roles: dict[str, set[str]] = {}
        self._signed: set[str] = set()
        self._heads: dict[int, list[tuple[str, str]]] = {}
        places = [(f"checkpoint {day}", checkpoint) for day, checkpoint in checkpoints.items()]
        for place, checkpoint in [*places, *((f"kept checkpoint {saved_one.day}", saved_one) for saved_one in saved)]:
            number, digest = checkpoint.administration
            self._heads.setdefault(number, []).append((place, digest))

    def run(self) -> AuditedAdministration:
        last = Head(0, GENESIS)
        try:
            self._check_head(last)
            for entry in self._administration.entries():
                last = Head(entry.number, entry.digest)
                if entry.fault is not None:
                    self._add(f"entry {entry.number} of the log of administration", entry.fault)
                if entry.act is not None:
                    self._act(entry.act)
                self._check_head(last)
            head = self._administration.head()
            if head is None and last.version:
                self._add("the log of administration", "the head that stands beside it is missing")
            elif head is not None and head != last:
                reason = f"it ends with entry {last.version}, and the head beside it is that of entry {head.version}"
                self._add("the log of administration", reason)
            self._check_roles()
        except StoreUnavailableError:
            raise
        except Exception as error:
            self._add("the log of administration", f"it cannot be read: {error}")
        for number, places in self._heads.items():
            for place, _ in places if number > last.version else ():
                reason = f"it has the log of administration up to entry {number}, and that ends with {last.version}"
                self._add(place, reason)
        for day in self._checkpoints:
            if self._signed and min(self._signed) < day < max(self._signed) and day not in self._signed:
                self._add(f"checkpoint {day}", "the log of administration does not know that it was signed")
        return AuditedAdministration(last.version, self._findings, frozenset(self._named))

    def _add(self, place: str, reason: str, match_id: str | None = None) -> None:
        self._findings.append(LogFinding(place, reason, match_id))

    def _check_head(self, head: Head) -> None:
        for place, digest in self._heads.get(head.version, ()):
            if digest != head.digest.hex():
                self._add(place, f"the log of administration has another entry {head.version} than when it was signed")

    def _act(self, act: AdministrativeAct) -> None:
        facts = act.facts
        if act.act in ("role-granted", "role-revoked"):
            held = self._roles.setdefault(facts["person"], set())
            (held.add if act.act == "role-granted" else held.discard)(facts["role"])
        elif act.act == CHECKPOINT_SIGNED:
            self._checkpoint(act)
        elif act.act in ACTS.values():
            self._event(act)

    def _event(self, act: AdministrativeAct) -> None:
        match_id, version, digest = act.facts["match"], act.facts["version"], act.facts["digest"]
        self._named.add((match_id, version, digest))
        try:
            events = self._store.read(match_id, version - 1, 1)
        except StoreUnavailableError:
            raise
        except Exception:
            # The chain of this match is a finding of its own.
            events = []
        if not events or events[0].id != digest:
            reason = f"entry {act.number} of the log of administration has it with the digest {digest}"
            self._add(f"{match_id} at version {version}", reason, match_id)

    def _checkpoint(self, act: AdministrativeAct) -> None:
        day = act.facts["day"]
        self._signed.add(day)
        stored = self._checkpoints.get(day)
        if stored is None:
            self._add(f"checkpoint {day}", "it is missing, and the log of administration knows that it was signed")
        elif (stored.size, stored.root) != (act.facts["size"], act.facts["root"]):
            self._add(f"checkpoint {day}", "the log of administration knows it with another number of leaves or root")

    def _check_roles(self) -> None:
        logged = {person: frozenset(roles) for person, roles in self._roles.items() if roles}
        held = self._administration.holders()
        for person in sorted(logged.keys() | held.keys()):
            given, has = logged.get(person, frozenset()), held.get(person, frozenset())
            if given != has:
                reason = f"the log of administration gives {_roles(given)}, and {_roles(has)} stand in the store"
                self._add(f"roles of {person}", reason)


def _roles(roles: frozenset[str]) -> str:
    return ", ".join(sorted(roles)) or "none"
