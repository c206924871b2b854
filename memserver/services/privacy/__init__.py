"""Privacy: what must not be stored as it was said, what stands in its place, and who may see it."""
