"""What the events mean: one definition for each figure."""
