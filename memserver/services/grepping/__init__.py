"""Exact access beside similarity: stored texts searched line by line."""
