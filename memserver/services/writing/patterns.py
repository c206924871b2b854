"""Patterns of words as they read: a blank in one stands for any white space."""

import re


def wording(words: str) -> re.Pattern[str]:
    """Compiled without regard to case."""
    return re.compile(words.replace(" ", r"\s+"), re.IGNORECASE)
