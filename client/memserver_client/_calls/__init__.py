"""Every call of the client, each described once: its parameters, what it promises, what is sent.
`Memory` and `AsyncMemory` take the names, signatures and docstrings of their methods from here."""

from memserver_client._calls import access, history, long_work, memories, retrieval, runs

__all__ = ["access", "history", "long_work", "memories", "retrieval", "runs"]
