"""Exports: what leaves the server for trainers and other servers, joined, split and redacted."""
