"""The socket that the server listens on."""

import socket

import pytest

from memserver.app.serving import listen
from memserver.domain.errors import PortTaken


def test_replies_are_not_held_back_by_the_system() -> None:
    """asyncio sets TCP_NODELAY on connections of sockets that name their protocol."""
    with listen("127.0.0.1", 0) as bound:
        assert bound.proto == socket.IPPROTO_TCP


def test_a_port_that_is_taken_is_named() -> None:
    with listen("127.0.0.1", 0) as bound:
        bound.listen()
        port = bound.getsockname()[1]
        with pytest.raises(PortTaken, match=str(port)):
            listen("127.0.0.1", port)
