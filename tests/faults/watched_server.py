"""`memserver serve`, whole and real, that writes down whomever it talks to beyond this machine: the
file that WATCH_INTO names gets a line for every name that is looked up and every address that is
connected or sent to."""

import ipaddress
import os
import sys
from pathlib import Path
from typing import Any

LOCAL_NAMES = frozenset({"", "localhost", "ip6-localhost"})


def is_outside(host: object) -> bool:
    """Whether a host, as socket functions are given it, lies beyond this machine."""
    name = host.decode() if isinstance(host, bytes) else str(host or "")
    try:
        address = ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        return name not in LOCAL_NAMES
    return not (address.is_loopback or address.is_unspecified)


def watch(into: Path) -> None:
    """From now on, for as long as the process lives: an audit hook cannot be taken off again."""

    def note(event: str, arguments: tuple[Any, ...]) -> None:
        if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
            # The address is None where a socket is connected already, and text for a local one.
            where = arguments[1][0] if isinstance(arguments[1], tuple) else None
        elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
            where = arguments[0]
        else:
            return
        if where is not None and is_outside(where):
            with into.open("a") as lines:
                lines.write(f"{event} {where}\n")

    sys.addaudithook(note)


if __name__ == "__main__":
    watch(Path(os.environ.pop("WATCH_INTO")))
    from memserver.app import main

    main()
