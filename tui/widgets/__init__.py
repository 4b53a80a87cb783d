"""What the scope's screen is made of."""
