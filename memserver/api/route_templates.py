"""From a request's path to the template of its route: what callers put into a path stays out of
logs and metrics, also where the request never gets as far as its route."""

from collections.abc import Iterable
from re import Pattern

from starlette.routing import compile_path

UNKNOWN = "unknown"


class RouteTemplates:
    """The templates of all routes, such as `/v1/memories/{item_id}`."""

    def __init__(self, templates: Iterable[str]) -> None:
        self._exact: set[str] = set()
        self._patterns: dict[str, Pattern[str]] = {}
        for template in templates:
            if "{" in template:
                self._patterns[template] = compile_path(template)[0]
            else:
                self._exact.add(template)

    def of(self, path: str) -> str:
        """The template that the path fits, `unknown` where there is none."""
        if path in self._exact:
            return path
        return next(
            (name for name, pattern in self._patterns.items() if pattern.match(path)), UNKNOWN
        )
