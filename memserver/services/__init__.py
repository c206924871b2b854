"""The verbs: each service reads like the sentence it performs, and talks to ports only."""
