"""Recordings handed on: as figures, as a row per token, as a timeline, as a page."""
