"""memserver, a memory that a fleet of agents shares. Kept light, since the client imports it."""

__version__ = "0.1.0"
