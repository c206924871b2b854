"""Memory as tools that a model may call; each does what a service does, and nothing of its own."""
