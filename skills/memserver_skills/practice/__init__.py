"""Practice before tasks: goals that nobody has set yet, made of what was seen, and what may be
learnt from the runs of those who try them."""
