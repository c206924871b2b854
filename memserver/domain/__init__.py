"""Frozen values, errors and ports: what every layer above agrees on."""
