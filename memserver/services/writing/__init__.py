"""Writing: what was said is understood, compared with what is known, and kept or not."""
