"""Trainers that turn logged decisions and their outcomes into new versions of a policy."""
