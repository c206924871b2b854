"""One file of routes a subject."""
