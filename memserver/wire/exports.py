"""How a stream of exported rows ends: one line more than there are rows."""

from memserver.wire.base import Model


class Seal(Model):
    """The last line of a whole stream. `sha256` is over the lines of all rows, line feeds
    included; blank lines between them, which only show that the server is at work, are no rows."""

    rows: int
    sha256: str


class Fault(Model):
    code: str
    detail: str


class Broken(Model):
    """The last line where the server stopped before the end and could still say why."""

    error: Fault
