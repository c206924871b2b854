"""Adapters that keep what is remembered: the SQL store (the truth) and the vector indexes."""
