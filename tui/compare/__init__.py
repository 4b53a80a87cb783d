"""Several models side by side: lanes, shared plots, the table, and the race."""
