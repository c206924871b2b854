"""Retrieve: arms find, fusion orders, gates refuse, packing fits, the decision is logged."""
