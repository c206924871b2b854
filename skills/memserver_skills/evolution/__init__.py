"""How a library of skills changes by what came of it: what comes in, what is cut in two, what is
put right, and what goes."""
