"""What the resources work with: one installation per app, made by the factory."""

from functools import cached_property

from flask import current_app, request

from api.access.sign_in_delays import SignInDelays
from events.installation import Installation

EXTENSION = "rookery"


class Services(Installation):
    """An installation as an app sees it. Making one does not connect: an app may start before its store."""

    @cached_property
    def sign_in_delays(self) -> SignInDelays:
        """How long names and addresses have to wait after wrong passwords."""
        return SignInDelays(self.client, self.prefix)


def refuse_wrong_clock() -> None:
    """Raise ClockMismatchError for a request that may write while the clock of this process is wrong."""
    clock = services().store.clock
    if clock is not None and request.method not in ("GET", "HEAD", "OPTIONS"):
        clock.check()


def services() -> Services:
    """Return the services of the current app."""
    found: Services = current_app.extensions[EXTENSION]
    return found
