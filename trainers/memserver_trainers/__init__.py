"""Trainers that turn logged decisions and their outcomes into new versions of a policy."""

from memserver_trainers.command import main

__all__ = ["main"]
