"""How many examples tests draw: all with the profile "full" (``make test-servers``), a third in ``make test``."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings

Test = TypeVar("Test", bound=Callable[..., None])

QUICK, FULL = "quick", "full"
ALL, SOME = 100, 33
"""How many are drawn by a test that does not say how many it needs."""


def register_profiles() -> None:
    """Make the profiles known to Hypothesis and load the quick one; ``--hypothesis-profile full`` loads the other.

    Drawn examples are the same in every run, and none is judged by the time that it took: machines are busy.
    """
    for name, count in ((FULL, ALL), (QUICK, SOME)):
        settings.register_profile(
            name, max_examples=count, derandomize=True, deadline=None, database=None,
            suppress_health_check=[HealthCheck.too_slow],
        )  # fmt: skip
    settings.load_profile(QUICK)


def draws_all() -> bool:
    return settings().max_examples == ALL


def draws(examples: int, **more: Any) -> settings:
    """Return the settings of a test that draws ``examples`` in the full profile; ``more`` is as for ``settings``."""
    return settings(max_examples=examples if draws_all() else max(examples * SOME // ALL, 1), **more)


def sampled(names: str | tuple[str, ...], examples: Iterable[Any], **more: Any) -> Callable[[Test], Test]:
    """Return ``pytest.mark.parametrize`` with all ``examples`` in the full profile, else with every third."""
    parametrized = pytest.mark.parametrize(names, list(examples)[:: 1 if draws_all() else 3], **more)
    return lambda test: pytest.mark.sampled(parametrized(test))
