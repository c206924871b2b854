"""What server and trainers share about policies: the features that are logged, how a ranking is
drawn and scored, the folder that a policy travels in, and what its log says of it. numpy only."""
