"""Verification of a bundle, step by step and offline: it takes the bytes of the bundle and public keys only."""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from domain.contest.tournament.words import standing_in_words
from domain.games import find_ruleset
from domain.match.authority import Authority
from domain.match.clock_words import in_words as clock_in_words
from domain.match.enums import EndReason
from domain.match.events import FlagFell
from domain.match.state import MatchState
from events.proof.audit import OpponentAnswer, Record, audit
from events.proof.bundle import KIND, Bundle, Facts, derive_facts, digest_of_inclusion, read_bundle, seed_is_withheld
from events.proof.documents import DocumentError, difference
from events.proof.player_signatures import find_signed_acts, in_words
from events.proof.policies import Policy
from events.proof.public_keys import KeySet
from events.proof.tournaments import check_tournament
from events.runtime.wall_clock import rfc3339
from events.store.chain import verified_events
from events.store.contract import DamagedStreamError
from events.store.converter import write_value
from events.store.kinds import is_match

BEYOND = "beyond the events"
"""The step that lists facts that no event can show: it is never proved, which is not a fault."""


class Step(NamedTuple):
    """One step of a verification: its name, its finding, and whether that is proved."""

    name: str
    finding: str
    proved: bool = True


class FaultyBundleError(DocumentError):
    """The first fault of a bundle, and its ``step``; ``path`` as other verifiers name it (``docs/proof/bundle.md``)."""

    def __init__(self, step: str, path: str, reason: str) -> None:
        super().__init__(place_in_words(path), reason)
        self.step = step
        self.path = path


def verify(
    packed: bytes,
    keys: KeySet | None = None,
    recompute: bool = False,
    *,
    rules: bool = True,
    policy: Policy | None = None,
) -> Iterator[Step]:
    """Yield the steps of the proof of a bundle; raises FaultyBundleError at the first fault.

    Without ``keys`` the signature is not proved. ``recompute`` also computes every answer of an opponent again. Without
    ``rules`` only the parts that need none are verified. ``policy`` says which witnesses must have cosigned.
    """
    step = "well-formed"
    try:
        bundle = read_bundle(packed)
        yield Step(step, f"format {bundle.format}, {len(packed):,} bytes of canonical JSON, match {bundle.match}")
        step = "chain"
        yield _chain(bundle)
        step = "signature"
        of_match = is_match(bundle.match)
        yield _signature(bundle, keys, rules and of_match)
        if not of_match:
            step = "tournament"
            yield _tournament(bundle)
        elif rules:
            step = "replay"
            yield from _replay(bundle, recompute)
        step = "player keys"
        yield from _player_keys(bundle)
        step = "checkpoint"
        yield from _inclusion(bundle, keys)
        step = "cosigned"
        if policy is not None:
            yield _cosigned(bundle, policy)
    except DocumentError as fault:
        raise FaultyBundleError(step, fault.place, fault.reason) from None


def place_in_words(place: str) -> str:
    """Return the path of a place in a bundle as people read it: ``version 4, data.move``."""
    matched = re.match(r"events\[(\d+)\]\.?", place)
    if matched is None:
        return place
    version = f"version {int(matched[1]) + 1}"
    rest = place[matched.end() :]
    return f"{version}, {rest}" if rest else version


def _chain(bundle: Bundle) -> Step:
    try:
        for _ in verified_events(bundle.match, bundle.envelopes, () if bundle.withheld is None else (bundle.withheld,)):
            pass
    except DamagedStreamError as damage:
        raise DocumentError(f"events[{damage.version - 1}]", damage.reason) from None
    last = bundle.events[-1]
    if bundle.head.version != last.version:
        raise DocumentError(
            "head.version", f"the last event has version {last.version}, the head {bundle.head.version}"
        )
    if bundle.head.digest != last.digest:
        raise DocumentError("head.digest", f"it is not the digest of version {last.version}")
    words = f"{len(bundle.events)} events, each linked to the one before, up to {last.digest}"
    if bundle.withheld is not None:
        words += f"; of version {bundle.withheld} the seed is withheld while an opponent plays, and its digest taken as"
        words += " stated"
    return Step("chain", words)


def _signature(bundle: Bundle, keys: KeySet | None, rules: bool) -> Step:
    signature = bundle.signature
    if signature.inclusion != digest_of_inclusion(bundle.inclusion):
        # Checking the inclusion by itself shows where it was changed.
        for _ in _inclusion(bundle, keys):
            pass
        lost = "it was cut out" if bundle.inclusion is None else "it is another"
        raise DocumentError(
            "inclusion", f"{lost}: the signature is over a bundle with another statement of its inclusion"
        )
    if keys is None:
        words = f"signed by key {signature.key}, which is not vouched for: give the keys of the server with --keys"
        return Step("signature", words, proved=False)
    if signature.key not in keys:
        raise DocumentError("signature.key", f"key {signature.key} is not among the keys given")
    try:
        keys[signature.key].check(signature.value, KIND, bundle.statement, signature.signed_at)
    except DocumentError as fault:
        if rules:
            # Computing the facts from the events shows where it was changed.
            for _ in _replay(bundle, recompute=False, exactly=True):
                pass
        if bundle.withheld is not None:
            words = f"{fault.reason}; version {bundle.withheld}, of which something is withheld, is part of it"
            raise DocumentError(fault.place, words) from None
        raise
    return Step(
        "signature", f"of key {signature.key}, made {rfc3339(signature.signed_at)}{_revocation(keys, signature.key)}"
    )


