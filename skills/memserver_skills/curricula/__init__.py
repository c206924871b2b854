"""What trainers are given to learn from a library: which skills are shown when, and in which words.
Data only; nothing is trained here."""
