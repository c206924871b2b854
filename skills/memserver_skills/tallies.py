"""Counts read so that the order of counting does not matter: the commonest first and, of what is as
common, the first by name."""

from collections.abc import Mapping


def by_frequency(counts: Mapping[str, int]) -> list[str]:
    return sorted(counts, key=lambda text: (-counts[text], text))


def commonest(counts: Mapping[str, int], default: str = "") -> str:
    return min(counts, key=lambda text: (-counts[text], text), default=default)
