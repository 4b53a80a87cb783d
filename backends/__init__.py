"""Who generates: events, the backend contract, and the engines behind it."""
