"""The typed links between skills, and what walks, calibrates and maintains them."""
