"""The clock that runs, in sentences for its players."""

from domain.match.clock import Clock, forecast, left, pauses_at
from domain.match.enums import Control, Limit, PauseReason
from domain.match.terms import duration, first_move


def in_words(clock: Clock, now: int, name: str) -> tuple[str, ...]:
    """Return the reasons of the forecast, as sentences; ``name`` is that of the seat whose time runs."""
    expected = forecast(clock)
    if expected is None:
        return ()
    sentences = []
    has = duration(left(clock, expected.seat, now))
    if expected.limit == Limit.FIRST_MOVE:
        allowed = duration(first_move(clock.terms))
        sentences.append(f"{name} has not moved yet: the first move must come within {allowed}.")
    elif expected.limit == Limit.CEILING:
        ceiling = duration(clock.terms.ceiling or 0)
        sentences.append(f"{name} has {has}, but a single move may take no longer than {ceiling}.")
    elif clock.terms.control == Control.DAYS_PER_MOVE:
        sentences.append(f"{name} has {has} left for this move.")
    else:
        sentences.append(f"{name} has {has} left and gets {duration(clock.terms.increment)} more after moving.")
    for pause in pauses_at(clock, expected.seat, now):
        ending = "until it is lifted" if pause.until is None else f"for {duration(pause.until - now)} more"
        sentences.append(f"The clock stands still {ending}: {_PAUSED[pause.reason]}.")
    return tuple(sentences)


_PAUSED = {
    PauseReason.VACATION: "vacation",
    PauseReason.WEEKEND: "a free day of the week",
    PauseReason.OUTAGE: "the server was away, and that time counts for no player",
    PauseReason.ARBITER: "an arbiter has stopped it",
    PauseReason.DISPUTE: "a dispute is being settled",
}
