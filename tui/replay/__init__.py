"""Recordings opened again: the scope and several lanes on a clock that the reader moves."""
