"""Whether the verifier of consolidations tells clean transitions of a real bank from mutants."""
