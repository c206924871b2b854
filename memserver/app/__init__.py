"""The composition root: builds everything, starts and stops it."""

from memserver.app.entry import main

__all__ = ["main"]
