"""What a skill is worth by the outcomes it had: folds over evidence, and rewards made of them."""
