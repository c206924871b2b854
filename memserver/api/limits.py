"""Limits of what the API takes in, each a setting."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """`body` in bytes, `depth` in nested JSON containers, `text` in characters of one string,
    pages in rows, `wait_s` in seconds that a write waits to become searchable, `restore` in bytes
    of a backup's archive."""

    body: int = 8 * 1024 * 1024
    depth: int = 32
    text: int = 1_000_000
    page: int = 100
    page_most: int = 500
    wait_s: float = 10.0
    restore: int = 64 * 1024**3
