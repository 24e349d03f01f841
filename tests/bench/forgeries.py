"""Compare both verifiers on forgeries: ``python -m tests.bench.forgeries --count 20000 --seed 1``.

They must name the same steps as proved and the same fault, and end with a verdict: a traceback is none. Bundles are
verified with the rules as well, where these are reached, by the one verifier that has them. Printed is in which step
forgeries end, and the first that are judged differently or not at all; the status is 1 if there are any.
"""

import argparse
import json
import sys
from collections import Counter

from tests.support.forgeries import forgeries
from tests.support.second_verifier import second_verdicts
from tests.support.verdicts import Verdict, crash_with_rules, verdict

MAX_PRINTED = 20
UNREAD = ("well-formed", "chain", "keys", "policy", "receipts")
"""Where bundles end before the rules are reached."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.forgeries", description=__doc__)
    parser.add_argument("--count", type=int, default=20_000, help="how many forgeries (20000)")
    parser.add_argument("--seed", type=int, default=1, help="what they are drawn from (1)")
    chosen = parser.parse_args()
    asked = list(forgeries(chosen.count, chosen.seed))
    ends: Counter[str] = Counter()
    faulty = 0
    for number, (given, second) in enumerate(zip(asked, second_verdicts(asked), strict=True)):
        first = verdict(given)
        end = _end(first)
        ends[end] += 1
        crash = crash_with_rules(given) if end not in UNREAD and given.keys() == {"bundle", "keys", "policy"} else None
        if first == second and "crash" not in first and crash is None:
            continue
        faulty += 1
        if faulty <= MAX_PRINTED:
            print(f"forgery {number}: {json.dumps(first)} in Python, {json.dumps(second)} in JavaScript; {crash}")
    for step, count in ends.most_common():
        print(f"{count:>7,} {step}")
    print(f"{len(asked):>7,} forgeries of seed {chosen.seed}, {faulty:,} of them judged differently, or not at all")
    sys.exit(faulty > 0)


def _end(found: Verdict) -> str:
    """Return where a verdict ends: the step of a fault, or what a receipt was found to be."""
    fault = found.get("fault")
    if "comparison" in found or isinstance(fault, str) or "bundle" in found:
        return "receipts"
    return "crash" if "crash" in found else "no fault" if fault is None else fault["step"]


if __name__ == "__main__":
    main()
