"""The commands of a mail, carried out on the match that it answers, while the board and the offers are as in it."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from domain.games import find_ruleset
from domain.match import commands as c, events as e, lines as conditional
from domain.match.enums import Channel, Status
from domain.match.lines import ConditionalMoves, Line
from domain.match.refusals import CommandError
from domain.match.state import MatchState
from events.installation import Installation
from events.matches.bot_admission import BeyondCapacityError
from events.matches.matches import Executed
from events.notify.mail.account_commands import execute_account_commands, report_of, stop_mail, suspended, unknown
from events.notify.mail.body import MAX_LINE_CHARACTERS
from events.notify.mail.conditional_lines import has_course, line_of, merged, refuse_own_turn
from events.notify.mail.language import Command, Reading, UnknownLine, Verb
from events.notify.mail.match_words import event_words, moves_of, outcome_words, queue_text
from events.notify.mail.tokens import MatchToken, TokenKind
from events.notify.mail.tournament_commands import execute_tournament_command
from events.notify.mail.transcript import Effect, LineResult, MailReport
from events.people.chats import ChatFullError, chat_players
from events.people.conditional_moves import lines_shown
from events.people.notebooks import QuotaExceededError
from events.people.person import Person
from events.proof.receipts import write_receipt
from events.store.codec import event_of
from events.store.contract import Request, StaleVersionError, VersionTag, tag_of

MAX_EVENTS_SINCE = 200
"""After the position of a mail that are looked at: pauses and offers; a mail that is older is refused."""

MAX_RACES = 3
"""How often a command is tried again because a clock was paused, or the like, at the same time."""

BOARD_EVENTS = (e.MoveSubmitted, e.MovesTakenBack, e.PlayerResigned, e.FlagFell, e.RulesetChanged)
OFFER_EVENTS = (*BOARD_EVENTS, e.DrawOffered, e.DrawDeclined, e.TakebackRequested, e.TakebackDeclined)
STALE = "The board is another one than in the mail that you have answered: nothing was done. It stands below."
STALE_OFFER = "What is offered has changed since the mail that you have answered: nothing was done."
ONE_MOVE = "A mail can play one move, for it answers one position: none was played. Send the one that you want."


def execute_commands(
    parts: Installation, reading: Reading, token: MatchToken | None, person: Person, mail: str
) -> MailReport:
    """Carry out the commands of a mail (a digest names it) with a valid ``token``; return their outcomes.

    ``token`` is None for a mail that is about no match. Raises UnknownMatchError and the errors of loading one.
    Crash-safe: request keys follow from the mail and the place in it, so a repetition finds the completed acts.
    """
    if token is None:
        return execute_account_commands(parts, reading, person, mail)
    return _Execution(parts, reading, token, person, mail).run()


class AmbiguousAnswerError(Exception):
    """Two things wait for an answer, and the command does not say which it means; the message names the words."""


class _Execution:
    def __init__(self, parts: Installation, reading: Reading, token: MatchToken, person: Person, mail: str) -> None:
        self._parts, self._reading, self._token, self._person = parts, reading, token, person
        self._mail = mail
        self._match_id = token.match_id
        self._tag = token.tag
        """The version that the writer knows of: that of the mail, then that after each command."""
        self._moves = [command for command in reading.commands if command.verb == Verb.MOVE]
        self._last_done: Executed | None = None
        self._takes_several = False
        self._has_moved = self._has_offered = False

    def run(self) -> MailReport:
        results = []
        self._takes_several = moves_of(self._state()).several
        suspension = self._parts.people.suspension(self._person)
        for number, item in enumerate(self._reading.items):
            if isinstance(item, UnknownLine):
                results.append(unknown(item))
            elif suspension is not None and item.verb not in (Verb.BOARD, Verb.HELP, Verb.QUEUE, Verb.STOP_MAIL):
                results.append(suspended(item, suspension))
            else:
                results.append(self._carry_out(item, number))
        return report_of(self._reading, results, self._receipt())

    def _receipt(self) -> str:
        done = self._last_done
        if done is None:
            return ""
        receipt = self._parts.receipts.sign_act(self._match_id, done.head, done.at)
        return "" if receipt is None else write_receipt(receipt).decode().strip()

    def _carry_out(self, command: Command, number: int) -> LineResult:
        try:
            return _VERBS[command.verb](self, command, number)
        except CommandError as refusal:
            return self._refused(command, self._reason(refusal))
        except (AmbiguousAnswerError, BeyondCapacityError) as error:
            return self._refused(command, _sentence(str(error)))
        except StaleVersionError:
            state = self._state()
            over = outcome_words(state)
            is_answer = command.verb in (Verb.ACCEPT, Verb.DECLINE)
            return self._refused(command, over or (STALE_OFFER if is_answer and self._is_same_board() else STALE))
        except QuotaExceededError as full:
            words = f"Your notes and conditional moves take {full.used} of {full.limit} bytes: make room first."
            return self._refused(command, words)

    def _reason(self, refusal: CommandError) -> str:
        """Return a refusal as a sentence; with the move at fault where it is about one of several."""
        if refusal.code == "match-over" and (over := outcome_words(self._state())):
            return over
        reason = _sentence(str(refusal))
        place, _, number = (refusal.field or "").partition(".")
        if place != "moves":
            return reason
        moves = [move for command in self._moves for move in command.argument]
        return f'"{moves[int(number)]}": {reason} None of the moves was played.'

    # Moves, and the draw offer that goes with one

    def _move(self, command: Command, number: int) -> LineResult:
        moves = [move for command in self._moves for move in command.argument]
        first = self._moves[0]
        if command is not first:
            if self._takes_several or self._is_same(first, command):
                return LineResult(line=command.line, effect=Effect.SHOWN, words="This belongs to the move above.")
            return self._refused(command, ONE_MOVE)
        offers = any(command.verb == Verb.DRAW for command in self._reading.commands)
        player, channel = self._person.id, Channel.MAIL
        if self._takes_several and len(moves) > 1:
            executed = self._execute(
                c.SubmitMoves(player=player, moves=tuple(moves), channel=channel, offer_draw=offers), number
            )
        elif not all(self._is_same(first, command) for command in self._moves):
            return self._refused(command, ONE_MOVE)
        else:
            executed = self._execute(
                c.SubmitMove(player=player, move=moves[0], channel=channel, offer_draw=offers), number
            )
        self._has_moved = True
        self._has_offered = any(isinstance(event_of(event), e.DrawOffered) for event in executed.events)
        return self._done(command, executed)

    def _is_same(self, one: Command, other: Command) -> bool:
        return ["".join(move.lower().split()) for move in one.argument] == [
            "".join(move.lower().split()) for move in other.argument
        ]

    def _draw(self, command: Command, number: int) -> LineResult:
        if not self._moves:
            return self._done(command, self._execute(c.OfferDraw(player=self._person.id), number))
        if self._reading.items.index(self._moves[0]) > number:
            return LineResult(line=command.line, effect=Effect.SHOWN, words="This goes with the move below.")
        if not self._has_moved:
            return self._refused(command, "No draw was offered, since the move was not played.")
        if not self._has_offered:
            return self._refused(command, "No draw was offered: the move has ended the game, or agreed to one.")
        return LineResult(line=command.line, effect=Effect.DONE, words="The draw was offered together with the move.")

    # Answers and requests

    def _accept(self, command: Command, number: int) -> LineResult:
        state, player = self._state(), self._person.id
        kind = self._what_is_answered(command, state)
        if kind == "invitation":
            others = [seat.player for seat in state.seats if seat.player is not None and seat.level is None]
            if self._parts.blocks.blocking([*others, state.creator], player):
                return self._refused(command, "A player of this match has blocked you.")
            with self._parts.bot_admission.joining_place(state, self._person):
                return self._done(command, self._execute(c.JoinMatch(player=player, seat=self._token.seat), number))
        answer = (
            c.AcceptTakeback(player=player) if kind == "takeback" else c.AcceptDraw(player=player, channel=Channel.MAIL)
        )
        return self._done(command, self._execute(answer, number, OFFER_EVENTS))

    def _decline(self, command: Command, number: int) -> LineResult:
        player = self._person.id
        kind = self._what_is_answered(command, self._state())
        if kind == "invitation":
            return self._done(command, self._execute(c.AbortMatch(player=player), number))
        answer = c.DeclineTakeback(player=player) if kind == "takeback" else c.DeclineDraw(player=player)
        return self._done(command, self._execute(answer, number, OFFER_EVENTS))

    def _what_is_answered(self, command: Command, state: MatchState) -> str:
        """Return "draw", "takeback" or "invitation"; raises AmbiguousAnswerError where two wait."""
        if command.argument:
            return command.argument[0]
        if state.status == Status.OPEN and not state.seats[self._token.seat].joined:
            return "invitation"
        seat, takeback = self._token.seat, state.offers.takeback
        has_draw = bool(state.offers.draw_agreed) and seat not in state.offers.draw_agreed
        has_takeback = takeback is not None and seat not in takeback.agreed
        if has_draw and has_takeback:
            verb = command.verb.value
            raise AmbiguousAnswerError(f'a draw and a takeback wait: write "{verb} draw" or "{verb} takeback"')
        return "takeback" if has_takeback else "draw"

    def _take_back(self, command: Command, number: int) -> LineResult:
        return self._done(command, self._execute(c.RequestTakeback(player=self._person.id), number))

    def _resign(self, command: Command, number: int) -> LineResult:
        confirmed = command.argument == (self._match_id,) or (
            not command.argument and self._token.kind == TokenKind.CONFIRM_RESIGNATION
        )
        if confirmed:
            return self._done(command, self._execute(c.Resign(player=self._person.id, channel=Channel.MAIL), number))
        if command.argument:
            return self._refused(command, f"The mail that you have answered is about the match {self._match_id}.")
        words = f'Nothing has happened yet. To give the match up, answer this mail with "resign {self._match_id}".'
        return LineResult(line=command.line, effect=Effect.SHOWN, words=words, asks_to_confirm=True)

    # Conditional moves

    def _if(self, command: Command, _: int) -> LineResult:
        player = self._person.id

        def with_added(state: MatchState, orders: ConditionalMoves) -> ConditionalMoves:
            refuse_own_turn(state, self._token.seat)
            added = conditional.arranged(state, player, [line_of(command.steps)], self._parts.now()).first
            place = None if orders.lines is None else conditional.reached(state, orders.lines)
            first = merged(() if place is None else place.following, added[0], command.steps)
            self._count(first)
            return conditional.laid_down(state, player, orders, first, None, self._parts.now())

        try:
            self._replace_orders(with_added, on_this_board=True)
        except (CommandError, QuotaExceededError):
            self._count_stored()
            raise
        except StaleVersionError:
            self._count_stored()
            # Crash-safe: this mail may have added them before a kill, and they may even have been played since.
            if not has_course(self._state(), self._orders().lines, command.steps):
                raise
        return LineResult(line=command.line, effect=Effect.DONE, words="Added to your conditional moves.")

    def _forced(self, command: Command, _: int) -> LineResult:
        player, on = self._person.id, command.argument == ("on",)
        self._replace_orders(
            lambda state, orders: conditional.laid_down(state, player, orders, None, on, self._parts.now())
        )
        words = "Your only legal move will be played for you." if on else "Forced moves are left to you."
        return LineResult(line=command.line, effect=Effect.DONE, words=words)

    def _clear_queue(self, command: Command, _: int) -> LineResult:
        self._replace_orders(lambda _, orders: replace(orders, lines=None))
        self._count(())
        return LineResult(line=command.line, effect=Effect.DONE, words="You have no conditional moves any more.")

    def _replace_orders(
        self, orders: Callable[[MatchState, ConditionalMoves], ConditionalMoves], *, on_this_board: bool = False
    ) -> None:
        """Store the result of ``orders``; with ``on_this_board`` raises StaleVersionError on another board."""
        for race in range(MAX_RACES):
            expected = self._expected(BOARD_EVENTS) if on_this_board else None
            try:
                self._parts.match_service.lay_down(self._match_id, self._person.id, orders, expected)
                return
            except StaleVersionError:
                if race == MAX_RACES - 1 or self._expected(BOARD_EVENTS) == expected:
                    raise

    def _count(self, first: Sequence[Line]) -> None:
        size = len(json.dumps(lines_shown(tuple(first)))) if first else 0
        self._parts.notebooks.count_conditional_moves(self._person.id, self._match_id, size)

    def _count_stored(self) -> None:
        lines = self._orders().lines
        self._count(() if lines is None else lines.first)

    def _orders(self) -> ConditionalMoves:
        return self._parts.matches.load(self._match_id).orders.get(self._token.seat, ConditionalMoves())

    # The chat

    def _say(self, command: Command, number: int) -> LineResult:
        parts, player, (text,) = self._parts, self._person.id, command.argument
        others = chat_players(self._state()) - {player}
        if others and parts.blocks.blocking(others, player) == others:
            return self._refused(command, "The players of this match have blocked you.")
        if len(command.line) >= MAX_LINE_CHARACTERS or not text.isprintable():
            return self._refused(
                command, f"Say it in lines of fewer than {MAX_LINE_CHARACTERS} characters, all visible."
            )
        if not parts.chats.spend_bytes(player, len(text.encode())):
            return self._refused(command, "You have written as much as one person may in 30 days.")
        # Crash-safe: before the message. A kill in between leaves a mark at which nothing is found.
        parts.checks.mark_chat(self._match_id, parts.chats.length(self._match_id), parts.now())
        try:
            parts.chats.post(self._match_id, player, text, self._request(number))
        except ChatFullError:
            return self._refused(command, "This chat has no room for more messages.")
        return LineResult(line=command.line, effect=Effect.DONE, words="Your message stands in the chat of the match.")

    # Commands that only show

    def _show_board(self, command: Command, _: int) -> LineResult:
        return LineResult(line=command.line, effect=Effect.SHOWN, words="The match stands below.")

    def _show_queue(self, command: Command, _: int) -> LineResult:
        words = queue_text(self._orders()) or "You have no conditional moves."
        return LineResult(line=command.line, effect=Effect.SHOWN, words=words)

    def _show_help(self, command: Command, _: int) -> LineResult:
        return LineResult(line=command.line, effect=Effect.SHOWN, words="All commands are listed below.")

    def _enter_or_leave(self, command: Command, number: int) -> LineResult:
        return execute_tournament_command(self._parts.tournaments, command, self._person, self._request(number).key)

    def _stop(self, command: Command, _: int) -> LineResult:
        return stop_mail(self._parts.addresses, command, self._person.id, self._parts.now())

    # Carrying out

    def _state(self) -> MatchState:
        return self._parts.matches.load(self._match_id).state

    def _refused(self, command: Command, words: str) -> LineResult:
        return LineResult(line=command.line, effect=Effect.REFUSED, words=words)

    def _execute(self, command: c.Command, number: int, changes: tuple[type, ...] = BOARD_EVENTS) -> Executed:
        for race in range(MAX_RACES):
            expected = self._expected(changes)
            try:
                executed = self._parts.match_service.execute(
                    self._match_id, command, self._person.id, self._request(number), expected, may_see=self._may_see
                )
                break
            except StaleVersionError:
                if race == MAX_RACES - 1 or self._expected(changes) == expected:
                    raise
        self._tag = executed.head.tag
        if executed.events:
            self._last_done = executed
        return executed

    def _request(self, number: int) -> Request:
        key = f"mail:{self._person.id}:{self._mail}:{number}"
        return Request(key, key)

    def _may_see(self, state: MatchState) -> bool:
        return self._token.seat < len(state.seats) and state.seats[self._token.seat].player == self._person.id

    def _expected(self, changes: tuple[type, ...]) -> VersionTag:
        """Return the last version before something of ``changes`` that the writer did not know of.

        Raises StaleVersionError when the history that the mail belongs to was lost.
        """
        tag = self._tag
        for event in self._parts.store.read_on(self._match_id, tag, MAX_EVENTS_SINCE):
            if isinstance(event_of(event), changes):
                break
            tag = tag_of(event)
        return tag

    def _is_same_board(self) -> bool:
        try:
            return self._expected(BOARD_EVENTS) == self._parts.store.head(self._match_id).tag
        except StaleVersionError:
            return False

    def _done(self, command: Command, executed: Executed) -> LineResult:
        """Return the words for the events of a command; the same when it is repeated."""
        events = [event_of(event) for event in executed.events]
        seat = self._token.seat
        own = [event for event in events if _is_by_mail(event, seat)]
        names = find_ruleset(executed.state.game, executed.state.ruleset).setups[executed.state.setup].seat_names
        if len(own) > 1:
            said = [f"All {len(own)} moves were played."]
            events = [event for event in events if event not in own]
        else:
            said = []
        said += [event_words(event, seat, names, executed.state.game) for event in events]
        words = " ".join(filter(None, said))
        plies = len(own)
        effect = Effect.PLAYED if plies else Effect.DONE
        return LineResult(line=command.line, effect=effect, words=words or "There was nothing to do.", plies=plies)


_VERBS: Mapping[Verb, Callable[[_Execution, Command, int], LineResult]] = {
    Verb.MOVE: _Execution._move,
    Verb.IF: _Execution._if,
    Verb.FORCED: _Execution._forced,
    Verb.DRAW: _Execution._draw,
    Verb.ACCEPT: _Execution._accept,
    Verb.DECLINE: _Execution._decline,
    Verb.RESIGN: _Execution._resign,
    Verb.TAKE_BACK: _Execution._take_back,
    Verb.SAY: _Execution._say,
    Verb.BOARD: _Execution._show_board,
    Verb.QUEUE: _Execution._show_queue,
    Verb.CLEAR_QUEUE: _Execution._clear_queue,
    Verb.HELP: _Execution._show_help,
    Verb.ENTER: _Execution._enter_or_leave,
    Verb.LEAVE: _Execution._enter_or_leave,
    Verb.STOP_MAIL: _Execution._stop,
}


def _is_by_mail(event: e.Event, seat: int) -> bool:
    return isinstance(event, e.MoveSubmitted) and event.seat == seat and event.channel == Channel.MAIL


def _sentence(reason: str) -> str:
    return f"{reason[:1].upper()}{reason[1:]}{'' if reason.endswith(('.', '?', '!')) else '.'}"
