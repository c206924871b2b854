"""What server and trainers share about policies; numpy only."""
