"""Which agent is good at which skill, and which of them a task is to be given to."""
