"""Rules that make skills out of runs and keep a bank of them small: pure functions over values."""
