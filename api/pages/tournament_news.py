"""The events of a tournament as sentences, for its page and its feed."""

from collections.abc import Sequence
from typing import NamedTuple

from api.operations.tournaments import ShownTournament
from api.pages.wording import score_words
from api.representations.players import represent_player
from api.services import services
from domain.contest.points import PointsRule, points
from domain.contest.tournament import events as e
from domain.contest.tournament.state import NoResult
from events.store.codec import CODECS
from events.store.envelope import Envelope
from events.store.kinds import StreamKind

NO_RESULT = {
    NoResult.ANNULLED: "the result of match {} was annulled",
    NoResult.RESUMED: "match {} goes on, since its end was taken back",
    NoResult.CALLED_OFF: "match {} ended without a result",
    NoResult.EXPIRED: "match {} was not played before the latest end",
}


class TournamentNews(NamedTuple):
    """An event, and the sentence about it."""

    envelope: Envelope
    sentence: str


def latest_news(shown: ShownTournament, count: int) -> list[TournamentNews]:
    """Return the last ``count`` events of a tournament, the latest first."""
    version = shown.head.version
    stored = services().store.read(shown.state.id, max(0, version - count), count)
    events = [CODECS[StreamKind.TOURNAMENT].event_of(envelope) for envelope in stored]
    gone = {event.player for event in events if isinstance(event, e.EntryTakenBack)} - set(shown.persons)
    shown = shown._replace(persons={**shown.persons, **services().people.persons(gone)})
    sentences = [describe(event, shown) for event in events]
    return [TournamentNews(envelope, sentence) for envelope, sentence in zip(stored, sentences, strict=True)][::-1]


def result_by_seat(scores: Sequence[float], rule: PointsRule) -> list[str]:
    """Return the result of a match by seat: scores at two seats, points at four."""
    return [score_words(score) for score in scores] if len(scores) == 2 else list(map(str, points(rule, scores)))


def describe(event: e.Event, shown: ShownTournament) -> str:
    """Return a sentence about an event of the tournament."""
    match event:
        case e.TournamentAnnounced():
            return "The tournament was announced."
        case e.EntryMade():
            return f"{_name(event.player, shown)} entered."
        case e.EntryTakenBack():
            return f"{_name(event.player, shown)} took the entry back."
        case e.StartPostponed():
            return "Too few had entered: the start was put off."
        case e.TournamentCalledOff():
            return f"Cancelled {event.reason}."
        case e.TournamentStarted():
            return f"It started with {len(event.players)} people."
        case e.PlayerLeft():
            struck = ", and is struck from the table" if event.struck else ""
            return f"{_name(event.player, shown)} left{struck}."
        case e.PlaceFilled():
            return f"{_name(event.player, shown)} took the place of {_entrants([event.left], shown)}."
        case e.TournamentEnded():
            return "All matches are over: the table is final."
        case e.TableCorrected():
            reason = f"the result of match {event.pairing} is another one"
            if event.reason is not None:
                reason = NO_RESULT[event.reason].format(event.pairing)
            return f"The final table was corrected: {reason}."
        case _:
            return _describe_pairing(event, shown)


def _describe_pairing(
    event: e.PairingStarted | e.ResultRecorded | e.ResultTakenBack | e.PairingForfeited | e.PairingVoided,
    shown: ShownTournament,
) -> str:
    number = event.pairing
    pairing = shown.state.pairings[number - 1]
    match event:
        case e.PairingStarted():
            return f"Match {number} started: {_entrants(pairing.entrants, shown)}."
        case e.ResultRecorded():
            names = [_entrants([one], shown) for one in pairing.entrants]
            results = result_by_seat(event.scores, shown.state.terms.points)
            return f"Match {number}: {', '.join(map(' '.join, zip(names, results, strict=True)))}."
        case e.PairingForfeited():
            return f"Match {number} was lost by who left."
        case _:
            words = NO_RESULT[event.reason].format(number)
            return f"{words[:1].upper()}{words[1:]}."


def _entrants(numbers: Sequence[int], shown: ShownTournament) -> str:
    return ", ".join(_name(shown.state.entrants[number].player, shown) for number in numbers)


def _name(player: str, shown: ShownTournament) -> str:
    return represent_player(player, shown.persons).name
