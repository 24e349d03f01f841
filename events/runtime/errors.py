"""The errors of the store, for every module that reads or writes it."""


class StoreError(Exception):
    """The base of all errors of the store."""


class StoreUnavailableError(StoreError):
    """The store cannot be reached or written now; nothing is known to be written. The one transient error."""


class OtherStoreError(StoreUnavailableError):
    """The store does not hold the installation that this process has used: it was emptied, or it is another one."""


class StoreFullError(StoreUnavailableError):
    """The store has no memory or no disk left to write to; nothing was written, and it can be read as ever."""


class StoreTimeoutError(StoreUnavailableError):
    """The store is connected and does not answer."""


class WriteContentionError(StoreUnavailableError):
    """Other writers changed the same keys at every attempt; nothing was written."""


class StoreCommandError(StoreError):
    """The server refused a command: a key is of another type, a right or a command is missing."""


class StorePermissionError(StoreCommandError):
    """The user of the connection may not give this command."""


class LimitReachedError(ValueError):
    """A person already has the allowed number of something; the message says what to do."""
