"""A few skills that together do what a whole library does, and which of them a task is for."""
