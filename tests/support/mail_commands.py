"""People who play by mail in tests: what they write goes through the language to the match, without a mail server."""

from domain.match.state import MatchState
from events.mail.execution import execute_commands
from events.mail.language import read_commands
from events.mail.match_words import moves_of
from events.mail.tokens import MatchToken, TokenKind
from events.mail.transcript import Effect, Report, write_answer
from events.people.person import Person
from tests.support.stepped_installation import SteppedInstallation
from workers.notices.incoming_mail import view_of


class Correspondent:
    """A player who has a mail about a match, and answers it.

    The mail that is answered shows the match as it stood at the last ``look``.
    """

    def __init__(self, shop: SteppedInstallation, match_id: str, player: str) -> None:
        self.shop, self.match_id, self.player = shop, match_id, player
        self.mails = 0
        self.look()

    @property
    def state(self) -> MatchState:
        return self.shop.state(self.match_id)

    def look(self, kind: TokenKind = TokenKind.REPLY) -> MatchToken:
        """Get a mail about the match as it stands."""
        loaded = self.shop.matches.load(self.match_id)
        self.seat = loaded.state.seat_of(self.player)
        self.token = MatchToken(kind=kind, match_id=self.match_id, seat=self.seat, tag=loaded.head.tag)
        return self.token

    def write(self, *lines: str, mail: str | None = None, person: Person | None = None) -> Report:
        """Answer the last mail as ``person``, if that matters; ``mail`` names this one, to send it once more."""
        self.mails += 1
        person = person or Person(self.player, self.player, "person", 0)
        reading = read_commands(lines, moves_of(self.state))
        name = mail or f"{self.player}-{self.mails}"
        return execute_commands(self.shop.parts, reading, self.token, person, name)

    def answer(self, *lines: str) -> tuple[str, str]:
        """Return subject and text of the answer to a mail with these lines."""
        report = self.write(*lines)
        url = f"https://play.example/matches/{self.match_id}"
        return write_answer(report, view_of(self.shop.parts, self.match_id, self.seat, url))


def effects(report: Report) -> list[Effect]:
    return [result.effect for result in report.results]


def words(report: Report) -> str:
    """Return what was said about the last line."""
    return report.results[-1].words
