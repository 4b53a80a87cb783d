"""The scripted backend: plays a file instead of a model, for tests, demos and trouble-shooting."""
