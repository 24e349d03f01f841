"""A test vector of a bundle, and the bundle that most of them change."""

import json
from typing import Any, NamedTuple

from tests.support.plain_bundles import SERVER, Change, finished, written
from tests.support.verdicts import given

KEYS = {"keys": [SERVER.published]}

ORDER = ("well-formed", "chain", "signature", "checkpoint")
"""Steps of these bundles that need neither rules nor a policy, in order."""


class Vector(NamedTuple):
    """A bundle, and what is said of it by a verifier with ``keys``: which steps are proved, and the first fault.

    The fault is a step and a place.
    """

    name: str
    packed: bytes
    proved: tuple[str, ...] = ORDER
    fault: tuple[str, str] | None = None
    keys: Any = KEYS
    policy: str | None = None

    @property
    def line(self) -> str:
        fault = None if self.fault is None else dict(zip(("step", "place"), self.fault, strict=True))
        vector = {
            "name": self.name,
            "given": given(self.packed, self.keys, self.policy),
            "expect": {"proved": list(self.proved), "fault": fault},
        }
        return json.dumps(vector)


def changed(change: Change, after: Change = lambda content: content) -> bytes:
    """Return the bundle of a finished match after a ``change`` and what is done ``after`` it."""
    content = finished()
    change(content)
    after(content)
    return written(content)
