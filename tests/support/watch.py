"""A clock that a test sets."""

from tests.support.matches import T0


class Watch:
    """Tells the time at which a test has set it, in milliseconds since 1970 UTC; it never goes by itself."""

    def __init__(self, now: int = T0) -> None:
        self.now = now

    def __call__(self) -> int:
        return self.now

    def advance(self, by: int) -> None:
        """Let ``by`` milliseconds pass."""
        self.now += by
