"""The contract of a tournament in sentences, agreed to by entering."""

from domain.contest.balance import Span, count_balance
from domain.contest.entry import RATING_MARGIN
from domain.contest.points import PointsRule
from domain.contest.schedules import Form, field_size, schedule
from domain.contest.standings import TieBreak
from domain.contest.tournament.state import PairingStatus, TournamentState
from domain.contest.tournament.terms import MIN_FIELD, POSTPONEMENT_MS, DropOut, StartRule, TournamentTerms
from domain.match.terms import DAY, in_words

FORMS = {
    Form.ALL_PLAY_ALL: "Everybody plays everybody else once.",
    Form.SHIFTED: "Everybody plays four matches.",
    Form.PERFECT: "Everybody has everybody else once before, once behind and once opposite.",
    Form.WHIST: "Everybody meets everybody else three times, and has everybody opposite once.",
}

TIE_BREAKS = {
    TieBreak.WINS: "matches won",
    TieBreak.SONNEBORN_BERGER: "the points of the opponents, twice for a better place than theirs, once for the same",
    TieBreak.MUTUAL: "the results among those who are equal",
    TieBreak.SECOND_PLACES: "second places",
    TieBreak.FEWEST_FLAGS: "fewer matches lost on time",
}

DROP_OUTS = {
    DropOut.EARLY_STRUCK: "Who leaves with fewer than half of the matches finished is struck from the table; "
    "rated results stay.",
    DropOut.RESULTS_STAND: "The results of who leaves stand, in the table too.",
}


def contract(terms: TournamentTerms, entries: int) -> tuple[str, ...]:
    """Return the terms as sentences, for ``entries`` people or as many as may play; instants are left to the page."""
    form, seats = terms.form, terms.seats
    size = field_size(form, seats, max(terms.least, min(entries, terms.most))) or field_size(form, seats, terms.most)
    balance = count_balance(schedule(form, seats, size), size)
    sentences = [
        FORMS[form],
        f"With {size} people these are {balance.pairings} matches, {balance.matches} for each: "
        f"everybody meets everybody else {_times(balance.meetings)} and has each seat {_times(balance.seats)}.",
        "A match starts as soon as all of its players have room for one more, but nobody plays more than "
        f"{terms.at_once} of this tournament at once.",
        *in_words(terms.clock),
        "Every match lost on time is lost, and nothing else follows from it.",
        _points(terms),
        f"Who have the same points are ordered by {'; then by '.join(TIE_BREAKS[tie] for tie in terms.tie_breaks)}. "
        "Who are still equal share the place. Ratings decide nothing."
        if terms.tie_breaks
        else "Who have the same points share the place.",
        f"{DROP_OUTS[terms.drop_out or DropOut.EARLY_STRUCK]} The first who waits for a place takes over the matches "
        "that have not started; if nobody waits, they are lost.",
        "Who leaves can enter no tournament for 30 days, and for 90 after leaving another one within a year.",
        "In this tournament a match that is cancelled is lost by who has cancelled it or made no first move.",
        "At the latest end matches that have not started are not played; those that have started are played on.",
        _start(terms),
        *_series(terms),
        "The matches are rated." if terms.rated else "The matches are not rated.",
        *_entry(terms),
    ]
    return tuple(sentences)


def _times(span: Span) -> str:
    if span.least == span.most:
        return {1: "once", 2: "twice"}.get(span.most, f"{span.most} times")
    return f"{span.least} to {span.most} times"


def _points(terms: TournamentTerms) -> str:
    if terms.seats == 2:
        return "A win brings 2 points, a draw 1."
    if terms.points == PointsRule.PLACES:
        return "The places of a match bring 6, 4, 2 and 0 points; who share places share their points."
    return "The first place of a match brings 12 points, shared by those who share it; the others bring none."


def _start(terms: TournamentTerms) -> str:
    full = f"It starts as soon as {terms.most} people have entered. " if terms.start == StartRule.WHEN_FULL else ""
    return (
        f"{full}With fewer than {terms.least} people at its start it is put off once, by {POSTPONEMENT_MS // DAY} "
        f"days; then it begins with {min(terms.least, MIN_FIELD[terms.seats])} or more, or is cancelled."
    )


def _series(terms: TournamentTerms) -> list[str]:
    if terms.repeat_weeks is None:
        return []
    return [f"When it starts, the next one is announced on the same terms, every {terms.repeat_weeks} weeks."]


def _entry(terms: TournamentTerms) -> list[str]:
    entry, sentences = terms.entry, []
    if entry.rating_from is not None:
        sentences.append(f"Who enters has had a rating of certainly {entry.rating_from} or more within the last year.")
    if entry.rating_to is not None:
        sentences.append(
            f"Nobody enters whose rating was certainly above {entry.rating_to + RATING_MARGIN} within the last year."
        )
    if entry.finished:
        sentences.append(f"Who enters has finished {entry.finished} matches or more.")
    if entry.flags is not None:
        sentences.append(f"Who enters has lost {entry.flags} matches or fewer on time in the last 90 days.")
    sentences.append("Bots may enter." if entry.bots else "Bots cannot enter.")
    return sentences


def standing_in_words(state: TournamentState) -> str | None:
    """Return how many matches the table still waits for; None for the table of a tournament that has not run."""
    running, waiting = (len(state.numbers(status)) for status in (PairingStatus.RUNNING, PairingStatus.WAITING))
    if not state.pairings:
        return None
    if not running and not waiting:
        return "final"
    parts = [f"{running} running"] if running else []
    parts += [f"{waiting} not started"] if waiting else []
    return f"provisional: {', '.join(parts)}"
