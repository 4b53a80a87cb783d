"""Several models on one prompt, side by side."""
