"""`memserver demo`: the whole loop on recorded runs, as a client of a server of its own."""