def _revocation(keys: KeySet, key: str) -> str:
    """Return the note on a valid signature whose key has been revoked since; mostly empty."""
    revoked = keys[key].revoked
    if revoked is None:
        return ""
    return f"; the key is revoked from {rfc3339(revoked)} on, and the signature itself says that it is older"


def _replay(bundle: Bundle, recompute: bool, exactly: bool = False) -> Iterator[Step]:
    """Yield the steps of the replay; unless ``exactly``, only facts that follow from the events are compared."""
    authority = None if exactly else Authority(bundle.match)
    replayed = _Replayed(bundle, recompute, authority)
    facts = derive_facts(replayed.records(), positions=bundle.facts.positions is not None)
    _refuse_other_facts(bundle.facts, facts, exactly)
    if bundle.withheld is not None and not seed_is_withheld(facts):
        raise DocumentError(f"events[{bundle.withheld - 1}].withheld", "nothing is withheld of this match")
    rulesets = " and ".join(f"ruleset {ruleset.ruleset} of {ruleset.game}" for ruleset in facts.rulesets)
    complete = bundle.facts.replayed >= bundle.head.version
    if not complete:
        words = f"the server itself could not replay version {bundle.facts.replayed + 1}"
        yield Step("replay", f"{words}: {replayed.fault or 'here it can be replayed'}", proved=False)
    else:
        yield Step("replay", f"{replayed.plies} plies, all legal under {rulesets}")
    if authority is not None:
        yield from _authority(bundle, authority, complete)
    if replayed.seeds or replayed.unknown_seeds:
        words = f"{replayed.seeds} moves of opponents have the seed that follows from the match"
        if replayed.unknown_seeds:
            words += f"; of {replayed.unknown_seeds} this cannot be checked while the seed of the match is withheld"
        yield Step("seeds", words, not replayed.unknown_seeds)
    if recompute:
        words = f"{replayed.computed} answers of opponents computed again, all as recorded"
        yield Step(
            "opponents",
            words if not replayed.others else f"{words}; {replayed.others} are of another engine",
            not replayed.others,
        )
    # A ruling needs no rules of the game, and the authority to make it has been checked.
    ruled = facts.reason == EndReason.RULING
    yield Step("result", " ".join(_result_in_words(facts, bundle, replayed.flags)), complete or ruled)


def _authority(bundle: Bundle, authority: Authority, complete: bool) -> Iterator[Step]:
    """Yield the step about the authority of the actors, and the one that lists its grounds beside the events."""
    reach = f"all {len(bundle.events)} events" if complete else "the events, as far as rules can follow the match,"
    words = f"{reach} could be brought about by their actors, when they were"
    yield Step("authority", words, complete)
    if authority.taken_on_trust:
        trusted = "; ".join(
            f"{words} (version{'s' * (len(versions) > 1)} {', '.join(map(str, versions))})"
            for words, versions in authority.taken_on_trust.items()
        )
        yield Step(BEYOND, f"the server alone vouches for this: {trusted}", proved=False)


class _Replayed:
    def __init__(self, bundle: Bundle, recompute: bool, authority: Authority | None) -> None:
        self.plies = self.computed = self.others = self.seeds = self.unknown_seeds = 0
        self.fault: str | None = None
        self.flags: dict[int, tuple[str, ...]] = {}
        self._bundle, self._recompute, self._withheld = bundle, recompute, bundle.withheld
        self._authority = authority

    def records(self) -> Iterator[Record]:
        """Yield the records of the events; raises DocumentError at the first that contradicts the bundle."""
        signed_at = self._bundle.signature.signed_at
        # Events dated by a wrong clock may be in the future, until the time was corrected.
        corrected = max((event.version for event in self._bundle.events if event.type == "time-corrected"), default=0)
        for record in audit(self._bundle.match, self._bundle.envelopes, authority=self._authority):
            place, ply = f"events[{record.envelope.version - 1}]", record.ply
            if record.fault is not None and self.fault is None:
                if record.envelope.version <= self._bundle.facts.replayed:
                    raise DocumentError(place, record.fault)
                self.fault = record.fault
            if record.unauthorized is not None:
                raise DocumentError(place, record.unauthorized)
            if record.envelope.at > signed_at and record.envelope.version > corrected:
                raise DocumentError(
                    place, f"it is dated {record.envelope.at - signed_at} ms after the bundle was signed"
                )
            if isinstance(record.event, FlagFell) and record.fault is None and record.before is not None:
                self.flags[record.envelope.version] = _clock_in_words(record.before, record.event)
            self.plies += ply is not None
            if record.answer is not None:
                self._check(record.answer, record.envelope.version)
            yield record

    def _check(self, answer: OpponentAnswer, version: int) -> None:
        """Raise DocumentError for a seed that does not follow from the match, or for another answer."""
        wrong = None
        if answer.seeded:
            has_seed = self._withheld is None or version < self._withheld
            self.seeds, self.unknown_seeds = self.seeds + has_seed, self.unknown_seeds + (not has_seed)
            wrong = answer.wrong_seed() if has_seed else None
        if wrong is None and self._recompute:
            if answer.computable:
                self.computed += 1
                wrong = answer.recompute()
            else:
                self.others += 1
        if wrong is not None:
            raise DocumentError(f"events[{version - 1}]", wrong)


