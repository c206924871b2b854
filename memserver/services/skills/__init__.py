"""Skills in and out: imported into quarantine, promoted by a person's word, exported, explained."""
