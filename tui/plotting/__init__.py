"""Curves drawn with characters."""
