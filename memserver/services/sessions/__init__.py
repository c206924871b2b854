"""Working memory: sessions recorded, rendered, checked, and summed up at their end."""