def _clock_in_words(before: MatchState, fell: FlagFell) -> tuple[str, ...]:
    name = find_ruleset(before.game, before.ruleset).setups[before.setup].seat_names[fell.seat]
    return clock_in_words(before.clock, fell.deadline, name)


def _refuse_other_facts(stated: Facts, computed: Facts, exactly: bool) -> None:
    """Raise DocumentError where facts do not follow; unless ``exactly``, not positions that went unreplayed."""
    documents = write_value(stated), write_value(computed)
    if not exactly and stated.replayed < computed.replayed:
        for facts in documents:
            facts.pop("replayed")
            facts.pop("positions", None)
            facts.get("result", {}).pop("proof", None)
    differing = difference(*documents)
    if differing is not None:
        path, there, follows = differing
        raise DocumentError(f"facts{path}", f"{there!r:.80} is stated, and {follows!r:.80} follows from the events")


def _result_in_words(facts: Facts, bundle: Bundle, flags: Mapping[int, tuple[str, ...]]) -> Iterator[str]:
    if facts.result is None:
        yield f"none: the match is {facts.reason or facts.status}"
        return
    scores, proof = " - ".join(f"{score:g}" for score in facts.result.scores), facts.result.proof
    words = f"{scores} by {facts.reason}:"
    if proof.decided_by is not None:
        event = bundle.events[proof.decided_by - 1]
        yield f"{words} decided by version {event.version}, {event.type} of {event.actor}, after ply {proof.ply}."
        yield from flags.get(event.version, ())
    elif proof.plies is not None:
        plies = ", ".join(map(str, proof.plies))
        yield f"{words} after plies {plies} the same position stood, {proof.key}"
    else:
        yield f"{words} it follows from the position after ply {proof.ply}, {proof.position}"


def _tournament(bundle: Bundle) -> Step:
    state = check_tournament(bundle.match, bundle.envelopes)
    words = f"{len(state.entrants)} entrants, {len(state.pairings)} pairings: lots, schedule and tables follow from "
    return Step("tournament", f"{words}the seed and the results; the table is {standing_in_words(state) or 'empty'}")


def _player_keys(bundle: Bundle) -> Iterator[Step]:
    """Yield the step about moves and acts that players have signed, if there are any."""
    acts = list(find_signed_acts(bundle.match, bundle.envelopes))
    if acts:
        words = f"signed by players: {in_words(acts)}. That a key is its player's, the server alone says"
        yield Step("player keys", words)


def _inclusion(bundle: Bundle, keys: KeySet | None) -> Iterator[Step]:
    inclusion = bundle.inclusion
    if inclusion is None:
        words = (
            "the server gave no inclusion of this match when it signed the bundle: nothing shows that the server has "
        )
        yield Step("checkpoint", f"{words}always told this story", proved=False)
        return
    checkpoint = inclusion.checkpoint
    if not 1 <= inclusion.version <= bundle.head.version:
        raise DocumentError("inclusion.version", f"the bundle has versions 1 to {bundle.head.version}")
    try:
        inclusion.check(bundle.match, bundle.events[inclusion.version - 1].digest)
    except DocumentError as fault:
        raise DocumentError(f"inclusion.{fault.place}", fault.reason) from None
    words = f"version {inclusion.version} is in that of {checkpoint.day} of server {checkpoint.origin}, root"
    words = f"{words} {checkpoint.root} of {checkpoint.size} leaves"
    if keys is None:
        yield Step("checkpoint", f"{words}, signed by key {checkpoint.key}, which is not vouched for", proved=False)
        return
    try:
        checkpoint.check(keys)
    except DocumentError as fault:
        raise DocumentError(f"inclusion.checkpoint.{fault.place}", fault.reason) from None
    yield Step("checkpoint", f"{words}, signed by key {checkpoint.key}{_revocation(keys, checkpoint.key)}")


def _cosigned(bundle: Bundle, policy: Policy) -> Step:
    try:
        words, proved = policy.judge(None if bundle.inclusion is None else bundle.inclusion.note)
    except DocumentError as fault:
        raise DocumentError("inclusion.note", fault.reason) from None
    return Step("cosigned", words, proved)
