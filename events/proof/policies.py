"""Policies: the logs and witnesses that somebody trusts (https://c2sp.org/tlog-policy).

Lines: ``log VKEY [URL]``, ``witness NAME VKEY [URL]``, ``group NAME all``, ``any`` or a number, ``MEMBER...``, ``quorum
NAME``.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import NamedTuple

from events.proof.documents import DocumentError
from events.proof.notes import COSIGNATURE, ED25519, NoteKey, SignedNote, parse_note, parse_vkey
from events.proof.tree_heads import Cosignature, find_cosignatures, parse_tree_head
from events.runtime.wall_clock import rfc3339

MAX_POLICY_BYTES = 65_536
MAX_NAMES = 256
"""Logs, witnesses and groups, each; the specification asks for 32."""

NO_QUORUM = "none"
"""The name of the quorum that asks for no cosignature."""


class WitnessGroup(NamedTuple):
    """A group that has cosigned when at least ``threshold`` of its ``members``, witnesses or groups, have."""

    threshold: int
    members: tuple[str, ...]


class Policy(NamedTuple):
    """The trusted ``logs`` (none: known from elsewhere), ``witnesses`` and groups; NO_QUORUM asks for none."""

    logs: tuple[NoteKey, ...]
    witnesses: Mapping[str, NoteKey]
    groups: Mapping[str, WitnessGroup]
    quorum: str

    def check_log(self, note: SignedNote) -> None:
        """Raise DocumentError unless one of the logs (by key and origin) has signed ``note``, or none is named."""
        origin = parse_tree_head(note.text).origin
        faults = []
        for log in self.logs:
            try:
                if log.name != origin:
                    raise DocumentError("text", f"it is of the log {origin!r:.80}, not of {log.name}")
                return note.check(log)
            except DocumentError as fault:
                faults.append(fault)
        if faults:
            raise faults[0]

    def judge(self, note: str | None) -> tuple[str, bool]:
        """Return the signers of ``note``, in words, and whether they suffice; raises DocumentError for a forged one."""
        if note is None:
            return "the bundle has no note that a witness could have cosigned", False
        if not self.logs:
            return "the policy names no log: a server that is witnessed under two names could tell two stories", False
        read = parse_note(note)
        self.check_log(read)
        cosignatures = self.cosignatures(read)
        words = ", ".join(
            f"{name} at {rfc3339(cosignature.time_s * 1000)}" for name, cosignature in cosignatures.items()
        )
        words = f"cosigned by {words}" if words else "no witness of the policy has cosigned it"
        if not self.is_satisfied(cosignatures.keys()):
            return f"{words}: that is not the quorum {self.quorum} of the policy", False
        return f"{words}; the policy asks for {'no witness' if self.quorum == NO_QUORUM else self.quorum}", True

    def cosignatures(self, note: SignedNote) -> dict[str, Cosignature]:
        """Return the cosignatures of ``note`` by the names of witnesses here; raises DocumentError if one is forged."""
        signed = {cosignature.witness: cosignature for cosignature in find_cosignatures(note, self.witnesses.values())}
        return {name: signed[key] for name, key in self.witnesses.items() if key in signed}

    def is_satisfied(self, cosigned: Set[str]) -> bool:
        """Return whether the witnesses with the names ``cosigned`` are a quorum."""
        return self.quorum == NO_QUORUM or self._has_cosigned(self.quorum, cosigned)

    def _has_cosigned(self, name: str, cosigned: Set[str]) -> bool:
        if name in self.witnesses:
            return name in cosigned
        group = self.groups[name]
        return sum(self._has_cosigned(member, cosigned) for member in group.members) >= group.threshold


class _Reading:
    def __init__(self) -> None:
        self.logs: list[NoteKey] = []
        self.witnesses: dict[str, NoteKey] = {}
        self.groups: dict[str, WitnessGroup] = {}
        self.quorum: str | None = None
        self._grouped: set[str] = set()

    def read_log(self, words: Sequence[str]) -> None:
        _count(words, 1, 2)
        key = _key(words[0], ED25519, "that of a log")
        self._refuse_duplicate(key, self.logs)
        self.logs.append(key)

    def read_witness(self, words: Sequence[str]) -> None:
        _count(words, 2, 3)
        self._refuse_known(words[0])
        key = _key(words[1], COSIGNATURE, "that of a witness")
        self._refuse_duplicate(key, self.witnesses.values())
        self.witnesses[words[0]] = key

    def read_group(self, words: Sequence[str]) -> None:
        _count(words, 3, MAX_NAMES + 2)
        name, threshold, *members = words
        self._refuse_known(name)
        for member in members:
            if member not in self.witnesses and member not in self.groups:
                raise DocumentError("", f"{member!r:.60} is not defined above")
            if member in self._grouped:
                raise DocumentError("", f"{member!r:.60} is a member of a group already")
            self._grouped.add(member)
        self.groups[name] = WitnessGroup(_threshold(threshold, len(members)), tuple(members))

    def read_quorum(self, words: Sequence[str]) -> None:
        _count(words, 1, 1)
        if self.quorum is not None:
            raise DocumentError("", "there is a quorum already")
        if words[0] != NO_QUORUM and words[0] not in self.witnesses and words[0] not in self.groups:
            raise DocumentError("", f"{words[0]!r:.60} is not defined above")
        self.quorum = words[0]

    def _refuse_known(self, name: str) -> None:
        if name == NO_QUORUM or name in self.witnesses or name in self.groups:
            raise DocumentError("", f"the name {name!r:.60} is taken")
        if len(self.witnesses) + len(self.groups) >= MAX_NAMES:
            raise DocumentError("", f"a policy has at most {MAX_NAMES} witnesses and groups")

    def _refuse_duplicate(self, key: NoteKey, keys: Iterable[NoteKey]) -> None:
        if any(key.raw == earlier.raw for earlier in keys):
            raise DocumentError("", f"the key of {key.name} stands twice")


def parse_policy(packed: bytes) -> Policy:
    """Return the policy that a file has; raises DocumentError with the line of the first fault as its place."""
    if len(packed) > MAX_POLICY_BYTES:
        raise DocumentError("", f"a policy has at most {MAX_POLICY_BYTES:,} bytes")
    read = _Reading()
    kinds: Mapping[str, Callable[[Sequence[str]], None]] = {
        "log": read.read_log,
        "witness": read.read_witness,
        "group": read.read_group,
        "quorum": read.read_quorum,
    }
    # Text beyond ASCII is opaque by the specification: it stays as it is.
    for number, line in enumerate(packed.decode("utf-8", "surrogateescape").split("\n"), 1):
        place = f"line {number}"
        if any((letter < " " and letter != "\t") or letter == "\x7f" for letter in line):
            raise DocumentError(place, "it has a control character")
        words = line.replace("\t", " ").split(" ")
        words = [word for word in words if word]
        if not words or words[0].startswith("#"):
            continue
        kind, *rest = words
        if kind not in kinds:
            raise DocumentError(place, f"{kind!r:.40} is none of {', '.join(kinds)}")
        try:
            kinds[kind](rest)
        except DocumentError as fault:
            raise DocumentError(place, str(fault)) from None
    if read.quorum is None:
        raise DocumentError("", "there is no quorum: write quorum none to ask for no cosignatures")
    return Policy(tuple(read.logs), read.witnesses, read.groups, read.quorum)


def _count(words: Sequence[str], least: int, most: int) -> None:
    if not least <= len(words) <= most:
        raise DocumentError("", "it has too few or too many words")


def _key(vkey: str, kind: int, words: str) -> NoteKey:
    key = parse_vkey(vkey)
    if key.type != kind:
        raise DocumentError("", f"the key is not {words} (type {kind:02})")
    return key


def _threshold(word: str, members: int) -> int:
    if word in ("all", "any"):
        return members if word == "all" else 1
    if not re.fullmatch("[1-9][0-9]{0,2}", word) or int(word) > members:
        raise DocumentError("", f"{word!r:.20} is no threshold: all, any, or 1 to {members}")
    return int(word)
