"""Why a command was refused."""


class CommandError(Exception):
    """A command that is not carried out; nothing has changed. ``str(error)`` is the reason in a player's words.

    ``code`` is the stable kebab-case kind, ``field`` the part of the command at fault (None: the whole of it).
    """

    def __init__(self, code: str, reason: str, field: str | None = None) -> None:
        super().__init__(reason)
        self.code = code
        self.field = field

    def at(self, field: str) -> "CommandError":
        """Return the same error about another ``field``."""
        return type(self)(self.code, str(self), field)
