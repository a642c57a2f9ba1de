"""What files say: text with its structure, for graders that read, within a budget that is counted."""
