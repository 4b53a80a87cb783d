"""Several models on one prompt: lanes take turns, all score the same text, and the figures are laid side by side."""
