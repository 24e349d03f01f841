"""Answers of a receiver to a webhook in its response: a move, or yes or no to an offer. Pure."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from domain.match import commands as c
from domain.match.commands import Command
from domain.match.decisions.moves import MAX_MOVE_CHARACTERS, MAX_MOVES_PER_SUBMISSION
from domain.match.enums import Channel
from domain.match.state import MatchState
from events.notify.notice import NoticeKind
from events.notify.wording import about

_PLAYING = ("move", "moves", "resign")
_AGREEING = ("accept", "decline")

ANSWERS: Mapping[NoticeKind, tuple[str, ...]] = {
    NoticeKind.TURN: _PLAYING,
    NoticeKind.DEADLINE: _PLAYING,
    NoticeKind.OFFER: _AGREEING,
    NoticeKind.INVITATION: _AGREEING,
}


class AnswerError(Exception):
    """An answer that asks for something which cannot be done; the message says why, for the owner of the webhook."""


class BotAnswer(NamedTuple):
    """The wish of the receiver of a webhook for the match at ``version``: a verb of ``ANSWERS``, and moves."""

    verb: str
    version: int
    moves: tuple[str, ...] = ()
    offer_draw: bool = False


def read_answer(kind: NoticeKind, body: bytes) -> BotAnswer | None:
    """Return the wish in the body of an answer with status 200, None without one; raises AnswerError."""
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(content, dict):
        return None
    verbs = [verb for verb in (*_PLAYING, *_AGREEING) if content.get(verb) not in (None, False)]
    if not verbs:
        return None
    if len(verbs) > 1:
        raise AnswerError(f"the answer has {' and '.join(verbs)}, of which it can have only one")
    unknown = sorted(content.keys() - {*_PLAYING, *_AGREEING, "version", "offer_draw"})
    if unknown:
        raise AnswerError(f'"{unknown[0][:50]}" is not known here: an answer has "version" and {verbs[0]}')
    verb = verbs[0]
    if verb not in ANSWERS.get(kind, ()):
        raise AnswerError(f'"{verb}" is no answer to this webhook')
    version = content.get("version")
    if not isinstance(version, int) or isinstance(version, bool):
        raise AnswerError('the answer must have "version", a whole number: that of the webhook')
    return BotAnswer(verb, version, _moves(verb, content[verb]), _flag(content, "offer_draw"))


def command_for(answer: BotAnswer, state: MatchState, player: str, fact: str) -> Command:
    """Return the command for the answer of ``player`` about ``fact``; AnswerError if nothing was offered."""
    match answer.verb:
        case "move":
            (move,) = answer.moves
            return c.SubmitMove(player=player, move=move, channel=Channel.WEBHOOK, offer_draw=answer.offer_draw)
        case "moves":
            return c.SubmitMoves(
                player=player, moves=answer.moves, channel=Channel.WEBHOOK, offer_draw=answer.offer_draw
            )
        case "resign":
            return c.Resign(player=player, channel=Channel.WEBHOOK)
        case _:
            return _agreement(state, player, about(fact), answer.verb == "accept")


def _agreement(state: MatchState, player: str, offer: str, accept: bool) -> Command:
    """Return the answer to the ``offer`` that the webhook was about, whatever else is offered beside it."""
    seat = state.seat_of(player)
    if seat is not None and not state.seats[seat].joined:
        return c.JoinMatch(player=player, seat=seat) if accept else c.AbortMatch(player=player)
    offers, proposal = state.offers, state.cases.proposal
    if offer == "takeback" and offers.takeback is not None and seat not in offers.takeback.agreed:
        return c.AcceptTakeback(player=player) if accept else c.DeclineTakeback(player=player)
    if offer == "draw" and offers.draw_agreed and seat not in offers.draw_agreed:
        return c.AcceptDraw(player=player, channel=Channel.WEBHOOK) if accept else c.DeclineDraw(player=player)
    if offer == "ruleset" and proposal is not None and seat not in proposal.agreed:
        return c.AcceptRuleset(player=player) if accept else c.DeclineRuleset(player=player)
    raise AnswerError("nothing is offered that could be accepted or declined")


def _moves(verb: str, value: Any) -> tuple[str, ...]:
    if verb not in ("move", "moves"):
        if value is not True:
            raise AnswerError(f'"{verb}" must be true')
        return ()
    moves = [value] if verb == "move" else value
    if not isinstance(moves, list) or not 1 <= len(moves) <= MAX_MOVES_PER_SUBMISSION:
        raise AnswerError(f'"moves" must be a list of 1 to {MAX_MOVES_PER_SUBMISSION} moves')
    if not all(isinstance(move, str) and 1 <= len(move) <= MAX_MOVE_CHARACTERS and _is_text(move) for move in moves):
        raise AnswerError(f"a move must be a string of 1 to {MAX_MOVE_CHARACTERS} characters")
    return tuple(moves)


def _is_text(text: str) -> bool:
    """Tell whether ``text`` is without halves of characters, which JSON can name and nothing can show."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _flag(content: Mapping[str, Any], name: str) -> bool:
    value = content.get(name, False)
    if not isinstance(value, bool):
        raise AnswerError(f'"{name}" must be true or false')
    return value
