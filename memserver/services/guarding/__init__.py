"""Rules that keep agents from doing again what did harm."""
