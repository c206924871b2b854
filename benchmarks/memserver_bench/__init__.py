"""Benchmarks of memserver, each a client of the HTTP API or of the trainers."""

from memserver_bench.command import main

__all__ = ["main"]
