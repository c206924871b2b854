"""Which server, and by whose key: from arguments or the environment."""

import os
from dataclasses import dataclass, field

from memserver_client._errors import NotConfigured


@dataclass(frozen=True, slots=True)
class Account:
    url: str
    headers: dict[str, str] = field(repr=False)  # they hold the key


def account(url: str | None, api_key: str | None) -> Account:
    url = _setting(url, "server URL", "url", "MEMSERVER_URL")
    api_key = _setting(api_key, "API key", "api_key", "MEMSERVER_API_KEY")
    return Account(url, {"Authorization": f"Bearer {api_key}"})


def _setting(given: str | None, what: str, argument: str, variable: str) -> str:
    # A key that was read from a file often brings its line's end along.
    value = (os.environ.get(variable, "") if given is None else given).strip()
    if not value:
        raise NotConfigured(what, argument, variable)
    return value
